//! The way from the session to its faces: numbered envelopes in a bounded channel.

use std::sync::{Arc, Mutex, PoisonError};

use agent_protocol::{
    EditDraft, Envelope, Event, ItemDelta, ItemEvent, ItemId, NoticeEvent, ThreadId, TurnEvent,
    TurnId, TurnItem,
};
use tokio::sync::mpsc;

/// Events that may wait for a face before the session waits too.
pub(crate) const CHANNEL_CAPACITY: usize = 1024;

/// Sends events. Cheap to clone; all clones number their events together.
#[derive(Clone)]
pub(crate) struct EventSink {
    sender: mpsc::Sender<Envelope>,
    thread_id: ThreadId,
    turn_id: Option<TurnId>,
    counters: Arc<Mutex<Counters>>,
}

#[derive(Default)]
struct Counters {
    next_seq: u64,
    next_item: u64,
}

impl EventSink {
    pub(crate) fn new(thread_id: ThreadId, sender: mpsc::Sender<Envelope>) -> Self {
        Self {
            sender,
            thread_id,
            turn_id: None,
            counters: Arc::default(),
        }
    }

    /// Sends to nobody.
    pub(crate) fn to_nobody() -> Self {
        let (sender, _) = mpsc::channel(1);
        Self::new(ThreadId(uuid::Uuid::nil()), sender)
    }

    /// The same, for events of a turn.
    pub(crate) fn for_turn(&self, turn_id: TurnId) -> Self {
        Self {
            turn_id: Some(turn_id),
            ..self.clone()
        }
    }

    /// Sends one event. When the face is gone, nobody misses it.
    pub(crate) async fn emit(&self, event: Event) {
        self.send(None, event).await;
    }

    pub(crate) async fn turn(&self, event: TurnEvent) {
        self.emit(Event::Turn(event)).await;
    }

    pub(crate) async fn warn(&self, message: impl Into<String>) {
        self.emit(Event::Notice(NoticeEvent::Warning {
            message: message.into(),
        }))
        .await;
    }

    /// A new step, which is not shown yet.
    pub(crate) fn item(&self) -> ItemEvents {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let id = ItemId(counters.next_item);
        counters.next_item += 1;
        drop(counters);
        ItemEvents {
            sink: self.clone(),
            id,
        }
    }

    async fn send(&self, item_id: Option<ItemId>, event: Event) {
        let Ok(permit) = self.sender.reserve().await else {
            return;
        };
        // Numbered under the lock and sent in the same breath, so that order and number agree.
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let seq = counters.next_seq;
        counters.next_seq += 1;
        permit.send(Envelope {
            thread_id: self.thread_id,
            turn_id: self.turn_id,
            item_id,
            seq,
            event,
        });
    }
}

/// Sends the events of one step.
#[derive(Clone)]
pub struct ItemEvents {
    sink: EventSink,
    id: ItemId,
}

impl ItemEvents {
    /// The model is still writing the call.
    pub(crate) async fn writing(&self, draft: EditDraft) {
        self.send(ItemEvent::Writing { draft }).await;
    }

    /// It has begun.
    pub async fn started(&self, item: TurnItem) {
        self.send(ItemEvent::Started { item }).await;
    }

    /// It changed.
    pub async fn updated(&self, item: TurnItem) {
        self.send(ItemEvent::Updated { item }).await;
    }

    /// It has ended.
    pub async fn completed(&self, item: TurnItem) {
        self.send(ItemEvent::Completed { item }).await;
    }

    /// It was cut off and counts as not said.
    pub async fn discarded(&self) {
        self.send(ItemEvent::Discarded).await;
    }

    /// A part of it arrived.
    pub async fn delta(&self, delta: ItemDelta) {
        self.send(ItemEvent::Delta { delta }).await;
    }

    async fn send(&self, event: ItemEvent) {
        self.sink.send(Some(self.id), Event::Item(event)).await;
    }
}
