//! The machine as tools see it. Tools reach the world only through [`Environment`], so that
//! the policy holds for all of them and a remote machine can stand in.

mod holder_slot;
mod local;
mod local_settings;
mod shims;
mod snapshot;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_apply_patch::PatchCommand;
use agent_workspace::{CommitError, Committed, FileChange, Refusal, Target};
use bytes::Bytes;
use futures_util::future::BoxFuture;

pub use local::LocalEnvironment;
pub use local_settings::LocalSettings;
pub(crate) use shims::Shims;

/// A machine that commands run on and files are on.
pub trait Environment: Send + Sync {
    /// Starts a command within the policy. It belongs to the session: what is left of it dies
    /// with the session at the latest.
    fn spawn(&self, command: Command)
    -> BoxFuture<'_, Result<Box<dyn RunningCommand>, SpawnError>>;

    /// Reads a file within the policy, as a command would.
    fn read_file<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Vec<u8>, ReadError>>;

    /// The files that edits may change: those within the policy, and `approved` ones outside of
    /// it, as a [`Refusal`] names them.
    fn edits(&self, approved: &[PathBuf]) -> Arc<dyn Edits>;

    /// Names of variables that commands do not get because they look like secrets.
    fn withheld_variables(&self) -> &[String];

    /// The shell that scripts are for.
    fn default_shell(&self) -> &Path;

    /// Whether commands may run in a login shell.
    fn allows_login_shell(&self) -> bool;

    /// A request is on its way to the model, and its answer may be commands: what takes a while
    /// before the first one can begin now, in the background.
    fn expect_commands(&self) {}

    /// What people should know about how commands run; each is handed out once.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// If the policy probably explains how a command ended: one line for the model.
    fn explain_denial(&self, exit_code: Option<i32>, output: &str) -> Option<String>;
}

/// Files that may be edited. Its methods block.
pub trait Edits: Send + Sync {
    /// Decides whether an edit may write a path, and where it leads.
    ///
    /// # Errors
    /// When it may not.
    fn resolve(&self, path: &str) -> Result<Target, Refusal>;

    /// Reads a file that an edit may write; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, target: &Target) -> io::Result<Option<Vec<u8>>>;

    /// Whether a file may be executed; `false` if it does not exist.
    fn is_executable(&self, target: &Target) -> bool;

    /// Whether a path, however it is written, leads to a directory.
    fn is_directory(&self, path: &str) -> bool;

    /// Changes several files, all of them or none.
    ///
    /// # Errors
    /// When one of them cannot be changed; all are then as they were.
    fn commit(&self, changes: Vec<FileChange>) -> Result<Committed, CommitError>;
}

/// A command to start. No patch is one: see [`Command::new`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    argv: Vec<String>,
    cwd: PathBuf,
    confinement: Confinement,
    in_terminal: bool,
}

impl Command {
    /// A program and its arguments, the directory that it starts in, and what it may touch.
    ///
    /// # Errors
    /// When it is a patch in truth. As this is the only way to a command, no environment can be
    /// handed one by whichever tool: patches go through the patch tool and its rules.
    pub fn new(
        argv: Vec<String>,
        cwd: PathBuf,
        confinement: Confinement,
    ) -> Result<Self, PatchCommand> {
        match PatchCommand::of(&argv) {
            Some(patch) => Err(patch),
            None => Ok(Self {
                argv,
                cwd,
                confinement,
                in_terminal: false,
            }),
        }
    }

    /// The same with a terminal of its own, which takes input.
    #[must_use]
    pub fn in_terminal(self) -> Self {
        Self {
            in_terminal: true,
            ..self
        }
    }

    /// Whether it has a terminal.
    pub fn has_terminal(&self) -> bool {
        self.in_terminal
    }

    /// Program and arguments.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Where it starts.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// What it may touch.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }
}

/// What a command may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// What the policy of the session lets it.
    Policy,
    /// Everything that the user may: someone approved it, or it is the user's own command.
    None,
}

/// A command that was started. Dropping it ends it.
pub trait RunningCommand: Send {
    /// What happens next.
    ///
    /// # Cancel safety
    /// A call that is dropped has lost nothing.
    fn next(&mut self) -> BoxFuture<'_, CommandEvent>;

    /// Types something into its terminal; [`Self::next`] writes it as the terminal takes it.
    /// Without a terminal it is dropped.
    fn write(&mut self, bytes: &[u8]);

    /// How much of that the terminal has not taken yet, in bytes.
    fn n_unwritten(&self) -> usize;

    /// Whether processes of it are left although its shell has ended.
    fn has_leftovers(&mut self) -> bool;

    /// Waits until nothing of it is left.
    ///
    /// # Cancel safety
    /// A call that is dropped has lost nothing.
    fn gone(&mut self) -> BoxFuture<'_, ()>;

    /// Ends all of it and waits until it is gone: first asks, after the grace insists.
    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, ()>;

    /// What the sandbox found after the command: protected files put back, and the like.
    fn findings(&self) -> Vec<String>;
}

/// What happens to a running command.
#[derive(Debug)]
pub enum CommandEvent {
    /// It printed something.
    Output(Bytes),
    /// All that could print has closed its output.
    OutputClosed,
    /// Its shell has ended.
    Ended(CommandEnd),
    /// It cannot be watched any more.
    Lost(String),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

impl CommandEnd {
    /// The status as shells say it: 128 and the signal's number for a signal.
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signalled(signal) => 128 + signal,
        }
    }
}

/// Why a command did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpawnError {
    /// The directory is not there or cannot be entered.
    #[error("cannot start in `{path}`: {reason}", path = .cwd.display())]
    Directory {
        /// The directory.
        cwd: PathBuf,
        /// Why.
        reason: String,
    },
    /// The program is not there or cannot be run.
    #[error("cannot run `{program}`: {reason}")]
    Program {
        /// The program.
        program: String,
        /// Why.
        reason: String,
    },
    /// The policy cannot be enforced on this machine.
    #[error("sandbox_error: no usable sandbox: {reason}")]
    NoSandbox {
        /// Why, with what is missing.
        reason: String,
    },
    /// The sandbox around it failed; the command did not begin.
    #[error("sandbox_error: the command was not run: {reason}")]
    Sandbox {
        /// Why.
        reason: String,
    },
    /// It could not be started.
    #[error("the command could not be started: {reason}")]
    Failed {
        /// Why.
        reason: String,
    },
}

/// The largest file that [`Environment::read_file`] reads, in bytes.
pub const MAX_READ_BYTES: usize = 64 << 20;

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is not there, or the policy does not let it be read.
    #[error("{0}")]
    Refused(String),
    /// It is larger than [`MAX_READ_BYTES`].
    #[error("it is larger than {} MiB", MAX_READ_BYTES >> 20)]
    TooLarge,
    /// It did not end.
    #[error("reading it takes too long; it may be a pipe")]
    TooSlow,
}

#[cfg(test)]
mod tests;
