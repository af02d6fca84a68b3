//! The Responses API over HTTP: one POST, answered by a stream of server-sent events.

mod classify;
mod client;
mod events;
mod lenient;
mod sse;

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use reqwest::{Client, Response, Url};

use crate::body::RequestBody;
use crate::{
    ErrorClass, ModelError, ModelProvider, ModelRequest, ModelStream, Phase, ProviderSettings, hint,
};

/// How much of the body of an error is read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// How long the body of an error may take.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A provider that speaks the Responses API.
#[derive(Debug)]
pub struct ResponsesProvider {
    settings: ProviderSettings,
    /// Made at the first request; certificates are loaded only where they are needed.
    client: OnceLock<Client>,
}

impl ResponsesProvider {
    /// A provider. Nothing is checked or opened yet.
    pub fn new(settings: ProviderSettings) -> Self {
        Self {
            settings,
            client: OnceLock::new(),
        }
    }

    /// What it was made from.
    pub fn settings(&self) -> &ProviderSettings {
        &self.settings
    }

    async fn send(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let url = self.url()?;
        let client = self.client()?;
        let answer = client
            .post(url.clone())
            .headers(self.headers()?)
            .body(reqwest::Body::wrap(RequestBody::new(request)))
            .send();
        let timeout = self.settings.stream_idle_timeout;
        let response = match tokio::time::timeout(timeout, answer).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(classify::transport(&error, &url)),
            Err(_) => {
                let message = format!("no answer from `{}` for {timeout:?}", shown(&url));
                return Err(ModelError::new(ErrorClass::Idle, Phase::Request, message));
            }
        };
        let expected = response.status().is_success() && !is_other_content(&response);
        if !expected {
            return Err(refusal(&self.settings.name, response).await);
        }
        Ok(events::stream(response.bytes_stream(), timeout))
    }

    /// Whether address and headers can be used at all.
    ///
    /// # Errors
    /// When they cannot; no request would ever be made.
    pub fn check(&self) -> Result<(), ModelError> {
        self.url()?;
        self.headers()?;
        Ok(())
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = client::build(&self.settings)?;
        Ok(self.client.get_or_init(|| client))
    }

    fn url(&self) -> Result<Url, ModelError> {
        let base = &self.settings.base_url;
        let parsed = Url::parse(&format!("{}/responses", base.trim_end_matches('/')));
        let unusable = |why: &dyn std::fmt::Display| {
            let name = &self.settings.name;
            let message = format!("provider `{name}` has an unusable base_url `{base}`: {why}");
            ModelError::new(ErrorClass::InvalidRequest, Phase::Request, message)
        };
        if !base.contains("://") {
            return Err(unusable(&"it does not begin with `http://` or `https://`"));
        }
        let mut url = parsed.map_err(|error| unusable(&error))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unusable(
                &"it begins neither with `http://` nor with `https://`",
            ));
        }
        if !self.settings.query_params.is_empty() {
            url.query_pairs_mut()
                .extend_pairs(&self.settings.query_params);
        }
        Ok(url)
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let settings = &self.settings;
        let version = env!("CARGO_PKG_VERSION");
        let system = std::env::consts::OS;
        let machine = std::env::consts::ARCH;
        let agent = format!("agent/{version} ({system}; {machine})");
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(USER_AGENT, self.header_value("user-agent", &agent)?);
        headers.insert(
            HeaderName::from_static("originator"),
            self.header_value("originator", &settings.originator)?,
        );
        if let Some(key) = &settings.api_key {
            let bearer = format!("Bearer {}", key.expose());
            let mut value = self.header_value("authorization", &bearer)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        for (name, text) in &settings.http_headers {
            let value = self.header_value(name, text)?;
            let name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| self.bad_header(name))?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    fn header_value(&self, name: &str, text: &str) -> Result<HeaderValue, ModelError> {
        HeaderValue::from_str(text).map_err(|_| self.bad_header(name))
    }

    /// The value is not shown: it may be a key.
    fn bad_header(&self, name: &str) -> ModelError {
        let provider = &self.settings.name;
        let message = format!("provider `{provider}` has a header `{name}` that cannot be sent");
        ModelError::new(ErrorClass::InvalidRequest, Phase::Request, message).with_hint(Some(
            "look for line ends or other control characters in its name and value".to_owned(),
        ))
    }
}

impl ModelProvider for ResponsesProvider {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn open<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<ModelStream, ModelError>> {
        async move {
            match self.send(request).await {
                Ok(stream) => {
                    let settings = self.settings.clone();
                    let model = request.model.clone();
                    Ok(stream.map_errors(move |error| for_people(error, &settings, &model)))
                }
                Err(error) => Err(for_people(error, &self.settings, &request.model)),
            }
        }
        .boxed()
    }
}

/// The error as it may be shown and recorded: without the key, which some servers repeat, and
/// with what can be done about it.
fn for_people(error: ModelError, settings: &ProviderSettings, model: &str) -> ModelError {
    let error = match &settings.api_key {
        Some(key) => error.without_secret(key.expose()),
        None => error,
    };
    hint::add(error, settings, model, &hint::process_environment)
}

/// Reads what the server says about its refusal.
async fn refusal(provider: &str, mut response: Response) -> ModelError {
    let status = response.status();
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = MAX_ERROR_BODY.saturating_sub(body.len());
            body.extend(chunk.iter().take(room));
            if chunk.len() >= room {
                break;
            }
        }
    };
    let complete = tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await;
    tracing::debug!(%status, complete = complete.is_ok(), "provider refused");
    let refusal = classify::Refusal {
        provider,
        status: status.as_u16(),
        headers: response.headers(),
        body: &String::from_utf8_lossy(&body),
    };
    refusal.into_error(SystemTime::now())
}

/// Whether the answer is certainly no stream of events. A missing type is let pass.
fn is_other_content(response: &Response) -> bool {
    let header = response.headers().get(CONTENT_TYPE);
    let kind = header.and_then(|value| value.to_str().ok()).unwrap_or("");
    let kind = kind.trim().to_ascii_lowercase();
    kind.starts_with("text/html") || kind.starts_with("application/json")
}

/// A URL for messages: without parameters, which may hold keys, and without credentials.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    let cleared = (url.set_username(""), url.set_password(None));
    match cleared {
        (Ok(()), Ok(())) => url.to_string(),
        _ => url.path().to_owned(),
    }
}
