//! Why a path may not be edited, in words for the model.

use std::path::PathBuf;

/// Why a path may not be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is in no writable root.
    #[error("`{path}` is outside of the writable directories", path = .path.display())]
    Outside {
        /// The absolute path with all links followed: the key for an approval.
        path: PathBuf,
    },
    /// It would later be executed or obeyed.
    #[error("`{path}` is protected: {reason}", path = .path.display())]
    Protected {
        /// The absolute path with all links followed.
        path: PathBuf,
        /// What is protected.
        reason: String,
    },
    /// The user denied it.
    #[error("access to `{path}` is denied by the user's settings", path = .path.display())]
    Denied {
        /// The absolute path with all links followed.
        path: PathBuf,
    },
    /// It is no path of a file.
    #[error("`{path}` cannot name a file: {reason}")]
    Invalid {
        /// The path as written.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}
