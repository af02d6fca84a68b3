//! The Responses provider against a scripted server.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]
#![expect(
    clippy::needless_raw_string_hashes,
    reason = "expect-test writes them when it updates a text"
)]

mod errors;
mod proxy;
mod requests;
mod stream;
mod tls;

use std::fmt::Write;
use std::time::Duration;

use agent_model::{
    ModelError, ModelEvent, ModelProvider, ModelRequest, ProviderSettings, ResponsesProvider,
};
use agent_test_support::ModelServer;

/// Settings that point to the server.
pub fn settings(server: &ModelServer) -> ProviderSettings {
    let mut settings = ProviderSettings::new("mock", server.base_url());
    settings.stream_idle_timeout = Duration::from_secs(10);
    settings
}

/// A request without history.
pub fn request() -> ModelRequest {
    ModelRequest::new("mock-model", "be brief")
}

/// Asks once, and collects the answer up to its end.
pub async fn ask_all(
    provider: &dyn ModelProvider,
    request: &ModelRequest,
) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    let mut stream = match provider.open(request).await {
        Ok(stream) => stream,
        Err(error) => return (events, Some(error)),
    };
    let mut failure = None;
    while let Some(event) = stream.next().await {
        assert!(failure.is_none(), "nothing follows an error");
        match event {
            Ok(event) => events.push(event),
            Err(error) => failure = Some(error),
        }
    }
    let completed = matches!(events.last(), Some(ModelEvent::Completed { .. }));
    assert!(completed != failure.is_some(), "one of the two ends");
    (events, failure)
}

/// Asks the server once.
pub async fn ask(server: &ModelServer) -> (Vec<ModelEvent>, Option<ModelError>) {
    ask_all(&ResponsesProvider::new(settings(server)), &request()).await
}

/// One line an event.
pub fn show(events: &[ModelEvent]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            ModelEvent::Created { response_id } => writeln!(text, "created {response_id:?}"),
            ModelEvent::MessageStarted => writeln!(text, "message started"),
            ModelEvent::MessageDelta { text: delta } => writeln!(text, "message {delta:?}"),
            ModelEvent::ReasoningPartAdded => writeln!(text, "reasoning part"),
            ModelEvent::ReasoningDelta { text: delta } => writeln!(text, "reasoning {delta:?}"),
            ModelEvent::RawReasoningDelta { text: delta } => writeln!(text, "raw {delta:?}"),
            ModelEvent::ToolCallStarted {
                item_id,
                call_id,
                name,
                form,
            } => {
                let (item, call) = (item_id.as_deref(), call_id.as_ref().map(|id| &id.0));
                writeln!(text, "{form:?} call {name} started: {item:?} {call:?}")
            }
            ModelEvent::ToolInputDelta {
                item_id,
                text: delta,
            } => writeln!(text, "input {:?} {delta:?}", item_id.as_deref()),
            ModelEvent::ItemDone { serialized, .. } => writeln!(text, "item {}", serialized.json()),
            ModelEvent::Completed { usage, response_id } => {
                let tokens = usage.map(|usage| (usage.input_tokens, usage.output_tokens));
                writeln!(text, "completed {response_id:?} {tokens:?}")
            }
        }
        .unwrap();
    }
    text
}

/// The deltas of messages, joined.
pub fn said(events: &[ModelEvent]) -> String {
    let mut said = String::new();
    for event in events {
        if let ModelEvent::MessageDelta { text } = event {
            said.push_str(text);
        }
    }
    said
}

/// Class, phase, whether it is worth a repetition; the message; the hint.
pub fn show_error(error: &ModelError, server: &ModelServer) -> String {
    let mut text = format!("{:?} in {:?}", error.class(), error.phase());
    let retry = if error.is_retryable() {
        "retryable"
    } else {
        "final"
    };
    write!(text, ", {retry}").unwrap();
    if let Some(delay) = error.retry_after() {
        write!(text, " after {delay:?}").unwrap();
    }
    if let Some(param) = error.param() {
        write!(text, ", param {param}").unwrap();
    }
    write!(text, "\n{error}").unwrap();
    if let Some(hint) = error.hint() {
        write!(text, "\nhint: {hint}").unwrap();
    }
    text.replace(&server.base_url(), "URL")
}
