//! What a provider must be told. The session maps its configuration onto this.

use std::fmt;
use std::time::Duration;

/// A text that must not appear in logs: its `Debug` shows only that it is there.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// One provider of models.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its name in the configuration, for messages.
    pub name: String,
    /// Where its API begins, usually with `/v1` at the end.
    pub base_url: String,
    /// Sent as a bearer token.
    pub api_key: Option<Secret>,
    /// The variable that the key is read from. It is only named in hints.
    pub env_key: Option<String>,
    /// More headers, with their values resolved. They win over our own.
    pub http_headers: Vec<(String, String)>,
    /// Added to the URL.
    pub query_params: Vec<(String, String)>,
    /// How often a request that was not answered is made again.
    pub request_max_retries: u32,
    /// How often a request whose answer broke off is made again.
    pub stream_max_retries: u32,
    /// How long nothing may arrive. Any byte counts as a sign of life, also a keep-alive comment:
    /// a server that sends those is alive and may think for longer than this.
    pub stream_idle_timeout: Duration,
    /// The server takes only tools of type `function`. The provider does not act on it: whoever
    /// makes the list of tools does.
    pub functions_only: bool,
    /// The program that sends the request (header `originator`).
    pub originator: String,
    /// Certificates (DER) that are trusted beside those of the system.
    pub extra_roots: Vec<Vec<u8>>,
}

impl ProviderSettings {
    /// A provider with the default limits, and no key.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            api_key: None,
            env_key: None,
            http_headers: Vec::new(),
            query_params: Vec::new(),
            request_max_retries: 4,
            stream_max_retries: 5,
            stream_idle_timeout: Duration::from_mins(5),
            functions_only: false,
            originator: "agent".to_owned(),
            extra_roots: Vec::new(),
        }
    }
}

impl fmt::Debug for ProviderSettings {
    /// Shows the names of headers and parameters; their values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn names(pairs: &[(String, String)]) -> Vec<&str> {
            pairs.iter().map(|(name, _)| name.as_str()).collect()
        }
        f.debug_struct("ProviderSettings")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .field("api_key", &self.api_key)
            .field("env_key", &self.env_key)
            .field("http_headers", &names(&self.http_headers))
            .field("query_params", &names(&self.query_params))
            .field("request_max_retries", &self.request_max_retries)
            .field("stream_max_retries", &self.stream_max_retries)
            .field("stream_idle_timeout", &self.stream_idle_timeout)
            .field("functions_only", &self.functions_only)
            .field("originator", &self.originator)
            .field("extra_roots", &self.extra_roots.len())
            .finish()
    }
}
