//! What a failure means: HTTP answers, errors inside a stream, and failures to connect.

use std::error::Error;
use std::io;
use std::time::SystemTime;

use reqwest::Url;
use reqwest::header::{HeaderMap, LOCATION};
use serde_json::{Map, Value};

use super::shown;
use crate::error::delay;
use crate::{ErrorClass, ModelError, Phase};

/// What a server says about a failure, in the forms that servers use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ServerError {
    code: Option<String>,
    kind: Option<String>,
    message: Option<String>,
    param: Option<String>,
    resets_at: Option<i64>,
}

impl ServerError {
    /// Reads an error object, an object that holds one, or (some servers) a text in its place.
    pub(super) fn from_json(json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(Value::Object(object)) => Self::from_object(&object),
            Ok(Value::String(text)) => Self::from_text(&text),
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                Self::default()
            }
            Err(_) => Self::from_text(json),
        }
    }

    fn from_text(text: &str) -> Self {
        let text = text.trim();
        Self {
            message: (!text.is_empty()).then(|| text.to_owned()),
            ..Self::default()
        }
    }

    fn from_object(object: &Map<String, Value>) -> Self {
        match object.get("error") {
            Some(Value::Object(inner)) => return Self::from_object(inner),
            Some(Value::String(text)) => return Self::from_text(text),
            _ => {}
        }
        let text = |key: &str| match object.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let number = |key: &str| object.get(key).and_then(Value::as_i64);
        Self {
            code: text("code"),
            kind: text("type").filter(|kind| kind != "error"),
            message: text("message").or_else(|| text("detail")),
            param: text("param"),
            resets_at: number("resets_at"),
        }
    }

    /// The class that the code or the type names, whatever the status is.
    fn named_class(&self) -> Option<ErrorClass> {
        let names = [self.code.as_deref(), self.kind.as_deref()];
        names.into_iter().flatten().find_map(|name| match name {
            "context_length_exceeded" | "exceed_context_size_error" => {
                Some(ErrorClass::ContextWindow)
            }
            "insufficient_quota" | "usage_not_included" | "usage_limit_reached" => {
                Some(ErrorClass::Quota {
                    resets_at: self.resets_at,
                })
            }
            "invalid_prompt" => Some(ErrorClass::InvalidPrompt),
            "cyber_policy" => Some(ErrorClass::Policy),
            "server_is_overloaded" => Some(ErrorClass::Overloaded),
            _ => None,
        })
    }

    /// Local servers name the full window only in words.
    fn speaks_of_window(&self) -> bool {
        let message = self.message.as_deref().unwrap_or("").to_ascii_lowercase();
        ["maximum context length", "context window", "context size"]
            .iter()
            .any(|words| message.contains(words))
    }

    /// An error that came inside a stream.
    pub(super) fn into_stream_error(self) -> ModelError {
        let named = self.named_class();
        let by_code = || match self.code.as_deref().or(self.kind.as_deref()) {
            Some("rate_limit_exceeded" | "slow_down" | "rate_limit_error") => {
                ErrorClass::RateLimited
            }
            _ => ErrorClass::Server,
        };
        let class = named.unwrap_or_else(by_code);
        let message = self.describe(&class, "the response failed");
        let asked = self.message.as_deref().and_then(delay::from_message);
        ModelError::new(class, Phase::Stream, message)
            .with_retry_after(asked)
            .with_code(self.code.or(self.kind))
            .with_param(self.param)
    }

    /// The class in our words, and the server's own message.
    fn describe(&self, class: &ErrorClass, otherwise: &str) -> String {
        let ours = match class {
            ErrorClass::ContextWindow => "the conversation ran out of room in the context window",
            ErrorClass::Overloaded => "the selected model is at capacity",
            ErrorClass::Quota { .. } => "the usage limit is reached",
            ErrorClass::InvalidPrompt => "the provider refuses the conversation",
            ErrorClass::Policy => "the provider's policy forbids this request",
            ErrorClass::InvalidRequest
            | ErrorClass::Authentication
            | ErrorClass::NotFound
            | ErrorClass::Incomplete { .. }
            | ErrorClass::RateLimited
            | ErrorClass::Server
            | ErrorClass::Connect
            | ErrorClass::Tls
            | ErrorClass::Redirect
            | ErrorClass::Protocol
            | ErrorClass::Stream
            | ErrorClass::Idle
            | ErrorClass::Script => otherwise,
        };
        let mut message = ours.to_owned();
        if let ErrorClass::Quota {
            resets_at: Some(seconds),
        } = class
            && let Ok(time) = jiff::Timestamp::from_second(*seconds)
        {
            message = format!("{message} until {time}");
        }
        match (&self.message, self.code.as_ref().or(self.kind.as_ref())) {
            (Some(theirs), _) => format!("{message}: {theirs}"),
            (None, Some(code)) => format!("{message}: `{code}`"),
            (None, None) => message,
        }
    }
}

/// An HTTP answer that is no stream of events.
pub(super) struct Refusal<'a> {
    pub(super) provider: &'a str,
    pub(super) status: u16,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a str,
}

impl Refusal<'_> {
    pub(super) fn into_error(self, now: SystemTime) -> ModelError {
        let server = ServerError::from_json(self.body);
        let class = self.class(&server);
        let otherwise = self.otherwise(&class);
        let message = server.describe(&class, &otherwise);
        let asked = matches!(self.status, 429 | 503).then(|| self.delay(&server, now));
        ModelError::new(class, Phase::Request, message)
            .with_status(self.status)
            .with_retry_after(asked.flatten())
            .with_code(server.code.or(server.kind))
            .with_param(server.param)
    }

    fn class(&self, server: &ServerError) -> ErrorClass {
        if let Some(class) = server.named_class() {
            return class;
        }
        match self.status {
            200..=299 => ErrorClass::Protocol,
            300..=399 => ErrorClass::Redirect,
            400 | 413 if server.speaks_of_window() => ErrorClass::ContextWindow,
            401 | 403 | 407 => ErrorClass::Authentication,
            402 => ErrorClass::Quota {
                resets_at: server.resets_at,
            },
            404 => ErrorClass::NotFound,
            429 => ErrorClass::RateLimited,
            503 if server.code.as_deref() == Some("slow_down") => ErrorClass::Overloaded,
            // Conflicts, timeouts and faults pass; all else that begins with 4 does not.
            408 | 409 | 425 | 500.. => ErrorClass::Server,
            _ => ErrorClass::InvalidRequest,
        }
    }

    fn otherwise(&self, class: &ErrorClass) -> String {
        let Self {
            provider, status, ..
        } = self;
        let header = |name| self.headers.get(name).and_then(|value| value.to_str().ok());
        if *class == ErrorClass::Redirect {
            let target = header(LOCATION).and_then(|text| Url::parse(text).ok());
            let target = target.map_or_else(|| "elsewhere".to_owned(), |url| shown(&url));
            return format!(
                "`{provider}` redirects the request ({status}) to `{target}`; the key and the conversation are not sent on"
            );
        }
        if *class == ErrorClass::Protocol {
            return format!("`{provider}` answered with something else than a stream of events");
        }
        let reason = reqwest::StatusCode::from_u16(*status)
            .ok()
            .and_then(|status| status.canonical_reason());
        match reason {
            Some(reason) => format!("`{provider}` answered {status} {reason}"),
            None => format!("`{provider}` answered {status}"),
        }
    }

    fn delay(&self, server: &ServerError, now: SystemTime) -> Option<std::time::Duration> {
        let header = |name: &str| self.headers.get(name)?.to_str().ok();
        delay::from_headers(header, now)
            .or_else(|| server.message.as_deref().and_then(delay::from_message))
    }
}

/// A request that got no answer.
pub(super) fn transport(error: &reqwest::Error, url: &Url) -> ModelError {
    let url = shown(url);
    let cause = root_cause(error);
    let (class, attempted) = if is_tls(error) {
        (ErrorClass::Tls, "no trusted connection to")
    } else if error.is_connect() {
        (ErrorClass::Connect, "cannot connect to")
    } else {
        (ErrorClass::Server, "no answer from")
    };
    ModelError::new(
        class,
        Phase::Request,
        format!("{attempted} `{url}`: {cause}"),
    )
}

/// The innermost cause, which is the one that says something.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let innermost = causes(error).last().unwrap_or(error);
    innermost.to_string()
}

fn is_tls(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        matches!(
            cause.downcast_ref(),
            Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
        )
    })
}

/// An error and its causes. An I/O error that wraps another one hides it from `source`.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        let wrapped = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        match wrapped {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
