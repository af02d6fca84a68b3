//! The system calls of macOS that no safe library wraps, each in the smallest possible function.
//!
//! On macOS this is the only place of the crate with `unsafe` code. Nothing here decides anything.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::unistd::Pid;
use tokio::io::unix::AsyncFd;

use crate::command::CommandEnd;

/// Registers a descriptor with the async runtime.
#[expect(unsafe_code, reason = "the safe constructors are deprecated")]
pub(crate) fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor always gives the same, open descriptor and cannot be replaced
    // through a shared reference.
    let registered = unsafe { AsyncFd::register(fd) };
    Ok(registered?)
}

/// Has the command begin a session of its own, with the terminal at descriptor 0, if there is one
/// and it is free, as the controlling one.
#[expect(
    unsafe_code,
    reason = "there is no safe way to begin a session in a child"
)]
pub(crate) fn begin_session(command: &mut Command) {
    // SAFETY: the function runs between fork and exec, and makes system calls only.
    unsafe { command.pre_exec(begin_session_here) };
}

#[expect(unsafe_code, reason = "nix has no safe wrapper for this ioctl")]
fn begin_session_here() -> io::Result<()> {
    nix::unistd::setsid()?;
    // SAFETY: this ioctl takes an integer. A refusal leaves the process without a terminal.
    unsafe { libc::ioctl(0, libc::c_ulong::from(libc::TIOCSCTTY), 0) };
    Ok(())
}

/// Waits for the end of a child, which stays there to be reaped: until then its id is taken.
#[expect(unsafe_code, reason = "nix does not wrap waitid here")]
pub(crate) fn wait_without_reaping(child: Pid) -> io::Result<CommandEnd> {
    let id = libc::id_t::try_from(child.as_raw()).map_err(io::Error::other)?;
    loop {
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: the buffer has the size of the structure and outlives the call.
        let result = unsafe { libc::waitid(libc::P_PID, id, info.as_mut_ptr(), flags) };
        if result == 0 {
            // SAFETY: the structure began as zeroes, which are valid for its fields.
            let info = unsafe { info.assume_init() };
            return Ok(if info.si_code == libc::CLD_EXITED {
                CommandEnd::Exited(info.si_status)
            } else {
                CommandEnd::Signaled(info.si_status)
            });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The ids of all processes.
#[expect(unsafe_code, reason = "no library wraps this list")]
pub(crate) fn process_ids() -> Vec<Pid> {
    // SAFETY: without a buffer the call tells how many there are.
    let n_processes = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    // Some more may begin meanwhile.
    let mut ids: Vec<libc::pid_t> = vec![0; usize::try_from(n_processes).unwrap_or_default() + 64];
    let size = ids.len() * size_of::<libc::pid_t>();
    let size = libc::c_int::try_from(size).unwrap_or(libc::c_int::MAX);
    // SAFETY: the buffer has that many bytes and outlives the call.
    let n_listed = unsafe { libc::proc_listallpids(ids.as_mut_ptr().cast(), size) };
    ids.truncate(usize::try_from(n_listed).unwrap_or_default());
    ids.into_iter()
        .filter(|id| *id > 0)
        .map(Pid::from_raw)
        .collect()
}

/// The parent of a process that has not ended.
#[expect(unsafe_code, reason = "no library wraps this look at a process")]
pub(crate) fn living_with_parent(process: Pid) -> Option<Pid> {
    let mut info = std::mem::MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let size = libc::c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: the buffer has that many bytes and outlives the call.
    let written = unsafe {
        libc::proc_pidinfo(
            process.as_raw(),
            libc::PROC_PIDTBSDINFO,
            0,
            info.as_mut_ptr().cast(),
            size,
        )
    };
    if written != size {
        return None;
    }
    // SAFETY: the structure is plain integers and began as zeroes.
    let info = unsafe { info.assume_init() };
    let parent = libc::pid_t::try_from(info.pbi_ppid).ok()?;
    (info.pbi_status != libc::SZOMB).then_some(Pid::from_raw(parent))
}
