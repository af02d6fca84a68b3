//! Calls that the model is still writing, and what people are told of them meanwhile.
//!
//! Deltas are many and small; what they come to is told ten times a second at most, and once more
//! when the call is whole. A draft is no step: it is gone when its call is whole, and when the
//! answer ends or breaks off.

use std::time::Duration;

use agent_protocol::{CallId, ResponseItem};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::events::{EventSink, ItemEvents};
use crate::tool::CallDraft;

/// How often news are told.
const PERIOD: Duration = Duration::from_millis(100);

/// How many calls are followed at a time; others are told when they are whole.
const MAX_DRAFTS: usize = 16;

/// The calls of an answer that are being written.
pub(super) struct Drafts {
    open: Vec<Draft>,
    sink: EventSink,
    /// Runs from the first news on, which are told at once.
    clock: Interval,
    is_begun: bool,
}

/// A call that is being written.
struct Draft {
    item_id: Option<String>,
    call_id: Option<CallId>,
    call: Box<dyn CallDraft>,
    has_news: bool,
    /// Once something of it was told.
    events: Option<ItemEvents>,
}

impl Drafts {
    /// For one answer. Needs a runtime with a clock.
    pub(super) fn new(sink: &EventSink) -> Self {
        let mut clock = interval(PERIOD);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            open: Vec::new(),
            sink: sink.clone(),
            clock,
            is_begun: false,
        }
    }

    /// A call begins to be written.
    pub(super) fn begin(
        &mut self,
        item_id: Option<String>,
        call_id: Option<CallId>,
        call: Box<dyn CallDraft>,
    ) {
        if self.open.len() < MAX_DRAFTS {
            self.open.push(Draft {
                item_id,
                call_id,
                call,
                has_news: false,
                events: None,
            });
        }
    }

    /// More of a call. Where the provider does not say of which, it is that of the newest.
    pub(super) fn push(&mut self, item_id: Option<&str>, delta: &str) {
        let mut open = self.open.iter_mut().rev();
        let draft = open.find(|draft| item_id.is_none() || draft.item_id.as_deref() == item_id);
        if let Some(draft) = draft {
            draft.has_news |= draft.call.push(delta);
        }
    }

    /// Whether there is something to tell.
    pub(super) fn have_news(&self) -> bool {
        self.open.iter().any(|draft| draft.has_news)
    }

    /// Waits until it is time to tell something again.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub(super) async fn time_to_tell(&mut self) {
        if self.is_begun {
            self.clock.tick().await;
        }
    }

    /// Tells the news.
    pub(super) async fn tell(&mut self) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.clock.reset();
        }
        for draft in &mut self.open {
            draft.tell(&self.sink).await;
        }
    }

    /// A call is whole: it is told to its end, and from now on by its own step.
    pub(super) async fn end(&mut self, item: &ResponseItem) {
        let (ResponseItem::FunctionCall { id, call_id, .. }
        | ResponseItem::CustomToolCall { id, call_id, .. }) = item
        else {
            return;
        };
        let is_it = |draft: &Draft| {
            (id.is_some() && draft.item_id == *id) || draft.call_id.as_ref() == Some(call_id)
        };
        let index = self.open.iter().position(is_it);
        if let Some(index) = index {
            let mut draft = self.open.remove(index);
            draft.tell(&self.sink).await;
            draft.discard().await;
        }
    }

    /// None of them is written any further.
    pub(super) async fn discard(&mut self) {
        for draft in self.open.drain(..) {
            draft.discard().await;
        }
    }
}

impl Draft {
    async fn tell(&mut self, sink: &EventSink) {
        if std::mem::take(&mut self.has_news) {
            let events = self.events.get_or_insert_with(|| sink.item());
            events.writing(self.call.edit()).await;
        }
    }

    async fn discard(self) {
        if let Some(events) = self.events {
            events.discarded().await;
        }
    }
}
