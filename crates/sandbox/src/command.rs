//! One command of a holder, as the agent sees it.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
pub use linux::SandboxedCommand;
#[cfg(target_os = "linux")]
pub(crate) use linux::start_error;
#[cfg(target_os = "macos")]
pub use macos::SandboxedCommand;
#[cfg(target_os = "macos")]
pub(crate) use macos::{Leaders, Start, end_all};

/// What to start.
#[derive(Debug)]
pub struct CommandSpec {
    /// The program, looked up in the `PATH` of `env`, and its arguments.
    pub argv: Vec<OsString>,
    /// The whole environment, beside the sandbox's own variables.
    pub env: Vec<(OsString, OsString)>,
    /// The directory to start in.
    pub cwd: PathBuf,
    /// What it reads; `None` is `/dev/null`. A terminal becomes its controlling terminal.
    pub stdin: Option<OwnedFd>,
    /// Where its output goes.
    pub stdout: OwnedFd,
    /// Where its error output goes.
    pub stderr: OwnedFd,
}

/// Why a command did not start, or why its end is unknown.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The directory is missing or closed to the command.
    #[error("cannot start a command in `{cwd}`", cwd = cwd.display())]
    Directory {
        /// Which directory.
        cwd: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// No such program.
    #[error("no program `{program}` was found", program = program.display())]
    NotFound {
        /// What was looked for.
        program: PathBuf,
    },
    /// There is such a program, but it cannot be executed.
    #[error("cannot execute `{program}`", program = program.display())]
    NotExecutable {
        /// Which program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Arguments and environment are larger than the system allows.
    #[error("the arguments and the environment of the command are too large")]
    TooLarge,
    /// An argument, a variable or the directory has a NUL byte inside.
    #[error("an argument or variable of the command contains a NUL byte")]
    InteriorNul,
    /// The sandbox around the command could not be made.
    #[error("cannot set up the sandbox of the command")]
    SetUp {
        /// The error of the system.
        source: io::Error,
    },
    /// The holder has ended, and every command with it.
    #[error("the sandbox holder is gone")]
    HolderGone {
        /// The error of the system.
        source: io::Error,
    },
}

/// How the command's own process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

impl CommandEnd {
    /// The code that a shell would show: 128 + n for signal n.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128 + signal,
        }
    }
}
