//! The files that a session may change: directory handles and atomic commits of several files.
//!
//! Owns where edits may go and how they reach the disk. Knows no patch format. No file is opened
//! by a path with more than one part: each directory is opened by its name beneath the one above
//! it, links are never followed on the way, so that neither `..` nor a link nor a race leads out.

mod change;
mod commit;
mod follow;
mod handle;
mod protect;
mod refusal;
mod target;
mod workspace;

pub use change::{ChangeKind, FileChange};
pub use commit::{CommitError, Committed, TEMPORARY_PREFIX};
pub use refusal::Refusal;
pub use target::Target;
pub use workspace::{Durability, MAX_READ_BYTES, Workspace, WritableRoot};
