//! The Landlock ruleset: the same write limits as the mounts, and no way out by signals or
//! abstract sockets.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use crate::policy::ResolvedPolicy;
use crate::secrets;

const NEWEST: ABI = ABI::V7;

/// Which other layers stand beside this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Mounts hide and protect; the network is a namespace or allowed.
    Namespaces,
    /// Nothing else limits reading or the network.
    Nothing,
}

/// Whether Landlock refuses TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Refused,
    NotItsMatter,
}

/// What may be done below a path.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    path: PathBuf,
    access: BitFlags<AccessFs>,
}

impl Grant {
    /// Whether it lets the content of `path` be read.
    pub(crate) fn lets_read(&self, path: &Path) -> bool {
        path.starts_with(&self.path) && self.access.contains(AccessFs::ReadFile)
    }

    /// Whether it lets `path` be written, or made where it is missing.
    pub(crate) fn lets_write(&self, path: &Path) -> bool {
        path.starts_with(&self.path) && self.access.contains(AccessFs::WriteFile)
    }
}

/// Builds the ruleset from [`grants`]. Paths that are missing give no rule.
pub(crate) fn ruleset(
    grants: &[Grant],
    beside: Beside,
    network: Network,
) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled(beside))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if beside == Beside::Nothing && network == Network::Refused {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut created = ruleset.create()?;
    for grant in grants {
        created = allow(created, &grant.path, grant.access)?;
    }
    Ok(created)
}

/// The same limits for writing alone: for who compares protected paths, which may lie beside what
/// commands cannot read.
pub(crate) fn write_ruleset(grants: &[Grant]) -> Result<RulesetCreated, RulesetError> {
    let write = AccessFs::from_write(NEWEST);
    let mut created = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .create()?;
    for grant in grants {
        let access = grant.access & write;
        if !access.is_empty() {
            created = allow(created, &grant.path, access)?;
        }
    }
    Ok(created)
}

fn handled(beside: Beside) -> BitFlags<AccessFs> {
    let write = AccessFs::from_write(NEWEST);
    match beside {
        Beside::Namespaces => write,
        Beside::Nothing => write | AccessFs::ReadFile,
    }
}

/// Everything that is allowed, as the file system is now.
pub(crate) fn grants(policy: &ResolvedPolicy, beside: Beside) -> Vec<Grant> {
    let mut grants = Vec::new();
    let mut grant = |path: PathBuf, access| grants.push(Grant { path, access });
    let (write, handled) = (AccessFs::from_write(NEWEST), handled(beside));
    let mut denied = match beside {
        Beside::Namespaces => Vec::new(),
        Beside::Nothing => denied(policy),
    };
    for root in &policy.roots {
        // What is denied for reading inside a root takes the whole root out of that grant.
        let all_readable = denied.iter().all(|path| !path.starts_with(&root.path));
        let access = if all_readable { handled } else { write };
        for path in writable(policy, &root.path, beside) {
            grant(path, access);
        }
    }
    let device = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    match beside {
        Beside::Namespaces => {
            grant("/dev".into(), device);
            grant("/dev/shm".into(), write);
            grant("/proc".into(), AccessFs::WriteFile.into());
        }
        Beside::Nothing => {
            for name in [
                "null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts",
            ] {
                grant(Path::new("/dev").join(name), device | AccessFs::ReadFile);
            }
            grant("/dev/shm".into(), handled);
            let mut readable = Vec::new();
            // Who may read a disk may read every file on it.
            denied.push("/dev".into());
            grant_around(Path::new("/"), &denied, &mut readable);
            for path in readable {
                grant(path, AccessFs::ReadFile.into());
            }
        }
    }
    grants
}

fn allow(
    created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(fd) = PathFd::new(path) else {
        return Ok(created);
    };
    let is_directory = path.is_dir();
    let access = if is_directory {
        access
    } else {
        access & AccessFs::from_file(NEWEST)
    };
    created.add_rule(PathBeneath::new(fd, access))
}

/// The parts of a root that get its grant. Where no mount closes the agent's directory inside it,
/// everything around that directory does, and nothing new can be made beside it.
fn writable(policy: &ResolvedPolicy, root: &Path, beside: Beside) -> Vec<PathBuf> {
    let mut granted = Vec::new();
    match &policy.agent_home {
        Some(home) if beside == Beside::Nothing && home.starts_with(root) => {
            grant_around(root, std::slice::from_ref(home), &mut granted);
        }
        Some(_) | None => granted.push(root.to_owned()),
    }
    granted
}

/// What may not be read where no mount hides it.
fn denied(policy: &ResolvedPolicy) -> Vec<PathBuf> {
    let mut denied = secrets::hidden(policy);
    if let Some(agent_home) = &policy.agent_home {
        let roots = policy.roots.iter().map(|root| root.path.as_path());
        let open: Vec<&Path> = policy
            .workspace
            .as_deref()
            .into_iter()
            .chain(roots)
            .chain(policy.readable_records.iter().map(PathBuf::as_path))
            .collect();
        let is_shown = |entry: &Path| entry.file_name().is_some_and(secrets::shown_in_agent_home);
        let entries = entries(agent_home).filter(|path| !is_shown(path));
        for path in entries {
            deny_around(path, &open, &mut denied);
        }
        // New entries are not readable either, because what exists is what gets a rule.
        denied.push(agent_home.join("auth.json"));
    }
    denied
}

/// Denies a path; if something open is further down, everything around that.
fn deny_around(path: PathBuf, open: &[&Path], denied: &mut Vec<PathBuf>) {
    if open.iter().all(|open| !open.starts_with(&path)) {
        denied.push(path);
    } else if !open.contains(&path.as_path()) {
        for entry in entries(&path) {
            deny_around(entry, open, denied);
        }
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// Grants are hierarchical, so a denied path is left out by granting everything around it.
fn grant_around(directory: &Path, denied: &[PathBuf], granted: &mut Vec<PathBuf>) {
    if denied.iter().any(|path| path == directory) {
        return;
    }
    if denied.iter().all(|path| !path.starts_with(directory)) {
        granted.push(directory.to_owned());
        return;
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink())) {
        grant_around(&entry.path(), denied, granted);
    }
}
