//! The first process of a command: it starts the command's own process, reaps whatever is
//! handed to it and ends when nothing is left.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid, pipe2};

use super::command::{self, Command, Failure};
use super::sweep;
use super::world::World;
use crate::control::{self, CommandEvent, Stage};
use crate::sys::{self, Forked};

/// Tells the agent, if it still listens.
pub(crate) fn tell(socket: &OwnedFd, event: &CommandEvent) {
    if let Err(error) = control::send(socket.as_fd(), event, &[], &[]) {
        tracing::debug!(%error, "nobody listens to a command's events");
    }
}

/// Starts the command's own process and waits until it has become the command.
pub(crate) fn start(command: Command, world: &World) -> Result<Pid, Failure> {
    let broken = |errno: Errno| Failure {
        stage: Stage::SetUp,
        errno: errno as i32,
    };
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC).map_err(broken)?;
    let forked = sys::clone_process(0).map_err(|error| Failure {
        stage: Stage::SetUp,
        errno: error.raw_os_error().unwrap_or(libc::EIO),
    })?;
    let pid = match forked {
        Forked::Child => {
            drop(reader);
            let failure = command::become_command(command, world.confinement.as_ref());
            report_failure(writer, failure);
            sys::exit_now(127);
        }
        Forked::Parent(pid) => pid,
    };
    drop(command);
    drop(writer);
    match read_failure(reader) {
        None => Ok(pid),
        Some(failure) => Err(failure),
    }
}

fn report_failure(writer: OwnedFd, failure: Failure) {
    let stage = match failure.stage {
        Stage::SetUp => 0,
        Stage::Directory => 1,
        Stage::Program => 2,
    };
    let [a, b, c, d] = failure.errno.to_le_bytes();
    // If even this fails, the agent learns of an end without a start.
    drop(File::from(writer).write_all(&[stage, a, b, c, d]));
}

/// Reads until the exec closes the pipe (nothing was written) or the failure is there.
fn read_failure(reader: OwnedFd) -> Option<Failure> {
    let mut bytes = [0; 5];
    File::from(reader).read_exact(&mut bytes).ok()?;
    let [stage, a, b, c, d] = bytes;
    let stage = match stage {
        0 => Stage::SetUp,
        1 => Stage::Directory,
        _ => Stage::Program,
    };
    let errno = i32::from_le_bytes([a, b, c, d]);
    Some(Failure { stage, errno })
}

/// How this process finds what belongs to its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It is pid 1 of a namespace: everyone it can see.
    Namespace,
    /// By their descent. Its own parent's end reaches it as SIGTERM and ends all of them.
    Descent,
}

impl Reach {
    fn signal(self, signal: Signal) {
        match (self, signal) {
            (Self::Namespace, _) => {
                // There may be nobody left.
                let _ = kill(Pid::from_raw(-1), signal);
            }
            (Self::Descent, Signal::SIGKILL) => sweep::kill_all(getpid()),
            (Self::Descent, _) => sweep::signal_all(getpid(), signal),
        }
    }
}

/// What happens to what a command leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// It goes on until somebody ends it.
    Stay,
    /// It ends with the command.
    End,
}

/// Runs as the init of one command, until nothing of it is left.
pub(crate) fn run(
    command: Command,
    world: &World,
    socket: &OwnedFd,
    (reach, leftovers): (Reach, Leftovers),
) -> i32 {
    let (main, signals) = match set_up(command, world, reach) {
        Ok(running) => running,
        Err(Failure { stage, errno }) => {
            tell(socket, &CommandEvent::Failed { stage, errno });
            return 1;
        }
    };
    tell(socket, &CommandEvent::Started);
    loop {
        let terminate = match signals.read_signal() {
            Ok(Some(info)) => {
                // A sender outside this namespace has no number here.
                let is_outside = reach == Reach::Descent || info.ssi_pid == 0;
                info.ssi_signo == Signal::SIGTERM as u32 && is_outside
            }
            Ok(None) | Err(Errno::EINTR) => continue,
            Err(_) => return 1,
        };
        if terminate {
            reach.signal(match reach {
                Reach::Namespace => Signal::SIGTERM,
                Reach::Descent => Signal::SIGKILL,
            });
        }
        let mut ended = false;
        let end = reap(main, |event| {
            tell(socket, &event);
            ended = true;
        });
        if ended && leftovers == Leftovers::End && end == Reaped::SomethingLeft {
            reach.signal(Signal::SIGKILL);
        }
        if end == Reaped::NothingLeft {
            return 0;
        }
    }
}

fn set_up(command: Command, world: &World, reach: Reach) -> Result<(Pid, SignalFd), Failure> {
    let failed = |errno: Errno| Failure {
        stage: Stage::SetUp,
        errno: errno as i32,
    };
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    mask.add(Signal::SIGTERM);
    mask.thread_block().map_err(failed)?;
    let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC).map_err(failed)?;
    if reach == Reach::Descent {
        // Orphans of the command come here and stay attributable to it.
        prctl::set_child_subreaper(true).map_err(failed)?;
        prctl::set_pdeathsig(Signal::SIGTERM).map_err(failed)?;
    }
    if world.confinement.is_some() {
        // The memory and the first environment of this process are not the command's business.
        prctl::set_dumpable(false).map_err(failed)?;
    }
    Ok((start(command, world)?, signals))
}

/// What is left after reaping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaped {
    SomethingLeft,
    NothingLeft,
}

/// Reaps every ended child and reports the end of `main`.
pub(crate) fn reap(main: Pid, mut report: impl FnMut(CommandEvent)) -> Reaped {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return Reaped::SomethingLeft,
            Ok(status) if status.pid() == Some(main) => {
                if let Some(event) = end_event(status) {
                    report(event);
                }
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Reaped::NothingLeft,
        }
    }
}

fn end_event(status: WaitStatus) -> Option<CommandEvent> {
    if let WaitStatus::Exited(_, code) = status {
        Some(CommandEvent::Exited {
            code: Some(code),
            signal: None,
        })
    } else if let WaitStatus::Signaled(_, signal, _) = status {
        Some(CommandEvent::Exited {
            code: None,
            signal: Some(signal as i32),
        })
    } else {
        None
    }
}

/// Waits for the end of one child.
pub(crate) fn wait_for(pid: Pid) -> io::Result<WaitStatus> {
    loop {
        match waitpid(pid, None) {
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
            Ok(status) => return Ok(status),
        }
    }
}
