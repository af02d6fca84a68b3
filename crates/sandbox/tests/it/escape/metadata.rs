//! Modes, owners, times, attributes.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::time::SystemTime;

use super::sys::{HERE, c_path, call};
use super::table::{Attempt, Category, Outcome, Scene, Tried, Whose, attempt};
use super::writes::fd;

pub(super) const CATEGORY: Category = Category {
    title: "Metadata outside the roots",
    attempts: ATTEMPTS,
};

const ATTEMPTS: &[Attempt] = &[
    attempt("change a mode", |at, _| {
        Ok(fs::set_permissions(
            at.join("file"),
            Permissions::from_mode(0o777),
        )?)
    })
    .without_namespaces(Outcome::Gap),
    attempt("change a mode by an open descriptor", |at, _| {
        let file = File::open(at.join("file"))?;
        Ok(file.set_permissions(Permissions::from_mode(0o777))?)
    })
    .without_namespaces(Outcome::Gap),
    attempt("change a mode with fchmodat2", |at, _| {
        let path = c_path(&at.join("file"));
        call(452, [HERE, path.as_ptr() as usize, 0o777, 0])?;
        Ok(())
    })
    .without_namespaces(Outcome::Gap),
    attempt("change an owner", |at, _| {
        Ok(chown(at.join("file"), Some(1), Some(1))?)
    })
    .beside(|_, scene| {
        let (user, group) = (nix::unistd::getuid(), nix::unistd::getgid());
        let (user, group) = (Some(user.as_raw()), Some(group.as_raw()));
        Ok(chown(scene.own("file"), user, group)?)
    })
    .only(Whose::Root)
    .without_namespaces(Outcome::Gap),
    attempt("change the times", |at, _| {
        let file = File::open(at.join("file"))?;
        Ok(file.set_modified(SystemTime::UNIX_EPOCH)?)
    })
    .without_namespaces(Outcome::Gap),
    attempt("set an extended attribute", |at, _| {
        let (path, name, value) = (c_path(&at.join("file")), c"user.x", b"x");
        let (path, name) = (path.as_ptr() as usize, name.as_ptr() as usize);
        call(
            libc::SYS_setxattr,
            [path, name, value.as_ptr() as usize, 1, 0],
        )?;
        Ok(())
    })
    .without_namespaces(Outcome::Gap),
    attempt("remove an extended attribute", |at, _| {
        let (path, name) = (c_path(&at.join("file")), c"user.there");
        let (path, name) = (path.as_ptr() as usize, name.as_ptr() as usize);
        call(libc::SYS_removexattr, [path, name])?;
        Ok(())
    })
    .without_namespaces(Outcome::Gap),
    attempt("set the flags of an inode", |at, _| {
        let file = File::open(at.join("file"))?;
        let mut flags: libc::c_long = 0;
        call(
            libc::SYS_ioctl,
            [fd(&file), FS_IOC_GETFLAGS, &raw mut flags as usize],
        )?;
        flags |= FS_NODUMP_FL;
        call(
            libc::SYS_ioctl,
            [fd(&file), FS_IOC_SETFLAGS, &raw const flags as usize],
        )?;
        Ok(())
    })
    .without_namespaces(Outcome::Gap),
    attempt("make a file immutable", |_, scene| {
        let file = File::open(scene.own("file"))?;
        let immutable = FS_IMMUTABLE_FL;
        call(
            libc::SYS_ioctl,
            [fd(&file), FS_IOC_SETFLAGS, &raw const immutable as usize],
        )?;
        Ok(())
    })
    .beside(|_, scene| {
        Ok(fs::set_permissions(
            scene.own("file"),
            Permissions::from_mode(0o400),
        )?)
    }),
    attempt("give a program its owner's rights", |_, scene| {
        Ok(fs::set_permissions(
            program(scene)?,
            Permissions::from_mode(0o4755),
        )?)
    })
    .beside(|_, scene| {
        Ok(fs::set_permissions(
            program(scene)?,
            Permissions::from_mode(0o755),
        )?)
    }),
    attempt("make a file that has its group's rights", |_, scene| {
        let path = c_path(&scene.own("new-2"));
        let flags = usize::try_from(libc::O_CREAT | libc::O_WRONLY).unwrap();
        call(
            libc::SYS_openat,
            [HERE, path.as_ptr() as usize, flags, 0o2755],
        )?;
        Ok(())
    })
    .beside(|_, scene| Ok(fs::write(scene.own("new-3"), "")?)),
    attempt("give a program capabilities", |_, scene| {
        give_capabilities(scene)
    })
    .beside(|_, scene| program(scene).map(drop).map_err(Into::into)),
];

/// linux/fs.h.
const FS_IOC_GETFLAGS: usize = 0x8008_6601;
const FS_IOC_SETFLAGS: usize = 0x4008_6602;
const FS_NODUMP_FL: libc::c_long = 0x40;
const FS_IMMUTABLE_FL: libc::c_long = 0x10;

fn program(scene: &Scene) -> std::io::Result<std::path::PathBuf> {
    let path = scene.own("program");
    fs::write(&path, "#!/bin/sh\n")?;
    Ok(path)
}

fn give_capabilities(scene: &Scene) -> Tried {
    // Version 2 of `vfs_cap_data`, all permitted (linux/capability.h).
    let value: [u32; 5] = [0x0200_0001, u32::MAX, 0, u32::MAX, 0];
    let (path, name) = (c_path(&program(scene)?), c"security.capability");
    let (path, name) = (path.as_ptr() as usize, name.as_ptr() as usize);
    call(
        libc::SYS_setxattr,
        [path, name, value.as_ptr() as usize, 20, 0],
    )?;
    Ok(())
}
