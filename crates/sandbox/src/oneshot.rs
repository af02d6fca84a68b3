//! One command in a sandbox, with the terminal of this process: `agent sandbox -- COMMAND`.
//!
//! A process with one thread needs no holder program: it is the outer process itself and forks
//! the inner one. With more threads a fork could not go on, so the holder is started as usual
//! and the command gets a session of its own.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getpid};

use crate::command::{self, CommandEnd, CommandSpec, SpawnError};
use crate::control::{self, CommandEvent};
use crate::holder::{Holder, HolderOptions, SandboxError, leads_outside, own_environment};
use crate::personality::command::{Command, Session, Stdio};
use crate::personality::findings::{Finding, Watch};
use crate::personality::init::{self, Leftovers, Reach};
use crate::personality::world::{self, Entered, Trial, World};
use crate::personality::{mounts, sweep};
use crate::policy::SandboxPolicy;
use crate::sys::{self, Forked};

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

/// Runs a command to its end and ends whatever it leaves behind. SIGINT, SIGTERM, SIGHUP and
/// SIGQUIT to this process end all of it. Blocks; call it where no async runtime runs.
pub fn run_command_in_sandbox(
    policy: &SandboxPolicy,
    command: &OneShot,
) -> Result<OneShotEnd, OneShotError> {
    if world::single_threaded() {
        run_here(policy, command)
    } else {
        run_by_holder(policy, command)
    }
}

fn set_up(source: impl Into<io::Error>) -> SandboxError {
    let source = source.into();
    SandboxError::SetUp { source }
}

fn run_here(policy: &SandboxPolicy, command: &OneShot) -> Result<OneShotEnd, OneShotError> {
    let mut mask = SigSet::empty();
    for signal in [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
    ] {
        mask.add(signal);
    }
    let before = mask
        .thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK)
        .map_err(set_up)?;
    let outcome = run_masked(policy, command, &mask);
    before.thread_set_mask().map_err(set_up)?;
    outcome
}

fn run_masked(
    policy: &SandboxPolicy,
    command: &OneShot,
    mask: &SigSet,
) -> Result<OneShotEnd, OneShotError> {
    let signals = SignalFd::with_flags(mask, SfdFlags::SFD_CLOEXEC).map_err(set_up)?;
    let (ours, theirs) = control::socket_pair().map_err(set_up)?;
    let outer = getpid();
    let claims_inherited = std::env::var_os("AGENT_SANDBOX").is_some();
    let entered = world::enter(policy, claims_inherited, Trial::WithTheCommand).map_err(set_up)?;
    let pid = match entered {
        Entered::Refused(report) => return Err(SandboxError::Unavailable { report }.into()),
        Entered::In(pid) => pid,
        Entered::Here(world) if getpid() == outer => {
            match sys::clone_process(0).map_err(set_up)? {
                Forked::Child => sys::exit_now(run_init(&world, policy, command, &theirs)),
                Forked::Parent(pid) => pid,
            }
        }
        Entered::Here(world) => {
            drop(ours);
            sys::exit_now(run_init(&world, policy, command, &theirs))
        }
    };
    drop(theirs);
    let outcome = follow(pid, &ours, &signals, command);
    let _ = kill(pid, Signal::SIGKILL);
    drop(init::wait_for(pid));
    sweep_own(outer);
    outcome
}

/// Without namespaces, what a killed init left has become ours.
fn sweep_own(outer: Pid) {
    if nix::sys::prctl::get_child_subreaper() == Ok(true) {
        sweep::kill_all(outer);
    }
}

/// The inner process: the init of the one command.
fn run_init(world: &World, policy: &SandboxPolicy, command: &OneShot, socket: &OwnedFd) -> i32 {
    let failed = |stage, errno| init::tell(socket, &CommandEvent::Failed { stage, errno });
    let Some((cwd, argv, env)) = strings(world, policy, command) else {
        failed(control::Stage::Program, libc::EINVAL);
        return 1;
    };
    let command = Command {
        cwd,
        argv,
        env,
        stdio: Stdio::Inherited,
        session: Session::Shared,
    };
    let watch = Watch::begin(world);
    let reach = if world.namespaces {
        Reach::Namespace
    } else {
        Reach::Descent
    };
    if world.namespaces && mounts::protect(&watch.protections).is_err() {
        failed(control::Stage::SetUp, libc::EPERM);
        return 1;
    }
    let code = init::run(command, world, socket, (reach, Leftovers::End));
    let limited = world
        .confinement
        .as_ref()
        .is_some_and(|limits| limits.limit_writes().is_ok());
    let findings = if limited || world.namespaces {
        watch.settle(world)
    } else {
        Vec::new()
    };
    init::tell(socket, &CommandEvent::Gone { findings });
    code
}

type Strings = (CString, Vec<CString>, Vec<CString>);

fn strings(world: &World, policy: &SandboxPolicy, command: &OneShot) -> Option<Strings> {
    let cwd = CString::new(command.cwd.as_os_str().as_bytes()).ok()?;
    let argv = command
        .argv
        .iter()
        .map(|word| CString::new(word.as_bytes()).ok());
    let own = own_environment(world.report.level, policy.confines(), policy.network);
    let given = command
        .env
        .iter()
        .filter(|(name, _)| own.iter().all(|(own, _)| own != name))
        .filter(|(name, _)| !leads_outside(name, policy.confines(), policy.network));
    let env = given
        .chain(&own)
        .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok());
    Some((
        cwd,
        argv.collect::<Option<_>>()?,
        env.collect::<Option<_>>()?,
    ))
}

/// The outer process: waits for events and signals.
fn follow(
    pid: Pid,
    socket: &OwnedFd,
    signals: &SignalFd,
    command: &OneShot,
) -> Result<OneShotEnd, OneShotError> {
    let mut end = OneShotEnd {
        end: CommandEnd::Signaled(libc::SIGKILL),
        findings: Vec::new(),
    };
    loop {
        let mut fds = [
            PollFd::new(socket.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut fds, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(set_up(errno).into()),
            Ok(_) => {}
        }
        let [event, signal] = fds.map(|fd| fd.any().unwrap_or(true));
        if signal && let Ok(Some(info)) = signals.read_signal() {
            let _ = kill(pid, Signal::SIGKILL);
            end.end = CommandEnd::Signaled(info.ssi_signo.cast_signed());
            return Ok(end);
        }
        if !event {
            continue;
        }
        match control::receive_header(socket).map_err(set_up)? {
            Some(CommandEvent::Started) => {}
            Some(CommandEvent::Failed { stage, errno }) => {
                let name = command.argv.first().map(PathBuf::from).unwrap_or_default();
                return Err(command::start_error(stage, errno, &command.cwd, name).into());
            }
            Some(CommandEvent::Exited { code, signal }) => {
                let signal = CommandEnd::Signaled(signal.unwrap_or(libc::SIGKILL));
                end.end = code.map_or(signal, CommandEnd::Exited);
            }
            Some(CommandEvent::Gone { findings }) => {
                end.findings = findings;
                return Ok(end);
            }
            None => return Ok(end),
        }
    }
}

fn run_by_holder(policy: &SandboxPolicy, command: &OneShot) -> Result<OneShotEnd, OneShotError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.map_err(set_up)?.block_on(async {
        let own = |fd: &dyn AsFd| fd.as_fd().try_clone_to_owned().map_err(set_up);
        let spec = CommandSpec {
            argv: command.argv.clone(),
            env: command.env.clone(),
            cwd: command.cwd.clone(),
            stdin: Some(own(&io::stdin())?),
            stdout: own(&io::stdout())?,
            stderr: own(&io::stderr())?,
        };
        let holder = Holder::start(policy, HolderOptions::default()).await?;
        let mut running = holder.spawn(spec).await?;
        let end = running.wait().await?;
        running.kill().await;
        let findings = running.findings().to_vec();
        holder.shutdown().await;
        Ok(OneShotEnd { end, findings })
    })
}
