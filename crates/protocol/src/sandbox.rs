//! The words for what commands may touch, and for how much of that the kernel can enforce here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What commands and edits may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Read the machine (but not its secrets), write nothing.
    ReadOnly,
    /// Also write in the workspace, the temporary directories and extra roots.
    WorkspaceWrite,
    /// No sandbox at all.
    DangerFullAccess,
}

impl SandboxMode {
    /// The spelling of the command line and of the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no sandbox mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseSandboxModeError(String);

impl fmt::Display for ParseSandboxModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no sandbox mode; use `read-only`, `workspace-write` or `danger-full-access`",
            self.0
        )
    }
}

impl std::error::Error for ParseSandboxModeError {}

impl FromStr for SandboxMode {
    type Err = ParseSandboxModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFullAccess]
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| ParseSandboxModeError(text.to_owned()))
    }
}

/// How much of a policy the kernel enforces on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// Namespaces, Landlock and seccomp.
    Full,
    /// As `Full`, but `/proc` is that of the surrounding container, because mounting a fresh one
    /// is refused where parts of it are masked.
    FullWithoutFreshProc,
    /// Landlock and seccomp only: protected paths inside writable roots are compared after each
    /// command instead of being read-only.
    NoNamespaces,
    /// Namespaces and seccomp only.
    NoLandlock,
    /// The Seatbelt of macOS, which has none of the others.
    #[cfg(target_os = "macos")]
    Seatbelt,
    /// Nothing: commands are refused unless full access was asked for.
    None,
}

impl SandboxLevel {
    /// The spelling used in messages and in the variable `AGENT_SANDBOX`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::FullWithoutFreshProc => "full-without-fresh-proc",
            Self::NoNamespaces => "no-namespaces",
            Self::NoLandlock => "no-landlock",
            #[cfg(target_os = "macos")]
            Self::Seatbelt => "seatbelt",
            Self::None => "none",
        }
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
