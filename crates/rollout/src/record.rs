//! The kinds of record, as they stand on disk.
//!
//! The structs here are the format: a field may be added with `#[serde(default)]`, none may
//! change its meaning.

use std::path::PathBuf;

use agent_protocol::{ApprovalPolicy, FragmentKind, SandboxMode, SerializedItem, TokenUsage};
use serde::{Deserialize, Serialize};

/// One line of a rollout.
#[derive(Debug)]
pub enum Record<'a> {
    /// The first line: what the session is.
    SessionMeta(&'a SessionMeta),
    /// The settings of a turn.
    TurnContext(&'a TurnContext),
    /// An item of the conversation.
    ResponseItem {
        /// The item, in the text that requests carry.
        item: &'a SerializedItem,
        /// What the session knows of it beside the text.
        metadata: ItemMetadata,
    },
    /// Something that happened and is not part of the conversation.
    Event(&'a EventRecord),
}

/// What a session is: the payload of `session_meta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionMeta {
    /// The thread's id.
    pub id: String,
    /// When it was made, RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// Where its commands run.
    #[serde(serialize_with = "lossy")]
    pub cwd: PathBuf,
    /// Which client made it.
    #[serde(default)]
    pub originator: String,
    /// The version that made it.
    #[serde(default)]
    pub cli_version: String,
    /// `exec` or `cli`.
    #[serde(default = "unknown_source")]
    pub source: serde_json::Value,
    /// The provider's name in the configuration.
    #[serde(default)]
    pub model_provider: Option<String>,
    /// The base instructions, which stay the same for the whole session.
    #[serde(default)]
    pub base_instructions: Option<BaseInstructions>,
    /// The checkout at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitInfo>,
}

/// The base instructions of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseInstructions {
    /// Their text.
    pub text: String,
}

/// The checkout that a session began in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitInfo {
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<String>,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// A path as text; bytes that are no UTF-8 are replaced, because JSON cannot hold them.
fn lossy<S: serde::Serializer>(path: &std::path::Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

fn unknown_source() -> serde_json::Value {
    serde_json::Value::String("unknown".to_owned())
}

/// The settings of a turn: the payload of `turn_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnContext {
    /// The turn.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// Where commands run.
    #[serde(serialize_with = "lossy")]
    pub cwd: PathBuf,
    /// When a person is asked.
    #[serde(default)]
    pub approval_policy: Option<ApprovalPolicy>,
    /// What commands may touch.
    #[serde(default)]
    pub sandbox_policy: Option<SandboxPolicyRecord>,
    /// The model.
    #[serde(default)]
    pub model: String,
    /// The reasoning effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The kind of reasoning summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// The sandbox policy in a `turn_context`: an object with the mode as its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPolicyRecord {
    /// The mode.
    #[serde(rename = "type", alias = "mode")]
    pub mode: SandboxMode,
}

/// What is known of an item beside its text: the `metadata` of a `response_item` line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemMetadata {
    /// Which response of the session it belongs to (an output: the response of its call),
    /// counting from 1. Outputs are recorded as they finish; this is how they are put in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<u64>,
    /// The kind of a text that this program put there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<FragmentKind>,
}

impl ItemMetadata {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// The payload of `event_msg`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventRecord {
    /// A turn began.
    TaskStarted {
        /// The turn.
        turn_id: String,
    },
    /// What the user typed, for lists of sessions.
    UserMessage {
        /// The text.
        message: String,
    },
    /// A request was answered.
    TokenCount {
        /// The counts.
        info: TokenCountInfo,
    },
    /// What the patches of a turn changed.
    TurnDiff {
        /// The turn; files of other programs do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
        /// In the format of git, with paths relative to the root of the repository.
        unified_diff: String,
        /// Files that it leaves out, each with the reason.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
    },
    /// A turn ended well, or failed.
    TaskComplete {
        /// The turn.
        turn_id: String,
        /// The last thing that the model said.
        #[serde(default)]
        last_agent_message: Option<String>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A turn was stopped.
    TurnAborted {
        /// The turn.
        turn_id: String,
        /// `interrupted`.
        reason: String,
    },
    /// An event that this version does not know.
    #[serde(other)]
    Other,
}

/// The counts of a `token_count` event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCountInfo {
    /// Of the whole session.
    #[serde(default)]
    pub total_token_usage: TokenUsage,
    /// Of the last request.
    #[serde(default)]
    pub last_token_usage: TokenUsage,
}
