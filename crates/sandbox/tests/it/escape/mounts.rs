//! Mounts, roots and namespaces. The calls get arguments that lead nowhere, so that nothing happens
//! where they are not refused.

use std::fs::File;

use super::sys::{HERE, call};
use super::table::{Attempt, Category, Tried, Twin, attempt};
use super::writes::fd;

pub(super) const CATEGORY: Category = Category {
    title: "Mounts and namespaces",
    attempts: ATTEMPTS,
};

/// A call that no command may make; outside the kernel gets to see it.
pub(super) const fn refused(
    name: &'static str,
    action: fn(&std::path::Path, &super::table::Scene) -> Tried,
) -> Attempt {
    attempt(name, action).with(Twin::Outside)
}

/// Makes a call that no value comes back from.
pub(super) fn make<const N: usize>(number: libc::c_long, arguments: [usize; N]) -> Tried {
    call(number, arguments)?;
    Ok(())
}

/// A path that is nowhere.
const NOWHERE: &std::ffi::CStr = c"/nowhere";

fn nowhere() -> usize {
    NOWHERE.as_ptr() as usize
}

const ATTEMPTS: &[Attempt] = &[
    refused("mount a file system", |_, _| {
        make(
            libc::SYS_mount,
            [nowhere(), nowhere(), c"tmpfs".as_ptr() as usize, 0, 0],
        )
    }),
    refused("bind a secret elsewhere", |_, _| {
        make(libc::SYS_mount, [nowhere(), nowhere(), 0, BIND, 0])
    }),
    refused("remount writable", |_, _| {
        make(libc::SYS_mount, [0, nowhere(), 0, BIND | REMOUNT, 0])
    }),
    refused("unmount a mask", |_, _| {
        make(libc::SYS_umount2, [nowhere(), 0])
    }),
    refused("clone a mount", |_, _| {
        make(libc::SYS_open_tree, [HERE, nowhere(), 1])
    }),
    refused("move a mount", |_, _| {
        make(libc::SYS_move_mount, [HERE, nowhere(), HERE, nowhere(), 0])
    }),
    refused("change the attributes of a mount", |_, _| {
        let nothing = [0_u64; 4];
        let nothing = nothing.as_ptr() as usize;
        make(libc::SYS_mount_setattr, [HERE, nowhere(), 0, nothing, 32])
    }),
    refused("open a file system", |_, _| {
        make(libc::SYS_fsopen, [c"nowhere".as_ptr() as usize, 0])
    }),
    refused("mount an open file system", |_, _| {
        make(libc::SYS_fsmount, [9999, 0, 0])
    }),
    refused("configure an open file system", |_, _| {
        make(libc::SYS_fsconfig, [9999, 6, 0, 0, 0])
    }),
    refused("pick a file system", |_, _| {
        make(libc::SYS_fspick, [HERE, nowhere(), 0])
    }),
    refused("pivot_root", |_, _| {
        make(libc::SYS_pivot_root, [nowhere(), nowhere()])
    }),
    refused("chroot", |_, _| make(libc::SYS_chroot, [nowhere()])),
    refused("enter the user namespace of process 1", |_, _| {
        setns("user")
    }),
    refused("enter the mount namespace of process 1", |_, _| {
        setns("mnt")
    }),
    refused("enter a namespace by a process descriptor", |_, _| {
        make(libc::SYS_setns, [9999, 0])
    }),
    namespace("a new user namespace", |_, _| unshare(libc::CLONE_NEWUSER)),
    namespace("a new mount namespace", |_, _| unshare(libc::CLONE_NEWNS)),
    namespace("a new pid namespace", |_, _| unshare(libc::CLONE_NEWPID)),
    namespace("a new network namespace", |_, _| {
        unshare(libc::CLONE_NEWNET)
    }),
    namespace("a new ipc namespace", |_, _| unshare(libc::CLONE_NEWIPC)),
    namespace("a new uts namespace", |_, _| unshare(libc::CLONE_NEWUTS)),
    namespace("a new cgroup namespace", |_, _| {
        unshare(libc::CLONE_NEWCGROUP)
    }),
    namespace("a new time namespace", |_, _| unshare(0x80)),
    namespace("clone into a new user namespace", |_, _| {
        clone(libc::CLONE_NEWUSER | libc::SIGCHLD)
    }),
    namespace("clone into a new mount namespace", |_, _| {
        clone(libc::CLONE_NEWNS | libc::SIGCHLD)
    }),
    namespace("clone3 into a new user namespace", |_, _| {
        let arguments = [libc::CLONE_NEWUSER as u64, 0, 0, 0, 17, 0, 0, 0];
        let made = call(libc::SYS_clone3, [arguments.as_ptr() as usize, 64])?;
        if made == 0 {
            super::sys::exit(0);
        }
        Ok(())
    }),
];

const BIND: usize = 4096;
const REMOUNT: usize = 32;

const fn namespace(
    name: &'static str,
    action: fn(&std::path::Path, &super::table::Scene) -> Tried,
) -> Attempt {
    // What makes no namespace is allowed by both calls.
    attempt(name, action).beside(|_, _| {
        unshare(libc::CLONE_FILES)?;
        clone(libc::SIGCHLD)
    })
}

fn unshare(flags: libc::c_int) -> Tried {
    make(libc::SYS_unshare, [usize::try_from(flags).unwrap()])
}

fn clone(flags: libc::c_int) -> Tried {
    let made = call(
        libc::SYS_clone,
        [usize::try_from(flags).unwrap(), 0, 0, 0, 0],
    )?;
    if made == 0 {
        super::sys::exit(0);
    }
    Ok(())
}

fn setns(kind: &str) -> Tried {
    // Outside the descriptor of this process's own namespace is told from a refusal of the call.
    let file = File::open(format!("/proc/1/ns/{kind}"))
        .or_else(|_| File::open(format!("/proc/self/ns/{kind}")))?;
    make(libc::SYS_setns, [fd(&file), 0x1])
}
