//! The events of the Responses API, read into those of any model.
//!
//! A delta is read by one pass over its text, without a tree of values. What cannot be read and
//! what is not known is skipped: servers add kinds all the time.

use std::borrow::Cow;
use std::fmt::Display;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agent_protocol::{CallForm, CallId, ResponseItem, SerializedItem, TokenUsage};
use bytes::Bytes;
use futures_util::{FutureExt, Stream};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Sleep, sleep};

use super::classify::{self, ServerError};
use super::lenient;
use super::sse::{SseError, SseStream};
use crate::{ErrorClass, ModelError, ModelEvent, ModelStream, Phase};

/// How long the last event waits for the end of the body, which lets the connection be used again.
const END_GRACE: Duration = Duration::from_millis(10);

/// The events in the body of an answer.
pub(super) fn stream<E: Display + std::error::Error + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    idle: Duration,
) -> ModelStream {
    ModelStream::new(Events {
        sse: SseStream::new(bytes, idle),
        last: None,
    })
}

struct Events<S> {
    sse: SseStream<S>,
    /// The last event, and until when it waits for the end of the body.
    last: Option<(ModelEvent, Pin<Box<Sleep>>)>,
}

impl<S, E> Events<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    /// Whether nothing follows, or too late.
    fn is_at_end(&mut self, cx: &mut Context<'_>) -> bool {
        while let Poll::Ready(after) = Pin::new(&mut self.sse).poll_next(cx) {
            if !matches!(after, Some(Ok(_))) {
                return true;
            }
        }
        let grace = self.last.as_mut();
        grace.is_none_or(|(_, grace)| grace.poll_unpin(cx).is_ready())
    }
}

impl<S, E> Stream for Events<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Display + std::error::Error + 'static,
{
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.last.is_some() {
                if !self.is_at_end(cx) {
                    return Poll::Pending;
                }
                let last = self.last.take();
                return Poll::Ready(last.map(|(event, _)| Ok(event)));
            }
            let event = match ready!(Pin::new(&mut self.sse).poll_next(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(broken(&error)))),
                Some(Ok(event)) => event,
            };
            match read(&event.event, &event.data).transpose() {
                Some(Ok(event @ ModelEvent::Completed { .. })) => {
                    self.last = Some((event, Box::pin(sleep(END_GRACE))));
                }
                Some(event) => return Poll::Ready(Some(event)),
                None => {}
            }
        }
    }
}

fn broken<E: Display + std::error::Error + 'static>(error: &SseError<E>) -> ModelError {
    let stream = |message: String| ModelError::new(ErrorClass::Stream, Phase::Stream, message);
    match error {
        SseError::Transport(error) => {
            let cause = classify::root_cause(error);
            stream(format!("the answer broke off: {cause}"))
        }
        SseError::Idle(idle) => ModelError::new(
            ErrorClass::Idle,
            Phase::Stream,
            format!("nothing arrived for {idle:?} while the model was answering"),
        ),
        SseError::TooLong => ModelError::new(
            ErrorClass::Protocol,
            Phase::Stream,
            format!("unreadable answer: {error}"),
        ),
        SseError::Malformed(_) => stream(format!("unreadable answer: {error}")),
    }
}

/// The parts of an event that any kind of interest has.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    delta: Option<String>,
    /// Read only where it is used, so that an odd one spoils no other event.
    #[serde(borrow, default)]
    item_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireResponse<'a> {
    id: Option<String>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<&'a RawValue>,
}

/// Reads one event. `None` is one that says nothing to us.
fn read(name: &str, data: &str) -> Result<Option<ModelEvent>, ModelError> {
    let wire: Wire<'_> = match serde_json::from_str(data) {
        Ok(wire) => wire,
        Err(error) => {
            tracing::debug!(name, %error, "unreadable event skipped");
            return Ok(None);
        }
    };
    // Some servers name the kind only beside the data.
    let kind = if wire.kind.is_empty() {
        name
    } else {
        &wire.kind
    };
    let event = match kind {
        "response.output_text.delta" | "response.refusal.delta" => {
            wire.delta.map(|text| ModelEvent::MessageDelta { text })
        }
        "response.reasoning_summary_text.delta" => {
            wire.delta.map(|text| ModelEvent::ReasoningDelta { text })
        }
        "response.reasoning_text.delta" => wire
            .delta
            .map(|text| ModelEvent::RawReasoningDelta { text }),
        "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
            let item_id = wire.item_id.and_then(text_of);
            wire.delta
                .map(|text| ModelEvent::ToolInputDelta { item_id, text })
        }
        "response.reasoning_summary_part.added" => Some(ModelEvent::ReasoningPartAdded),
        "response.created" => Some(ModelEvent::Created {
            response_id: response(wire.response).id,
        }),
        "response.output_item.added" => wire.item.and_then(started),
        "response.output_item.done" => wire.item.and_then(finished),
        "response.completed" | "response.done" => {
            let response = response(wire.response);
            Some(ModelEvent::Completed {
                usage: response.usage.and_then(usage),
                response_id: response.id,
            })
        }
        "response.failed" => return Err(failed(response(wire.response).error)),
        "response.incomplete" => {
            return Err(incomplete(response(wire.response).incomplete_details));
        }
        // Two forms are seen: the fields in `error`, and the fields at the top.
        "error" => return Err(failed_text(wire.error.map_or(data, RawValue::get))),
        _ => {
            tracing::trace!(kind, "event skipped");
            None
        }
    };
    Ok(event)
}

fn response(raw: Option<&RawValue>) -> WireResponse<'_> {
    let parsed = raw.map(|raw| serde_json::from_str(raw.get()));
    parsed.and_then(Result::ok).unwrap_or_default()
}

fn started(raw: &RawValue) -> Option<ModelEvent> {
    #[derive(Deserialize)]
    struct Started<'a> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'a, str>,
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        call_id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        name: Option<&'a RawValue>,
    }
    let item: Started<'_> = serde_json::from_str(raw.get()).ok()?;
    let form = match &*item.kind {
        "message" => return Some(ModelEvent::MessageStarted),
        "function_call" => CallForm::Function,
        "custom_tool_call" => CallForm::Custom,
        _ => return None,
    };
    Some(ModelEvent::ToolCallStarted {
        item_id: item.id.and_then(text_of),
        call_id: item.call_id.and_then(text_of).map(CallId),
        name: item.name.and_then(text_of)?,
        form,
    })
}

/// The text of a JSON string that says something.
fn text_of(raw: &RawValue) -> Option<String> {
    let text: String = serde_json::from_str(raw.get()).ok()?;
    (!text.is_empty()).then_some(text)
}

fn finished(raw: &RawValue) -> Option<ModelEvent> {
    let item: ResponseItem = match serde_json::from_str(raw.get()) {
        Ok(item) => item,
        Err(error) => {
            let Some((item, serialized)) = lenient::corrected(raw.get()) else {
                tracing::warn!(%error, "unreadable item skipped");
                return None;
            };
            return Some(ModelEvent::ItemDone { item, serialized });
        }
    };
    Some(ModelEvent::ItemDone {
        serialized: SerializedItem::from_parsed(one_line(raw.get()), &item),
        item,
    })
}

/// Line ends in JSON stand only between its parts; the texts of items are lines of a file.
fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) {
        Cow::Owned(json.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(json)
    }
}

fn usage(raw: &RawValue) -> Option<TokenUsage> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(default)]
        input_tokens: u64,
        #[serde(default)]
        input_tokens_details: Option<InputDetails>,
        #[serde(default)]
        output_tokens: u64,
        #[serde(default)]
        output_tokens_details: Option<OutputDetails>,
    }
    #[derive(Deserialize, Default)]
    struct InputDetails {
        #[serde(default)]
        cached_tokens: Option<u64>,
        #[serde(default, alias = "cache_creation_tokens")]
        cache_write_tokens: Option<u64>,
    }
    #[derive(Deserialize, Default)]
    struct OutputDetails {
        #[serde(default)]
        reasoning_tokens: Option<u64>,
    }
    let wire: Wire = serde_json::from_str(raw.get()).ok()?;
    let input = wire.input_tokens_details.unwrap_or_default();
    let output = wire.output_tokens_details.unwrap_or_default();
    Some(TokenUsage {
        input_tokens: wire.input_tokens,
        cached_input_tokens: input.cached_tokens.unwrap_or(0),
        cache_write_input_tokens: input.cache_write_tokens.unwrap_or(0),
        output_tokens: wire.output_tokens,
        reasoning_output_tokens: output.reasoning_tokens.unwrap_or(0),
    })
}

fn failed(error: Option<&RawValue>) -> ModelError {
    failed_text(error.map_or("null", RawValue::get))
}

fn failed_text(json: &str) -> ModelError {
    ServerError::from_json(json).into_stream_error()
}

fn incomplete(details: Option<&RawValue>) -> ModelError {
    #[derive(Deserialize, Default)]
    struct Details {
        #[serde(default)]
        reason: Option<String>,
    }
    let details: Option<Details> = details.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let reason = details.unwrap_or_default().reason;
    let reason = reason.unwrap_or_else(|| "unknown".to_owned());
    let message = format!("incomplete response returned, reason: {reason}");
    ModelError::new(ErrorClass::Incomplete { reason }, Phase::Stream, message)
}
