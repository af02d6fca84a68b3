//! The sandbox policy of a thread.

use std::path::{Path, PathBuf};

use agent_config::{Config, NetworkSetting};
use agent_protocol::SandboxMode;
use agent_sandbox::{
    HostEntryError, HostList, IGNORE_FILE, IgnoreFileError, IgnoredPaths, NetworkAccess,
    SandboxPolicy, TemporaryOptions, ignored_paths, toolchain_caches,
};

use super::{SettingsError, Variables};
use crate::project::Project;

/// What the policy is made from.
pub(super) struct Sources<'a> {
    pub(super) config: &'a Config,
    pub(super) mode: SandboxMode,
    pub(super) cwd: &'a Path,
    pub(super) extra_roots: &'a [PathBuf],
    pub(super) variables: &'a Variables,
    pub(super) agent_home: &'a Path,
    pub(super) project: &'a Project,
}

/// Makes the policy.
///
/// # Errors
/// When an entry of the list of hosts is none, or when it cannot be told what must stay unread.
pub(super) fn policy(
    sources: &Sources<'_>,
    warnings: &mut Vec<String>,
) -> Result<SandboxPolicy, SettingsError> {
    let write = &sources.config.workspace_write;
    let home = sources.variables.home();
    let temporary = TemporaryOptions {
        tmpdir: sources.variables.get("TMPDIR").map(PathBuf::from),
        exclude_tmpdir: write.exclude_tmpdir_env_var,
        exclude_slash_tmp: write.exclude_slash_tmp,
    };
    let mut policy = SandboxPolicy::new(sources.mode, sources.cwd).with_temporary(&temporary);
    let roots = write.writable_roots.iter().chain(sources.extra_roots);
    for root in roots {
        let path = sources.cwd.join(expand(root, home.as_deref()));
        if path.is_dir() {
            policy.writable_roots.push(path);
        } else {
            warnings.push(format!(
                "the writable root `{}` is no directory and is left out",
                path.display()
            ));
        }
    }
    policy.network = network(sources, warnings)?;
    policy.denied_reads = sources
        .config
        .deny_read
        .iter()
        .map(|path| expand(path, home.as_deref()))
        .collect();
    let ignored = ignored(sources, &policy.writable_roots)?;
    if !policy.confines() && !ignored.paths.is_empty() {
        warnings.push(format!(
            "`{IGNORE_FILE}` has no effect in the mode `{}`",
            sources.mode.as_str()
        ));
    }
    for link in ignored.links_outside {
        warnings.push(format!(
            "the link `{}` matches `{IGNORE_FILE}`, but what it leads to is not hidden; name that in \
             `deny_read`",
            link.display()
        ));
    }
    policy.denied_reads.extend(ignored.paths);
    policy.cache_roots = home.as_deref().map(toolchain_caches).unwrap_or_default();
    policy.home = home.unwrap_or_default();
    sources.agent_home.clone_into(&mut policy.agent_home);
    policy.strict = sources.config.sandbox_strict;
    for root in policy.unusable_roots() {
        warnings.push(format!(
            "`{}` cannot be a writable root and stays read-only",
            root.display()
        ));
    }
    Ok(policy)
}

/// What the project, or one whose directory is added, wants unread.
fn ignored(
    sources: &Sources<'_>,
    extra_roots: &[PathBuf],
) -> Result<IgnoredPaths, IgnoreFileError> {
    let tops = sources.project.directories.iter().chain(extra_roots);
    let mut ignored = IgnoredPaths::default();
    for top in tops {
        let found = ignored_paths(top)?;
        ignored.paths.extend(found.paths);
        ignored.links_outside.extend(found.links_outside);
    }
    Ok(ignored)
}

fn network(
    sources: &Sources<'_>,
    warnings: &mut Vec<String>,
) -> Result<NetworkAccess, HostEntryError> {
    let older = sources.config.workspace_write.network_access;
    let network = match &sources.config.network {
        None if older == Some(true) => return Ok(NetworkAccess::On),
        None => return Ok(NetworkAccess::Off),
        Some(NetworkSetting::On) => NetworkAccess::On,
        Some(NetworkSetting::Off) => NetworkAccess::Off,
        Some(NetworkSetting::Hosts(entries)) => match HostList::parse(entries)? {
            list if list.is_empty() => NetworkAccess::Off,
            list => NetworkAccess::Hosts(list),
        },
    };
    let is_plain = |on: bool| {
        if on {
            NetworkAccess::On
        } else {
            NetworkAccess::Off
        }
    };
    if older.is_some_and(|on| network != is_plain(on)) {
        warnings.push(
            "`sandbox_workspace_write.network_access` says otherwise than `network`, which counts"
                .to_owned(),
        );
    }
    if sources.mode == SandboxMode::DangerFullAccess && network != NetworkAccess::On {
        warnings.push(
            "`network` has no effect: under `danger-full-access` commands reach all of the network"
                .to_owned(),
        );
    }
    Ok(network)
}

/// `~` at the start is the user's home.
fn expand(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_), None) | (Err(_), _) => path.to_owned(),
    }
}
