//! Making what a model sent acceptable before it is recorded, because it is sent back with
//! every later request and a strict provider would refuse it each time.

use std::borrow::Cow;

use agent_protocol::{CallForm, CallId, ResponseItem, SerializedItem};
use serde_json::json;

use super::History;

/// A call without an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnansweredCall {
    pub(crate) call_id: CallId,
    pub(crate) form: CallForm,
    pub(crate) response: Option<u64>,
}

/// The longest name of a tool that providers accept.
const MAX_NAME_CHARS: usize = 64;
/// How much of arguments that are no JSON is kept for the model to see.
const MAX_BROKEN_ARGUMENTS: usize = 2_000;

/// A call as it may be recorded: its id is not empty and not used yet, its name has a legal
/// form, its arguments are a JSON object. `None` when nothing had to change.
fn repair_call(item: &ResponseItem, history: &History) -> Option<ResponseItem> {
    match item {
        ResponseItem::FunctionCall {
            id,
            call_id,
            name,
            namespace,
            arguments,
        } => {
            let fresh = fresh_call_id(call_id, history);
            let legal_name = legal_name(name);
            let legal_arguments = legal_arguments(arguments);
            let changed = fresh != *call_id
                || matches!(legal_name, Cow::Owned(_))
                || matches!(legal_arguments, Cow::Owned(_));
            changed.then(|| ResponseItem::FunctionCall {
                id: id.clone(),
                call_id: fresh,
                name: legal_name.into_owned(),
                namespace: namespace.clone(),
                arguments: legal_arguments.into_owned(),
            })
        }
        ResponseItem::CustomToolCall {
            id,
            call_id,
            name,
            input,
        } => {
            let fresh = fresh_call_id(call_id, history);
            let legal_name = legal_name(name);
            let changed = fresh != *call_id || matches!(legal_name, Cow::Owned(_));
            changed.then(|| ResponseItem::CustomToolCall {
                id: id.clone(),
                call_id: fresh,
                name: legal_name.into_owned(),
                input: input.clone(),
            })
        }
        ResponseItem::Message { .. }
        | ResponseItem::Reasoning { .. }
        | ResponseItem::FunctionCallOutput { .. }
        | ResponseItem::CustomToolCallOutput { .. }
        | ResponseItem::Unknown => None,
    }
}

/// Some providers number calls anew in each response; ids must be unique in the conversation.
fn fresh_call_id(call_id: &CallId, history: &History) -> CallId {
    if !call_id.0.is_empty() && !history.has_call(call_id) {
        return call_id.clone();
    }
    let stem = if call_id.0.is_empty() {
        "call"
    } else {
        &call_id.0
    };
    let mut n_tried = 2_u64;
    loop {
        let candidate = CallId(format!("{stem}-{n_tried}"));
        if !history.has_call(&candidate) {
            return candidate;
        }
        n_tried += 1;
    }
}

fn legal_name(name: &str) -> Cow<'_, str> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(legal) {
        return Cow::Borrowed(name);
    }
    let mut fixed: String = name
        .chars()
        .take(MAX_NAME_CHARS)
        .map(|c| if legal(c) { c } else { '_' })
        .collect();
    if fixed.is_empty() {
        fixed.push_str("unnamed");
    }
    Cow::Owned(fixed)
}

fn legal_arguments(arguments: &str) -> Cow<'_, str> {
    let is_object =
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments).is_ok();
    if is_object {
        return Cow::Borrowed(arguments);
    }
    let keep = arguments.floor_char_boundary(MAX_BROKEN_ARGUMENTS);
    let kept = arguments.split_at(keep).0;
    Cow::Owned(json!({ "invalid_arguments": kept }).to_string())
}

/// Renders a repaired item; the original text where nothing changed.
pub(crate) fn recorded_form(
    item: ResponseItem,
    serialized: SerializedItem,
    history: &History,
) -> (ResponseItem, SerializedItem) {
    let repaired = repair_call(&item, history);
    match repaired.map(|item| (SerializedItem::render(&item), item)) {
        Some((Ok(serialized), item)) => (item, serialized),
        Some((Err(_), _)) | None => (item, serialized),
    }
}
