//! The vocabulary that every part of `agent` shares: ids, conversation items, operations,
//! events, approvals and sandbox policies.
//!
//! Everything here is plain data with serde. It does no input or output, reads no clock and
//! knows no HTTP, sandbox or async type, so that any face (terminal, CI, editor) can speak it.

mod approval;
mod context_report;
mod event;
mod ids;
mod item;
mod op;
mod question;
mod sandbox;
mod serialized;
mod turn_item;
mod usage;

pub use approval::{
    ApprovalChoice, ApprovalPolicy, ApprovalRequest, ApprovalSubject, GranularApprovals,
    ParseApprovalPolicyError,
};
pub use context_report::{ContextPart, ContextReport};
pub use event::{
    ApprovalEvent, Envelope, Event, FailureKind, ItemDelta, ItemEvent, NoticeEvent, QuestionEvent,
    ThreadEvent, ThreadInfo, TurnEvent, TurnFailure,
};
pub use ids::{CallId, ItemId, RequestId, ThreadId, TurnId};
pub use item::{
    CallForm, ContentPart, FragmentKind, OutputPayload, ReasoningPart, ResponseItem, Role,
};
pub use op::{Op, SettingsChange, UserInput};
pub use question::{Question, QuestionAnswers, QuestionOption, QuestionRequest};
pub use sandbox::{ParseSandboxModeError, SandboxLevel, SandboxMode};
pub use serialized::{ItemKind, SerializedItem};
pub use turn_item::{
    ChangeKind, CommandExecution, CommandInfo, CommandSource, EditDraft, FileChange, FileDraft,
    ItemStatus, PathChange, TodoItem, TurnItem,
};
pub use usage::TokenUsage;
