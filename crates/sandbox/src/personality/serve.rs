//! The holder's loop: starts commands, ends them, and ends everything when the agent is gone.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid, setsid};

use super::command::{self, Command, Session, Stdio};
use super::confine::Confinement;
use super::explain;
use super::findings::Watch;
use super::init::{self, Leftovers, Reach};
use super::protections::Protections;
use super::world::{self, Entered, Trial, World};
use super::{mounts, sweep};
use crate::control::{
    self, CommandEvent, CommandRequest, CommandShape, Packet, Request, SetUpReply, Stage,
};
use crate::policy::SandboxPolicy;
use crate::proxy;
use crate::sys::{self, Forked};
use crate::terminal;

/// How long the holder waits for commands that it has killed. Longer takes only one that hangs in
/// the kernel.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// Runs as the holder, with the control socket as descriptor 0.
pub(crate) fn run() -> io::Result<()> {
    sys::close_from(3)?;
    let control = sys::take_fd(0).try_clone()?;
    world::occupy_standard_descriptors()?;
    let _ = setsid();
    let packet = control::receive(control.as_fd())?;
    let packet = packet.ok_or(io::ErrorKind::UnexpectedEof)?;
    let (Request::SetUp { claims_inherited }, policy) = packet.parse()? else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let policy: SandboxPolicy = serde_json::from_slice(policy)?;
    drop(packet);
    match world::enter(&policy, claims_inherited, Trial::Before)? {
        Entered::Refused(report) => {
            control::send(control.as_fd(), &SetUpReply::Unavailable(report), &[], &[])
        }
        Entered::In(pid) => {
            drop(control);
            init::wait_for(pid).map(drop)
        }
        Entered::Here(world) => {
            let reply = SetUpReply::Ready(world.report.clone());
            let listener = policy
                .proxied_hosts()
                .map(|_| proxy::listen())
                .transpose()?;
            let fds: Vec<_> = listener.iter().map(AsFd::as_fd).collect();
            control::send(control.as_fd(), &reply, &[], &fds)?;
            // From here on the agent alone has it, so that the proxy ends with the agent.
            drop(listener);
            let served = Holder::new(*world, control).and_then(Holder::serve);
            // As pid 1 of a namespace, the end of this process is the end of all in it.
            sweep_if_needed();
            served
        }
    }
}

fn sweep_if_needed() {
    if getpid() != Pid::from_raw(1) {
        sweep::kill_all(getpid());
    }
}

/// A command that has an init.
struct Running {
    socket: OwnedFd,
    /// Its end was asked for; nothing more is read from its socket.
    ending: bool,
    watch: Watch,
}

struct Holder {
    world: World,
    control: OwnedFd,
    signals: SignalFd,
    commands: HashMap<Pid, Running>,
}

/// What woke the loop.
#[derive(Default)]
struct Woken {
    control: bool,
    child: bool,
    commands: Vec<Pid>,
}

impl Holder {
    fn new(world: World, control: OwnedFd) -> io::Result<Self> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self {
            world,
            control,
            signals: SignalFd::with_flags(&mask, flags)?,
            commands: HashMap::new(),
        })
    }

    /// Serves until the agent closes the control socket.
    fn serve(mut self) -> io::Result<()> {
        loop {
            let woken = self.wait()?;
            if woken.child {
                while let Ok(Some(_)) = self.signals.read_signal() {}
                self.reap();
            }
            for pid in woken.commands {
                self.answer(pid);
            }
            if woken.control {
                let Ok(Some(packet)) = control::receive(self.control.as_fd()) else {
                    self.end_all();
                    return Ok(());
                };
                self.serve_request(packet);
            }
        }
    }

    fn wait(&self) -> io::Result<Woken> {
        let mut fds = vec![
            PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
        ];
        let mut pids = Vec::new();
        for (pid, running) in self.commands.iter().filter(|(_, running)| !running.ending) {
            pids.push(*pid);
            fds.push(PollFd::new(running.socket.as_fd(), PollFlags::POLLIN));
        }
        match poll(&mut fds, PollTimeout::NONE) {
            Err(Errno::EINTR) => return Ok(Woken::default()),
            Err(errno) => return Err(errno.into()),
            Ok(_) => {}
        }
        let mut ready = fds.iter().map(|fd| fd.any().unwrap_or(true));
        Ok(Woken {
            control: ready.next() == Some(true),
            child: ready.next() == Some(true),
            commands: pids
                .into_iter()
                .zip(ready)
                .filter_map(|(pid, on)| on.then_some(pid))
                .collect(),
        })
    }

    fn serve_request(&mut self, packet: Packet) {
        match packet.parse::<Request>() {
            Ok((Request::Spawn(shape), _)) => self.spawn(shape, packet),
            Ok((Request::Expect, path)) => {
                let path = Path::new(OsStr::from_bytes(path));
                for running in self.commands.values_mut() {
                    running.watch.forget(path);
                }
            }
            Ok((Request::Explain, path)) => {
                let explanation = explain::explain(&self.world, Path::new(OsStr::from_bytes(path)));
                let sent = packet
                    .fds
                    .first()
                    .map(|socket| control::send(socket.as_fd(), &explanation, &[], &[]));
                if !matches!(sent, Some(Ok(()))) {
                    tracing::debug!("an explanation could not be sent");
                }
            }
            Ok((Request::Terminal, _)) => {
                // The commands' `/dev/pts` is that of this process, so that its name leads there.
                let ends = terminal::open_pair();
                let fds: Vec<_> = ends.iter().flatten().map(AsFd::as_fd).collect();
                let made = ends.is_ok();
                let socket = packet.fds.first();
                let sent = socket.map(|socket| control::send(socket.as_fd(), &made, &[], &fds));
                if !matches!(sent, Some(Ok(()))) {
                    tracing::debug!("a terminal could not be handed over");
                }
            }
            Ok((Request::SetUp { .. }, _)) | Err(_) => {
                tracing::debug!("a request made no sense");
            }
        }
    }

    /// Starts the init of a new command.
    fn spawn(&mut self, shape: CommandShape, packet: Packet) {
        let payload = packet.payload();
        let parts = command::split_payload(shape, payload);
        // They are missing if this process has too many open. The agent sees the command's socket
        // closed.
        let Some((socket, stdio)) = take_descriptors(shape, packet.fds) else {
            return tracing::debug!("descriptors of a request are missing");
        };
        let Some((cwd, argv, env)) = parts else {
            let (stage, errno) = (Stage::Program, libc::EINVAL);
            init::tell(&socket, &CommandEvent::Failed { stage, errno });
            return;
        };
        let command = Command {
            cwd,
            argv,
            env,
            stdio,
            session: Session::Own,
        };
        let watch = Watch::begin(&self.world);
        let flags = if self.world.namespaces {
            libc::CLONE_NEWPID | libc::CLONE_NEWNS
        } else {
            0
        };
        match sys::clone_process(flags) {
            Ok(Forked::Child) => {
                let code = run_init(&self.world, command, &watch.protections, &socket);
                sys::exit_now(code)
            }
            Ok(Forked::Parent(pid)) => {
                self.commands.insert(
                    pid,
                    Running {
                        socket,
                        ending: false,
                        watch,
                    },
                );
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
                let stage = Stage::SetUp;
                init::tell(&socket, &CommandEvent::Failed { stage, errno });
            }
        }
    }

    /// Does what the agent asks about one command; a closed socket asks for its end.
    fn answer(&mut self, pid: Pid) {
        let Some(running) = self.commands.get_mut(&pid) else {
            return;
        };
        let request = control::receive_header(&running.socket);
        if let Ok(Some(CommandRequest::Terminate)) = request {
            if self.world.namespaces {
                let _ = kill(pid, Signal::SIGTERM);
            } else {
                sweep::signal_all(pid, Signal::SIGTERM);
            }
            return;
        }
        self.end(pid);
    }

    fn end(&mut self, pid: Pid) {
        let Some(running) = self.commands.get_mut(&pid) else {
            return;
        };
        if !self.world.namespaces {
            sweep::kill_all(pid);
        }
        // Its end is reported when it is reaped: a process that hangs in the kernel must not stop
        // the other commands.
        running.ending = true;
        let _ = kill(pid, Signal::SIGKILL);
    }

    /// Ends every command and undoes what they did to protected paths, when nobody asks any more.
    fn end_all(&mut self) {
        let pids: Vec<Pid> = self.commands.keys().copied().collect();
        for pid in pids {
            self.end(pid);
        }
        let begin = Instant::now();
        // The processes that compare are children as well.
        while let Some(left) = END_PATIENCE.checked_sub(begin.elapsed()) {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => {
                    let mut fds = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
                    let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
                    let _ = poll(&mut fds, timeout);
                    while let Ok(Some(_)) = self.signals.read_signal() {}
                }
                Ok(status) => {
                    if let Some(pid) = status.pid() {
                        self.gone(pid);
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_) => return,
            }
        }
    }

    fn reap(&mut self) {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return,
                Ok(status) => {
                    if let Some(pid) = status.pid() {
                        self.gone(pid);
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_) => return,
            }
        }
    }

    /// The init of a command has ended and with it, in a pid namespace, all else.
    fn gone(&mut self, pid: Pid) {
        let Some(running) = self.commands.remove(&pid) else {
            return;
        };
        let tell = || {
            let findings = running.watch.settle(&self.world);
            init::tell(&running.socket, &CommandEvent::Gone { findings });
        };
        if self.world.namespaces || self.world.confinement.is_none() {
            return tell();
        }
        // Without mounts this process could be led out of the roots; a confined child cannot.
        match sys::clone_process(0) {
            Ok(Forked::Child) => {
                let ready = self
                    .world
                    .confinement
                    .as_ref()
                    .map(Confinement::limit_writes);
                if matches!(ready, Some(Ok(()))) {
                    tell();
                }
                sys::exit_now(0);
            }
            Ok(Forked::Parent(_)) => {}
            Err(error) => tracing::debug!(%error, "cannot compare protected paths"),
        }
    }
}

fn take_descriptors(shape: CommandShape, fds: Vec<OwnedFd>) -> Option<(OwnedFd, Stdio)> {
    let mut fds = fds.into_iter();
    let socket = fds.next()?;
    let stdout = fds.next()?;
    let stderr = fds.next()?;
    let stdin = if shape.has_stdin {
        Some(fds.next()?)
    } else {
        None
    };
    let given = Stdio::Given {
        stdin,
        stdout,
        stderr,
    };
    Some((socket, given))
}

/// The child's side of a spawn.
fn run_init(world: &World, command: Command, protections: &Protections, socket: &OwnedFd) -> i32 {
    let reach = if world.namespaces {
        if let Err(error) = enter_own_mounts(world, protections) {
            tracing::debug!(%error, "cannot set up a command");
            let (stage, errno) = (Stage::SetUp, libc::EPERM);
            init::tell(socket, &CommandEvent::Failed { stage, errno });
            return 1;
        }
        Reach::Namespace
    } else {
        Reach::Descent
    };
    init::run(command, world, socket, (reach, Leftovers::Stay))
}

fn enter_own_mounts(world: &World, protections: &Protections) -> Result<(), mounts::MountError> {
    if world.report.has(crate::level::Layer::FreshProc) {
        mounts::fresh_proc()?;
    }
    mounts::protect(protections)
}
