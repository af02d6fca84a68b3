//! The agent's side of a holder that is a process of its own: starts it and asks it for commands.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;

use agent_protocol::SandboxLevel;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::{HolderOptions, SandboxError, followed};
use crate::command::{CommandSpec, SandboxedCommand, SpawnError};
use crate::control::{self, CommandShape, Packet, Request, SetUpReply};
use crate::explain::Explanation;
use crate::level::LevelReport;
use crate::personality::{HOLDER_WORD, PERSONALITY};
use crate::policy::SandboxPolicy;
use crate::proxy::Proxy;
use crate::terminal::{self, Terminal};
use crate::{sys, variables};

/// The process that starts commands under one policy. Dropping it ends all of them.
#[derive(Debug)]
pub struct Holder {
    control: AsyncFd<OwnedFd>,
    process: Process,
    report: LevelReport,
    policy: SandboxPolicy,
    proxy: Option<Proxy>,
}

impl Holder {
    /// Starts a holder and waits until it is ready.
    ///
    /// # Cancel safety
    /// When the future is dropped the holder ends.
    pub async fn start(
        policy: &SandboxPolicy,
        options: HolderOptions,
    ) -> Result<Self, SandboxError> {
        let set_up = |source| SandboxError::SetUp { source };
        let (ours, theirs) = control::socket_pair().map_err(set_up)?;
        let process = start_process(&options, theirs)?;
        let control = register(ours).map_err(set_up)?;
        let request = Request::SetUp {
            claims_inherited: std::env::var_os("AGENT_SANDBOX").is_some(),
        };
        let payload = serde_json::to_vec(policy).map_err(|error| set_up(error.into()))?;
        let sent = send(&control, &request, &payload, &[]).await;
        sent.map_err(set_up)?;
        let packet = receive_packet(&control).await.map_err(set_up)?;
        let Some(mut packet) = packet else {
            return Err(set_up(io::ErrorKind::UnexpectedEof.into()));
        };
        match packet.parse().map_err(set_up)?.0 {
            SetUpReply::Ready(report) => Ok(Self {
                control,
                process,
                report,
                proxy: proxy(policy, packet.fds.pop()).map_err(set_up)?,
                policy: policy.clone(),
            }),
            SetUpReply::Unavailable(report) => Err(SandboxError::Unavailable { report }),
        }
    }

    /// How much of the policy is enforced.
    pub fn level(&self) -> SandboxLevel {
        self.report.level
    }

    /// The level with its reasons.
    pub fn report(&self) -> &LevelReport {
        &self.report
    }

    /// Starts a command. It has become its program when this returns.
    ///
    /// # Cancel safety
    /// When the future is dropped, a command that was started already ends.
    pub async fn spawn(&self, spec: CommandSpec) -> Result<SandboxedCommand, SpawnError> {
        let gone = |source| SpawnError::HolderGone { source };
        let payload = self.payload(&spec)?;
        let (ours, theirs) = control::socket_pair().map_err(gone)?;
        let ours = register(ours).map_err(gone)?;
        let request = Request::Spawn(CommandShape {
            n_arguments: spec.argv.len(),
            has_stdin: spec.stdin.is_some(),
        });
        let mut fds = vec![theirs.as_fd(), spec.stdout.as_fd(), spec.stderr.as_fd()];
        fds.extend(spec.stdin.iter().map(AsFd::as_fd));
        send(&self.control, &request, &payload, &fds)
            .await
            .map_err(gone)?;
        drop(theirs);
        let log = self.proxy.as_ref().map(Proxy::log);
        SandboxedCommand::started(ours, &spec, log).await
    }

    /// Says that the agent itself is about to make or change a protected path, so that the end of
    /// a command that runs meanwhile does not undo it. To be awaited before the change.
    pub async fn expect_change(&self, path: &Path) -> Result<(), SpawnError> {
        send(
            &self.control,
            &Request::Expect,
            path.as_os_str().as_bytes(),
            &[],
        )
        .await
        .map_err(|source| SpawnError::HolderGone { source })
    }

    /// What commands may do with a path, and by which rule. A path that does not exist is taken as
    /// one that a command would make.
    ///
    /// # Errors
    /// When the holder is gone.
    pub async fn explain(&self, path: &Path) -> Result<Explanation, SpawnError> {
        let gone = |source| SpawnError::HolderGone { source };
        let path = followed(path);
        let payload = path.as_os_str().as_bytes();
        let packet = self.ask(&Request::Explain, payload).await.map_err(gone)?;
        Ok(packet.parse().map_err(gone)?.0)
    }

    /// A new terminal, and the command's end of it, for its standard streams. It has a name inside
    /// if the machine allows that.
    ///
    /// # Errors
    /// When there can be none, or the holder is gone.
    pub async fn open_terminal(&self) -> io::Result<(Terminal, OwnedFd)> {
        let packet = self.ask(&Request::Terminal, &[]).await?;
        match <[OwnedFd; 2]>::try_from(packet.fds) {
            Ok(ends) => Terminal::new(ends),
            Err(_) => Terminal::new(terminal::open_pair()?),
        }
    }

    /// Asks something, and waits for the answer.
    async fn ask(&self, request: &Request, payload: &[u8]) -> io::Result<Packet> {
        let (ours, theirs) = control::socket_pair()?;
        let ours = register(ours)?;
        send(&self.control, request, payload, &[theirs.as_fd()]).await?;
        drop(theirs);
        let answer = receive_packet(&ours).await?;
        answer.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Ends everything and waits until it is gone.
    pub async fn shutdown(self) {
        let Self {
            control, process, ..
        } = self;
        drop(control);
        process.ended().await;
    }

    /// The directory, the arguments and the environment, each ended by a NUL.
    fn payload(&self, spec: &CommandSpec) -> Result<Vec<u8>, SpawnError> {
        let mut payload = Vec::new();
        let mut push = |parts: &[&[u8]]| {
            if parts.iter().any(|part| part.contains(&0)) {
                return Err(SpawnError::InteriorNul);
            }
            payload.extend(parts.iter().copied().flatten());
            payload.push(0);
            Ok(())
        };
        push(&[spec.cwd.as_os_str().as_bytes()])?;
        for argument in &spec.argv {
            push(&[argument.as_bytes()])?;
        }
        let port = self.proxy.as_ref().map(Proxy::port);
        let own = variables::own(self.report.level, &self.policy, port);
        for (name, value) in variables::with_own(&spec.env, &own, &self.policy) {
            push(&[name.as_bytes(), b"=", value.as_bytes()])?;
        }
        if payload.len() > control::PAYLOAD_LIMIT {
            return Err(SpawnError::TooLarge);
        }
        Ok(payload)
    }
}

/// The proxy for commands whose network is a list of hosts, on the socket that the holder made.
fn proxy(policy: &SandboxPolicy, listener: Option<OwnedFd>) -> io::Result<Option<Proxy>> {
    let Some(list) = policy.proxied_hosts() else {
        return Ok(None);
    };
    let listener = listener.ok_or(io::ErrorKind::InvalidData)?;
    Proxy::start(listener.into(), list.clone()).map(Some)
}

#[expect(
    clippy::disallowed_methods,
    reason = "this starts the holder itself, from which nothing escapes"
)]
fn start_process(options: &HolderOptions, control: OwnedFd) -> Result<Process, SandboxError> {
    reap_orphans();
    let started = std::process::Command::new(&options.program)
        .arg0(PERSONALITY)
        .arg(HOLDER_WORD)
        .env_clear()
        .stdin(control)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(child) => Ok(Process(Some(child))),
        Err(source) => Err(SandboxError::Start {
            program: options.program.clone(),
            source,
        }),
    }
}

/// The holder's process, which must be reaped once it has ended.
#[derive(Debug)]
struct Process(Option<Child>);

/// Holders that were dropped and may not have ended yet.
static ORPHANS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

impl Process {
    async fn ended(mut self) {
        let Some(child) = &mut self.0 else {
            return;
        };
        let pid = i32::try_from(child.id()).map(Pid::from_raw);
        if let Ok(pidfd) = pid.map_err(io::Error::other).and_then(sys::open_pidfd)
            && let Ok(pidfd) = sys::watch(pidfd)
        {
            // An error here leaves the process to the orphans.
            drop(pidfd.readable().await);
        }
        drop(self);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = self.0.take()
            && let Ok(mut orphans) = ORPHANS.lock()
        {
            orphans.push(child);
        }
        reap_orphans();
    }
}

fn reap_orphans() {
    if let Ok(mut orphans) = ORPHANS.lock() {
        orphans.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

pub(crate) fn register(socket: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    fcntl(&socket, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    sys::watch(socket)
}

pub(crate) async fn send(
    socket: &AsyncFd<OwnedFd>,
    header: &impl serde::Serialize,
    payload: &[u8],
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    socket
        .async_io(Interest::WRITABLE, |socket| {
            control::send(socket.as_fd(), header, payload, fds)
        })
        .await
}

/// Receives one message with its descriptors; `None` is the end of the connection.
async fn receive_packet(socket: &AsyncFd<OwnedFd>) -> io::Result<Option<Packet>> {
    socket
        .async_io(Interest::READABLE, |socket| {
            control::receive(socket.as_fd())
        })
        .await
}

pub(crate) async fn receive<T: serde::de::DeserializeOwned>(
    socket: &AsyncFd<OwnedFd>,
) -> io::Result<Option<T>> {
    socket
        .async_io(Interest::READABLE, control::receive_header)
        .await
}
