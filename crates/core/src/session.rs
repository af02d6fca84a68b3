//! The state of a thread, which one task owns, and how it is recorded.
//!
//! Everything that enters the conversation goes through [`Session::record`]: first to the
//! disk, then to the history.

mod actor;
mod configure;
mod context;
mod doc;
mod record_log;
mod user_command;

use std::path::Path;
use std::sync::Arc;

use agent_protocol::{
    ContentPart, Event, FragmentKind, ItemKind, ResponseItem, Role, SerializedItem, ThreadEvent,
    ThreadInfo, TokenUsage,
};
use agent_rollout::{EventRecord, ItemMetadata, Record};

use crate::commands::CommandSessions;
use crate::consent::Consent;
use crate::environment::Environment;
use crate::events::EventSink;
use crate::history::{Entry, History};
use crate::router::ToolRouter;
use crate::settings::{ThreadSettings, Variables};

pub(crate) use actor::run_actor;
pub(crate) use record_log::RecordLog;

/// What the model is told when an output is missing because the program ended.
const LOST_OUTPUT: &str =
    "aborted: the session ended before this call finished; it may have done part of its work";

/// The state of a thread.
pub(crate) struct Session {
    pub(crate) settings: ThreadSettings,
    pub(crate) history: History,
    pub(crate) log: RecordLog,
    pub(crate) sink: EventSink,
    pub(crate) router: Arc<ToolRouter>,
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) consent: Arc<Consent>,
    pub(crate) commands: Arc<CommandSessions>,
    pub(crate) cache_key: String,
    pub(crate) total_usage: TokenUsage,
    pub(crate) n_responses: u64,
    /// What the provider counted for the last request and its answer.
    pub(crate) last_request_tokens: Option<u64>,
    /// The agent's own environment.
    pub(crate) variables: Variables,
}

impl Session {
    /// Tells the face what the thread is, and what the user should know of it.
    pub(crate) async fn announce(&self, warnings: Vec<String>) {
        let started = ThreadEvent::Started(self.info());
        self.sink.emit(Event::Thread(started)).await;
        for warning in warnings {
            self.sink.warn(warning).await;
        }
    }

    fn info(&self) -> ThreadInfo {
        ThreadInfo {
            rollout_path: self.log.path().map(Path::to_owned),
            ..self.settings.info()
        }
    }

    /// Records an item: to the disk, then to the history.
    pub(crate) async fn record(&mut self, item: SerializedItem, metadata: ItemMetadata) {
        let record = Record::ResponseItem {
            item: &item,
            metadata,
        };
        self.write(&record).await;
        self.history.push(Entry { item, metadata });
    }

    /// Records an item of another session, with the user's words for lists of sessions.
    pub(crate) async fn record_again(&mut self, entry: Entry) {
        let Entry { item, metadata } = entry;
        let is_user = item.kind() == &ItemKind::Message(Role::User);
        if is_user
            && metadata.fragment.is_none()
            && let Ok(ResponseItem::Message { content, .. }) = serde_json::from_str(item.json())
        {
            let message = text_of(&content);
            self.record_event(&EventRecord::UserMessage { message })
                .await;
        }
        self.n_responses = self.n_responses.max(metadata.response.unwrap_or_default());
        self.record(item, metadata).await;
    }

    /// Records an item that this program made.
    pub(crate) async fn record_own(&mut self, item: &ResponseItem, metadata: ItemMetadata) {
        match SerializedItem::render(item) {
            Ok(serialized) => self.record(serialized, metadata).await,
            Err(err) => tracing::error!(error = %err, "an item could not be rendered"),
        }
    }

    /// Records what the user said.
    pub(crate) async fn record_user(&mut self, content: Vec<agent_protocol::ContentPart>) {
        let item = ResponseItem::Message {
            id: None,
            role: Role::User,
            content,
        };
        self.record_own(&item, ItemMetadata::default()).await;
    }

    /// Records a text of this program, unless the last one of its kind says the same.
    pub(crate) async fn record_fragment(&mut self, fragment: &agent_context::Rendered) {
        let Ok(item) = SerializedItem::render(&fragment.item) else {
            return;
        };
        if self.history.last_fragment(fragment.kind) == Some(&item) {
            return;
        }
        self.record_anew(item, fragment.kind).await;
    }

    /// Records a text of this program even when it was said before.
    pub(crate) async fn record_notice(&mut self, fragment: &agent_context::Rendered) {
        if let Ok(item) = SerializedItem::render(&fragment.item) {
            self.record_anew(item, fragment.kind).await;
        }
    }

    async fn record_anew(&mut self, item: SerializedItem, kind: FragmentKind) {
        let metadata = ItemMetadata {
            response: None,
            fragment: Some(kind),
        };
        self.record(item, metadata).await;
    }

    /// Records something that is not part of the conversation.
    pub(crate) async fn record_event(&mut self, event: &EventRecord) {
        self.write(&Record::Event(event)).await;
    }

    pub(crate) async fn write(&mut self, record: &Record<'_>) {
        if let Some(warning) = self.log.append(record) {
            self.sink.warn(warning).await;
        }
    }

    /// Gives every call that has no output one that says why, so that the conversation can be
    /// sent.
    pub(crate) async fn close_open_calls(&mut self, reason: &str) {
        for call in self.history.unanswered() {
            let (item, metadata) = call.output(reason);
            self.record_own(&item, metadata).await;
        }
    }

    /// Makes a conversation that was read from disk fit to be sent.
    pub(crate) async fn repair_after_resume(&mut self) {
        self.close_open_calls(LOST_OUTPUT).await;
        self.commands.number_after(self.history.entries().len());
    }
}

/// The text of a message.
fn text_of(content: &[ContentPart]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        ContentPart::InputText { text } | ContentPart::OutputText { text } => Some(text.as_str()),
        ContentPart::Refusal { .. } | ContentPart::InputImage { .. } | ContentPart::Unknown => None,
    });
    texts.collect()
}
