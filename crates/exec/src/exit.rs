//! Exit codes. They are part of the command line's contract and documented in `--help`.

use agent_protocol::FailureKind;

/// How a run ended, as a number that scripts can rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// The turn completed.
    Completed,
    /// The turn failed.
    Failed,
    /// Usage or configuration; nothing was sent.
    Usage,
    /// Completed, but something was declined and `--fail-on-declined` was given.
    Declined,
    /// The answer does not satisfy the schema.
    Schema,
    /// A budget was reached.
    Budget,
    /// No usable sandbox.
    NoSandbox,
    /// Ended by a signal, or because standard output was closed.
    Signal(i32),
}

/// The number of the signal that stands for a closed standard output (SIGPIPE, signal(7)).
const SIGPIPE: i32 = 13;

impl ExitStatus {
    /// Standard output was closed.
    pub const CLOSED_STDOUT: Self = Self::Signal(SIGPIPE);

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Declined => 3,
            Self::Schema => 4,
            Self::Budget => 5,
            Self::NoSandbox => 6,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }
}

impl From<FailureKind> for ExitStatus {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Model | FailureKind::ContextWindow | FailureKind::Internal => Self::Failed,
            FailureKind::Budget => Self::Budget,
            FailureKind::Schema => Self::Schema,
            FailureKind::Sandbox => Self::NoSandbox,
        }
    }
}
