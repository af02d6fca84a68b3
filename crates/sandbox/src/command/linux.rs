//! A command of a holder that is a process of its own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::unix::AsyncFd;

use super::{CommandEnd, CommandSpec, SpawnError};
use crate::control::{self, CommandEvent, CommandRequest, Stage};
use crate::finding::Finding;
use crate::holder::{receive, send};
use crate::hosts::HostDenial;
use crate::proxy::DenialLog;

/// A command that was started. Dropping it ends all of it.
#[derive(Debug)]
pub struct SandboxedCommand {
    socket: AsyncFd<OwnedFd>,
    end: Option<CommandEnd>,
    gone: bool,
    findings: Vec<Finding>,
    /// What the proxy refused, and since when that matters here.
    denials: Option<(Arc<DenialLog>, u64)>,
}

impl SandboxedCommand {
    /// Waits for the outcome of the start.
    pub(crate) async fn started(
        socket: AsyncFd<OwnedFd>,
        spec: &CommandSpec,
        log: Option<&Arc<DenialLog>>,
    ) -> Result<Self, SpawnError> {
        let gone = |source| SpawnError::HolderGone { source };
        // What is refused from here on may be its doing; that of others meanwhile looks the same.
        let denials = log.map(|log| (Arc::clone(log), log.now()));
        match receive(&socket).await.map_err(gone)? {
            Some(CommandEvent::Started) => Ok(Self {
                socket,
                end: None,
                gone: false,
                findings: Vec::new(),
                denials,
            }),
            Some(CommandEvent::Failed { stage, errno }) => {
                let program = spec.argv.first().map(PathBuf::from).unwrap_or_default();
                Err(start_error(stage, errno, &spec.cwd, program))
            }
            Some(
                CommandEvent::Listening | CommandEvent::Exited { .. } | CommandEvent::Gone { .. },
            )
            | None => Err(gone(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// Waits for the end of the command's own process; what it left behind may go on.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn wait(&mut self) -> Result<CommandEnd, SpawnError> {
        loop {
            if let Some(end) = self.end {
                return Ok(end);
            }
            self.next_event().await?;
        }
    }

    /// Whether processes of the command are left. Says yes for a moment after the last has ended.
    pub fn has_leftovers(&mut self) -> bool {
        while !self.gone {
            match control::receive_header(self.socket.get_ref()) {
                Ok(Some(event)) => self.record(event),
                Ok(None) => self.gone = true,
                Err(_) => return true,
            }
        }
        false
    }

    /// Waits until nothing of the command is left.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn gone(&mut self) {
        while !self.gone {
            if self.next_event().await.is_err() {
                self.gone = true;
            }
        }
    }

    /// Asks all its processes to end, by SIGTERM.
    pub fn terminate(&self) {
        self.ask(CommandRequest::Terminate);
    }

    /// Ends all its processes and waits until they are gone.
    ///
    /// # Cancel safety
    /// They end also when the future is dropped.
    pub async fn kill(&mut self) {
        if !self.gone {
            // A failure means that the holder is gone, and the command with it.
            drop(send(&self.socket, &CommandRequest::Kill, &[], &[]).await);
            self.gone().await;
        }
    }

    /// What it did to protected paths that could not be prevented. Complete once it is gone.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The destinations that the proxy has refused while it ran, each different denial once. With
    /// commands side by side another one may have asked for them.
    pub fn refused_hosts(&self) -> Vec<HostDenial> {
        let log = self.denials.as_ref();
        log.map(|(log, mark)| log.since(*mark)).unwrap_or_default()
    }

    fn ask(&self, request: CommandRequest) {
        if let Err(error) = control::send(self.socket.get_ref().as_fd(), &request, &[], &[]) {
            tracing::debug!(%error, "cannot reach a command's holder");
        }
    }

    async fn next_event(&mut self) -> Result<(), SpawnError> {
        let event = receive(&self.socket).await;
        if let Some(event) = event.map_err(|source| SpawnError::HolderGone { source })? {
            self.record(event);
        } else {
            self.gone = true;
            // Its init was ended from outside before it could report.
            self.end.get_or_insert(CommandEnd::Signaled(libc::SIGKILL));
        }
        Ok(())
    }

    fn record(&mut self, event: CommandEvent) {
        match event {
            CommandEvent::Exited {
                code: Some(code), ..
            } => self.end = Some(CommandEnd::Exited(code)),
            CommandEvent::Exited { signal, .. } => {
                self.end = Some(CommandEnd::Signaled(signal.unwrap_or(libc::SIGKILL)));
            }
            CommandEvent::Gone { findings } => {
                self.gone = true;
                self.end.get_or_insert(CommandEnd::Signaled(libc::SIGKILL));
                self.findings = findings;
            }
            CommandEvent::Listening | CommandEvent::Started | CommandEvent::Failed { .. } => {}
        }
    }
}

pub(crate) fn start_error(stage: Stage, errno: i32, cwd: &Path, program: PathBuf) -> SpawnError {
    let source = io::Error::from_raw_os_error(errno);
    match (stage, errno) {
        (Stage::SetUp, _) => SpawnError::SetUp { source },
        (Stage::Directory, _) => SpawnError::Directory {
            cwd: cwd.to_owned(),
            source,
        },
        (Stage::Program, libc::E2BIG) => SpawnError::TooLarge,
        (Stage::Program, libc::ENOENT) => SpawnError::NotFound { program },
        (Stage::Program, _) => SpawnError::NotExecutable { program, source },
    }
}
