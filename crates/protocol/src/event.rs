//! What a thread tells its faces. Events are nested by area, so that a match stays short.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    ApprovalPolicy, ApprovalRequest, CommandInfo, ContextReport, EditDraft, ItemId,
    QuestionRequest, RequestId, SandboxMode, ThreadId, TokenUsage, TurnId, TurnItem, UserInput,
};

/// An event and where it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// The thread that it comes from.
    pub thread_id: ThreadId,
    /// The turn, if it belongs to one.
    pub turn_id: Option<TurnId>,
    /// The step, if it belongs to one.
    pub item_id: Option<ItemId>,
    /// Counts the events of the running session from 0, without gaps.
    pub seq: u64,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "area", rename_all = "snake_case")]
pub enum Event {
    /// To the thread as a whole.
    Thread(ThreadEvent),
    /// To a turn.
    Turn(TurnEvent),
    /// To a step of a turn.
    Item(ItemEvent),
    /// A wish for a person's consent, or its end.
    Approval(ApprovalEvent),
    /// A question of the model to a person, or its end.
    Question(QuestionEvent),
    /// Something worth telling that changes nothing.
    Notice(NoticeEvent),
}

/// Events of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ThreadEvent {
    /// It is ready to take a turn.
    Started(ThreadInfo),
    /// Its settings changed; turns from now on have these.
    Configured(ThreadInfo),
    /// What the user said while a turn ran was not read before the turn was stopped. The model
    /// has not seen it.
    InputReturned {
        /// What was said, in order.
        input: Vec<UserInput>,
    },
    /// It has ended; nothing of it runs any more and the rollout is complete.
    Closed,
}

/// What a thread works with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Where its commands run.
    pub cwd: PathBuf,
    /// The model.
    pub model: String,
    /// The provider's name in the configuration.
    pub provider: String,
    /// When a person is asked.
    pub approval_policy: ApprovalPolicy,
    /// What commands may touch.
    pub sandbox_mode: SandboxMode,
    /// The reasoning effort that was configured.
    pub reasoning_effort: Option<String>,
    /// The size of the model's context window in tokens, where it is known.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// The session's file; none when it is ephemeral.
    pub rollout_path: Option<PathBuf>,
}

/// Events of a turn. Each turn has one `Started` and one of the others, in that order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnEvent {
    /// It has begun.
    Started,
    /// What the user said meanwhile has become part of the conversation.
    Steered {
        /// What was said.
        input: Vec<UserInput>,
    },
    /// The model is done.
    Completed {
        /// Tokens of all requests of the turn.
        usage: TokenUsage,
        /// The last thing that the model said.
        last_message: Option<String>,
    },
    /// It could not go on.
    Failed(TurnFailure),
    /// It was stopped by the user.
    Interrupted,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailure {
    /// The kind, from which a face takes its exit code.
    pub kind: FailureKind,
    /// What went wrong, for a person.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The kinds of failure that a caller treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The model or its provider: refused, unreachable, cut off, empty.
    Model,
    /// The conversation does not fit the model's context window.
    ContextWindow,
    /// A limit on requests, tokens or time was reached.
    Budget,
    /// The answer does not satisfy the schema that was asked for.
    Schema,
    /// The policy cannot be enforced on this machine.
    Sandbox,
    /// A fault of this program.
    Internal,
}

/// Events of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemEvent {
    /// The model is still writing the call of an edit. No step has begun; `Discarded` ends this,
    /// when the call is whole and becomes a step of its own, or will not become one.
    Writing {
        /// The edit as far as it is written.
        draft: EditDraft,
    },
    /// It has begun.
    Started {
        /// As it stands.
        item: TurnItem,
    },
    /// It changed.
    Updated {
        /// As it stands now.
        item: TurnItem,
    },
    /// It has ended.
    Completed {
        /// As it ended.
        item: TurnItem,
    },
    /// It was cut off before its end and counts as not said.
    Discarded,
    /// A part of it arrived.
    Delta {
        /// The part.
        delta: ItemDelta,
    },
}

/// A part of a step, for faces that show it as it arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemDelta {
    /// More of a message.
    Message {
        /// What to append.
        text: String,
    },
    /// More of a reasoning summary.
    Reasoning {
        /// What to append.
        text: String,
    },
    /// More output of a command.
    CommandOutput {
        /// What to append.
        text: String,
    },
}

/// Questions to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalEvent {
    /// Someone must answer.
    Requested(ApprovalRequest),
    /// It was answered, or nobody needs to any more.
    Resolved {
        /// The question.
        request_id: RequestId,
    },
}

/// Questions of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum QuestionEvent {
    /// Someone must answer.
    Asked(QuestionRequest),
    /// It was answered, or nobody needs to any more.
    Resolved {
        /// The question.
        request_id: RequestId,
    },
}

/// Notices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NoticeEvent {
    /// Something is not as it should be; the turn goes on.
    Warning {
        /// What, for a person.
        message: String,
    },
    /// A request is made again.
    Retry {
        /// Which attempt comes next, from 1.
        attempt: u32,
        /// How many there will be at most.
        limit: u32,
        /// How long it waits first, in milliseconds.
        delay_ms: u64,
        /// What went wrong.
        reason: String,
    },
    /// Something was declined because nobody may be asked.
    Declined {
        /// What, for a person.
        what: String,
    },
    /// Where the context window goes, as it was asked for.
    Context(ContextReport),
    /// How the working tree differs from the last commit, as it was asked for.
    Diff {
        /// A unified diff, or what stands in its way.
        text: String,
    },
    /// What runs in the background, as it was asked for.
    Commands {
        /// The oldest first.
        commands: Vec<CommandInfo>,
    },
    /// What the patches of the turn changed, told at its end.
    TurnDiff {
        /// In the format of git, with paths relative to the root of the repository.
        unified_diff: String,
        /// Files that it leaves out, each with the reason.
        left_out: Vec<String>,
    },
    /// A request to the model was answered.
    Usage {
        /// Its tokens.
        request: TokenUsage,
        /// Those of the turn so far.
        turn: TokenUsage,
    },
}
