//! Protected paths where no mount can hold them: remembered before a command, compared and
//! restored after it.
//!
//! The memory is bounded; a file beyond the bound is noticed by its size and time, and reported
//! without being restored. Modes are restored for files; owners, times and attributes are not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::findings::{Finding, FindingAction, put_aside};
use super::protections::Protections;

const FILE_LIMIT: u64 = 1024 * 1024;
const TOTAL_LIMIT: u64 = 8 * 1024 * 1024;
const ENTRY_LIMIT: usize = 2000;

/// What protected paths were before a command.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    directories: Vec<(PathBuf, Identity)>,
    contents: Vec<(PathBuf, Node)>,
}

type Identity = (u64, u64);

#[derive(Debug, PartialEq, Eq)]
enum Node {
    File {
        mode: u32,
        bytes: Vec<u8>,
    },
    /// Too large to remember: length, seconds and nanoseconds of its last change, and inode.
    Large(u64, i64, i64, u64),
    Link(PathBuf),
    Directory(BTreeMap<OsString, Node>),
    Other,
}

struct Budget {
    bytes: u64,
    entries: usize,
}

impl Snapshot {
    /// Remembers what exists of the protected paths.
    pub(crate) fn take(protections: &Protections) -> Self {
        let mut budget = Budget {
            bytes: TOTAL_LIMIT,
            entries: ENTRY_LIMIT,
        };
        let identify = |path: &PathBuf| Some((path.clone(), identity(path)?));
        let read = |path: &PathBuf| Some((path.clone(), read(path, &mut budget).ok()?));
        Self {
            directories: protections.pinned.iter().filter_map(identify).collect(),
            contents: protections.frozen.iter().filter_map(read).collect(),
        }
    }

    /// Leaves out what the agent itself changes at `path`.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.contents
            .retain(|(known, _)| !known.starts_with(path) && !path.starts_with(known));
    }

    /// Restores what is different now.
    pub(crate) fn restore(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut lost: Vec<&Path> = Vec::new();
        for (path, identity_before) in &self.directories {
            if lost.iter().any(|above| path.starts_with(above)) {
                continue;
            }
            if let Some(finding) = return_directory(path, *identity_before) {
                if finding.action != FindingAction::Restored {
                    lost.push(path);
                }
                findings.push(finding);
            }
        }
        for (path, before) in &self.contents {
            if !lost.iter().any(|above| path.starts_with(above)) {
                restore(path, before, &mut findings);
            }
        }
        findings
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let metadata = path.symlink_metadata().ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

/// Brings back a directory that was renamed within its parent.
fn return_directory(path: &Path, before: Identity) -> Option<Finding> {
    if identity(path) == Some(before) {
        return None;
    }
    let entries = fs::read_dir(path.parent()?).into_iter().flatten().flatten();
    let moved = entries
        .map(|entry| entry.path())
        .find(|entry| identity(entry) == Some(before));
    if moved.is_some() && path.symlink_metadata().is_ok() {
        put_aside(path);
    }
    let result = match moved {
        Some(moved) => fs::rename(moved, path),
        None => Err(io::Error::other("the directory was removed or moved away")),
    };
    Some(finding(path, result))
}

fn finding(path: &Path, result: io::Result<()>) -> Finding {
    let action = match result {
        Ok(()) => FindingAction::Restored,
        Err(error) => FindingAction::Kept {
            reason: error.to_string(),
        },
    };
    let path = path.to_owned();
    Finding { path, action }
}

fn read(path: &Path, budget: &mut Budget) -> io::Result<Node> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Ok(Node::Link(fs::read_link(path)?));
    }
    if metadata.is_file() {
        return read_file(path, &metadata, budget);
    }
    if !metadata.is_dir() {
        return Ok(Node::Other);
    }
    let mut children = BTreeMap::new();
    for entry in fs::read_dir(path)?.flatten() {
        if budget.entries == 0 {
            break;
        }
        budget.entries -= 1;
        if let Ok(node) = read(&entry.path(), budget) {
            children.insert(entry.file_name(), node);
        }
    }
    Ok(Node::Directory(children))
}

fn read_file(path: &Path, metadata: &Metadata, budget: &mut Budget) -> io::Result<Node> {
    let length = metadata.len();
    if length > FILE_LIMIT || length > budget.bytes {
        let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
        return Ok(Node::Large(length, seconds, nanoseconds, metadata.ino()));
    }
    budget.bytes -= length;
    // Whatever a command makes of the path meanwhile, this neither blocks nor grows.
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let mut bytes = Vec::new();
    file.take(FILE_LIMIT).read_to_end(&mut bytes)?;
    Ok(Node::File {
        mode: metadata.mode() & 0o7777,
        bytes,
    })
}

fn restore(path: &Path, before: &Node, findings: &mut Vec<Finding>) {
    let mut budget = Budget {
        bytes: u64::MAX,
        entries: usize::MAX,
    };
    if let Node::Directory(children) = before
        && path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir())
    {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            if !children.contains_key(&entry.file_name()) && children.len() < ENTRY_LIMIT {
                findings.push(put_aside(&entry.path()));
            }
        }
        for (name, child) in children {
            restore(&path.join(name), child, findings);
        }
        return;
    }
    if read(path, &mut budget).is_ok_and(|now| now == *before) {
        return;
    }
    if path.symlink_metadata().is_ok() {
        findings.push(put_aside(path));
    }
    findings.push(finding(path, write(path, before)));
}

fn write(path: &Path, node: &Node) -> io::Result<()> {
    match node {
        Node::File { mode, bytes } => {
            fs::write(path, bytes)?;
            fs::set_permissions(path, Permissions::from_mode(*mode))
        }
        Node::Link(target) => symlink(target, path),
        Node::Directory(children) => {
            fs::create_dir(path)?;
            for (name, child) in children {
                write(&path.join(name), child)?;
            }
            Ok(())
        }
        Node::Large(..) => Err(io::Error::other("it is too large to be remembered")),
        Node::Other => Err(io::Error::other("it was no file, directory or link")),
    }
}
