//! What the server answers to one request.

mod render;

use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use render::Piece;

/// One item of an answer. Items that are calls get the id `call_{request}_{index}`, with the
/// number of the answered request and the position in the answer, both from 0.
#[derive(Debug, Clone)]
pub struct Item(pub(crate) ItemKind);

#[derive(Debug, Clone)]
pub(crate) enum ItemKind {
    Message(String),
    Reasoning(String),
    Function { name: String, arguments: String },
    Custom { name: String, input: String },
    Raw(Value),
}

impl Item {
    /// Something said.
    pub fn message(text: impl Into<String>) -> Self {
        Self(ItemKind::Message(text.into()))
    }

    /// A thought, with a summary and encrypted content.
    pub fn reasoning(summary: impl Into<String>) -> Self {
        Self(ItemKind::Reasoning(summary.into()))
    }

    /// A call of `exec_command` with only a command.
    pub fn command(cmd: &str) -> Self {
        Self::command_with(json!({ "cmd": cmd }))
    }

    /// A call of `exec_command` with these arguments.
    pub fn command_with(arguments: Value) -> Self {
        Self::function_call("exec_command", arguments)
    }

    /// A call of `apply_patch` in its custom form.
    pub fn patch(patch: impl Into<String>) -> Self {
        Self::custom_call("apply_patch", patch)
    }

    /// A function call. Arguments that are a JSON string are sent as that text, which need be no
    /// JSON itself.
    pub fn function_call(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        let arguments = match arguments.into() {
            Value::String(text) => text,
            arguments @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => arguments.to_string(),
        };
        Self(ItemKind::Function {
            name: name.into(),
            arguments,
        })
    }

    /// A call with free text.
    pub fn custom_call(name: impl Into<String>, input: impl Into<String>) -> Self {
        Self(ItemKind::Custom {
            name: name.into(),
            input: input.into(),
        })
    }

    /// Any item, as it is.
    pub fn raw(item: Value) -> Self {
        Self(ItemKind::Raw(item))
    }
}

/// The answer to one request.
#[derive(Debug, Clone)]
pub struct Step {
    pub(crate) items: Vec<Item>,
    pub(crate) usage: Option<Value>,
    pub(crate) ending: Ending,
    pub(crate) status: Option<(u16, Value)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) delay: Duration,
    pub(crate) delta_delay: Duration,
    pub(crate) n_deltas: usize,
    pub(crate) cut_after: Option<usize>,
    pub(crate) split: Option<usize>,
    pub(crate) hang: Option<Hang>,
    pub(crate) crlf: bool,
    pub(crate) raw: Option<Vec<u8>>,
    pub(crate) keep_alive: Option<Duration>,
    pub(crate) new_window: bool,
}

/// How the stream of events ends.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Completed,
    Missing,
    Failed { code: String, message: String },
    Incomplete { reason: String },
}

/// Where the server falls silent, until the client goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hang {
    BeforeHeaders,
    AfterCreated,
    BeforeTerminal,
}

impl Step {
    /// An answer of these items.
    pub fn items(items: Vec<Item>) -> Self {
        Self {
            items,
            usage: Some(usage_json(100, 0, 10)),
            ending: Ending::Completed,
            status: None,
            headers: Vec::new(),
            delay: Duration::ZERO,
            delta_delay: Duration::ZERO,
            n_deltas: 3,
            cut_after: None,
            split: None,
            hang: None,
            crlf: false,
            raw: None,
            keep_alive: None,
            new_window: false,
        }
    }

    /// An answer that is one message.
    pub fn message(text: impl Into<String>) -> Self {
        Self::items(vec![Item::message(text)])
    }

    /// An answer without items.
    pub fn empty() -> Self {
        Self::items(Vec::new())
    }

    /// An answer that is no stream, with this HTTP status and body.
    pub fn refusal(code: u16, body: Value) -> Self {
        Self::empty().status(code, body)
    }

    /// Reports these token counts: input, cached ones among them, output.
    #[must_use]
    pub fn usage(self, input: u64, cached: u64, output: u64) -> Self {
        self.usage_json(usage_json(input, cached, output))
    }

    /// Reports this as `usage`.
    #[must_use]
    pub fn usage_json(mut self, usage: Value) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Ends the body in good order, but without a last event.
    #[must_use]
    pub fn without_terminal(mut self) -> Self {
        self.ending = Ending::Missing;
        self
    }

    /// Ends with `response.failed`. An empty code sends no error object.
    #[must_use]
    pub fn failed(mut self, code: impl Into<String>, message: impl Into<String>) -> Self {
        self.ending = Ending::Failed {
            code: code.into(),
            message: message.into(),
        };
        self
    }

    /// Ends with `response.incomplete`.
    #[must_use]
    pub fn incomplete(mut self, reason: impl Into<String>) -> Self {
        self.ending = Ending::Incomplete {
            reason: reason.into(),
        };
        self
    }

    /// Answers with this HTTP status and body instead of a stream.
    #[must_use]
    pub fn status(mut self, code: u16, body: Value) -> Self {
        self.status = Some((code, body));
        self
    }

    /// Adds a header to the answer. `content-type` replaces the usual one.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Waits before the answer begins.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits before each delta.
    #[must_use]
    pub fn delay_between_deltas(mut self, delay: Duration) -> Self {
        self.delta_delay = delay;
        self
    }

    /// Sends each message in this many deltas (3 unless told).
    #[must_use]
    pub fn deltas(mut self, n_deltas: usize) -> Self {
        self.n_deltas = n_deltas.max(1);
        self
    }

    /// Closes the connection after this many bytes of the body.
    #[must_use]
    pub fn cut_after_bytes(mut self, n_bytes: usize) -> Self {
        self.cut_after = Some(n_bytes);
        self
    }

    /// Writes the body in pieces of this many bytes.
    #[must_use]
    pub fn split_bytes(mut self, n_bytes: usize) -> Self {
        self.split = Some(n_bytes.max(1));
        self
    }

    /// Falls silent before anything is answered, until the client goes away.
    #[must_use]
    pub fn hang_before_headers(mut self) -> Self {
        self.hang = Some(Hang::BeforeHeaders);
        self
    }

    /// Falls silent after the first event, until the client goes away.
    #[must_use]
    pub fn hang_after_created(mut self) -> Self {
        self.hang = Some(Hang::AfterCreated);
        self
    }

    /// Falls silent after all items, before the last event, until the client goes away.
    #[must_use]
    pub fn hang_before_terminal(mut self) -> Self {
        self.hang = Some(Hang::BeforeTerminal);
        self
    }

    /// Ends lines with CR LF.
    #[must_use]
    pub fn crlf(mut self) -> Self {
        self.crlf = true;
        self
    }

    /// Sends these bytes as the body of the stream, instead of events.
    #[must_use]
    pub fn raw(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.raw = Some(bytes.into());
        self
    }

    /// Sends a comment this often while it waits.
    #[must_use]
    pub fn keep_alive_comments(mut self, interval: Duration) -> Self {
        self.keep_alive = Some(interval);
        self
    }

    /// The request that this step answers may have another history, other instructions and tools
    /// than the one before (after a compaction).
    #[must_use]
    pub fn allow_new_window(mut self) -> Self {
        self.new_window = true;
        self
    }
}

fn usage_json(input: u64, cached: u64, output: u64) -> Value {
    json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": cached },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + output,
    })
}
