//! Looks up what a profile is made from, anew before each command.

use std::fs;
use std::path::{Path, PathBuf};

use super::{AgentHome, Facts, Network, Protected};
use crate::git_dirs;
use crate::git_dirs::nested::{self, Scanner};
use crate::ignore_file::IGNORE_FILE;
use crate::policy::{NetworkAccess, ResolvedPolicy, Root, RootKind};
use crate::secrets;

/// The facts of a policy as the disk is now. `port` is that of the proxy; a list of hosts without
/// one leaves nothing to reach.
pub(crate) fn facts(policy: &ResolvedPolicy, scanner: &mut Scanner, port: Option<u16>) -> Facts {
    let network = match (&policy.network, port) {
        (NetworkAccess::On, _) => Network::Everything,
        (NetworkAccess::Hosts(_), Some(port)) => Network::Proxy(port),
        (NetworkAccess::Hosts(_), None) | (NetworkAccess::Off, _) => Network::Nothing,
    };
    Facts {
        writable: policy.roots.iter().map(|root| root.path.clone()).collect(),
        protected: protected(policy, scanner),
        hidden: secrets::hidden(policy),
        agent_home: policy.agent_home.as_ref().map(|path| AgentHome {
            path: path.clone(),
            shown: secrets::shown_of_agent_home(policy, path).unwrap_or_default(),
        }),
        network,
    }
}

fn protected(policy: &ResolvedPolicy, scanner: &mut Scanner) -> Vec<Protected> {
    let mut found = Vec::new();
    let global = git_dirs::global(&policy.homes);
    for root in &policy.roots {
        match root.kind {
            // Named by the work tree that it belongs to.
            RootKind::GitDirectory | RootKind::Cache => continue,
            RootKind::Project | RootKind::Temporary => {}
        }
        let mut paths: Vec<_> = secrets::AGENT_NAMES
            .iter()
            .map(|name| root.path.join(name))
            .collect();
        // It may be made: that takes nothing away from what is protected.
        let ignore_file = root.path.join(IGNORE_FILE);
        paths.extend(exists(&ignore_file).then_some(ignore_file));
        let tree = match root.kind {
            RootKind::Project => git_dirs::work_tree(&root.path),
            RootKind::Temporary | RootKind::GitDirectory | RootKind::Cache => &root.path,
        };
        paths.extend(git_dirs::protected(tree, &global, &policy.homes));
        if root.kind == RootKind::Project {
            // Above files that another repository tracks a new one would take them over.
            paths.extend((tree != root.path).then(|| root.path.join(".git")));
            let below = git_dirs::global_files(&global).iter();
            paths.extend(below.filter(|path| path.starts_with(&root.path)).cloned());
            let nested = scanner.scan(&root.path, nested::PROJECT);
            for tree in &nested.trees {
                paths.extend(git_dirs::protected(tree, &global, &policy.homes));
            }
            let bare = nested.bare.iter();
            paths.extend(bare.flat_map(|bare| git_dirs::protected_bare(bare)));
        }
        for path in &paths {
            if let Some(root) = outermost(&policy.roots, path) {
                walk(&root.path, path, &mut found);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The outermost writable directory around a path; outside of all nothing can be written anyway.
fn outermost<'a>(roots: &'a [Root], path: &Path) -> Option<&'a Root> {
    let around = roots.iter().filter(|root| path.starts_with(&root.path));
    around.min_by_key(|root| root.path.as_os_str().len())
}

/// Finds the innermost directory of `path` that exists. A link on the way is protected as well,
/// and so is what it leads to.
fn walk(root: &Path, path: &Path, found: &mut Vec<Protected>) {
    let Ok(rest) = path.strip_prefix(root) else {
        return;
    };
    let mut directory = root.to_owned();
    let mut components = rest.components();
    while let Some(name) = components.next() {
        let left = components.as_path();
        let next = directory.join(name);
        let Ok(metadata) = next.symlink_metadata() else {
            let below = Path::new(&name).join(left);
            let below = if left.as_os_str().is_empty() {
                PathBuf::from(&name)
            } else {
                below
            };
            return found.push(Protected { directory, below });
        };
        if metadata.is_symlink() || left.as_os_str().is_empty() {
            let below = PathBuf::from(&name);
            found.push(Protected {
                directory: directory.clone(),
                below,
            });
        }
        // In the spelling of the disk.
        let Ok(real) = next.canonicalize() else {
            return;
        };
        if left.as_os_str().is_empty() {
            if metadata.is_symlink() {
                found.extend(as_protected(&real));
            }
            return;
        }
        directory = real;
    }
}

fn as_protected(path: &Path) -> Option<Protected> {
    Some(Protected {
        directory: path.parent()?.to_owned(),
        below: path.file_name()?.into(),
    })
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
