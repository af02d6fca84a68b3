//! Entering the sandbox as far as this machine allows, by really doing it.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use agent_protocol::SandboxLevel;
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::confine::Confinement;
use super::hidden::HostSockets;
use super::ids::{self, Mapped};
use super::landlock::{self, Beside, Network};
use super::seccomp::{self, Sockets};
use super::{init, mounts};
use crate::control;
use crate::git_dirs::nested::Scanner;
use crate::level::{Layer, LevelRefusal, LevelReport};
use crate::policy::{ResolvedPolicy, SandboxPolicy};
use crate::sys::{self, Forked};

/// Where commands are started, and what they take upon themselves.
pub(crate) struct World {
    pub(crate) report: LevelReport,
    pub(crate) policy: ResolvedPolicy,
    /// `None` under full access.
    pub(crate) confinement: Option<Confinement>,
    /// Commands get namespaces below those of this process.
    pub(crate) namespaces: bool,
    /// What programs outside listen on.
    pub(crate) host_sockets: HostSockets,
    /// What is known of the directories in the roots.
    pub(crate) scanner: RefCell<Scanner>,
}

/// What has become of the process that called [`enter`].
pub(crate) enum Entered {
    /// It starts commands.
    Here(Box<World>),
    /// A child, pid 1 of new namespaces, does; this process only waits for it.
    In(Pid),
    /// The machine grants too little.
    Refused(LevelReport),
}

#[derive(Serialize, Deserialize)]
enum FromInside {
    Ready,
    Failed(String),
}

/// Whether Landlock and seccomp are tried before the first command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trial {
    /// In a process of its own, so that a level can be told.
    Before,
    /// The one command is the trial: it fails if the kernel refuses.
    WithTheCommand,
}

/// Enters the sandbox. In the child that is pid 1 of the new namespaces this returns `Here`.
pub(crate) fn enter(
    policy: &SandboxPolicy,
    claims_inherited: bool,
    trial: Trial,
) -> io::Result<Entered> {
    let mut report = LevelReport::nothing();
    let resolved = policy.resolve();
    let host_sockets = HostSockets::open();
    if !policy.confines() {
        prctl::set_child_subreaper(true)?;
        return Ok(Entered::Here(Box::new(World {
            report,
            policy: resolved,
            confinement: None,
            namespaces: false,
            host_sockets,
            scanner: RefCell::default(),
        })));
    }
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let mut scanner = Scanner::default();
    let inside = enter_namespaces((&resolved, &host_sockets), &mut report, &mut scanner)?;
    match inside {
        Inside::Child => report.own_network = !resolved.network.is_shared(),
        Inside::Parent(pid) => return Ok(Entered::In(pid)),
        Inside::No(reason) => {
            report.inherited = claims_inherited && already_filtered();
            report.miss(Layer::Namespaces, reason);
            prctl::set_child_subreaper(true)?;
        }
    }
    let namespaces = report.has(Layer::Namespaces);
    let mut confinement = confinement(&resolved, &mut report);
    match trial {
        Trial::Before => try_layers(&mut confinement, &mut report),
        Trial::WithTheCommand => scanner.set_fresh(true),
    }
    report.settle();
    report.refusal = match report.level {
        SandboxLevel::None => Some(LevelRefusal::AnySandbox),
        SandboxLevel::NoNamespaces if policy.strict => Some(LevelRefusal::Strict),
        // Without a network namespace nothing would keep commands to the proxy.
        SandboxLevel::NoNamespaces if policy.network.hosts().is_some() => {
            Some(LevelRefusal::HostList)
        }
        SandboxLevel::NoNamespaces
        | SandboxLevel::Full
        | SandboxLevel::FullWithoutFreshProc
        | SandboxLevel::NoLandlock => None,
    };
    if report.refusal.is_some() {
        return Ok(Entered::Refused(report));
    }
    Ok(Entered::Here(Box::new(World {
        report,
        policy: resolved,
        confinement: Some(confinement),
        namespaces,
        host_sockets,
        scanner: RefCell::new(scanner),
    })))
}

enum Inside {
    Child,
    Parent(Pid),
    No(String),
}

fn enter_namespaces(
    (policy, host): (&ResolvedPolicy, &HostSockets),
    report: &mut LevelReport,
    scanner: &mut Scanner,
) -> io::Result<Inside> {
    let mut flags =
        libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    if !policy.network.is_shared() {
        flags |= libc::CLONE_NEWNET;
    }
    let (outer, inner) = control::socket_pair()?;
    let mut forked = sys::clone_process(flags);
    if let Err(error) = &forked {
        let reason = no_user_namespace(error);
        // Who may administrate the machine needs none.
        forked = sys::clone_process(flags & !libc::CLONE_NEWUSER);
        if forked.is_err() {
            return Ok(Inside::No(reason));
        }
        report.miss(Layer::UserNamespace, reason);
    }
    let own_ids = report.has(Layer::UserNamespace);
    match forked {
        Err(error) => Ok(Inside::No(format!("cannot create namespaces: {error}"))),
        Ok(Forked::Parent(pid)) => {
            drop(inner);
            match oversee(pid, &outer, own_ids) {
                Ok(()) => Ok(Inside::Parent(pid)),
                Err(reason) => {
                    let _ = kill(pid, Signal::SIGKILL);
                    init::wait_for(pid)?;
                    Ok(Inside::No(reason))
                }
            }
        }
        Ok(Forked::Child) => {
            drop(outer);
            match build_inside((policy, host), report, scanner, &inner) {
                Ok(()) => {
                    control::send(inner.as_fd(), &FromInside::Ready, &[], &[])?;
                    Ok(Inside::Child)
                }
                Err(reason) => {
                    drop(control::send(
                        inner.as_fd(),
                        &FromInside::Failed(reason),
                        &[],
                        &[],
                    ));
                    sys::exit_now(1);
                }
            }
        }
    }
}

fn no_user_namespace(error: &io::Error) -> String {
    let hint = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EUSERS) => {
            " (the limit `user.max_user_namespaces` is reached, or 0)"
        }
        Some(libc::EPERM) => " (a container's or the distribution's rules forbid it)",
        Some(_) | None => "",
    };
    format!("cannot create a user namespace: {error}{hint}")
}

/// The outer side: gives the child its ids and waits until it has built its world.
fn oversee(child: Pid, socket: &OwnedFd, own_ids: bool) -> Result<(), String> {
    let reason = if own_ids {
        match ids::map(child).map_err(|error| format!("cannot map ids: {error}"))? {
            Mapped::All => None,
            Mapped::One(reason) => Some(reason),
        }
    } else {
        None
    };
    control::send(socket.as_fd(), &reason, &[], &[]).map_err(|error| error.to_string())?;
    match control::receive_header(socket) {
        Ok(Some(FromInside::Ready)) => Ok(()),
        Ok(Some(FromInside::Failed(reason))) => Err(reason),
        Ok(None) => Err("the process inside the namespaces ended".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The inner side: network, mounts, `/proc`.
fn build_inside(
    (policy, host): (&ResolvedPolicy, &HostSockets),
    report: &mut LevelReport,
    scanner: &mut Scanner,
    socket: &OwnedFd,
) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(|error| error.to_string())?;
    let reason: Option<Option<String>> = control::receive_header(socket).map_err(text)?;
    match reason {
        None => return Err("the process outside the namespaces ended".to_owned()),
        Some(Some(reason)) => report.miss(Layer::AllIds, reason),
        Some(None) => {}
    }
    if !policy.network.is_shared() {
        raise_loopback().map_err(|error| format!("cannot raise the loopback: {error}"))?;
    }
    mounts::build(policy, host, scanner).map_err(|error| error.to_string())?;
    if let Err(error) = mounts::fresh_proc() {
        report.miss(Layer::FreshProc, error.to_string());
    }
    sys::bound_capabilities(ids::kept_capabilities()).map_err(text)
}

fn raise_loopback() -> io::Result<()> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let any = socket(AddressFamily::Inet, SockType::Datagram, flags, None)?;
    sys::raise_loopback(any.as_fd())
}

/// Prepares Landlock and seccomp.
fn confinement(policy: &ResolvedPolicy, report: &mut LevelReport) -> Confinement {
    let namespaces = report.has(Layer::Namespaces);
    let mut confinement = Confinement {
        capabilities: ids::kept_capabilities(),
        ..Confinement::default()
    };
    // In a sandbox of ours the outer one may have cut the network off already.
    let open = policy.network.is_shared() || report.inherited && only_loopback();
    let (sockets, network) = match (namespaces, open) {
        (true, _) => (Sockets::Ordinary, Network::NotItsMatter),
        (false, true) => (Sockets::NoUnix, Network::NotItsMatter),
        (false, false) => (Sockets::PairsOnly, Network::Refused),
    };
    match seccomp::filters(sockets) {
        Ok(filters) => confinement.filters = filters,
        Err(error) => report.miss(Layer::Seccomp, error.to_string()),
    }
    let beside = if namespaces {
        Beside::Namespaces
    } else {
        Beside::Nothing
    };
    match sys::landlock_version() {
        Err(error) => report.miss(Layer::Landlock, error.to_string()),
        Ok(version) => {
            confinement.grants = landlock::grants(policy, beside);
            match landlock::ruleset(&confinement.grants, beside, network) {
                Ok(ruleset) => {
                    report.landlock_version = u32::try_from(version).unwrap_or_default();
                    confinement.ruleset = Some(ruleset);
                }
                Err(error) => report.miss(Layer::Landlock, error.to_string()),
            }
        }
    }
    confinement
}

/// Tries the layers in a child, and leaves Landlock out if they fail with it.
fn try_layers(confinement: &mut Confinement, report: &mut LevelReport) {
    if try_confinement(confinement) {
        return;
    }
    if confinement.ruleset.take().is_some() {
        report.miss(Layer::Landlock, "the kernel refuses the rules");
        report.landlock_version = 0;
        if try_confinement(confinement) {
            return;
        }
    }
    report.miss(Layer::Seccomp, "the kernel refuses the filter");
}

fn try_confinement(confinement: &Confinement) -> bool {
    match sys::clone_process(0) {
        Ok(Forked::Child) => sys::exit_now(i32::from(confinement.apply().is_err())),
        Ok(Forked::Parent(pid)) => matches!(init::wait_for(pid), Ok(WaitStatus::Exited(_, 0))),
        Err(_) => false,
    }
}

/// Whether a filter and `no_new_privs` already apply to this process.
fn already_filtered() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let has = |line: &str| status.lines().any(|candidate| candidate == line);
    has("Seccomp:\t2") && has("NoNewPrivs:\t1")
}

/// Whether the network namespace of this process has no way out.
fn only_loopback() -> bool {
    let devices = std::fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let mut names = devices
        .lines()
        .skip(2)
        .filter_map(|line| line.split(':').next());
    names.next().is_some_and(|name| name.trim() == "lo") && names.next().is_none()
}

/// Whether this process has one thread, so that its children may go on like itself.
pub(crate) fn single_threaded() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

/// Puts `/dev/null` on every free descriptor below 3, so that no other ever gets there.
pub(crate) fn occupy_standard_descriptors() -> io::Result<()> {
    loop {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/null")?;
        if file.as_raw_fd() > 2 {
            return Ok(());
        }
        std::mem::forget(file);
    }
}
