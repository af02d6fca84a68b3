//! What commands may touch: the settings struct of this crate and its resolved form.

use std::path::{Path, PathBuf};

use agent_protocol::SandboxMode;
use serde::{Deserialize, Serialize};

use crate::git_dirs;
use crate::hosts::HostList;
use crate::secrets::{self, account_home};

/// Whether commands reach the network.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkAccess {
    /// Only the loopback interface of the session's own commands.
    Off,
    /// As the agent itself.
    On,
    /// The loopback interface of the session's own commands, and these hosts through a proxy on it.
    Hosts(HostList),
}

impl NetworkAccess {
    /// Whether commands share the network of this machine, with all that listens on it.
    pub fn is_shared(&self) -> bool {
        *self == Self::On
    }

    /// The hosts that are reached through the proxy, if that is how it is.
    pub fn hosts(&self) -> Option<&HostList> {
        match self {
            Self::Hosts(list) => Some(list),
            Self::Off | Self::On => None,
        }
    }
}

/// What commands may touch. Relative or missing paths are skipped when it is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPolicy {
    /// The mode; full access ignores all else but keeps the holder.
    pub mode: SandboxMode,
    /// The directory that is being worked in.
    #[serde(with = "path_bytes")]
    pub workspace: PathBuf,
    /// Further directories that may be written, protected like the workspace.
    #[serde(with = "paths_bytes")]
    pub writable_roots: Vec<PathBuf>,
    /// Directories for temporary files, writable in `workspace-write`.
    #[serde(with = "paths_bytes")]
    pub temporary_roots: Vec<PathBuf>,
    /// Caches of toolchains, writable in `workspace-write`; see [`toolchain_caches`].
    #[serde(with = "paths_bytes", default)]
    pub cache_roots: Vec<PathBuf>,
    /// Whether commands reach the network.
    pub network: NetworkAccess,
    /// Files and directories that may not be read, beside the table of secrets.
    #[serde(with = "paths_bytes")]
    pub denied_reads: Vec<PathBuf>,
    /// The home directory whose secrets are denied, beside that of the account.
    #[serde(with = "path_bytes")]
    pub home: PathBuf,
    /// The agent's own directory: never writable, and but for instructions, rules, skills and
    /// programs never readable.
    #[serde(with = "path_bytes")]
    pub agent_home: PathBuf,
    /// Directories inside the agent's own that commands may read all the same, as far as they
    /// exist when the holder starts.
    #[serde(with = "paths_bytes", default)]
    pub readable_records: Vec<PathBuf>,
    /// Refuse levels at which protected paths can only be compared afterwards.
    pub strict: bool,
}

impl SandboxPolicy {
    /// A policy without extra roots, with `/tmp` and `$TMPDIR` of the given environment lookup.
    pub fn new(mode: SandboxMode, workspace: impl Into<PathBuf>) -> Self {
        Self {
            mode,
            workspace: workspace.into(),
            writable_roots: Vec::new(),
            temporary_roots: vec![PathBuf::from("/tmp")],
            cache_roots: Vec::new(),
            network: NetworkAccess::Off,
            denied_reads: Vec::new(),
            home: PathBuf::new(),
            agent_home: PathBuf::new(),
            readable_records: Vec::new(),
            strict: false,
        }
    }

    /// Replaces the temporary directories: `/tmp` unless `exclude_slash_tmp`, and `tmpdir`.
    #[must_use]
    pub fn with_temporary(mut self, options: &TemporaryOptions) -> Self {
        self.temporary_roots.clear();
        if !options.exclude_slash_tmp {
            self.temporary_roots.push(PathBuf::from("/tmp"));
        }
        if let Some(tmpdir) = options.tmpdir.as_ref().filter(|_| !options.exclude_tmpdir) {
            self.temporary_roots.push(tmpdir.clone());
        }
        self
    }

    /// The hosts that commands reach through a proxy; none under full access, which has no limits.
    pub fn proxied_hosts(&self) -> Option<&HostList> {
        self.network.hosts().filter(|_| self.confines())
    }

    /// Whether commands have a network of their own instead of that of this machine.
    pub(crate) fn cuts_network(&self) -> bool {
        self.confines() && !self.network.is_shared()
    }

    /// Whether commands are confined at all.
    pub fn confines(&self) -> bool {
        self.mode != SandboxMode::DangerFullAccess
    }

    /// The directories that commands may write, canonical, without those that do not exist.
    pub fn resolved_writable_roots(&self) -> Vec<PathBuf> {
        let roots = self.resolve().roots;
        roots.into_iter().map(|root| root.path).collect()
    }

    /// Directories that were asked for but cannot be writable, canonical, for a warning: the root
    /// directory, and the agent's own directory.
    pub fn unusable_roots(&self) -> Vec<PathBuf> {
        if self.mode != SandboxMode::WorkspaceWrite {
            return Vec::new();
        }
        let agent_home = canonical(&self.agent_home);
        let projects = std::iter::once(&self.workspace).chain(&self.writable_roots);
        let others = self.temporary_roots.iter().chain(&self.cache_roots);
        let mut unusable: Vec<_> = projects.chain(others).filter_map(canonical).collect();
        unusable.retain(|root| root.parent().is_none() || Some(root) == agent_home.as_ref());
        unusable.dedup();
        unusable
    }

    /// The directories that the agent's own edits may go to: the workspace, extra roots and
    /// temporary directories, but no git directory of a worktree and no cache.
    pub fn resolved_edit_roots(&self) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        if self.mode == SandboxMode::WorkspaceWrite {
            let projects = std::iter::once(&self.workspace).chain(&self.writable_roots);
            for path in projects.chain(&self.temporary_roots) {
                add_root(&mut roots, path, RootKind::Project);
            }
        }
        roots.into_iter().map(|root| root.path).collect()
    }

    /// The files and directories that may not be read, canonical, as they exist now.
    pub fn resolved_hidden_paths(&self) -> Vec<PathBuf> {
        if !self.confines() {
            return Vec::new();
        }
        secrets::hidden(&self.resolve())
    }

    fn homes(&self) -> Vec<PathBuf> {
        let mut homes: Vec<_> = canonical(&self.home).into_iter().collect();
        if let Some(home) = account_home().and_then(canonical)
            && home.parent().is_some()
            && !homes.contains(&home)
        {
            homes.push(home);
        }
        homes
    }

    /// Looks at the file system: canonical roots, existing ones only, and the git directories
    /// that belong to them.
    pub(crate) fn resolve(&self) -> ResolvedPolicy {
        let mut roots = Vec::new();
        if self.mode == SandboxMode::WorkspaceWrite {
            let projects = std::iter::once(&self.workspace).chain(&self.writable_roots);
            for path in projects {
                add_root(&mut roots, path, RootKind::Project);
            }
            let projects = roots.clone();
            for project in &projects {
                for path in git_dirs::outside(&project.path) {
                    add_root(&mut roots, &path, RootKind::GitDirectory);
                }
            }
            for path in &self.temporary_roots {
                add_root(&mut roots, path, RootKind::Temporary);
            }
            for path in &self.cache_roots {
                add_root(&mut roots, path, RootKind::Cache);
            }
        }
        ResolvedPolicy {
            roots,
            workspace: canonical(&self.workspace),
            homes: self.homes(),
            agent_home: canonical(&self.agent_home),
            readable_records: self.readable_records.iter().filter_map(canonical).collect(),
            denied_reads: self.denied_reads.iter().filter_map(canonical).collect(),
            network: self.network.clone(),
        }
    }
}

/// Where toolchains keep downloads and build results, relative to the home directory. None of
/// these holds configuration or programs that are on a `PATH`.
const TOOLCHAIN_CACHES: &[&str] = &[
    ".cargo/git",
    ".cargo/registry",
    ".cache",
    ".gradle/caches",
    ".ivy2/cache",
    ".m2/repository",
    ".npm/_cacache",
    ".nuget/packages",
    ".local/share/pnpm/store",
    "go/pkg/mod",
    #[cfg(target_os = "macos")]
    "Library/Caches/Yarn",
    #[cfg(target_os = "macos")]
    "Library/Caches/go-build",
    #[cfg(target_os = "macos")]
    "Library/Caches/pip",
];

/// The usual caches of toolchains under a home directory, for `cache_roots`.
pub fn toolchain_caches(home: &Path) -> Vec<PathBuf> {
    TOOLCHAIN_CACHES
        .iter()
        .map(|name| home.join(name))
        .collect()
}

/// Which of the usual temporary directories are writable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemporaryOptions {
    /// The value of `TMPDIR`.
    pub tmpdir: Option<PathBuf>,
    /// Leave `TMPDIR` out.
    pub exclude_tmpdir: bool,
    /// Leave `/tmp` out.
    pub exclude_slash_tmp: bool,
}

/// A policy whose paths are canonical and exist.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedPolicy {
    pub(crate) roots: Vec<Root>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) homes: Vec<PathBuf>,
    pub(crate) agent_home: Option<PathBuf>,
    pub(crate) readable_records: Vec<PathBuf>,
    pub(crate) denied_reads: Vec<PathBuf>,
    pub(crate) network: NetworkAccess,
}

/// A directory that commands may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    pub(crate) kind: RootKind,
}

/// Why a directory is writable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootKind {
    /// The workspace or an extra root.
    Project,
    /// The git directory of a linked worktree or submodule.
    GitDirectory,
    /// A place for temporary files.
    Temporary,
    /// A cache, in which nothing is protected.
    Cache,
}

fn canonical(path: impl AsRef<Path>) -> Option<PathBuf> {
    let path = path.as_ref();
    // Many caches do not exist: one call says so, where following links takes one a part.
    if path.is_absolute() && path.symlink_metadata().is_ok() {
        path.canonicalize().ok()
    } else {
        None
    }
}

/// Adds a root unless it is missing, already there, or the root directory itself.
fn add_root(roots: &mut Vec<Root>, path: &Path, kind: RootKind) {
    let Some(path) = canonical(path) else {
        tracing::debug!(path = %path.display(), "a writable root does not exist");
        return;
    };
    if path.parent().is_some() && roots.iter().all(|root| root.path != path) {
        roots.push(Root { path, kind });
    }
}

/// Paths on the wire as bytes, because they need not be UTF-8.
pub(crate) mod path_bytes {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(to),
            None => path.as_os_str().serialize(to),
        }
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes(OsString),
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Form::deserialize(from)? {
            Form::Text(text) => text.into(),
            Form::Bytes(bytes) => bytes.into(),
        })
    }
}

/// The same for lists of paths.
mod paths_bytes {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Item(#[serde(with = "super::path_bytes")] PathBuf);

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().cloned().map(Item))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let items = Vec::<Item>::deserialize(from)?;
        Ok(items.into_iter().map(|item| item.0).collect())
    }
}
