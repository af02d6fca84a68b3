//! What a model sends, whichever provider it comes from.

use std::fmt;
use std::pin::Pin;

use agent_protocol::{CallForm, CallId, ResponseItem, SerializedItem, TokenUsage};
use futures_util::{Stream, StreamExt};

use crate::{ErrorClass, ModelError, Phase};

/// One event of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// The provider has begun to answer.
    Created {
        /// The provider's id of the answer.
        response_id: Option<String>,
    },
    /// A message begins.
    MessageStarted,
    /// More of the message.
    MessageDelta {
        /// What to append.
        text: String,
    },
    /// Another paragraph of the reasoning summary begins.
    ReasoningPartAdded,
    /// More of the reasoning summary.
    ReasoningDelta {
        /// What to append.
        text: String,
    },
    /// More of the raw reasoning, which only some providers send.
    RawReasoningDelta {
        /// What to append.
        text: String,
    },
    /// A tool call begins. Not every provider says so.
    ToolCallStarted {
        /// The provider's id of the item, which its deltas carry.
        item_id: Option<String>,
        /// The id of the call, where it is known by now.
        call_id: Option<CallId>,
        /// The tool.
        name: String,
        /// What its deltas are pieces of: JSON or free text.
        form: CallForm,
    },
    /// More of the arguments or the text of a tool call; only good for showing progress.
    ToolInputDelta {
        /// The item that it belongs to, where the provider says so.
        item_id: Option<String>,
        /// What to append.
        text: String,
    },
    /// An item is finished.
    ItemDone {
        /// What this version understands of it.
        item: ResponseItem,
        /// The provider's own text, to be kept and sent back untouched.
        serialized: SerializedItem,
    },
    /// The answer is complete. It is the last event.
    Completed {
        /// The provider's id of the answer.
        response_id: Option<String>,
        /// What it cost, if the provider said so.
        usage: Option<TokenUsage>,
    },
}

/// The events of one answer.
pub struct ModelStream {
    events: Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>,
    ended: bool,
}

impl ModelStream {
    /// Wraps the events of a provider.
    pub fn new(
        events: impl Stream<Item = Result<ModelEvent, ModelError>> + Send + 'static,
    ) -> Self {
        Self {
            events: Box::pin(events),
            ended: false,
        }
    }

    /// Adds to the errors of the stream what only the provider knows.
    pub(crate) fn map_errors(
        self,
        mut change: impl FnMut(ModelError) -> ModelError + Send + 'static,
    ) -> Self {
        Self::new(self.events.map(move |event| event.map_err(&mut change)))
    }

    /// The next event. The last one is [`ModelEvent::Completed`] or an error; after it comes
    /// `None`. An answer that just stops is an error.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        if self.ended {
            return None;
        }
        let event = self.events.next().await.unwrap_or_else(|| {
            Err(ModelError::new(
                ErrorClass::Stream,
                Phase::Stream,
                "stream closed before response.completed",
            ))
        });
        self.ended = matches!(event, Ok(ModelEvent::Completed { .. }) | Err(_));
        Some(event)
    }
}

impl fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelStream")
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
