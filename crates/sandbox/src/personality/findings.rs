//! What a command did to protected paths that no mount could hold.

use std::fs::Permissions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::protections::{Protections, repository_above};
use super::snapshot::Snapshot;
use super::world::World;
use crate::finding::{Finding, FindingAction};
use crate::git_dirs::{self, nested};

/// What is looked at again after a command.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) protections: Protections,
    snapshot: Snapshot,
    /// What the agent makes itself.
    expected: Vec<PathBuf>,
}

impl Watch {
    /// Looks at what commands of this world must leave as it is.
    pub(crate) fn begin(world: &World) -> Self {
        let protections = Protections::for_world(world);
        world.scanner.borrow_mut().set_fresh(false);
        let snapshot = if world.namespaces {
            Snapshot::default() // Mounts hold these paths.
        } else {
            Snapshot::take(&protections, &world.policy.roots)
        };
        Self {
            protections,
            snapshot,
            expected: Vec::new(),
        }
    }

    /// Leaves out what the agent itself changes at `path`.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.protections.forget(path);
        self.snapshot.forget(path);
        self.expected.push(path.to_owned());
    }

    /// Looks again and undoes what appeared or changed. A command could have bent the paths, so
    /// this must run where writing is limited to the writable roots.
    pub(crate) fn settle(&self, world: &World) -> Vec<Finding> {
        let mut findings = self.snapshot.restore();
        settle_absent(&self.protections, &mut findings);
        self.settle_nested(world, &mut findings);
        self.settle_modules(&mut findings);
        findings
    }

    /// Puts new git directories of submodules aside that would execute something once git fills in
    /// the submodule.
    fn settle_modules(&self, findings: &mut Vec<Finding>) {
        for (git_dir, before) in &self.protections.modules {
            for module in git_dirs::modules(git_dir) {
                let is_expected = self.expected.iter().any(|made| module.starts_with(made));
                let is_new = !before.contains(&module) && !is_expected;
                if is_new && !nested::is_harmless_module(&module) {
                    findings.push(put_aside(&module));
                }
            }
        }
    }

    /// Puts new repositories aside that would take over files of the one above them, or make git
    /// execute something there.
    fn settle_nested(&self, world: &World, findings: &mut Vec<Finding>) {
        for (root, before) in &self.protections.nested {
            let now = world.scanner.borrow_mut().scan(root, nested::PROJECT);
            let new = |path: &&PathBuf| {
                !before.trees.contains(path)
                    && !before.bare.contains(path)
                    && !self.expected.iter().any(|made| path.starts_with(made))
            };
            let trees = now.trees.iter().filter(new);
            let bare = now.bare.iter().filter(new);
            for (directory, name, git) in trees
                .map(|path| (path, ".git", path.join(".git")))
                .chain(bare.map(|path| (path, "HEAD", path.clone())))
            {
                let path = directory.join(name);
                let wrong = repository_above(directory).is_some_and(|above| {
                    !nested::is_harmless(directory, &git, above)
                        || name == ".git" && git.is_dir() && nested::is_tracked(above, directory)
                });
                // With an incomplete look before, it may have been there all the time.
                findings.push(if wrong && before.complete {
                    put_aside(&path)
                } else {
                    let action = FindingAction::Reported;
                    Finding { path, action }
                });
            }
        }
    }
}

fn settle_absent(protections: &Protections, findings: &mut Vec<Finding>) {
    for path in &protections.absent {
        if exists(path) {
            findings.push(put_aside(link_above(path).unwrap_or(path)));
        }
    }
    for path in protections.noticed.iter().filter(|path| exists(path)) {
        let (path, action) = (path.clone(), FindingAction::Reported);
        findings.push(Finding { path, action });
    }
    for (path, target) in &protections.links {
        if std::fs::read_link(path).is_ok_and(|now| now == *target) {
            continue;
        }
        if exists(path) {
            findings.push(put_aside(path));
        }
        let path = path.clone();
        let action = match std::os::unix::fs::symlink(target, &path) {
            Ok(()) => FindingAction::Restored,
            Err(error) => FindingAction::Kept {
                reason: error.to_string(),
            },
        };
        findings.push(Finding { path, action });
    }
}

/// The topmost link on the way to a path that was missing, on which there was none: what is behind
/// it is not what was made.
fn link_above(path: &Path) -> Option<&Path> {
    let above = path.ancestors().skip(1);
    above.filter(|above| above.is_symlink()).last()
}

/// Whether something is there, also in a directory that the command has closed.
pub(crate) fn exists(path: &Path) -> bool {
    let mut found = path.symlink_metadata();
    if is_closed(&found) {
        open_up(path);
        found = path.symlink_metadata();
    }
    found.is_ok()
}

pub(crate) fn is_closed<T>(result: &io::Result<T>) -> bool {
    let error = result.as_ref().err();
    error.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Gives their owner, who this process is, the way through the directories above `path` back, and
/// the right to change the last one: a command could have taken them away to keep what it made.
pub(crate) fn open_up(path: &Path) {
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    for (distance, directory) in above.iter().enumerate().rev() {
        let needed = if distance == 0 { 0o700 } else { 0o100 };
        // A failure shows when what is in the directory is looked at.
        drop(grant_owner(directory, needed));
    }
}

fn grant_owner(directory: &Path, needed: u32) -> io::Result<()> {
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let opened = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(directory)?;
    let mode = opened.metadata()?.mode();
    if mode & needed != needed {
        let opened = format!("/proc/self/fd/{}", opened.as_raw_fd());
        let mode = Permissions::from_mode(mode & 0o7777 | needed);
        std::fs::set_permissions(opened, mode)?;
    }
    Ok(())
}

/// Renames `path` to a free name beside it.
pub(crate) fn put_aside(path: &Path) -> Finding {
    let mut action = FindingAction::Kept {
        reason: "no free name beside it".to_owned(),
    };
    for number in 1..100 {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".denied-{number}"));
        let to = PathBuf::from(name);
        if to.symlink_metadata().is_ok() {
            continue;
        }
        let mut renamed = std::fs::rename(path, &to);
        if is_closed(&renamed) {
            open_up(path);
            renamed = std::fs::rename(path, &to);
        }
        action = match renamed {
            Ok(()) => FindingAction::PutAside { to },
            Err(error) => FindingAction::Kept {
                reason: error.to_string(),
            },
        };
        break;
    }
    let path = path.to_owned();
    Finding { path, action }
}
