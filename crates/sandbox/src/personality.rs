//! The program as `agent-sandbox`: the processes between the agent and its commands.
//!
//! The agent starts the *holder* (`serve`), which puts itself into namespaces (`world`) and then
//! waits for requests on a socket. Each command gets an *init* (`init`) that is pid 1 of a pid
//! namespace, and below it the command's own process (`command`), which confines itself and
//! becomes the command. No process here ever starts a thread.

pub(crate) mod command;
pub(crate) mod confine;
mod explain;
pub(crate) mod findings;
pub(crate) mod hidden;
pub(crate) mod ids;
pub(crate) mod init;
pub(crate) mod landlock;
pub(crate) mod mounts;
pub(crate) mod protections;
pub(crate) mod seccomp;
mod serve;
pub(crate) mod snapshot;
pub(crate) mod sweep;
pub(crate) mod world;

use std::ffi::OsString;
use std::process::ExitCode;

/// The file name of `argv[0]` that selects this personality.
pub const PERSONALITY: &str = "agent-sandbox";

/// Runs the holder. To be called at the very start of `main`, before any thread exists, when the
/// file name of `argv[0]` is [`PERSONALITY`]; `args` are the arguments after it.
pub fn run_personality(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    if args
        .into_iter()
        .next()
        .is_none_or(|word| word != HOLDER_WORD)
    {
        return ExitCode::from(2);
    }
    match serve::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::debug!(%error, "the sandbox holder failed");
            ExitCode::FAILURE
        }
    }
}

/// The argument that asks for the holder.
pub(crate) const HOLDER_WORD: &str = "holder";
