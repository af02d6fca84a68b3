//! The patch format: parses patches that models write and plans them against files, byte for byte.
//!
//! Owns the grammar, the leniency, the matching and the resulting bytes, and says what a patch
//! that is still being written names. Does not touch files: the caller passes a reader in and writes
//! the [`Plan`] out.

mod grammar;
mod level;
mod lines;
mod locate;
mod nearest;
mod parse;
mod patch;
mod plan;
mod progress;
mod scope;
mod search;
mod shell;
mod splice;
mod summary;
mod visible;
mod wrapper;

pub use grammar::GRAMMAR;
pub use parse::{ParseError, Problem, parse};
pub use patch::{Chunk, ChunkLine, FileOp, FilePatch, Mark, Patch, PatchKind, TouchedFile};
pub use plan::{ChangeKind, Plan, PlanError, PlannedChange, Read, plan};
pub use progress::{FileProgress, PatchProgress};
pub use shell::{PERSONALITIES, PatchCommand};
pub use summary::summary;
