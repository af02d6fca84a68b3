//! Copies what belongs to a file besides its content: owner, mode, extended attributes, ACL.

use std::fs::File;
use std::io;

use rustix::fs::{
    Gid, Mode, Stat, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fremovexattr,
    fsetxattr, fstat,
};
use rustix::io::Errno;

/// Makes `to` belong to the same owner, with the same mode and attributes, as `from`.
pub(super) fn copy(from: &File, stat: &Stat, to: &File) -> io::Result<()> {
    let own = fstat(to)?;
    if (own.st_uid, own.st_gid) != (stat.st_uid, stat.st_gid) {
        let owner = Uid::from_raw(stat.st_uid);
        let group = Gid::from_raw(stat.st_gid);
        fchown(to, Some(owner), Some(group))?;
    }
    copy_extended(from, to)?;
    // Last, because the kernel takes bits away when the owner changes.
    fchmod(to, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    Ok(())
}

fn copy_extended(from: &File, to: &File) -> io::Result<()> {
    let wanted = names(from)?;
    for name in names(to)? {
        if !wanted.contains(&name) && !is_of_system(&name) {
            fremovexattr(to, name.as_slice())?;
        }
    }
    for name in wanted {
        let value = value(from, &name)?;
        match fsetxattr(to, name.as_slice(), &value, XattrFlags::empty()) {
            Ok(()) => {}
            // Labels are set by the system's own rules.
            Err(_) if is_of_system(&name) => {}
            Err(err) => return Err(err.into()),
        }
    }
    Ok(())
}

fn is_of_system(name: &[u8]) -> bool {
    name.starts_with(b"security.") || name.starts_with(b"trusted.")
}

/// The names of all attributes but capabilities, which other content must not inherit.
fn names(file: &File) -> io::Result<Vec<Vec<u8>>> {
    let mut buffer = vec![0; 1024];
    let length = loop {
        match flistxattr(file, buffer.as_mut_slice()) {
            Ok(length) => break length,
            Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(Vec::new()),
            Err(err) => return Err(err.into()),
        }
    };
    let names = buffer.get(..length).unwrap_or(&[]).split(|byte| *byte == 0);
    Ok(names
        .filter(|name| !name.is_empty() && *name != b"security.capability")
        .map(<[u8]>::to_vec)
        .collect())
}

fn value(file: &File, name: &[u8]) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 256];
    loop {
        match fgetxattr(file, name, buffer.as_mut_slice()) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
            Err(err) => return Err(err.into()),
        }
    }
}
