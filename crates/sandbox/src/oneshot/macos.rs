//! The command with the terminal of this process, by the holder of macOS. It has a session of its
//! own, so that it reads and writes the terminal but does not control it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{OneShot, OneShotEnd, OneShotError};
use crate::command::{CommandEnd, CommandSpec};
use crate::holder::{Holder, HolderOptions, SandboxError};
use crate::policy::SandboxPolicy;

/// Runs a command to its end and ends whatever it leaves behind. SIGINT, SIGTERM, SIGHUP and
/// SIGQUIT to this process end all of it. Blocks; call it where no async runtime runs.
pub fn run_command_in_sandbox(
    policy: &SandboxPolicy,
    command: &OneShot,
) -> Result<OneShotEnd, OneShotError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(set_up)?;
    let outcome = runtime.block_on(run(policy, command));
    // A lookup of the proxy can hang.
    runtime.shutdown_background();
    outcome
}

fn set_up(source: io::Error) -> SandboxError {
    SandboxError::SetUp { source }
}

async fn run(policy: &SandboxPolicy, command: &OneShot) -> Result<OneShotEnd, OneShotError> {
    let mut asked = [
        listen(SignalKind::interrupt())?,
        listen(SignalKind::terminate())?,
        listen(SignalKind::hangup())?,
        listen(SignalKind::quit())?,
    ];
    let own = |fd: &dyn AsFd| fd.as_fd().try_clone_to_owned().map_err(set_up);
    let (stdin, stdout, stderr): (OwnedFd, _, _) =
        (own(&io::stdin())?, own(&io::stdout())?, own(&io::stderr())?);
    let spec = CommandSpec {
        argv: command.argv.clone(),
        env: command.env.clone(),
        cwd: command.cwd.clone(),
        stdin: Some(stdin),
        stdout,
        stderr,
    };
    let holder = Holder::start(policy, HolderOptions::default()).await?;
    let mut running = holder.spawn(spec).await?;
    let [interrupt, terminate, hangup, quit] = &mut asked;
    // All branches are cancel-safe.
    let end = tokio::select! {
        end = running.wait() => end?,
        _ = interrupt.recv() => CommandEnd::Signaled(libc::SIGINT),
        _ = terminate.recv() => CommandEnd::Signaled(libc::SIGTERM),
        _ = hangup.recv() => CommandEnd::Signaled(libc::SIGHUP),
        _ = quit.recv() => CommandEnd::Signaled(libc::SIGQUIT),
    };
    running.kill().await;
    let refused_hosts = running.refused_hosts();
    drop(running);
    holder.shutdown().await;
    Ok(OneShotEnd {
        end,
        findings: Vec::new(),
        refused_hosts,
    })
}

fn listen(kind: SignalKind) -> Result<Signal, SandboxError> {
    signal(kind).map_err(set_up)
}
