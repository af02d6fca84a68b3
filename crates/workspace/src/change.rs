//! What a commit does to one file.

use crate::target::Target;

/// One file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub target: Target,
    /// What happens to it.
    pub kind: ChangeKind,
}

/// What happens to a file. `before` is what was read when the change was planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is created; nothing may be there.
    Create {
        /// Its content.
        after: Vec<u8>,
    },
    /// It is removed. Of a link, the link is removed.
    Delete {
        /// Its content until then.
        before: Vec<u8>,
    },
    /// It gets other content, or another place, or both.
    Update {
        /// Its content until then.
        before: Vec<u8>,
        /// Its content from then on.
        after: Vec<u8>,
        /// Its new place, where nothing may be.
        move_to: Option<Target>,
    },
}
