//! One command in a sandbox, with the terminal of this process: `agent sandbox -- COMMAND`.
//!
//! A process with one thread needs no holder program: it is the outer process itself and forks
//! the inner one. With more threads a fork could not go on, so the holder is started as usual
//! and the command gets a session of its own.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getpid};

use super::{OneShot, OneShotEnd, OneShotError};
use crate::command::{self, CommandEnd, CommandSpec};
use crate::control::{self, CommandEvent};
use crate::holder::{Holder, HolderOptions, SandboxError};
use crate::personality::command::{Command, Session, Stdio};
use crate::personality::findings::Watch;
use crate::personality::init::{self, Leftovers, Reach};
use crate::personality::world::{self, Entered, Trial, World};
use crate::personality::{mounts, sweep};
use crate::policy::SandboxPolicy;
use crate::proxy::{self, DenialLog, Proxy};
use crate::sys::{self, Forked};
use crate::variables;

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
    let outcome = follow(pid, (&ours, &signals), policy, command);
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
    let Ok(port) = hand_over_listener(policy, socket) else {
        failed(control::Stage::SetUp, libc::EADDRNOTAVAIL);
        return 1;
    };
    let Some((cwd, argv, env)) = strings(world, policy, command, port) else {
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

/// Makes the proxy's listening socket and gives it to the outer process; its port.
fn hand_over_listener(policy: &SandboxPolicy, socket: &OwnedFd) -> io::Result<Option<u16>> {
    if policy.proxied_hosts().is_none() {
        return Ok(None);
    }
    let listener = proxy::listen()?;
    let event = CommandEvent::Listening;
    control::send(socket.as_fd(), &event, &[], &[listener.as_fd()])?;
    Ok(Some(listener.local_addr()?.port()))
}

type Strings = (CString, Vec<CString>, Vec<CString>);

fn strings(
    world: &World,
    policy: &SandboxPolicy,
    command: &OneShot,
    port: Option<u16>,
) -> Option<Strings> {
    let cwd = CString::new(command.cwd.as_os_str().as_bytes()).ok()?;
    let argv = command
        .argv
        .iter()
        .map(|word| CString::new(word.as_bytes()).ok());
    let own = variables::own(world.report.level, policy, port);
    let env = variables::with_own(&command.env, &own, policy)
        .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok());
    Some((
        cwd,
        argv.collect::<Option<_>>()?,
        env.collect::<Option<_>>()?,
    ))
}

/// The outer process: waits for events and signals, and runs the proxy.
fn follow(
    pid: Pid,
    (socket, signals): (&OwnedFd, &SignalFd),
    policy: &SandboxPolicy,
    command: &OneShot,
) -> Result<OneShotEnd, OneShotError> {
    let mut end = OneShotEnd {
        end: CommandEnd::Signaled(libc::SIGKILL),
        findings: Vec::new(),
        refused_hosts: Vec::new(),
    };
    let mut log = None;
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
        let Some(mut packet) = control::receive(socket.as_fd()).map_err(set_up)? else {
            return Ok(end);
        };
        match packet.parse().map_err(set_up)?.0 {
            CommandEvent::Listening => {
                log = Some(proxy_thread(policy, packet.fds.pop()).map_err(set_up)?);
            }
            CommandEvent::Started => {}
            CommandEvent::Failed { stage, errno } => {
                let name = command.argv.first().map(PathBuf::from).unwrap_or_default();
                return Err(command::start_error(stage, errno, &command.cwd, name).into());
            }
            CommandEvent::Exited { code, signal } => {
                let signal = CommandEnd::Signaled(signal.unwrap_or(libc::SIGKILL));
                end.end = code.map_or(signal, CommandEnd::Exited);
            }
            CommandEvent::Gone { findings } => {
                end.findings = findings;
                end.refused_hosts = log.map(|log| log.since(0)).unwrap_or_default();
                return Ok(end);
            }
        }
    }
}

/// Runs the proxy on a thread until this process ends. The processes that were forked are on their
/// way already, so that a thread does them no harm.
fn proxy_thread(policy: &SandboxPolicy, listener: Option<OwnedFd>) -> io::Result<Arc<DenialLog>> {
    let listener = listener.ok_or(io::ErrorKind::InvalidData)?;
    let list = policy.proxied_hosts().ok_or(io::ErrorKind::InvalidData)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let proxy = {
        let _entered = runtime.enter();
        Proxy::start(listener.into(), list.clone())?
    };
    let log = Arc::clone(proxy.log());
    std::thread::Builder::new()
        .name("proxy".to_owned())
        .spawn(move || runtime.block_on(proxy.ended()))?;
    Ok(log)
}

fn run_by_holder(policy: &SandboxPolicy, command: &OneShot) -> Result<OneShotEnd, OneShotError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(set_up)?;
    let outcome = runtime.block_on(async {
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
        let refused_hosts = running.refused_hosts();
        holder.shutdown().await;
        Ok(OneShotEnd {
            end,
            findings,
            refused_hosts,
        })
    });
    // A lookup of the proxy can hang.
    runtime.shutdown_background();
    outcome
}
