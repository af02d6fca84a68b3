//! The finished parts of a transcript, and the rows that show them.

use std::time::Duration;

use agent_protocol::{CommandExecution, ThreadInfo, TokenUsage, TurnItem};

use crate::cells::{self, CommandView, NoticeKind, SessionHeader, TurnFooter};
use crate::look::Look;
use crate::row::Row;
use crate::text;

/// A finished part of a transcript.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// What the thread works with, at its beginning.
    Header(Box<Header>),
    /// What the user said.
    User {
        /// The text.
        text: String,
        /// How many images came with it.
        n_images: usize,
    },
    /// A step.
    Item(TurnItem),
    /// Consecutive looks around.
    Explored(Vec<CommandExecution>),
    /// A word of the program.
    Notice {
        /// How much it matters.
        notice: Notice,
        /// What.
        text: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The user stopped the turn.
    Interrupted,
    /// The end of a turn.
    Footer {
        /// How long it took.
        elapsed: Duration,
        /// Its tokens.
        usage: TokenUsage,
    },
    /// Something that was made for the width at that time; cut where there is less.
    Rows(Vec<Row>),
}

/// What the thread works with.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) version: &'static str,
    pub(crate) info: ThreadInfo,
    /// The directory as people read it.
    pub(crate) directory: String,
    pub(crate) branch: Option<String>,
}

/// How much a word of the program matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    Info,
    Warning,
    Error,
}

/// How much of a cell is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// As it is printed: long parts are folded.
    Brief,
    /// Everything that is kept.
    Full,
}

/// How many rows of output a command is printed with.
const BRIEF_OUTPUT_ROWS: usize = 5;
/// How many rows of a script are printed.
const BRIEF_SCRIPT_ROWS: usize = 8;
/// How many rows of a patch are printed.
const BRIEF_PATCH_ROWS: usize = 60;

impl Detail {
    fn rows(self, brief: usize) -> usize {
        match self {
            Self::Brief => brief,
            Self::Full => usize::MAX,
        }
    }
}

impl Cell {
    /// A warning.
    pub(crate) fn warning(text: &str) -> Self {
        Self::Notice {
            notice: Notice::Warning,
            text: text.to_owned(),
            hint: None,
        }
    }

    /// What the user said, if it is that.
    pub(crate) fn user_message(&self) -> Option<&str> {
        match self {
            Self::User { text, .. } => Some(text),
            Self::Header(_)
            | Self::Item(_)
            | Self::Explored(_)
            | Self::Notice { .. }
            | Self::Interrupted
            | Self::Footer { .. }
            | Self::Rows(_) => None,
        }
    }

    /// The rows that show it; none for what is not shown.
    pub(crate) fn rows(&self, look: &Look, detail: Detail) -> Vec<Row> {
        match self {
            Self::Header(header) => header.rows(look),
            Self::User { text, n_images } => cells::user_message(text, *n_images, look),
            Self::Item(item) => item_rows(item, look, detail),
            Self::Explored(commands) => match detail {
                Detail::Brief => cells::explored(commands, look),
                Detail::Full => commands
                    .iter()
                    .flat_map(|command| command_rows(command, look, detail))
                    .collect(),
            },
            Self::Notice { notice, text, hint } => {
                let kind = match notice {
                    Notice::Info => NoticeKind::Info,
                    Notice::Warning => NoticeKind::Warning,
                    Notice::Error => NoticeKind::Error,
                };
                cells::notice(kind, text, hint.as_deref(), look)
            }
            Self::Interrupted => cells::interrupted(look),
            Self::Footer { elapsed, usage } => {
                let footer = TurnFooter {
                    elapsed: *elapsed,
                    usage: *usage,
                };
                cells::turn_footer(&footer, look)
            }
            Self::Rows(rows) => {
                let rows = rows.iter();
                rows.map(|row| text::truncate_row(row, look)).collect()
            }
        }
    }

    /// The same as Markdown, for a file; `None` for what does not belong there.
    pub(crate) fn markdown(&self) -> Option<String> {
        match self {
            Self::Header(header) => Some(format!(
                "# Session in {}\n\nModel {}.",
                header.directory, header.info.model
            )),
            Self::User { text, .. } => Some(format!("## You\n\n{text}")),
            Self::Item(item) => Some(item_markdown(item)),
            Self::Explored(commands) => {
                let commands: Vec<String> = commands.iter().map(command_markdown).collect();
                Some(commands.join("\n\n"))
            }
            Self::Notice { text, .. } => Some(format!("> {}", text.replace('\n', "\n> "))),
            Self::Interrupted => Some("> interrupted".to_owned()),
            Self::Footer { .. } | Self::Rows(_) => None,
        }
    }
}

impl Header {
    fn rows(&self, look: &Look) -> Vec<Row> {
        let info = &self.info;
        let header = SessionHeader {
            version: self.version,
            model: &info.model,
            effort: info.reasoning_effort.as_deref(),
            cwd: &self.directory,
            branch: self.branch.as_deref(),
            sandbox: info.sandbox_mode.as_str(),
            approval: info.approval_policy.as_str(),
        };
        cells::session_header(&header, look)
    }
}

fn item_rows(item: &TurnItem, look: &Look, detail: Detail) -> Vec<Row> {
    match item {
        TurnItem::AgentMessage { text } => cells::agent_message(text, look),
        TurnItem::Reasoning { text } => {
            let detail = match detail {
                Detail::Brief => cells::Detail::Folded,
                Detail::Full => cells::Detail::Full,
            };
            cells::reasoning(text, detail, look)
        }
        TurnItem::CommandExecution(command) => command_rows(command, look, detail),
        TurnItem::FileChange(change) => cells::patch(change, detail.rows(BRIEF_PATCH_ROWS), look),
        TurnItem::TodoList { items } => cells::plan(items, look),
        TurnItem::Error { message } => cells::notice(NoticeKind::Error, message, None, look),
    }
}

fn command_rows(command: &CommandExecution, look: &Look, detail: Detail) -> Vec<Row> {
    let view = CommandView {
        max_script_rows: detail.rows(BRIEF_SCRIPT_ROWS),
        max_output_rows: detail.rows(BRIEF_OUTPUT_ROWS),
        ..CommandView::default()
    };
    cells::command(command, &view, look)
}

fn item_markdown(item: &TurnItem) -> String {
    match item {
        TurnItem::AgentMessage { text } => format!("## Agent\n\n{text}"),
        TurnItem::Reasoning { text } => format!("*{}*", text.trim()),
        TurnItem::CommandExecution(command) => command_markdown(command),
        TurnItem::FileChange(change) => fenced("diff", &change.unified_diff),
        TurnItem::TodoList { items } => {
            let steps = items.iter().map(|step| {
                let mark = if step.completed { "x" } else { " " };
                format!("- [{mark}] {}", step.text)
            });
            steps.collect::<Vec<_>>().join("\n")
        }
        TurnItem::Error { message } => format!("> {}", message.replace('\n', "\n> ")),
    }
}

fn command_markdown(command: &CommandExecution) -> String {
    let output = text::clean(&command.aggregated_output);
    fenced("console", &format!("$ {}\n{output}", command.command))
}

/// A code block whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| {
            line.chars()
                .take_while(|character| *character == '`')
                .count()
        })
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}
