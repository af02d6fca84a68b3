//! Protected paths where no mount can hold them: remembered before a command, compared and
//! restored after it.
//!
//! The memory is bounded; a file beyond the bound is noticed by its size and time, and reported
//! without being restored. Modes are restored for files; owners, times and attributes are not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::findings::{exists, is_closed, open_up, put_aside};
use super::protections::Protections;
use crate::finding::{Finding, FindingAction};
use crate::policy::Root;

const FILE_LIMIT: u64 = 1024 * 1024;
const TOTAL_LIMIT: u64 = 8 * 1024 * 1024;
const ENTRY_LIMIT: usize = 2000;
/// How many directories are held open, so that commands side by side do not use all descriptors.
const HANDLE_LIMIT: usize = 200;

/// What protected paths were before a command.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    secrets: Vec<Secret>,
    directories: Vec<Directory>,
    contents: Vec<(PathBuf, Node)>,
}

type Identity = (u64, u64);

/// A directory that must stay where it is.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    identity: Identity,
    /// Finds it again wherever it was moved. Beyond the limit only its parent is searched.
    handle: Option<File>,
}

/// A hidden path, which would not be hidden under another name.
#[derive(Debug)]
struct Secret {
    path: PathBuf,
    identity: Identity,
    /// How many names a file has.
    n_links: Option<u64>,
    handle: Option<File>,
}

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
    /// Remembers what exists of the protected paths, and of the hidden ones that could be renamed.
    pub(crate) fn take(protections: &Protections, roots: &[Root]) -> Self {
        let is_writable = |path: &&PathBuf| roots.iter().any(|root| path.starts_with(&root.path));
        let hidden = protections.hidden.iter().filter(is_writable);
        let mut budget = Budget {
            bytes: TOTAL_LIMIT,
            entries: ENTRY_LIMIT,
        };
        let read = |path: &PathBuf| Some((path.clone(), read(path, &mut budget).ok()?));
        Self {
            secrets: secrets(hidden),
            directories: directories(&protections.pinned),
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
        for secret in &self.secrets {
            secret.put_back(&mut findings);
        }
        let mut lost: Vec<&Path> = Vec::new();
        for directory in &self.directories {
            let path = &directory.path;
            if lost.iter().any(|above| path.starts_with(above)) {
                continue;
            }
            if let Some(finding) = directory.put_back(&mut findings) {
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
    metadata.is_dir().then(|| identity_of(&metadata))
}

fn identity_of(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

fn secrets<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<Secret> {
    let remember = |path: &PathBuf| {
        let metadata = path.symlink_metadata().ok()?;
        Some(Secret {
            path: path.clone(),
            identity: identity_of(&metadata),
            n_links: metadata.is_file().then(|| metadata.nlink()),
            handle: None,
        })
    };
    let mut secrets: Vec<_> = paths.filter_map(remember).collect();
    for secret in secrets.iter_mut().take(HANDLE_LIMIT) {
        secret.handle = hold(&secret.path);
    }
    secrets
}

/// A descriptor that finds a path again wherever it is moved.
fn hold(path: &Path) -> Option<File> {
    let mut options = fs::OpenOptions::new();
    let flags = libc::O_PATH | libc::O_NOFOLLOW;
    options.read(true).custom_flags(flags).open(path).ok()
}

/// Where what is at `handle` is now, or, without one, where in `parent`.
fn current_path(
    handle: Option<&File>,
    parent: Option<&Path>,
    identity: Identity,
) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| {
        let metadata = path.symlink_metadata();
        metadata.is_ok_and(|metadata| identity_of(&metadata) == identity)
    };
    let link = handle
        .and_then(|handle| fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).ok());
    link.filter(is_it).or_else(|| {
        let entries = fs::read_dir(parent?).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).find(is_it)
    })
}

impl Secret {
    /// Brings it back if it was renamed, and says so if it may be read by another name.
    fn put_back(&self, findings: &mut Vec<Finding>) {
        let path = &self.path;
        let now = path.symlink_metadata().ok();
        if let Some(now) = now.filter(|now| identity_of(now) == self.identity) {
            if self.n_links.is_some_and(|before| now.nlink() > before) {
                let reason = "it has another name now, under which it is not hidden";
                findings.push(finding(path, Err(io::Error::other(reason))));
            }
            return;
        }
        let result = match current_path(self.handle.as_ref(), path.parent(), self.identity) {
            Some(moved) => {
                if exists(path) {
                    findings.push(put_aside(path));
                }
                rename_back(&moved, path)
            }
            None => Err(io::Error::other("it was removed or replaced")),
        };
        findings.push(finding(path, result));
    }
}

fn directories(paths: &[PathBuf]) -> Vec<Directory> {
    let identify = |path: &PathBuf| {
        Some(Directory {
            path: path.clone(),
            identity: identity(path)?,
            handle: None,
        })
    };
    let mut directories: Vec<_> = paths.iter().filter_map(identify).collect();
    // What is lost with an upper one is more.
    let mut by_depth: Vec<&mut Directory> = directories.iter_mut().collect();
    by_depth.sort_by_key(|directory| directory.path.components().count());
    for directory in by_depth.into_iter().take(HANDLE_LIMIT) {
        directory.handle = hold(&directory.path);
    }
    directories
}

impl Directory {
    /// Brings it back if it was renamed, and puts aside what stands in its place.
    fn put_back(&self, findings: &mut Vec<Finding>) -> Option<Finding> {
        let path = &self.path;
        let is_there = exists(path);
        if is_there && identity(path) == Some(self.identity) {
            return None;
        }
        let moved = current_path(self.handle.as_ref(), path.parent(), self.identity);
        if is_there {
            let aside = put_aside(path);
            if moved.is_none() {
                findings.push(aside);
            }
        }
        let result = match moved {
            Some(moved) => rename_back(&moved, path),
            None => Err(io::Error::other("the directory was removed or moved away")),
        };
        Some(finding(path, result))
    }
}

fn rename_back(moved: &Path, path: &Path) -> io::Result<()> {
    let mut renamed = fs::rename(moved, path);
    if is_closed(&renamed) {
        open_up(moved);
        open_up(path);
        renamed = fs::rename(moved, path);
    }
    renamed
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
    if exists(path)
        && let Node::Directory(children) = before
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
    if exists(path) {
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
