//! One command in a sandbox, with the terminal of this process: `agent sandbox -- COMMAND`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::command::{CommandEnd, SpawnError};
use crate::finding::Finding;
use crate::holder::SandboxError;
use crate::hosts::HostDenial;
#[cfg(target_os = "linux")]
pub use linux::run_command_in_sandbox;
#[cfg(target_os = "macos")]
pub use macos::run_command_in_sandbox;

/// A command that shares the terminal of this process.
#[derive(Debug, Clone)]
pub struct OneShot {
    /// The program, looked up in the `PATH` of `env`, and its arguments.
    pub argv: Vec<OsString>,
    /// The whole environment, beside the sandbox's own variables.
    pub env: Vec<(OsString, OsString)>,
    /// The directory to start in.
    pub cwd: PathBuf,
}

/// How a command with the terminal of this process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneShotEnd {
    /// Its end, or the signal by which this process was asked to end.
    pub end: CommandEnd,
    /// What it did to protected paths that could not be prevented.
    pub findings: Vec<Finding>,
    /// The destinations that the proxy refused, each different denial once.
    pub refused_hosts: Vec<HostDenial>,
}

/// Why a command did not run.
#[derive(Debug, thiserror::Error)]
pub enum OneShotError {
    /// There is no sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The command did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

impl OneShotError {
    /// The exit code that a shell would give: 127 not found, 126 not executable, else 125.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Spawn(SpawnError::NotFound { .. }) => 127,
            Self::Spawn(SpawnError::NotExecutable { .. } | SpawnError::TooLarge) => 126,
            Self::Spawn(
                SpawnError::Directory { .. }
                | SpawnError::InteriorNul
                | SpawnError::SetUp { .. }
                | SpawnError::HolderGone { .. },
            )
            | Self::Sandbox(_) => 125,
        }
    }
}
