//! Why a model did not answer, in the classes that a caller treats differently.
//!
//! The message is complete in itself (it names the cause) and safe to show: what a server said
//! is cut to a bounded length and freed of control characters.

pub(crate) mod delay;

use std::time::Duration;

/// Longest message, in characters. Servers send whole web pages.
const MAX_MESSAGE_CHARS: usize = 1_000;
/// The shortest key that is taken out of messages, in bytes.
const MIN_SECRET_BYTES: usize = 8;

/// What kind of failure it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorClass {
    /// The provider refuses the request as it is (400, 422 and the like).
    InvalidRequest,
    /// The key is missing, wrong, or not allowed to do this (401, 403).
    Authentication,
    /// There is no such model or no such API (404).
    NotFound,
    /// The conversation does not fit the model's context window.
    ContextWindow,
    /// The account has nothing left to spend.
    Quota {
        /// When it will have again, in seconds since 1970, if the provider said so.
        resets_at: Option<i64>,
    },
    /// The provider refuses what the conversation says.
    InvalidPrompt,
    /// The provider refuses the subject.
    Policy,
    /// The model is at capacity.
    Overloaded,
    /// The answer was ended early, and is not worth a repetition as it is.
    Incomplete {
        /// The provider's reason, for instance `max_output_tokens`.
        reason: String,
    },
    /// Too many requests.
    RateLimited,
    /// A fault of the provider.
    Server,
    /// There is no connection.
    Connect,
    /// There is no trusted connection.
    Tls,
    /// The provider points elsewhere. A request with a key and a conversation is not sent on.
    Redirect,
    /// What answers is not the expected API.
    Protocol,
    /// The answer broke off.
    Stream,
    /// Nothing arrived for too long.
    Idle,
    /// A scripted model has nothing (more) to say.
    Script,
}

/// How far the request had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// There was no answer yet.
    Request,
    /// The answer had begun.
    Stream,
}

/// Why there is no (complete) answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.details.message)]
pub struct ModelError {
    details: Box<Details>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    class: ErrorClass,
    phase: Phase,
    message: String,
    hint: Option<String>,
    retry_after: Option<Duration>,
    status: Option<u16>,
    code: Option<String>,
    param: Option<String>,
}

impl ModelError {
    /// An error. The message is sanitised and bounded.
    pub fn new(class: ErrorClass, phase: Phase, message: impl AsRef<str>) -> Self {
        Self {
            details: Box::new(Details {
                class,
                phase,
                message: sanitise(message.as_ref()),
                hint: None,
                retry_after: None,
                status: None,
                code: None,
                param: None,
            }),
        }
    }

    /// What kind of failure it is.
    pub fn class(&self) -> &ErrorClass {
        &self.details.class
    }

    /// How far the request had come.
    pub fn phase(&self) -> Phase {
        self.details.phase
    }

    /// Whether the same request may succeed later. How often is [`crate::RetryState`]'s to say.
    pub fn is_retryable(&self) -> bool {
        match self.class() {
            ErrorClass::RateLimited
            | ErrorClass::Server
            | ErrorClass::Connect
            | ErrorClass::Stream
            | ErrorClass::Idle => true,
            // Before an answer it passes soon; a failed answer says that it will not.
            ErrorClass::Overloaded => self.phase() == Phase::Request,
            ErrorClass::Incomplete { .. } => self.is_content_filter(),
            ErrorClass::InvalidRequest
            | ErrorClass::Authentication
            | ErrorClass::NotFound
            | ErrorClass::ContextWindow
            | ErrorClass::Quota { .. }
            | ErrorClass::InvalidPrompt
            | ErrorClass::Policy
            | ErrorClass::Tls
            | ErrorClass::Redirect
            | ErrorClass::Protocol
            | ErrorClass::Script => false,
        }
    }

    /// How long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.details.retry_after
    }

    /// The HTTP status, when the answer had another than success.
    pub fn status(&self) -> Option<u16> {
        self.details.status
    }

    /// The provider's own error code.
    pub fn code(&self) -> Option<&str> {
        self.details.code.as_deref()
    }

    /// The part of the request that the provider refuses, for instance `input[3]`.
    pub fn param(&self) -> Option<&str> {
        self.details.param.as_deref()
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        self.details.hint.clone()
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: Option<String>) -> Self {
        self.details.hint = hint.map(|hint| sanitise(&hint));
        self
    }

    /// Adds how long to wait.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Option<Duration>) -> Self {
        self.details.retry_after = delay;
        self
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.details.status = Some(status);
        self
    }

    /// Adds the provider's code.
    #[must_use]
    pub fn with_code(mut self, code: Option<String>) -> Self {
        self.details.code = code.map(|code| sanitise(&code));
        self
    }

    /// Adds the part of the request that is refused.
    #[must_use]
    pub fn with_param(mut self, param: Option<String>) -> Self {
        self.details.param = param.map(|param| sanitise(&param));
        self
    }

    /// The same without a secret that the server may have repeated. A very short one is no
    /// secret, and taking it out would only spoil the words.
    pub(crate) fn without_secret(mut self, secret: &str) -> Self {
        if secret.len() >= MIN_SECRET_BYTES {
            let details = &mut *self.details;
            details.message = details.message.replace(secret, "[key]");
            for text in [&mut details.code, &mut details.param]
                .into_iter()
                .flatten()
            {
                *text = text.replace(secret, "[key]");
            }
        }
        self
    }

    /// Whether the provider's filter ended the answer; another attempt often passes it.
    pub(crate) fn is_content_filter(&self) -> bool {
        matches!(self.class(), ErrorClass::Incomplete { reason } if reason == "content_filter")
    }
}

/// Makes foreign text safe to show: one line, no control or direction characters, bounded.
pub(crate) fn sanitise(text: &str) -> String {
    let mut clean = String::with_capacity(text.len().min(MAX_MESSAGE_CHARS));
    let mut length = 0;
    for character in text.trim().chars() {
        if length == MAX_MESSAGE_CHARS {
            clean.push('…');
            break;
        }
        let replacement = match character {
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => continue,
            character if character.is_control() => ' ',
            character => character,
        };
        if replacement == ' ' && (clean.is_empty() || clean.ends_with(' ')) {
            continue;
        }
        clean.push(replacement);
        length += 1;
    }
    clean
}

#[cfg(test)]
mod tests;
