//! The file system that commands see: read-only, with writable roots, masks and an own `/dev`.
//!
//! Everything is built in place, in a mount namespace of the holder's own: writable roots are
//! cloned before the whole tree is made read-only, and are then put back on top. Of two paths the
//! deeper one wins, whatever the kinds.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, symlink};
use std::path::{Path, PathBuf};

use libc::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOEXEC, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use nix::mount::{MsFlags, mount};

use super::hidden::{self, HostSockets};
use super::protections::Protections;
use crate::git_dirs::nested::Scanner;
use crate::policy::ResolvedPolicy;
use crate::sys;

pub(crate) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];
/// Parts of `/proc` that are not about processes, writable for the machine's superuser.
const PROC_MACHINE: &[&str] = &[
    "sys",
    "sysrq-trigger",
    "irq",
    "bus",
    "fs",
    "acpi",
    "scsi",
    "driver",
];

/// A failed step of building the tree.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt} `{path}`: {source}", path = path.display())]
pub(crate) struct MountError {
    attempt: &'static str,
    path: PathBuf,
    source: io::Error,
}

fn failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> MountError {
    let path = path.to_owned();
    move |source| MountError {
        attempt,
        path,
        source,
    }
}

/// What a path becomes.
enum Kind {
    Writable(OwnedFd),
    /// Visible inside a hollow directory, read-only.
    Shown(OwnedFd),
    /// An empty directory in which shown paths are put.
    Hollow,
    Hidden,
}

/// Builds the tree in the current mount namespace.
pub(crate) fn build(
    policy: &ResolvedPolicy,
    host: &HostSockets,
    scanner: &mut Scanner,
) -> Result<(), MountError> {
    let root = Path::new("/");
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, root, None::<&str>, private, None::<&str>)
        .map_err(|error| failed("make private", root)(error.into()))?;
    let steps = plan(policy, host, scanner)?;
    let devices = clone_devices()?;
    sys::set_mount_attributes_below(root, MOUNT_ATTR_RDONLY)
        .map_err(failed("make read-only", root))?;
    build_dev(&devices)?;
    let mut hollow = Vec::new();
    for (path, kind) in steps {
        match kind {
            Kind::Writable(tree) | Kind::Shown(tree) => attach(&tree, &path, &hollow)?,
            Kind::Hidden => hide(&path)?,
            Kind::Hollow => {
                mount_tmpfs(&path, MsFlags::MS_NOSUID | MsFlags::MS_NODEV, "mode=755")?;
                hollow.push(path);
            }
        }
    }
    for path in hollow {
        sys::set_mount_attributes(&path, MOUNT_ATTR_RDONLY)
            .map_err(failed("make read-only", &path))?;
    }
    Ok(())
}

/// Every step, parents before children.
fn plan(
    policy: &ResolvedPolicy,
    host: &HostSockets,
    scanner: &mut Scanner,
) -> Result<Vec<(PathBuf, Kind)>, MountError> {
    let mut steps = Vec::new();
    for root in &policy.roots {
        let tree = sys::open_tree(&root.path).map_err(failed("clone", &root.path))?;
        steps.push((root.path.clone(), Kind::Writable(tree)));
    }
    for hollow in hidden::hollow(policy) {
        for path in hollow.shown {
            // An entry that vanished in between is simply not shown.
            if let Ok(tree) = sys::open_tree(&path) {
                sys::set_tree_attributes(tree.as_fd(), MOUNT_ATTR_RDONLY)
                    .map_err(failed("make read-only", &path))?;
                steps.push((path, Kind::Shown(tree)));
            }
        }
        steps.push((hollow.path, Kind::Hollow));
    }
    for path in hidden::paths(policy, host, scanner) {
        steps.push((path, Kind::Hidden));
    }
    steps.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(steps)
}

/// Attaches a clone; inside a hollow directory the mount point is made first.
fn attach(tree: &OwnedFd, path: &Path, hollow: &[PathBuf]) -> Result<(), MountError> {
    let inside = |path: &Path| hollow.iter().any(|above| path.starts_with(above));
    if inside(path) && path.symlink_metadata().is_err() {
        let is_directory = File::from(tree.try_clone().map_err(failed("clone", path))?)
            .metadata()
            .is_ok_and(|metadata| metadata.is_dir());
        if is_directory {
            DirBuilder::new().recursive(true).mode(0o755).create(path)
        } else {
            File::create(path).map(drop)
        }
        .map_err(failed("make", path))?;
    }
    sys::move_mount(tree.as_fd(), path).map_err(failed("attach", path))
}

/// Makes a file unreadable (for the superuser too) or a directory empty.
fn hide(path: &Path) -> Result<(), MountError> {
    let Ok(metadata) = path.symlink_metadata() else {
        return Ok(());
    };
    if metadata.is_dir() {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_RDONLY;
        return mount_tmpfs(path, flags, "mode=000,size=4k,nr_inodes=2");
    }
    // Opening a device on a mount without devices is refused by the kernel before any driver.
    let null = sys::open_tree(Path::new("/dev/null")).map_err(failed("clone", path))?;
    let locked = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    sys::set_tree_attributes(null.as_fd(), locked).map_err(failed("lock", path))?;
    sys::move_mount(null.as_fd(), path).map_err(failed("hide", path))
}

fn mount_tmpfs(path: &Path, flags: MsFlags, options: &str) -> Result<(), MountError> {
    mount(Some("tmpfs"), path, Some("tmpfs"), flags, Some(options))
        .map_err(|error| failed("mount on", path)(error.into()))
}

fn clone_devices() -> Result<Vec<(&'static str, OwnedFd)>, MountError> {
    let mut devices = Vec::new();
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        if path
            .metadata()
            .is_ok_and(|metadata| metadata.file_type().is_char_device())
        {
            devices.push((
                *name,
                sys::open_tree(&path).map_err(failed("clone", &path))?,
            ));
        }
    }
    Ok(devices)
}

fn build_dev(devices: &[(&str, OwnedFd)]) -> Result<(), MountError> {
    let dev = Path::new("/dev");
    mount_tmpfs(
        dev,
        MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC,
        "mode=755,size=64k",
    )?;
    for (name, tree) in devices {
        let path = dev.join(name);
        File::create(&path).map_err(failed("make", &path))?;
        sys::move_mount(tree.as_fd(), &path).map_err(failed("attach", &path))?;
    }
    for (target, name) in DEVICE_LINKS {
        let path = dev.join(name);
        symlink(target, &path).map_err(failed("link", &path))?;
    }
    for name in ["shm", "pts"] {
        let path = dev.join(name);
        fs::create_dir(&path).map_err(failed("make", &path))?;
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount_tmpfs(&dev.join("shm"), flags, "mode=1777")?;
    let pts = dev.join("pts");
    let options = Some("newinstance,ptmxmode=0666,mode=620");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    if let Err(error) = mount(Some("devpts"), &pts, Some("devpts"), flags, options) {
        tracing::debug!(%error, "commands cannot make terminals of their own");
    }
    sys::set_mount_attributes(dev, MOUNT_ATTR_RDONLY).map_err(failed("make read-only", dev))
}

/// Mounts a `/proc` of the current pid namespace, read-only where it is about the machine.
pub(crate) fn fresh_proc() -> Result<(), MountError> {
    let proc = Path::new("/proc");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), proc, Some("proc"), flags, None::<&str>)
        .map_err(|error| failed("mount on", proc)(error.into()))?;
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    for name in PROC_MACHINE {
        let path = proc.join(name);
        if path.symlink_metadata().is_ok() {
            freeze(&path)?;
        }
    }
    Ok(())
}

/// Holds the protected paths and renews masks whose file was replaced, in the mount namespace of
/// one command.
pub(crate) fn protect(protections: &Protections) -> Result<(), MountError> {
    for path in &protections.pinned {
        unless_vanished(pin(path))?;
    }
    for path in &protections.frozen {
        unless_vanished(freeze(path))?;
    }
    for path in &protections.hidden {
        match sys::is_mount_root(path) {
            Ok(true) => {}
            Ok(false) => unless_vanished(hide(path))?,
            Err(error) => unless_vanished(Err(failed("look at", path)(error)))?,
        }
    }
    Ok(())
}

/// Somebody outside may replace or remove a path between the look-up and the mount.
fn unless_vanished(result: Result<(), MountError>) -> Result<(), MountError> {
    match result {
        Err(error) if error.source.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn pin(path: &Path) -> Result<(), MountError> {
    let tree = sys::open_tree(path).map_err(failed("clone", path))?;
    sys::move_mount(tree.as_fd(), path).map_err(failed("pin", path))
}

fn freeze(path: &Path) -> Result<(), MountError> {
    let tree = sys::open_tree(path).map_err(failed("clone", path))?;
    sys::set_tree_attributes(tree.as_fd(), MOUNT_ATTR_RDONLY)
        .map_err(failed("make read-only", path))?;
    sys::move_mount(tree.as_fd(), path).map_err(failed("protect", path))
}
