//! User and group ids inside the user namespace, and the capabilities that commands keep there.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;

use nix::unistd::Pid;

/// Capabilities that let the superuser of a container work on files of other owners.
const FILE_CAPABILITIES: &[u64] = &[
    0, // CAP_CHOWN
    1, // CAP_DAC_OVERRIDE
    2, // CAP_DAC_READ_SEARCH
    3, // CAP_FOWNER
    4, // CAP_FSETID
];

/// How many ids the namespace knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mapped {
    /// All that this process knew.
    All,
    /// The caller's own, with the reason.
    One(String),
}

/// Writes the maps of the namespace of `child`, from its parent namespace.
pub(crate) fn map(child: Pid) -> io::Result<Mapped> {
    let directory = PathBuf::from(format!("/proc/{child}"));
    match map_all(&directory) {
        Ok(()) => Ok(Mapped::All),
        Err(error) => {
            let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
            fs::write(directory.join("setgroups"), "deny")?;
            fs::write(directory.join("uid_map"), format!("{user} {user} 1"))?;
            fs::write(directory.join("gid_map"), format!("{group} {group} 1"))?;
            Ok(Mapped::One(error.to_string()))
        }
    }
}

fn map_all(directory: &std::path::Path) -> io::Result<()> {
    fs::write(directory.join("uid_map"), identity("/proc/self/uid_map")?)?;
    fs::write(directory.join("gid_map"), identity("/proc/self/gid_map")?)
}

/// The identity map over every id that this process's own map knows.
fn identity(own: &str) -> io::Result<String> {
    let mut map = String::new();
    for line in fs::read_to_string(own)?.lines() {
        let mut fields = line.split_ascii_whitespace();
        if let (Some(first), Some(_), Some(count)) = (fields.next(), fields.next(), fields.next()) {
            let _ = writeln!(map, "{first} {first} {count}");
        }
    }
    Ok(map)
}

/// The capabilities that a command keeps: for the superuser those for files, else none.
pub(crate) fn kept_capabilities() -> u64 {
    if nix::unistd::geteuid().is_root() {
        FILE_CAPABILITIES
            .iter()
            .fold(0, |set, capability| set | 1 << capability)
    } else {
        0
    }
}
