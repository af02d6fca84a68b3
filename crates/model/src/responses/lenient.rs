//! Calls that a server did not quite write as the API says: arguments that are JSON instead of
//! text, an id or a name that is missing. They are meant as calls, so they become calls; what is
//! kept and sent back is the corrected form.

use agent_protocol::{ResponseItem, SerializedItem};
use serde_json::Value;

/// The item with its call corrected; `None` when it is no call, or beyond help.
pub(super) fn corrected(json: &str) -> Option<(ResponseItem, SerializedItem)> {
    let mut value: Value = serde_json::from_str(json).ok()?;
    let object = value.as_object_mut()?;
    let text = match object.get("type")?.as_str()? {
        "function_call" => "arguments",
        "custom_tool_call" => "input",
        _ => return None,
    };
    for name in ["call_id", "name"] {
        if !object.get(name).is_some_and(Value::is_string) {
            object.insert(name.to_owned(), Value::String(String::new()));
        }
    }
    let content = match object.remove(text) {
        Some(Value::String(content)) => content,
        Some(Value::Null) | None => String::new(),
        Some(json) => json.to_string(),
    };
    let content = if text == "arguments" && content.is_empty() {
        "{}".to_owned()
    } else {
        content
    };
    object.insert(text.to_owned(), Value::String(content));
    let item: ResponseItem = serde_json::from_value(value).ok()?;
    let serialized = SerializedItem::render(&item).ok()?;
    Some((item, serialized))
}

#[cfg(test)]
mod tests {
    use super::corrected;

    fn json(text: &str) -> Option<String> {
        corrected(text).map(|(_, serialized)| serialized.json().to_string())
    }

    #[test]
    fn calls_are_corrected() {
        assert_eq!(
            json(r#"{"type":"function_call","call_id":"c","name":"n","arguments":{"a":1}}"#)
                .unwrap(),
            r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":1}"}"#
        );
        assert_eq!(
            json(r#"{"type":"function_call","arguments":null}"#).unwrap(),
            r#"{"type":"function_call","call_id":"","name":"","arguments":"{}"}"#
        );
        assert_eq!(
            json(r#"{"type":"custom_tool_call","name":"n","input":["x"]}"#).unwrap(),
            r#"{"type":"custom_tool_call","call_id":"","name":"n","input":"[\"x\"]"}"#
        );
    }

    #[test]
    fn other_items_are_left() {
        assert_eq!(json(r#"{"type":"message","role":"nobody"}"#), None);
        assert_eq!(json("[1]"), None);
    }
}
