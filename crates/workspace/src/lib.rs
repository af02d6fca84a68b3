//! The files that a session may change: directory handles and atomic commits of several files.
//!
//! Owns where edits may go, how they reach the disk, and how they read for git. Knows no format of
//! patches that models write. No file is opened
//! by a path with more than one part: each directory is opened by its name beneath the one above
//! it, links are never followed on the way, so that neither `..` nor a link nor a race leads out.

mod change;
mod commit;
mod follow;
mod git_diff;
mod handle;
mod protect;
mod refusal;
mod target;
mod workspace;

pub use change::{ChangeKind, FileChange};
pub use commit::{CommitError, Committed, TEMPORARY_PREFIX};
pub use git_diff::{GitDiff, NoText, hunks};
pub use refusal::Refusal;
pub use target::Target;
pub use workspace::{Durability, MAX_READ_BYTES, Workspace, WritableRoot};
