//! The order of items in a request.
//!
//! Outputs are recorded as their calls finish. In a request, those of one response follow the
//! response in the order of its calls. Items carry the number of their response, so the order
//! is the same live and after a resume, and a request always begins with the one before: a
//! response's outputs are all there before the next request is made.

use std::collections::HashMap;

use agent_protocol::{CallId, ItemKind, SerializedItem};

use super::Entry;

/// Puts outputs behind the response of their calls, in the order of the calls. Items without a
/// response number (messages of the user, sessions of other programs) stay where they are.
pub(super) fn in_call_order(entries: &[Entry]) -> Vec<SerializedItem> {
    let mut outputs: HashMap<&CallId, &SerializedItem> = HashMap::new();
    for entry in entries {
        if let (ItemKind::Output { call_id, .. }, Some(_)) =
            (entry.item.kind(), entry.metadata.response)
        {
            outputs.insert(call_id, &entry.item);
        }
    }
    let mut ordered = Vec::with_capacity(entries.len());
    let mut group = Group::default();
    for entry in entries {
        match (entry.item.kind(), entry.metadata.response) {
            (ItemKind::Output { .. }, Some(_)) => {}
            (kind, response) => {
                if group.response != response {
                    group.close(&outputs, &mut ordered);
                    group.response = response;
                }
                if let (ItemKind::Call { call_id, .. }, Some(_)) = (kind, response) {
                    group.calls.push(call_id);
                }
                ordered.push(entry.item.clone());
            }
        }
    }
    group.close(&outputs, &mut ordered);
    ordered
}

/// The calls of the response that is being gone through.
#[derive(Default)]
struct Group<'a> {
    response: Option<u64>,
    calls: Vec<&'a CallId>,
}

impl Group<'_> {
    fn close(
        &mut self,
        outputs: &HashMap<&CallId, &SerializedItem>,
        ordered: &mut Vec<SerializedItem>,
    ) {
        for call_id in self.calls.drain(..) {
            if let Some(output) = outputs.get(call_id) {
                ordered.push((*output).clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
