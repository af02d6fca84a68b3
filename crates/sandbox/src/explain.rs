//! What the policy says of one path, and by which rule.

use serde::{Deserialize, Serialize};

/// What commands may do with a path, as the holder would enforce it now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Whether its content can be read, where the rights of the file allow it.
    pub read: Verdict,
    /// Whether it can be written, made or removed, where the rights of the file allow it.
    pub write: Verdict,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The decision.
    pub answer: Answer,
    /// The rule that decides, as a sentence without a full stop.
    pub rule: String,
}

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It can be done.
    Allowed,
    /// The kernel refuses it.
    Denied,
    /// It can be done, is found after the command, and undone or put aside.
    Undone,
    /// It can be done and is reported after the command.
    Reported,
}

impl Answer {
    /// One word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Undone => "undone after the command",
            Self::Reported => "allowed and reported",
        }
    }
}

impl Verdict {
    pub(crate) fn new(answer: Answer, rule: impl Into<String>) -> Self {
        let rule = rule.into();
        Self { answer, rule }
    }
}
