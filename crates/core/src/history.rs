//! The conversation of a session. It only grows, and its items keep the JSON text that they
//! were recorded with.

mod order;
mod repair;

use std::collections::HashMap;

use agent_protocol::{
    CallForm, CallId, FragmentKind, ItemKind, OutputPayload, ResponseItem, SerializedItem,
};
use agent_rollout::{ItemMetadata, LoadedItem};

use order::in_call_order;
pub(crate) use repair::{UnansweredCall, recorded_form};

/// One item and what is known beside it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) item: SerializedItem,
    pub(crate) metadata: ItemMetadata,
}

/// The conversation.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<Entry>,
    calls: HashMap<CallId, CallState>,
}

#[derive(Debug, Clone, Copy)]
struct CallState {
    form: CallForm,
    response: Option<u64>,
    answered: bool,
}

impl History {
    /// Takes the items of a rollout. Outputs that have no call, or a second one for the same
    /// call, are left out, because a strict provider refuses them; they stay in the file.
    pub(crate) fn from_items(items: Vec<LoadedItem>) -> (Self, usize) {
        let mut history = Self::default();
        let mut n_left_out = 0;
        for loaded in items {
            let entry = Entry {
                item: loaded.item,
                metadata: loaded.metadata,
            };
            if history.fits(&entry.item) {
                history.push(entry);
            } else {
                n_left_out += 1;
            }
        }
        (history, n_left_out)
    }

    /// Whether the item keeps the pairing of calls and outputs.
    fn fits(&self, item: &SerializedItem) -> bool {
        match item.kind() {
            ItemKind::Call { call_id, .. } => !self.calls.contains_key(call_id),
            ItemKind::Output { call_id, form } => self
                .calls
                .get(call_id)
                .is_some_and(|call| !call.answered && call.form == *form),
            ItemKind::Message(_) | ItemKind::Reasoning | ItemKind::Other => true,
        }
    }

    /// Appends an item.
    pub(crate) fn push(&mut self, entry: Entry) {
        match entry.item.kind() {
            ItemKind::Call { call_id, form } => {
                let state = CallState {
                    form: *form,
                    response: entry.metadata.response,
                    answered: false,
                };
                self.calls.insert(call_id.clone(), state);
            }
            ItemKind::Output { call_id, .. } => {
                if let Some(call) = self.calls.get_mut(call_id) {
                    call.answered = true;
                }
            }
            ItemKind::Message(_) | ItemKind::Reasoning | ItemKind::Other => {}
        }
        self.entries.push(entry);
    }

    /// All items, in the order in which they were recorded.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The same, given away.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Whether a call of this id is there.
    pub(crate) fn has_call(&self, call_id: &CallId) -> bool {
        self.calls.contains_key(call_id)
    }

    /// The number of the last response.
    pub(crate) fn last_response(&self) -> u64 {
        let responses = self
            .entries
            .iter()
            .filter_map(|entry| entry.metadata.response);
        responses.max().unwrap_or(0)
    }

    /// The text of the last fragment of this kind.
    pub(crate) fn last_fragment(&self, kind: FragmentKind) -> Option<&SerializedItem> {
        let mut entries = self.entries.iter().rev();
        entries
            .find(|entry| entry.metadata.fragment == Some(kind))
            .map(|entry| &entry.item)
    }

    /// Calls that have no output, in their order.
    pub(crate) fn unanswered(&self) -> Vec<UnansweredCall> {
        let calls = self
            .entries
            .iter()
            .filter_map(|entry| match entry.item.kind() {
                ItemKind::Call { call_id, .. } => self.calls.get_key_value(call_id),
                ItemKind::Message(_)
                | ItemKind::Reasoning
                | ItemKind::Output { .. }
                | ItemKind::Other => None,
            });
        calls
            .filter(|(_, state)| !state.answered)
            .map(|(call_id, state)| UnansweredCall {
                call_id: call_id.clone(),
                form: state.form,
                response: state.response,
            })
            .collect()
    }

    /// What a request says: the items, outputs in the order of their calls.
    pub(crate) fn for_request(&self) -> Vec<SerializedItem> {
        in_call_order(&self.entries)
    }
}

impl UnansweredCall {
    /// An output for the call that says why it has none.
    pub(crate) fn output(&self, text: &str) -> (ResponseItem, ItemMetadata) {
        let item = ResponseItem::call_output(
            self.form,
            self.call_id.clone(),
            OutputPayload::Text(text.to_owned()),
        );
        let metadata = ItemMetadata {
            response: self.response,
            fragment: None,
        };
        (item, metadata)
    }
}
