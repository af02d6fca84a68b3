//! What a command did to a protected path, as it is told.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::policy::path_bytes;

/// A protected path that a command made or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which path.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// What was done about it.
    pub action: FindingAction,
}

/// What became of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingAction {
    /// It was renamed, so that nothing uses it.
    PutAside {
        /// Its new path.
        #[serde(with = "path_bytes")]
        to: PathBuf,
    },
    /// What was there before is back.
    Restored,
    /// Nothing: it is allowed, but worth knowing, like a new repository.
    Reported,
    /// It could be neither put aside nor restored.
    Kept {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.action {
            FindingAction::PutAside { to } => write!(
                f,
                "the command made the protected path `{path}`; it was put aside as `{}`",
                to.display()
            ),
            FindingAction::Restored => write!(
                f,
                "the command changed the protected path `{path}`; it was put back as it was"
            ),
            FindingAction::Reported => write!(f, "the command made `{path}`"),
            FindingAction::Kept { reason } => write!(
                f,
                "the command changed the protected path `{path}`, and it could not be put back: \
                 {reason}"
            ),
        }
    }
}
