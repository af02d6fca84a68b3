//! The visible steps of a turn, as faces show them.

use serde::{Deserialize, Serialize};

/// One visible step of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnItem {
    /// What the model says.
    AgentMessage {
        /// Markdown.
        text: String,
    },
    /// The model's summary of its reasoning.
    Reasoning {
        /// Markdown.
        text: String,
    },
    /// A shell command.
    CommandExecution(CommandExecution),
    /// An edit of files.
    FileChange(FileChange),
    /// The model's plan.
    TodoList {
        /// Its steps, in order.
        items: Vec<TodoItem>,
    },
    /// Something that went wrong without ending the turn.
    Error {
        /// What, for a person.
        message: String,
    },
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// It has begun.
    InProgress,
    /// It ended well.
    Completed,
    /// It ended badly, or was stopped.
    Failed,
    /// It needed an approval that was not given.
    Declined,
}

/// A shell command and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandExecution {
    /// The script as the model wrote it.
    pub command: String,
    /// Standard output and error as they came, the middle left out when it is long.
    pub aggregated_output: String,
    /// The exit status; `None` while it runs and when it was stopped.
    pub exit_code: Option<i32>,
    /// Where it stands.
    pub status: ItemStatus,
    /// How long it ran, in milliseconds, once it ended.
    pub duration_ms: Option<u64>,
    /// Who wanted it.
    #[serde(default)]
    pub source: CommandSource,
    /// It ran outside the sandbox because somebody allowed that.
    #[serde(default)]
    pub escalated: bool,
    /// The number under which it goes on, or went on, after its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<u64>,
    /// It is no command but what the model typed into the one of that number.
    #[serde(default)]
    pub is_input: bool,
}

/// A command that runs in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandInfo {
    /// Its number.
    pub session_id: u64,
    /// The script as the model wrote it.
    pub command: String,
    /// How long it has been running, in milliseconds.
    pub running_ms: u64,
}

/// Who wanted a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandSource {
    /// The model.
    #[default]
    Model,
    /// The user.
    User,
}

/// An edit of files and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Each file, in the order of the patch.
    pub changes: Vec<PathChange>,
    /// Where it stands.
    pub status: ItemStatus,
    /// The edit as a unified diff, once it was made.
    pub unified_diff: String,
    /// Why it was not made.
    #[serde(default)]
    pub error: Option<String>,
}

/// One file of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathChange {
    /// The path as the patch names it; the new one of a move.
    pub path: String,
    /// What happens to it.
    pub kind: ChangeKind,
}

/// An edit while the model is still writing it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditDraft {
    /// Each file so far, in the order of the patch; the last one is being written.
    pub files: Vec<FileDraft>,
    /// How many files are left out before the last one, where there are very many.
    pub n_left_out: usize,
    /// Lines that come, of all files.
    pub added: usize,
    /// Lines that go, of all files.
    pub removed: usize,
}

/// One file of an edit while the model is still writing it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDraft {
    /// The path as the patch names it; the new one of a move.
    pub path: String,
    /// What is to happen to it.
    pub kind: ChangeKind,
    /// Lines that come, so far.
    pub added: usize,
    /// Lines that go, so far.
    pub removed: usize,
}

/// What an edit does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is made.
    Add,
    /// It is removed.
    Delete,
    /// Its content changes, or it moves.
    Update,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What is to be done.
    pub text: String,
    /// Whether it is done.
    pub completed: bool,
    /// Whether it is what the model works on now.
    #[serde(default)]
    pub in_progress: bool,
}
