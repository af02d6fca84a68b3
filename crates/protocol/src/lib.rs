//! The vocabulary that every part of `agent` shares: ids, conversation items, operations,
//! events, approvals and sandbox policies.
//!
//! Everything here is plain data with serde. It does no input or output, reads no clock and
//! knows no HTTP, sandbox or async type, so that any face (terminal, CI, editor) can speak it.

mod approval;
mod event;
mod ids;
mod item;
mod op;
mod sandbox;
mod serialized;
mod turn_item;
mod usage;

pub use approval::{
    ApprovalChoice, ApprovalPolicy, ApprovalRequest, ApprovalSubject, GranularApprovals,
    ParseApprovalPolicyError,
};
pub use event::{
    ApprovalEvent, Envelope, Event, FailureKind, ItemDelta, ItemEvent, NoticeEvent, ThreadEvent,
    TurnEvent, TurnFailure,
};
pub use ids::{CallId, ItemId, RequestId, ThreadId, TurnId};
pub use item::{
    CallForm, ContentPart, FragmentKind, OutputPayload, ReasoningPart, ResponseItem, Role,
};
pub use op::{Op, UserInput};
pub use sandbox::{ParseSandboxModeError, SandboxLevel, SandboxMode};
pub use serialized::{ItemKind, SerializedItem};
pub use turn_item::{
    ChangeKind, CommandExecution, FileChange, ItemStatus, PathChange, TodoItem, TurnItem,
};
pub use usage::TokenUsage;
