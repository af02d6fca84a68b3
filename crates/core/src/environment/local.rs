//! This machine: commands go through a sandbox holder that is started with the first of them.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent_protocol::SandboxMode;
use agent_sandbox::{
    CommandSpec, IGNORE_FILE, SandboxError, SandboxPolicy, SandboxedCommand, Terminal,
};
use agent_workspace::{
    CommitError, Committed, FileChange, Refusal, Target, Workspace, WritableRoot,
};
use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use super::holder_slot::HolderSlot;
use super::shims::Shims;
use super::snapshot::ShellSnapshot;
use super::{
    Command, CommandEnd, CommandEvent, Confinement, Edits, Environment, LocalSettings,
    MAX_READ_BYTES, ReadError, RunningCommand, SpawnError,
};

/// How much of the output is read at once, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// How long reading one file may take.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// How many refused connections of one command are told.
const MAX_REFUSED_TOLD: usize = 5;

/// This machine.
#[derive(Debug)]
pub struct LocalEnvironment {
    settings: LocalSettings,
    holder: HolderSlot,
    /// The holder of commands that are not confined.
    unconfined: HolderSlot,
    /// Opened with the first edit.
    workspace: OnceLock<Arc<Workspace>>,
    /// Made with the first command; none where they cannot be made.
    shims: OnceLock<Option<Shims>>,
    /// What the login profile sets.
    snapshot: ShellSnapshot,
}

impl LocalEnvironment {
    /// Nothing is started yet.
    pub fn new(settings: LocalSettings) -> Self {
        Self {
            snapshot: ShellSnapshot::new(&settings),
            settings,
            holder: HolderSlot::default(),
            unconfined: HolderSlot::default(),
            workspace: OnceLock::new(),
            shims: OnceLock::new(),
        }
    }

    /// Opens the places that edits may go to, as directory handles.
    fn open_workspace(&self) -> Workspace {
        let policy = &self.settings.policy;
        let workspace = if policy.confines() {
            let roots = policy.resolved_edit_roots().into_iter();
            let roots = roots.map(|path| {
                // It may be made, but not changed.
                let ignore_file = Some(path.join(IGNORE_FILE));
                let protected = ignore_file.filter(|file| file.symlink_metadata().is_ok());
                let protected = protected.into_iter().collect();
                WritableRoot { path, protected }
            });
            let mut denied = policy.resolved_hidden_paths();
            denied.push(policy.agent_home.clone());
            Workspace::new(policy.workspace.clone(), roots.collect(), denied)
        } else {
            Workspace::unrestricted(policy.workspace.clone())
        };
        workspace.with_durability(self.settings.durability)
    }

    /// Who starts commands of this kind, and under which policy.
    fn slot(&self, confinement: Confinement) -> (&HolderSlot, SandboxPolicy) {
        let confined = &self.settings.policy;
        match confinement {
            Confinement::None if confined.confines() => {
                let policy = SandboxPolicy {
                    mode: SandboxMode::DangerFullAccess,
                    ..confined.clone()
                };
                (&self.unconfined, policy)
            }
            Confinement::None | Confinement::Policy => (&self.holder, confined.clone()),
        }
    }

    async fn start(&self, command: Command) -> Result<Box<dyn RunningCommand>, SpawnError> {
        // Before the holder, which shows commands the directory as it is then.
        self.shims();
        // Outside the sandbox a profile may come to something else.
        let is_usual = command.confinement() == Confinement::Policy;
        if is_usual {
            self.snapshot.begin_for(command.argv());
        }
        let (slot, policy) = self.slot(command.confinement());
        let holder = slot.get_or_start(&policy).await;
        let holder = holder.map_err(|err| holder_error(&err))?;
        let failed = |err: std::io::Error| SpawnError::Failed {
            reason: err.to_string(),
        };
        let streams = if command.has_terminal() {
            let (terminal, theirs) = holder.open_terminal().await.map_err(failed)?;
            let stdin = theirs.try_clone().map_err(failed)?;
            (Output::Terminal(terminal), Some(stdin), theirs)
        } else {
            pipes().map_err(failed)?
        };
        let (output, stdin, stdout) = streams;
        let stderr = stdout.try_clone().map_err(failed)?;
        let program = command.argv().first().cloned().unwrap_or_default();
        let mut env = self.settings.variables.clone();
        let mut argv = command.argv().to_vec();
        if let Some(shims) = self.shims() {
            shims.put_first(&mut env);
            argv = shims.in_login_shell(&argv);
        }
        if is_usual {
            self.snapshot.prepare(&mut argv, &mut env).await;
        }
        if command.has_terminal() {
            set(&mut env, "TERM", "xterm");
        }
        let spec = CommandSpec {
            argv: argv.into_iter().map(OsString::from).collect(),
            env,
            cwd: command.cwd().to_owned(),
            stdin,
            stdout,
            stderr,
        };
        let command = holder.spawn(spec).await.map_err(|err| {
            if matches!(err, agent_sandbox::SpawnError::HolderGone { .. }) {
                slot.forget(&holder);
            }
            spawn_error(err, program)
        })?;
        Ok(Box::new(LocalCommand {
            command,
            output: Some(output),
            ended: false,
        }))
    }

    async fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let refused = |err: &dyn std::fmt::Display| ReadError::Refused(err.to_string());
        let Some(path) = path.to_str() else {
            return Err(ReadError::Refused("its name is not UTF-8".to_owned()));
        };
        // A command does the reading, so that the kernel applies the policy to it.
        let argv = ["cat", "--", path].map(str::to_owned).to_vec();
        let Ok(command) = Command::new(argv, PathBuf::from("/"), Confinement::Policy) else {
            return Err(ReadError::Refused("it cannot be read".to_owned()));
        };
        let mut running = self.start(command).await.map_err(|err| refused(&err))?;
        let mut bytes = Vec::new();
        let mut end = None;
        let mut open = true;
        while open || end.is_none() {
            match running.next().await {
                CommandEvent::Output(chunk) if bytes.len() + chunk.len() > MAX_READ_BYTES => {
                    return Err(ReadError::TooLarge);
                }
                CommandEvent::Output(chunk) => bytes.extend_from_slice(&chunk),
                CommandEvent::OutputClosed => open = false,
                CommandEvent::Ended(how) => end = Some(how),
                CommandEvent::Lost(why) => return Err(ReadError::Refused(why)),
            }
        }
        if end == Some(CommandEnd::Exited(0)) {
            return Ok(bytes);
        }
        let said = String::from_utf8_lossy(&bytes);
        let why = said.trim().rsplit(": ").next().unwrap_or_default();
        Err(ReadError::Refused(why.to_owned()))
    }

    fn shims(&self) -> Option<&Shims> {
        let prepare = || Shims::prepare(&self.settings.policy.agent_home);
        self.shims.get_or_init(prepare).as_ref()
    }
}

impl Environment for LocalEnvironment {
    fn spawn(
        &self,
        command: Command,
    ) -> BoxFuture<'_, Result<Box<dyn RunningCommand>, SpawnError>> {
        Box::pin(self.start(command))
    }

    fn read_file<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Vec<u8>, ReadError>> {
        Box::pin(async move {
            // A pipe that nobody writes to would be waited for.
            let read = tokio::time::timeout(READ_TIMEOUT, self.read(path)).await;
            read.unwrap_or(Err(ReadError::TooSlow))
        })
    }

    fn edits(&self, approved: &[PathBuf]) -> Arc<dyn Edits> {
        if !approved.is_empty() {
            let workspace = self.open_workspace();
            return Arc::new(workspace.with_approved(approved.iter().cloned()));
        }
        let workspace = self
            .workspace
            .get_or_init(|| Arc::new(self.open_workspace()));
        Arc::<Workspace>::clone(workspace)
    }

    fn withheld_variables(&self) -> &[String] {
        &self.settings.withheld
    }

    fn default_shell(&self) -> &Path {
        &self.settings.shell
    }

    fn allows_login_shell(&self) -> bool {
        self.settings.allow_login_shell
    }

    fn expect_commands(&self) {
        self.snapshot.begin_later();
    }

    fn take_warnings(&self) -> Vec<String> {
        self.snapshot.take_warnings()
    }

    fn explain_denial(&self, exit_code: Option<i32>, output: &str) -> Option<String> {
        let level = self.holder.level();
        let failure = agent_sandbox::Failure {
            // A command that was stopped failed, with whatever code.
            exit_code: exit_code.unwrap_or(1),
            output,
        };
        agent_sandbox::explain_denial(failure, &self.settings.policy, level)
    }
}

impl Edits for Workspace {
    fn resolve(&self, path: &str) -> Result<Target, Refusal> {
        Self::resolve(self, path)
    }

    fn read(&self, target: &Target) -> io::Result<Option<Vec<u8>>> {
        Self::read(self, target)
    }

    fn is_executable(&self, target: &Target) -> bool {
        Self::is_executable(self, target)
    }

    fn is_directory(&self, path: &str) -> bool {
        self.cwd().join(path).is_dir()
    }

    fn commit(&self, changes: Vec<FileChange>) -> Result<Committed, CommitError> {
        Self::commit(self, changes)
    }
}

/// A command of this machine.
struct LocalCommand {
    command: SandboxedCommand,
    output: Option<Output>,
    ended: bool,
}

impl LocalCommand {
    async fn next_event(&mut self) -> CommandEvent {
        let Self {
            command,
            output,
            ended,
        } = self;
        // Both branches are cancel-safe: what was read is returned at once, `wait` loses nothing.
        tokio::select! {
            biased;
            read = read_some(output), if output.is_some() => {
                if let Some(bytes) = read {
                    return CommandEvent::Output(bytes);
                }
                self.output = None;
                CommandEvent::OutputClosed
            }
            end = command.wait(), if !*ended => {
                *ended = true;
                if let Some(Output::Terminal(terminal)) = output {
                    terminal.release();
                }
                match end {
                    Ok(end) => CommandEvent::Ended(end.into()),
                    Err(err) => CommandEvent::Lost(with_source(&err)),
                }
            }
            else => CommandEvent::OutputClosed,
        }
    }
}

fn set(variables: &mut Vec<(OsString, OsString)>, name: &str, value: &str) {
    variables.retain(|(other, _)| other != name);
    variables.push((name.into(), value.into()));
}

/// What a command prints, as the agent reads it.
enum Output {
    Pipe(pipe::Receiver, BytesMut),
    Terminal(Terminal),
}

/// The agent's end of a command's output, and the command's input and output.
fn pipes() -> io::Result<(Output, Option<OwnedFd>, OwnedFd)> {
    let (reader, writer) = std::io::pipe()?;
    let reader = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
    let output = Output::Pipe(reader, BytesMut::new());
    Ok((output, None, OwnedFd::from(writer)))
}

/// What can be read now; `None` at the end.
async fn read_some(output: &mut Option<Output>) -> Option<Bytes> {
    match output.as_mut()? {
        Output::Pipe(pipe, buffer) => {
            buffer.reserve(READ_BYTES);
            match pipe.read_buf(buffer).await {
                Ok(0) | Err(_) => None,
                Ok(_) => Some(buffer.split().freeze()),
            }
        }
        Output::Terminal(terminal) => terminal.read().await,
    }
}

impl RunningCommand for LocalCommand {
    fn next(&mut self) -> BoxFuture<'_, CommandEvent> {
        Box::pin(self.next_event())
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(Output::Terminal(terminal)) = &mut self.output {
            terminal.write(bytes);
        }
    }

    fn n_unwritten(&self) -> usize {
        match &self.output {
            Some(Output::Terminal(terminal)) => terminal.n_unwritten(),
            Some(Output::Pipe(..)) | None => 0,
        }
    }

    fn has_leftovers(&mut self) -> bool {
        self.command.has_leftovers()
    }

    fn gone(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.command.gone())
    }

    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.command.terminate();
            if tokio::time::timeout(grace, self.command.gone())
                .await
                .is_err()
            {
                self.command.kill().await;
            }
        })
    }

    fn findings(&self) -> Vec<String> {
        let findings = self.command.findings().iter();
        let mut findings: Vec<_> = findings.map(ToString::to_string).collect();
        let refused = self.command.refused_hosts();
        let told = refused.iter().take(MAX_REFUSED_TOLD);
        findings.extend(told.map(ToString::to_string));
        let n_more = refused.len().saturating_sub(MAX_REFUSED_TOLD);
        if n_more > 0 {
            findings.push(format!(
                "and at least {n_more} more connections were refused like these"
            ));
        }
        findings
    }
}

impl From<agent_sandbox::CommandEnd> for CommandEnd {
    fn from(end: agent_sandbox::CommandEnd) -> Self {
        match end {
            agent_sandbox::CommandEnd::Exited(code) => Self::Exited(code),
            agent_sandbox::CommandEnd::Signaled(signal) => Self::Signalled(signal),
        }
    }
}

fn holder_error(err: &SandboxError) -> SpawnError {
    match err {
        SandboxError::Unavailable { report } => {
            let reasons: Vec<&str> = report.missing.iter().map(|m| m.reason.as_str()).collect();
            SpawnError::NoSandbox {
                reason: format!("{err} ({})", reasons.join("; ")),
            }
        }
        SandboxError::Start { .. } | SandboxError::SetUp { .. } => SpawnError::Sandbox {
            reason: with_source(err),
        },
    }
}

fn spawn_error(err: agent_sandbox::SpawnError, program: String) -> SpawnError {
    use agent_sandbox::SpawnError as Sandbox;
    match err {
        Sandbox::Directory { cwd, source } => SpawnError::Directory {
            cwd,
            reason: plain_reason(&source),
        },
        Sandbox::NotFound { .. } => SpawnError::Program {
            program,
            reason: "no such program".to_owned(),
        },
        Sandbox::NotExecutable { source, .. } => SpawnError::Program {
            program,
            reason: plain_reason(&source),
        },
        Sandbox::TooLarge | Sandbox::InteriorNul => SpawnError::Failed {
            reason: with_source(&err),
        },
        Sandbox::SetUp { .. } | Sandbox::HolderGone { .. } => SpawnError::Sandbox {
            reason: with_source(&err),
        },
    }
}

fn plain_reason(err: &std::io::Error) -> String {
    if err.kind() == ErrorKind::NotFound {
        return "it does not exist".to_owned();
    }
    err.to_string()
}

fn with_source(err: &dyn std::error::Error) -> String {
    match err.source() {
        Some(source) => format!("{err}: {source}"),
        None => err.to_string(),
    }
}
