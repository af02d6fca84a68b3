//! Raw system calls: attempts need those that no library offers, with arguments that none would
//! pass. The only place of the suite with `unsafe` code.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Makes a system call. Pointers are passed as addresses of values that the caller keeps.
#[expect(unsafe_code, reason = "this is what the attempts are about")]
pub(super) fn call<const N: usize>(number: libc::c_long, arguments: [usize; N]) -> io::Result<i64> {
    let mut all = [0_usize; 6];
    for (to, from) in all.iter_mut().zip(arguments) {
        *to = from;
    }
    let [first, second, third, fourth, fifth, sixth] = all;
    // SAFETY: the callers pass numbers, null, or addresses of values that outlive the call and
    // have the size that the call reads or writes.
    let result = unsafe { libc::syscall(number, first, second, third, fourth, fifth, sixth) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// A path for [`call`].
pub(super) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// The working directory, for the calls with `at` in their name.
pub(super) const HERE: usize = (libc::AT_FDCWD as isize).cast_unsigned();

/// Forks: 0 in the child.
#[expect(unsafe_code, reason = "a fork is unsafe where there are threads")]
pub(super) fn fork() -> io::Result<i32> {
    // SAFETY: the program has one thread in the roles that fork.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(pid)
    }
}

/// Ends this process without any clean-up.
#[expect(
    unsafe_code,
    reason = "the child of a fork must not clean up for its parent"
)]
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: the call has no precondition and does not return.
    unsafe { libc::_exit(code) }
}

/// Calls `getpid` as 32-bit programs do, by interrupt 0x80.
#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "no other way leads to the 32-bit table of system calls"
)]
pub(super) fn getpid_as_32_bit() -> i32 {
    const GETPID: i32 = 20;
    let result;
    // SAFETY: the call takes no argument and changes nothing but the result; the kernel clears
    // r8 to r11 on this way.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("eax") GETPID => result,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, options(nostack));
    }
    result
}

/// Maps a file so that writing to the memory would write to it, and writes the first byte.
#[expect(unsafe_code, reason = "memory that is mapped is reached by pointers")]
pub(super) fn scribble_through_memory(fd: i32) -> io::Result<()> {
    let (read_write, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: the kernel chooses the place of the new mapping.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 1, read_write, shared, fd, 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping has at least this byte, and nobody else knows of it.
    unsafe { memory.cast::<u8>().write_volatile(b'!') };
    Ok(())
}
