//! A file that may be edited, as a place beneath an open root.

use std::path::{Path, PathBuf};

/// A file beneath a root. No part of the path was a link when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Location {
    /// The index of the root.
    pub(crate) root: usize,
    /// The path beneath the root: only plain names, at least one.
    pub(crate) relative: PathBuf,
}

/// A file that may be read and edited. Made by `Workspace::resolve`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub(crate) written: String,
    /// The absolute path with all links followed.
    pub(crate) real: PathBuf,
    /// Where the content is: links are followed.
    pub(crate) content: Location,
    /// Where the name is; differs from `content` if the name is a link.
    pub(crate) entry: Location,
}

impl Target {
    /// The path as it was written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The absolute path of the file with all links followed: the key for approvals.
    pub fn real_path(&self) -> &Path {
        &self.real
    }

    /// Whether the name is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.content != self.entry
    }
}
