//! Decides what commands may do with a path, from the same lists that are enforced.

use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::hidden;
use super::mounts::DEVICES;
use super::protections::Protections;
use super::world::World;
use crate::explain::{Answer, Explanation, Verdict};
use crate::level::Layer;
use crate::policy::{Root, RootKind};
use crate::{secrets, sys};

/// What commands of this world may do with `path`, which is absolute and has its links followed.
pub(crate) fn explain(world: &World, path: &Path) -> Explanation {
    let Some(confinement) = &world.confinement else {
        let full = || Verdict::new(Answer::Allowed, "the mode is `danger-full-access`");
        return Explanation {
            read: full(),
            write: full(),
        };
    };
    let protections = Protections::for_world(world);
    let mut read = read(world, &protections, path);
    let mut write = match read.answer {
        // A mask stands in the way of writing as well.
        Answer::Denied if world.report.has(Layer::Namespaces) => read.clone(),
        Answer::Allowed | Answer::Denied | Answer::Undone | Answer::Reported => {
            write(world, &protections, path)
        }
    };
    if !world.report.has(Layer::Namespaces) {
        let rule = "without namespaces only what was there when the sandbox was made can be opened \
                    to commands beside what is closed to them";
        let grants = &confinement.grants;
        if read.answer != Answer::Denied
            && !path.is_dir()
            && !grants.iter().any(|grant| grant.lets_read(path))
        {
            read = Verdict::new(Answer::Denied, rule);
        }
        if write.answer != Answer::Denied && !grants.iter().any(|grant| grant.lets_write(path)) {
            write = Verdict::new(Answer::Denied, rule);
        }
    }
    Explanation { read, write }
}

fn read(world: &World, protections: &Protections, path: &Path) -> Verdict {
    let denied = |rule: String| Verdict::new(Answer::Denied, rule);
    let policy = &world.policy;
    // The enforced list: what is around a root is not denied.
    if let Some(entry) = covering(&secrets::hidden(policy), path) {
        let rule = if policy.denied_reads.contains(entry) {
            format!("`deny_read` or `.agentignore` names `{}`", entry.display())
        } else {
            format!("`{}` is a secret", entry.display())
        };
        return denied(rule);
    }
    if let Some(entry) = covering(&protections.hidden, path) {
        return denied(format!(
            "`{}` is a socket of a host program",
            entry.display()
        ));
    }
    let has_namespaces = world.report.has(Layer::Namespaces);
    if has_namespaces && is_masked(path) {
        return denied("it was the socket of a host program when the sandbox was made".to_owned());
    }
    for hollow in hidden::hollow(policy) {
        let inside = path.starts_with(&hollow.path) && path != hollow.path;
        let shown =
            covering(&hollow.shown, path).is_some() || in_deeper_root(world, &hollow.path, path);
        if inside && !shown && needs_namespaces(world, path) {
            return denied(format!(
                "`{}` is replaced by an empty directory: host programs or the agent keep their \
                 files there",
                hollow.path.display()
            ));
        }
    }
    Verdict::new(Answer::Allowed, "no rule is against it")
}

/// Whether a writable directory below `above` contains `path`.
fn in_deeper_root(world: &World, above: &Path, path: &Path) -> bool {
    let roots = world.policy.roots.iter().map(|root| &root.path);
    roots
        .filter(|root| root.starts_with(above) && *root != above)
        .any(|root| path.starts_with(root))
}

/// Without namespaces only the agent's own directory is closed to reading, and no other hollow one.
fn needs_namespaces(world: &World, path: &Path) -> bool {
    let in_agent_home = |home: &PathBuf| path.starts_with(home);
    world.report.has(Layer::Namespaces)
        || world.policy.agent_home.as_ref().is_some_and(in_agent_home)
}

/// Whether `mounts` put something in the place of a file: a device that cannot be opened.
fn is_masked(path: &Path) -> bool {
    let is_device = path
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.file_type().is_char_device());
    is_device && !path.starts_with("/dev") && sys::is_mount_root(path).unwrap_or(false)
}

/// What is open to writing in `/dev`.
fn write_device(path: &Path) -> Option<Verdict> {
    let name = path.strip_prefix("/dev").ok()?;
    if name.starts_with("shm") {
        let rule = "it is in `/dev/shm`, which is for memory that commands share";
        return Some(Verdict::new(Answer::Allowed, rule));
    }
    let is_open = DEVICES.iter().any(|device| name == Path::new(device));
    is_open.then(|| Verdict::new(Answer::Allowed, "it is a device that keeps nothing"))
}

fn write(world: &World, protections: &Protections, path: &Path) -> Verdict {
    if let Some(verdict) = write_device(path) {
        return verdict;
    }
    let Some(root) = innermost(&world.policy.roots, path) else {
        return Verdict::new(Answer::Denied, "it is in no writable directory");
    };
    if let Some(home) = &world.policy.agent_home
        && path.starts_with(home)
        && !in_deeper_root(world, home, path)
    {
        return Verdict::new(Answer::Denied, "it is in the agent's own directory");
    }
    if let Some(entry) = covering(&protections.frozen, path) {
        let held = if world.report.has(Layer::Namespaces) {
            Answer::Denied
        } else {
            Answer::Undone
        };
        let rule = format!("`{}` is protected", entry.display());
        return Verdict::new(held, rule);
    }
    if path == root.path {
        let rule = "it is a writable directory itself: what is in it may change, its name may not";
        return Verdict::new(Answer::Allowed, rule);
    }
    let links = protections.links.iter().map(|(link, _)| link);
    if let Some(entry) = links.clone().find(|link| path == *link) {
        let rule = format!("the link `{}` is protected", entry.display());
        return Verdict::new(Answer::Undone, rule);
    }
    if let Some(entry) = covering(&protections.absent, path) {
        let rule = format!("`{}` may not appear", entry.display());
        return Verdict::new(Answer::Undone, rule);
    }
    if let Some(entry) = covering(&protections.noticed, path) {
        let rule = format!("`{}` may appear, but not unnoticed", entry.display());
        return Verdict::new(Answer::Reported, rule);
    }
    let what = match root.kind {
        RootKind::Project => "the workspace or a directory that was added",
        RootKind::GitDirectory => "the git directory of the workspace",
        RootKind::Temporary => "a directory for temporary files",
        RootKind::Cache => "a cache of a toolchain",
    };
    let rule = format!("it is in `{}`, {what}", root.path.display());
    Verdict::new(Answer::Allowed, rule)
}

/// The entry that is `path` or a directory around it.
fn covering<'a>(entries: &'a [PathBuf], path: &Path) -> Option<&'a PathBuf> {
    entries.iter().find(|entry| path.starts_with(entry))
}

fn innermost<'a>(roots: &'a [Root], path: &Path) -> Option<&'a Root> {
    let around = roots.iter().filter(|root| path.starts_with(&root.path));
    around.max_by_key(|root| root.path.as_os_str().len())
}
