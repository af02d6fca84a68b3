//! Sessions on disk. A session is one append-only file of JSON lines, the rollout; it is the
//! only truth about a conversation.
//!
//! One record is one line and one `write`, so that whatever kills the program leaves at most one
//! torn line at the end. Readers take what they can read, count what they cannot, and never
//! change a line. The format is the one that Codex writes in its legacy mode (no `ordinal`), so
//! that its sessions and ours can be told apart by content only.

mod find;
mod list;
mod reader;
mod record;
mod turn_diff;
mod writer;

pub use find::{FindError, Found, find_by_id, find_latest};
pub use list::{Summary, list};
pub use reader::{Damage, LoadedItem, ReadError, Session, read};
pub use record::{
    BaseInstructions, EventRecord, GitInfo, ItemMetadata, Record, SandboxPolicyRecord, SessionMeta,
    TokenCountInfo, TurnContext,
};
pub use turn_diff::{TurnDiff, last_turn_diff};
pub use writer::{Writer, WriterError};
