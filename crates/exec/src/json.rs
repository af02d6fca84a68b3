//! The JSONL events of `--json`. Their schema is published; they only ever grow.

use std::collections::HashMap;
use std::io::{self, Write};

use agent_protocol::{
    ChangeKind, Envelope, Event, ItemEvent, ItemId, ItemStatus, NoticeEvent, ThreadEvent,
    TokenUsage, TurnItem,
};
use schemars::JsonSchema;
use serde::Serialize;

/// One line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub(crate) enum Line {
    /// The session has begun. The first line.
    #[serde(rename = "thread.started")]
    ThreadStarted {
        /// The session's id, for `resume`.
        thread_id: String,
    },
    /// The turn has begun.
    #[serde(rename = "turn.started")]
    TurnStarted {},
    /// A step has begun.
    #[serde(rename = "item.started")]
    ItemStarted {
        /// As it stands.
        item: Item,
    },
    /// A step has changed.
    #[serde(rename = "item.updated")]
    ItemUpdated {
        /// As it stands now.
        item: Item,
    },
    /// A step has ended.
    #[serde(rename = "item.completed")]
    ItemCompleted {
        /// As it ended.
        item: Item,
    },
    /// The turn ended well.
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        /// Tokens of all requests of the turn.
        usage: Usage,
    },
    /// The turn ended badly.
    #[serde(rename = "turn.failed")]
    TurnFailed {
        /// Why.
        error: Failure,
    },
    /// The run ended outside a turn.
    #[serde(rename = "error")]
    Error {
        /// Why.
        message: String,
    },
}

/// Why a turn ended badly.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// For a person.
    message: String,
}

/// Tokens.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names are the format's")]
pub(crate) struct Usage {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

/// A step of the turn.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item {
    /// What the model says.
    AgentMessage {
        /// `item_0`, `item_1`, … in order of appearance.
        id: String,
        /// Markdown.
        text: String,
    },
    /// The model's summary of its reasoning.
    Reasoning {
        /// See `agent_message`.
        id: String,
        /// Markdown.
        text: String,
    },
    /// A shell command.
    CommandExecution {
        /// See `agent_message`.
        id: String,
        /// The script.
        command: String,
        /// Output and error output as they came.
        aggregated_output: String,
        /// The exit status; null while it runs and when it was stopped.
        exit_code: Option<i32>,
        /// Where it stands.
        status: Status,
    },
    /// An edit of files.
    FileChange {
        /// See `agent_message`.
        id: String,
        /// Each file.
        changes: Vec<Change>,
        /// Where it stands.
        status: Status,
    },
    /// The model's plan.
    TodoList {
        /// See `agent_message`.
        id: String,
        /// Its steps.
        items: Vec<Todo>,
    },
    /// A warning or a retry; the turn goes on.
    Error {
        /// See `agent_message`.
        id: String,
        /// For a person.
        message: String,
    },
}

/// Where a step stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    InProgress,
    Completed,
    Failed,
    Declined,
}

/// One file of an edit.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Change {
    path: String,
    kind: Kind,
}

/// What an edit does to a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Add,
    Delete,
    Update,
}

/// One step of a plan.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Todo {
    text: String,
    completed: bool,
}

/// The JSON Schema of one line.
pub fn line_schema() -> serde_json::Value {
    schemars::schema_for!(Line).to_value()
}

/// The line for an error outside a turn.
pub fn error_line(message: &str) -> String {
    let line = Line::Error {
        message: message.to_owned(),
    };
    serde_json::to_string(&line).unwrap_or_default()
}

/// Writes events as lines.
pub(crate) struct JsonOutput<W> {
    out: W,
    ids: HashMap<ItemId, usize>,
    n_items: usize,
}

impl<W: Write> JsonOutput<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            ids: HashMap::new(),
            n_items: 0,
        }
    }

    /// Writes what an event says, if it is one that consumers see. The end of the turn is not
    /// written here, because the face has still to check the answer.
    pub(crate) fn event(&mut self, envelope: &Envelope) -> io::Result<()> {
        match &envelope.event {
            Event::Thread(ThreadEvent::Started(_)) => self.write(&Line::ThreadStarted {
                thread_id: envelope.thread_id.to_string(),
            }),
            Event::Turn(agent_protocol::TurnEvent::Started) => self.write(&Line::TurnStarted {}),
            Event::Item(event) => self.item_event(envelope.item_id, event),
            Event::Notice(notice) => self.notice(notice),
            Event::Thread(
                ThreadEvent::Closed
                | ThreadEvent::Configured(_)
                | ThreadEvent::InputReturned { .. },
            )
            | Event::Turn(_)
            | Event::Approval(_)
            | Event::Question(_) => Ok(()),
        }
    }

    pub(crate) fn turn_completed(&mut self, usage: TokenUsage) -> io::Result<()> {
        self.write(&Line::TurnCompleted {
            usage: Usage {
                input_tokens: usage.input_tokens,
                cached_input_tokens: usage.cached_input_tokens,
                cache_write_input_tokens: usage.cache_write_input_tokens,
                output_tokens: usage.output_tokens,
                reasoning_output_tokens: usage.reasoning_output_tokens,
            },
        })
    }

    pub(crate) fn turn_failed(&mut self, message: &str) -> io::Result<()> {
        self.write(&Line::TurnFailed {
            error: Failure {
                message: message.to_owned(),
            },
        })
    }

    pub(crate) fn warning(&mut self, message: &str) -> io::Result<()> {
        let id = self.next_id();
        self.write(&Line::ItemCompleted {
            item: Item::Error {
                id,
                message: message.to_owned(),
            },
        })
    }

    fn item_event(&mut self, id: Option<ItemId>, event: &ItemEvent) -> io::Result<()> {
        let Some(id) = id else { return Ok(()) };
        match event {
            // Messages and reasoning are lines only when they are whole.
            ItemEvent::Started {
                item: TurnItem::AgentMessage { .. } | TurnItem::Reasoning { .. },
            }
            | ItemEvent::Writing { .. }
            | ItemEvent::Delta { .. }
            | ItemEvent::Discarded => Ok(()),
            // The command that it was typed into has a step of its own.
            ItemEvent::Started { item }
            | ItemEvent::Updated { item }
            | ItemEvent::Completed { item }
                if is_input(item) =>
            {
                Ok(())
            }
            ItemEvent::Started { item } => {
                let item = self.item(id, item);
                self.write(&Line::ItemStarted { item })
            }
            ItemEvent::Updated { item } => {
                let item = self.item(id, item);
                self.write(&Line::ItemUpdated { item })
            }
            ItemEvent::Completed { item } => {
                let item = self.item(id, item);
                self.write(&Line::ItemCompleted { item })
            }
        }
    }

    fn notice(&mut self, notice: &NoticeEvent) -> io::Result<()> {
        match notice {
            NoticeEvent::Warning { message } => self.warning(message),
            NoticeEvent::Retry {
                attempt,
                limit,
                reason,
                ..
            } => self.warning(&format!("Reconnecting... {attempt}/{limit} ({reason})")),
            NoticeEvent::Declined { .. }
            | NoticeEvent::Usage { .. }
            | NoticeEvent::Context(_)
            | NoticeEvent::Diff { .. }
            | NoticeEvent::Commands { .. }
            | NoticeEvent::TurnDiff { .. } => Ok(()),
        }
    }

    fn next_id(&mut self) -> String {
        let id = format!("item_{}", self.n_items);
        self.n_items += 1;
        id
    }

    fn item(&mut self, id: ItemId, item: &TurnItem) -> Item {
        let n_items = &mut self.n_items;
        let number = *self.ids.entry(id).or_insert_with(|| {
            *n_items += 1;
            *n_items - 1
        });
        let id = format!("item_{number}");
        match item.clone() {
            TurnItem::AgentMessage { text } => Item::AgentMessage { id, text },
            TurnItem::Reasoning { text } => Item::Reasoning { id, text },
            TurnItem::CommandExecution(command) => Item::CommandExecution {
                id,
                command: command.command,
                aggregated_output: command.aggregated_output,
                exit_code: command.exit_code,
                status: command.status.into(),
            },
            TurnItem::FileChange(change) => Item::FileChange {
                id,
                changes: change
                    .changes
                    .into_iter()
                    .map(|change| Change {
                        path: change.path,
                        kind: change.kind.into(),
                    })
                    .collect(),
                status: change.status.into(),
            },
            TurnItem::TodoList { items } => Item::TodoList {
                id,
                items: items
                    .into_iter()
                    .map(|todo| Todo {
                        text: todo.text,
                        completed: todo.completed,
                    })
                    .collect(),
            },
            TurnItem::Error { message } => Item::Error { id, message },
        }
    }

    /// One line, one write.
    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.out.write_all(&text)?;
        self.out.flush()
    }
}

impl From<ItemStatus> for Status {
    fn from(status: ItemStatus) -> Self {
        match status {
            ItemStatus::InProgress => Self::InProgress,
            ItemStatus::Completed => Self::Completed,
            ItemStatus::Failed => Self::Failed,
            ItemStatus::Declined => Self::Declined,
        }
    }
}

impl From<ChangeKind> for Kind {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Add => Self::Add,
            ChangeKind::Delete => Self::Delete,
            ChangeKind::Update => Self::Update,
        }
    }
}

/// Whether an item is what the model typed into a command.
fn is_input(item: &TurnItem) -> bool {
    matches!(item, TurnItem::CommandExecution(command) if command.is_input)
}
