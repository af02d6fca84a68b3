//! The events of a step, as bytes.

use serde_json::{Value, json};

use super::{Ending, Hang, ItemKind, Step};

/// A part of the body, and what happens around it.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Bytes to send.
    Bytes(Vec<u8>),
    /// Bytes of a delta, which may be waited for.
    Delta(Vec<u8>),
    /// Silence until the client goes away.
    Hang,
}

impl Step {
    /// The body of the stream that answers request number `request`.
    pub(crate) fn pieces(&self, request: usize) -> Vec<Piece> {
        if let Some(raw) = &self.raw {
            return vec![Piece::Bytes(raw.clone())];
        }
        let mut writer = Writer {
            pieces: Vec::new(),
            sequence: 0,
            line_end: if self.crlf { "\r\n" } else { "\n" },
        };
        let id = format!("resp_{request}");
        let created =
            json!({"type": "response.created", "response": {"id": id, "status": "in_progress"}});
        writer.event(created);
        if self.hang == Some(Hang::AfterCreated) {
            writer.pieces.push(Piece::Hang);
        }
        let mut output = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            output.push(writer.item(request, index, &item.0, self.n_deltas));
        }
        if self.hang == Some(Hang::BeforeTerminal) {
            writer.pieces.push(Piece::Hang);
        }
        let mut response = json!({"id": id, "output": output, "usage": self.usage});
        let kind = match &self.ending {
            Ending::Missing => return writer.pieces,
            Ending::Completed => "completed",
            Ending::Failed { code, message } => {
                if !code.is_empty() {
                    response["error"] = json!({"code": code, "message": message});
                }
                "failed"
            }
            Ending::Incomplete { reason } => {
                response["incomplete_details"] = json!({ "reason": reason });
                "incomplete"
            }
        };
        response["status"] = json!(kind);
        writer.event(json!({"type": format!("response.{kind}"), "response": response}));
        writer.pieces
    }
}

struct Writer {
    pieces: Vec<Piece>,
    sequence: u64,
    line_end: &'static str,
}

impl Writer {
    fn event(&mut self, event: Value) {
        let bytes = self.render(event);
        self.pieces.push(Piece::Bytes(bytes));
    }

    fn delta(&mut self, event: Value) {
        let bytes = self.render(event);
        self.pieces.push(Piece::Delta(bytes));
    }

    fn render(&mut self, mut event: Value) -> Vec<u8> {
        event["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        let kind = event["type"].as_str().unwrap_or("message");
        let end = self.line_end;
        format!("event: {kind}{end}data: {event}{end}{end}").into_bytes()
    }

    /// Sends an item and returns it as the last event repeats it.
    fn item(&mut self, request: usize, index: usize, kind: &ItemKind, n_deltas: usize) -> Value {
        let id = format!("{request}_{index}");
        let (item, delta_kind, text) = match kind {
            ItemKind::Message(text) => (
                json!({"type": "message", "id": format!("msg_{id}"), "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}),
                "response.output_text.delta",
                text.as_str(),
            ),
            ItemKind::Reasoning(text) => (
                json!({"type": "reasoning", "id": format!("rs_{id}"),
                    "summary": [{"type": "summary_text", "text": text}],
                    "encrypted_content": format!("encrypted_{id}")}),
                "response.reasoning_summary_text.delta",
                text.as_str(),
            ),
            ItemKind::Function { name, arguments } => (
                json!({"type": "function_call", "id": format!("fc_{id}"), "name": name,
                    "call_id": format!("call_{id}"), "arguments": arguments,
                    "status": "completed"}),
                "response.function_call_arguments.delta",
                arguments.as_str(),
            ),
            ItemKind::Custom { name, input } => (
                json!({"type": "custom_tool_call", "id": format!("ctc_{id}"), "name": name,
                    "call_id": format!("call_{id}"), "input": input, "status": "completed"}),
                "response.custom_tool_call_input.delta",
                input.as_str(),
            ),
            ItemKind::Raw(item) => (item.clone(), "", ""),
        };
        let mut begun = json!({"type": item["type"], "id": item["id"], "role": item["role"],
            "status": "in_progress"});
        for field in ["name", "call_id"] {
            if let Some(value) = item.get(field) {
                begun[field] = value.clone();
            }
        }
        self.event(
            json!({"type": "response.output_item.added", "output_index": index,
            "item": begun}),
        );
        if matches!(kind, ItemKind::Reasoning(_)) {
            self.event(json!({"type": "response.reasoning_summary_part.added",
                "item_id": item["id"], "summary_index": 0}));
        }
        for delta in split_text(text, n_deltas) {
            self.delta(json!({"type": delta_kind, "item_id": item["id"],
                "output_index": index, "delta": delta}));
        }
        self.event(
            json!({"type": "response.output_item.done", "output_index": index,
            "item": item}),
        );
        item
    }
}

/// A text in at most `n_parts` parts of about the same size.
fn split_text(text: &str, n_parts: usize) -> Vec<&str> {
    let size = text.len().div_ceil(n_parts).max(1);
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.ceil_char_boundary(size);
        let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        parts.push(part);
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::split_text;

    #[test]
    fn texts_are_split_between_characters() {
        assert_eq!(split_text("é漢😀", 3), ["é漢", "😀"]);
        assert_eq!(split_text("abcdef", 3), ["ab", "cd", "ef"]);
        assert_eq!(split_text("", 3), Vec::<&str>::new());
    }
}
