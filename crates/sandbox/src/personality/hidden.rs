//! What commands may not see: secrets, the agent's own records, and sockets of host daemons.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

use crate::git_dirs::nested::{self, Scanner};
use crate::policy::{ResolvedPolicy, RootKind};
use crate::{secrets, sys};

/// Directories for the run-time files of host daemons.
const RUNTIME_DIRECTORIES: &[&str] = &["/run", "/var/run"];
/// What of them programs need: name resolution, and where NixOS keeps its programs and drivers.
const RUNTIME_NEEDED: &[&str] = &[
    "systemd/resolve",
    "NetworkManager/resolv.conf",
    "resolvconf",
    "current-system",
    "booted-system",
    "opengl-driver",
    "wrappers",
];
/// Sockets of daemons that do not keep to those directories; each of them gives the machine away.
const DAEMON_SOCKETS: &[&str] = &[
    "/var/lib/incus/unix.socket",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
    "/mnt/wslg/runtime-dir",
];
/// Sockets that only answer which users and groups there are.
const HARMLESS_SOCKETS: &[&str] = &["/var/lib/sss/pipes/nss"];

/// The kernel's list of the unix sockets in the network namespace that the holder came from.
#[derive(Debug)]
pub(crate) struct HostSockets(Option<fs::File>);

impl HostSockets {
    /// Opens the list; to be called before another network namespace is entered.
    pub(crate) fn open() -> Self {
        let list = fs::File::open("/proc/self/net/unix");
        if let Err(error) = &list {
            tracing::debug!(%error, "the sockets of the host are not listed");
        }
        Self(list.ok())
    }

    /// The sockets that are bound to a path now and can be reached by it. What is in the run-time
    /// directories is hidden with them, but for what programs need.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut text = Vec::new();
        let read = self.0.as_ref().map(|mut list| {
            list.rewind()?;
            list.read_to_end(&mut text)
        });
        if let Some(Err(error)) = read {
            tracing::debug!(%error, "the list of sockets cannot be read");
        }
        let mut paths: Vec<_> = text
            .split(|byte| *byte == b'\n')
            .filter_map(bound_path)
            .collect();
        paths.sort_unstable();
        paths.dedup();
        let is_socket = |path: &PathBuf| {
            path.symlink_metadata()
                .is_ok_and(|metadata| metadata.file_type().is_socket())
        };
        let left_alone = |path: &PathBuf| {
            let mut others = RUNTIME_DIRECTORIES.iter().chain(HARMLESS_SOCKETS);
            others.any(|other| path.starts_with(other))
        };
        paths
            .into_iter()
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| is_socket(path) && !left_alone(path))
            .collect()
    }
}

/// The path in a line of `/proc/net/unix`: it is the last field, and only a path begins with a slash
/// (proc(5)). Names without a directory lead nowhere from here.
fn bound_path(line: &[u8]) -> Option<&Path> {
    let start = line.windows(2).position(|pair| pair == b" /")?;
    let path = line.get(start + 1..)?;
    Some(Path::new(OsStr::from_bytes(path)))
}

/// A directory that is replaced by an empty one, with some of its entries put back.
pub(crate) struct HollowDirectory {
    pub(crate) path: PathBuf,
    pub(crate) shown: Vec<PathBuf>,
}

/// The directories of which only listed entries stay visible.
pub(crate) fn hollow(policy: &ResolvedPolicy) -> Vec<HollowDirectory> {
    let mut found = Vec::new();
    for path in RUNTIME_DIRECTORIES.iter().map(PathBuf::from) {
        if path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir())
        {
            let needed = RUNTIME_NEEDED.iter().map(|name| path.join(name));
            let shown = needed
                .filter(|path| path.symlink_metadata().is_ok())
                .collect();
            found.push(HollowDirectory { path, shown });
        }
    }
    if let Some(path) = &policy.agent_home
        && let Some(shown) = secrets::shown_of_agent_home(policy, path)
    {
        let path = path.clone();
        found.push(HollowDirectory { path, shown });
    }
    found
}

/// Every other path to hide, as it exists now.
pub(crate) fn paths(
    policy: &ResolvedPolicy,
    host: &HostSockets,
    scanner: &mut Scanner,
) -> Vec<PathBuf> {
    let mut paths = secrets::hidden(policy);
    paths.extend(host.paths());
    paths.extend(
        DAEMON_SOCKETS
            .iter()
            .filter_map(|path| Path::new(path).canonicalize().ok()),
    );
    // Sockets in temporary directories lead to programs outside: editors, tmux, ssh agents.
    for root in &policy.roots {
        let reach = match root.kind {
            RootKind::Temporary => nested::FIRST_TEMPORARY,
            RootKind::Project | RootKind::Cache => nested::FIRST,
            RootKind::GitDirectory => continue,
        };
        // One that nobody listens on is what a program left behind; others may make it anew.
        let sockets = scanner.scan(&root.path, reach).sockets.into_iter();
        paths.extend(sockets.filter(|path| somebody_listens(path)));
    }
    paths.sort();
    paths.dedup();
    paths
}

/// Which of these sockets programs outside listen on: nobody in this network namespace made them,
/// and somebody is there.
pub(crate) fn host_sockets(mut sockets: Vec<PathBuf>) -> Vec<PathBuf> {
    sockets.retain(|path| !sys::is_mount_root(path).unwrap_or(true));
    if sockets.is_empty() {
        return sockets;
    }
    let own = fs::read("/proc/self/net/unix").unwrap_or_default();
    let own: Vec<&OsStr> = own
        .split(|byte| *byte == b'\n')
        .filter_map(served_name)
        .collect();
    sockets.retain(|path| {
        let is_own = path.file_name().is_some_and(|name| own.contains(&name));
        !is_own && somebody_listens(path)
    });
    sockets
}

/// The file name of a socket that is listened on or takes datagrams, from a line of
/// `/proc/net/unix`. A connection to a socket outside is listed with the name of that one.
fn served_name(line: &[u8]) -> Option<&OsStr> {
    let mut fields = line.split(|byte| *byte == b' ');
    let (flags, kind) = (fields.nth(3)?, fields.next()?);
    let name = line.rsplit(|byte| matches!(byte, b' ' | b'/')).next()?;
    (flags == b"00010000" || kind == b"0002").then(|| OsStr::from_bytes(name))
}

/// A socket that nobody listens on must stay removable by who made it.
fn somebody_listens(path: &Path) -> bool {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let Ok(probe) = socket(AddressFamily::Unix, SockType::Stream, flags, None) else {
        return true;
    };
    match UnixAddr::new(path) {
        Ok(address) => connect(probe.as_raw_fd(), &address) != Err(Errno::ECONNREFUSED),
        Err(_) => true,
    }
}
