//! Models and how to reach them: the Responses API over HTTP, and scripted models for
//! demonstrations and tests.
//!
//! A provider makes one request and hands out one stream of events. It never retries: how often
//! and after how long a request is made again is decided by [`RetryState`], which the session
//! asks, so that every retry is seen. Nothing here knows the session, the tools or the disk.

mod body;
mod error;
mod event;
mod hint;
mod provider;
mod request;
mod responses;
mod retry;
mod scripted;
mod settings;

pub use error::{ErrorClass, ModelError, Phase};
pub use event::{ModelEvent, ModelStream};
pub use provider::ModelProvider;
pub use request::{ModelRequest, render_body};
pub use responses::ResponsesProvider;
pub use retry::{Retry, RetryState};
pub use scripted::{ScriptError, ScriptedProvider};
pub use settings::{ProviderSettings, Secret};
