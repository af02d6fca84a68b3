//! The system calls that no safe library wraps, each in the smallest possible function.
//!
//! This is the only place of the crate with `unsafe` code. Nothing here decides anything: the
//! callers own the order and the meaning. `clone_process` may be used only by the holder, which
//! never starts a thread, so that a child may allocate.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::unistd::Pid;
use tokio::io::unix::AsyncFd;

/// Which side of a `clone` the caller is on.
pub(crate) enum Forked {
    /// The new process.
    Child,
    /// The old process, with the id of the new one.
    Parent(Pid),
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Forks, with namespace flags. The process must be single-threaded.
#[expect(
    unsafe_code,
    reason = "nix wraps neither clone without a stack nor fork as safe"
)]
pub(crate) fn clone_process(namespaces: libc::c_int) -> io::Result<Forked> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    let no_pointer: libc::c_long = 0;
    // SAFETY: without CLONE_VM and with a null stack this is a fork; the holder has one thread,
    // so the child may go on using the allocator and every other part of the library.
    let result = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags,
            no_pointer,
            no_pointer,
            no_pointer,
            no_pointer,
        )
    };
    match i32::try_from(check(result)?) {
        Ok(0) => Ok(Forked::Child),
        Ok(pid) => Ok(Forked::Parent(Pid::from_raw(pid))),
        Err(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Ends this process at once, without the clean-up of the parent it was forked from.
#[expect(unsafe_code, reason = "_exit is the end that a forked child must use")]
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no precondition and does not return.
    unsafe { libc::_exit(code) }
}

/// Takes ownership of a descriptor number that was received or inherited.
#[expect(
    unsafe_code,
    reason = "an inherited descriptor is known by its number only"
)]
pub(crate) fn take_fd(fd: RawFd) -> OwnedFd {
    // SAFETY: the callers pass a descriptor that was just received or inherited, and nobody else
    // owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Makes every descriptor from `first` on close at the next exec.
#[expect(unsafe_code, reason = "nix does not wrap close_range")]
pub(crate) fn close_from_on_exec(first: u32) -> io::Result<()> {
    // SAFETY: with this flag the call changes descriptor flags only.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    check(result).map(drop)
}

/// Closes every descriptor from `first` on. For the start of a process, before it owns any.
#[expect(unsafe_code, reason = "nix does not wrap close_range")]
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: called where no owned descriptor with such a number exists.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    check(result).map(drop)
}

/// Gives every signal its default action, also those that the C library keeps to itself.
#[expect(unsafe_code, reason = "the C library refuses to change two of them")]
pub(crate) fn default_signal_actions() {
    // Larger than the kernel's structure on every architecture; zeroes are SIG_DFL, no flags.
    let action = [0_u64; 8];
    let no_pointer: libc::c_long = 0;
    let set_size: libc::c_long = 8;
    for signal in 1..=64_i32 {
        // SAFETY: the action installs no handler and outlives the call; signals that cannot be
        // changed are refused.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                action.as_ptr(),
                no_pointer,
                set_size,
            )
        };
    }
}

/// Clones the mount of `path` into a detached mount.
#[expect(unsafe_code, reason = "nix does not wrap open_tree")]
pub(crate) fn open_tree(path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    let flags = libc::OPEN_TREE_CLONE
        | libc::OPEN_TREE_CLOEXEC
        | libc::AT_RECURSIVE.cast_unsigned()
        | libc::AT_SYMLINK_NOFOLLOW.cast_unsigned();
    // SAFETY: the path is a valid C string for the duration of the call.
    let result =
        unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    let fd = RawFd::try_from(check(result)?).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(take_fd(fd))
}

/// Attaches a detached mount at `path`.
#[expect(unsafe_code, reason = "nix does not wrap move_mount")]
pub(crate) fn move_mount(tree: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: both strings are valid C strings for the duration of the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    check(result).map(drop)
}

/// Sets attributes on a mount and, if asked, on all below it.
#[expect(unsafe_code, reason = "nix does not wrap mount_setattr")]
fn mount_setattr(fd: RawFd, path: &CStr, flags: libc::c_int, set: u64) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is a C string and the structure is passed with its own size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

/// Sets attributes on the mount at `path` alone.
pub(crate) fn set_mount_attributes(path: &Path, set: u64) -> io::Result<()> {
    mount_setattr(
        libc::AT_FDCWD,
        &c_path(path)?,
        libc::AT_SYMLINK_NOFOLLOW,
        set,
    )
}

/// Sets attributes on the mount at `path` and on all mounts below it.
pub(crate) fn set_mount_attributes_below(path: &Path, set: u64) -> io::Result<()> {
    mount_setattr(libc::AT_FDCWD, &c_path(path)?, libc::AT_RECURSIVE, set)
}

/// Sets attributes on a detached mount and on all mounts below it.
pub(crate) fn set_tree_attributes(tree: BorrowedFd<'_>, set: u64) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    mount_setattr(tree.as_raw_fd(), c"", flags, set)
}

/// Whether `path` is the root of a mount.
#[expect(unsafe_code, reason = "nix does not wrap statx")]
pub(crate) fn is_mount_root(path: &Path) -> io::Result<bool> {
    let path = c_path(path)?;
    let mut buffer = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT;
    // SAFETY: the path is a C string and the buffer has the size of the structure.
    let result = unsafe {
        libc::statx(
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            libc::STATX_TYPE,
            buffer.as_mut_ptr(),
        )
    };
    check(libc::c_long::from(result))?;
    // SAFETY: the structure is plain integers and began as zeroes.
    let stat = unsafe { buffer.assume_init() };
    let attribute = libc::STATX_ATTR_MOUNT_ROOT.cast_unsigned();
    Ok(stat.stx_attributes & u64::from(attribute) != 0)
}

const CAPABILITY_VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Default)]
struct CapabilityWord {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const OWN_CAPABILITIES: CapabilityHeader = CapabilityHeader {
    version: CAPABILITY_VERSION,
    pid: 0,
};

/// The capabilities that this process may use.
#[expect(unsafe_code, reason = "nix does not wrap capget")]
pub(crate) fn permitted_capabilities() -> io::Result<u64> {
    let header = OWN_CAPABILITIES;
    let mut words = [CapabilityWord::default(), CapabilityWord::default()];
    // SAFETY: this version writes two words, and both structures outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw const header, words.as_mut_ptr()) };
    check(result)?;
    let [low, high] = words;
    Ok(u64::from(high.permitted) << 32 | u64::from(low.permitted))
}

/// Leaves exactly the capabilities of `keep` in the permitted and effective sets, and none to
/// inherit.
#[expect(unsafe_code, reason = "nix does not wrap capset")]
pub(crate) fn set_capabilities(keep: u64) -> io::Result<()> {
    let word = |bits: u64| {
        let bits = u32::try_from(bits & 0xffff_ffff).unwrap_or_default();
        CapabilityWord {
            effective: bits,
            permitted: bits,
            inheritable: 0,
        }
    };
    let header = OWN_CAPABILITIES;
    let words = [word(keep), word(keep >> 32)];
    // SAFETY: this version reads two words, and both structures outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, words.as_ptr()) };
    check(result).map(drop)
}

/// Removes from the bounding set every capability that is not in `keep`.
#[expect(unsafe_code, reason = "nix does not wrap this prctl")]
pub(crate) fn bound_capabilities(keep: u64) -> io::Result<()> {
    for capability in 0..64_u32 {
        if keep >> capability & 1 == 1 {
            continue;
        }
        // SAFETY: this prctl takes one integer.
        let result = unsafe {
            libc::prctl(
                libc::PR_CAPBSET_DROP,
                libc::c_ulong::from(capability),
                0,
                0,
                0,
            )
        };
        if result < 0 {
            let error = io::Error::last_os_error();
            // The first number that the kernel does not know ends the list.
            return if error.raw_os_error() == Some(libc::EINVAL) {
                Ok(())
            } else {
                Err(error)
            };
        }
    }
    Ok(())
}

/// Makes the terminal at descriptor 0 the controlling one of this session, if it is free.
#[expect(unsafe_code, reason = "nix has no safe wrapper for this ioctl")]
pub(crate) fn take_controlling_terminal() {
    // SAFETY: this ioctl takes an integer. A refusal leaves the process without a terminal.
    unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) };
}

/// `IFF_UP | IFF_RUNNING`, in the width that the structure has.
const UP_AND_RUNNING: libc::c_short = 0x41;

/// Brings the loopback interface of this network namespace up.
#[expect(unsafe_code, reason = "nix has no safe wrapper for this ioctl")]
pub(crate) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the structure is plain integers, for which zeroes are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = (*from).cast_signed();
    }
    request.ifr_ifru.ifru_flags = UP_AND_RUNNING;
    // SAFETY: the structure outlives the call and its name is terminated by the zeroes.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    check(libc::c_long::from(result)).map(drop)
}

/// The version of Landlock's interface, or the reason why there is none.
#[expect(unsafe_code, reason = "the landlock crate does not tell the version")]
pub(crate) fn landlock_version() -> io::Result<i64> {
    let no_pointer: libc::c_long = 0;
    let version_flag: libc::c_long = 1;
    // SAFETY: with this flag the call reads no memory.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            no_pointer,
            no_pointer,
            version_flag,
        )
    };
    check(result)
}

/// A descriptor that becomes readable when the process `pid` ends.
#[expect(unsafe_code, reason = "nix does not wrap pidfd_open")]
pub(crate) fn open_pidfd(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two integers.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    let fd = RawFd::try_from(check(result)?).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(take_fd(fd))
}

/// Duplicates a descriptor to a given number, without close-on-exec.
#[expect(
    unsafe_code,
    reason = "nix's dup2 wants an owned target, which 0, 1 and 2 are not"
)]
pub(crate) fn duplicate_to(fd: RawFd, target: RawFd) -> io::Result<()> {
    // SAFETY: the call takes two integers; the targets are the standard descriptors, which no
    // owned descriptor of this process has.
    let result = unsafe { libc::dup2(fd, target) };
    check(libc::c_long::from(result)).map(drop)
}

/// Registers a descriptor with the async runtime.
#[expect(unsafe_code, reason = "the safe constructors are deprecated")]
pub(crate) fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor always gives the same, open descriptor and cannot be replaced
    // through a shared reference.
    let registered = unsafe { AsyncFd::register(fd) };
    Ok(registered?)
}
