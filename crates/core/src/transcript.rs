//! What happened in a session before it was resumed, as people see it.

use std::collections::HashMap;

use agent_protocol::{
    CallId, ContentPart, ItemStatus, OutputPayload, ReasoningPart, ResponseItem, Role, TurnItem,
};
use agent_rollout::LoadedItem;

use crate::router::ToolRouter;
use crate::tool::{PreparedCall, ToolPayload};

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptEntry {
    /// What the user said.
    User {
        /// The text.
        text: String,
        /// How many images came with it.
        n_images: usize,
    },
    /// A step of a turn.
    Item(TurnItem),
}

/// The entries of a conversation. Texts that the program put there are left out, and so are
/// calls that cannot be read any more.
pub(crate) fn transcript(items: &[LoadedItem], router: &ToolRouter) -> Vec<TranscriptEntry> {
    let mut transcript = Transcript {
        router,
        entries: Vec::new(),
        open: HashMap::new(),
    };
    for loaded in items {
        if loaded.metadata.fragment.is_none()
            && let Ok(item) = serde_json::from_str(loaded.item.json())
        {
            transcript.take(item);
        }
    }
    transcript.entries
}

struct Transcript<'a> {
    router: &'a ToolRouter,
    entries: Vec<TranscriptEntry>,
    /// Calls without an output so far, and which entry shows them.
    open: HashMap<CallId, (usize, Box<dyn PreparedCall>)>,
}

impl Transcript<'_> {
    fn take(&mut self, item: ResponseItem) {
        match item {
            ResponseItem::Message { role, content, .. } => self.message(role, &content),
            ResponseItem::Reasoning { summary, .. } => {
                let texts = summary.iter().filter_map(|part| match part {
                    ReasoningPart::SummaryText { text } | ReasoningPart::Text { text } => {
                        Some(text.as_str())
                    }
                    ReasoningPart::ReasoningText { .. } | ReasoningPart::Unknown => None,
                });
                let text = texts.collect::<Vec<_>>().join("\n\n");
                if !text.is_empty() {
                    self.push(TurnItem::Reasoning { text });
                }
            }
            ResponseItem::FunctionCall {
                call_id,
                name,
                arguments,
                ..
            } => self.call(call_id, &name, &ToolPayload::Function { arguments }),
            ResponseItem::CustomToolCall {
                call_id,
                name,
                input,
                ..
            } => self.call(call_id, &name, &ToolPayload::Custom { input }),
            ResponseItem::FunctionCallOutput {
                call_id, output, ..
            }
            | ResponseItem::CustomToolCallOutput {
                call_id, output, ..
            } => self.output(&call_id, &output),
            ResponseItem::Unknown => {}
        }
    }

    fn push(&mut self, item: TurnItem) {
        self.entries.push(TranscriptEntry::Item(item));
    }

    fn message(&mut self, role: Role, content: &[ContentPart]) {
        let text = |part: &ContentPart| match part {
            ContentPart::InputText { text } | ContentPart::OutputText { text } => {
                Some(text.clone())
            }
            ContentPart::Refusal { refusal } => Some(refusal.clone()),
            ContentPart::InputImage { .. } | ContentPart::Unknown => None,
        };
        let is_image = |part: &&ContentPart| matches!(part, ContentPart::InputImage { .. });
        let n_images = content.iter().filter(is_image).count();
        let text: String = content.iter().filter_map(text).collect();
        match role {
            Role::Assistant => self.push(TurnItem::AgentMessage { text }),
            Role::User => self.entries.push(TranscriptEntry::User { text, n_images }),
            Role::System | Role::Developer => {}
        }
    }

    fn call(&mut self, call_id: CallId, name: &str, payload: &ToolPayload) {
        let Ok(call) = self.router.prepare(name, payload) else {
            return;
        };
        if let Some(item) = call.item(ItemStatus::Failed) {
            self.open.insert(call_id, (self.entries.len(), call));
            self.push(item);
        }
    }

    fn output(&mut self, call_id: &CallId, output: &OutputPayload) {
        let (Some((index, call)), OutputPayload::Text(text)) = (self.open.remove(call_id), output)
        else {
            return;
        };
        if let (Some(item), Some(entry)) = (call.replayed(text), self.entries.get_mut(index)) {
            *entry = TranscriptEntry::Item(item);
        }
    }
}
