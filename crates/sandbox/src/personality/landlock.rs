//! The Landlock ruleset: the same write limits as the mounts, and no way out by signals or
//! abstract sockets.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::hidden;
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

/// Builds the ruleset. Paths that are missing give no rule.
pub(crate) fn ruleset(
    policy: &ResolvedPolicy,
    beside: Beside,
    network: Network,
) -> Result<RulesetCreated, RulesetError> {
    let write = AccessFs::from_write(NEWEST);
    let mut handled = write;
    if beside == Beside::Nothing {
        handled |= AccessFs::ReadFile;
    }
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if beside == Beside::Nothing && network == Network::Refused {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut created = ruleset.create()?;
    let mut denied = match beside {
        Beside::Namespaces => Vec::new(),
        Beside::Nothing => denied(policy),
    };
    for root in &policy.roots {
        // What is denied for reading inside a root takes the whole root out of that grant.
        let all_readable = denied.iter().all(|path| !path.starts_with(&root.path));
        let access = if all_readable { handled } else { write };
        for path in writable(policy, &root.path, beside) {
            created = allow(created, &path, access)?;
        }
    }
    let device = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    match beside {
        Beside::Namespaces => {
            created = allow(created, Path::new("/dev"), device)?;
            created = allow(created, Path::new("/dev/shm"), write)?;
            created = allow(created, Path::new("/proc"), AccessFs::WriteFile.into())?;
        }
        Beside::Nothing => {
            for name in [
                "null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts",
            ] {
                let access = device | AccessFs::ReadFile;
                created = allow(created, &Path::new("/dev").join(name), access)?;
            }
            created = allow(created, Path::new("/dev/shm"), handled)?;
            let mut readable = Vec::new();
            // Who may read a disk may read every file on it.
            denied.push("/dev".into());
            grant_around(Path::new("/"), &denied, &mut readable);
            for path in readable {
                created = allow(created, &path, AccessFs::ReadFile.into())?;
            }
        }
    }
    Ok(created)
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
    let mut denied = hidden::secrets(policy);
    if let Some(agent_home) = &policy.agent_home {
        let entries = fs::read_dir(agent_home).into_iter().flatten().flatten();
        let mut hidden = Vec::new();
        for entry in entries.filter(|entry| !secrets::shown_in_agent_home(&entry.file_name())) {
            all_but_records(&entry.path(), &policy.readable_records, &mut hidden);
        }
        denied.extend(hidden.into_iter().filter(|path| {
            let mut roots = policy
                .workspace
                .iter()
                .chain(policy.roots.iter().map(|r| &r.path));
            !roots.any(|root| root.starts_with(path))
        }));
        // New entries are not readable either, because what exists is what gets a rule.
        denied.push(agent_home.join("auth.json"));
    }
    denied
}

/// The path, or if records are inside, everything around them.
fn all_but_records(path: &Path, records: &[PathBuf], hidden: &mut Vec<PathBuf>) {
    if records.iter().any(|record| record == path) {
        return;
    }
    if records.iter().all(|record| !record.starts_with(path)) {
        hidden.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        all_but_records(&entry.path(), records, hidden);
    }
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
