//! Which paths inside the writable roots a command must leave as they are, looked up anew before
//! each command.
//!
//! What exists is bound read-only, and the directories above it are bound on themselves, so that
//! they cannot be renamed away. What does not exist cannot be held by a mount without becoming
//! visible, which breaks `git init` and `git clean`; it is looked for after the command instead,
//! put aside and reported. The same goes for links. Who made a path cannot be told afterwards, so
//! the agent says beforehand which of them it is about to make itself while commands run.

use std::fs;
use std::path::{Path, PathBuf};

use super::hidden;
use super::world::World;
use crate::git_dirs;
use crate::git_dirs::nested::{self, Found};
use crate::ignore_file::IGNORE_FILE;
use crate::policy::{ResolvedPolicy, Root, RootKind};
use crate::secrets;

/// What to hold, and how.
#[derive(Debug, Default, Clone)]
pub(crate) struct Protections {
    /// Directories to bind on themselves.
    pub(crate) pinned: Vec<PathBuf>,
    /// Files and directories to bind read-only.
    pub(crate) frozen: Vec<PathBuf>,
    /// Paths that must not appear.
    pub(crate) absent: Vec<PathBuf>,
    /// Paths that may appear, but not unnoticed.
    pub(crate) noticed: Vec<PathBuf>,
    /// Links that must not change, with where they lead.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Files and directories whose content must not be seen.
    pub(crate) hidden: Vec<PathBuf>,
    /// Repositories below the roots that commands are not the first to make.
    pub(crate) nested: Vec<(PathBuf, Found)>,
    /// Git directories, with those of their submodules.
    pub(crate) modules: Vec<(PathBuf, Vec<PathBuf>)>,
}

impl Protections {
    /// What commands of this world must leave as it is.
    pub(crate) fn for_world(world: &World) -> Self {
        match world.confinement {
            Some(_) => Self::scan(world),
            None => Self::default(),
        }
    }

    /// Looks at every writable root.
    fn scan(world: &World) -> Self {
        let policy = &world.policy;
        let mut protections = Self::default();
        let homes = &policy.homes;
        let global = git_dirs::global(homes);
        for root in &policy.roots {
            match root.kind {
                // Named by the work tree that it belongs to.
                RootKind::GitDirectory | RootKind::Cache => continue,
                RootKind::Project | RootKind::Temporary => {}
            }
            let ignore_file = root.path.join(IGNORE_FILE);
            let names = secrets::AGENT_NAMES.iter().map(|name| root.path.join(name));
            // It may be made: that takes nothing away from what is protected.
            let names = names.chain(exists(&ignore_file).then_some(ignore_file));
            let tree = match root.kind {
                RootKind::Project => git_dirs::work_tree(&root.path),
                RootKind::Temporary | RootKind::GitDirectory | RootKind::Cache => &root.path,
            };
            for path in names.chain(git_dirs::protected(tree, &global, homes)) {
                protections.add(policy, root, &path);
            }
            if root.kind != RootKind::Project {
                if world.report.own_network {
                    let mut scanner = world.scanner.borrow_mut();
                    let found = scanner.scan(&root.path, nested::TEMPORARY);
                    protections.hidden.extend(found.sockets);
                }
                continue;
            }
            for path in git_dirs::global_files(&global) {
                if path.starts_with(&root.path) {
                    protections.add(policy, root, path);
                }
            }
            protections.add_nested(world, root, &global);
            protections.add_modules(tree);
            let git = root.path.join(".git");
            if !exists(&git) {
                // Above files that another repository tracks it would take them over; elsewhere
                // it is what `git init` makes.
                if repository_above(&root.path).is_some() {
                    protections.absent.push(git);
                } else {
                    protections.noticed.push(git);
                }
            }
        }
        let sockets = std::mem::replace(&mut protections.hidden, secrets::hidden(policy));
        protections.pin_hidden(policy);
        if world.report.own_network {
            protections.hidden.extend(hidden::host_sockets(sockets));
            protections.hidden.extend(world.host_sockets.paths());
        }
        protections.tidy();
        protections
    }

    /// A hidden path must not be moved away by the name of a directory above it.
    fn pin_hidden(&mut self, policy: &ResolvedPolicy) {
        for path in &self.hidden {
            if let Some(base) = containing_root(policy, path) {
                let above = path.ancestors().skip(1);
                let below_base = above.take_while(|above| *above != base);
                self.pinned.extend(below_base.map(Path::to_owned));
            }
        }
    }

    fn add_nested(&mut self, world: &World, root: &Root, global: &git_dirs::Named) {
        let found = world.scanner.borrow_mut().scan(&root.path, nested::PROJECT);
        self.hidden.extend(found.sockets.iter().cloned());
        for tree in &found.trees {
            self.add_modules(tree);
            for path in git_dirs::protected(tree, global, &world.policy.homes) {
                self.add(&world.policy, root, &path);
            }
        }
        for path in found
            .bare
            .iter()
            .flat_map(|bare| git_dirs::protected_bare(bare))
        {
            self.add(&world.policy, root, &path);
        }
        self.nested.push((root.path.clone(), found));
    }

    fn add_modules(&mut self, tree: &Path) {
        for git_dir in git_dirs::of_tree(tree) {
            if self.modules.iter().all(|(known, _)| *known != git_dir) {
                let modules = git_dirs::modules(&git_dir);
                self.modules.push((git_dir, modules));
            }
        }
    }

    fn add(&mut self, policy: &ResolvedPolicy, root: &Root, path: &Path) {
        let Some(base) = containing_root(policy, path) else {
            return; // Not writable anyway.
        };
        let Ok(below) = path.strip_prefix(base) else {
            return;
        };
        let mut current = base.to_owned();
        for component in below.components() {
            if current != base {
                self.pinned.push(current.clone());
            }
            current.push(component);
            let Ok(metadata) = current.symlink_metadata() else {
                if root.kind == RootKind::Project {
                    self.absent.push(path.to_owned());
                }
                return;
            };
            if metadata.is_symlink() {
                if let Ok(target) = fs::read_link(&current) {
                    self.links.push((current, target));
                }
                let target = path.canonicalize().ok();
                let target = target.filter(|target| containing_root(policy, target).is_some());
                self.frozen.extend(target);
                return;
            }
        }
        self.frozen.push(current);
    }

    /// Leaves out what the agent itself changes at `path`.
    pub(crate) fn forget(&mut self, path: &Path) {
        let other = |known: &Path| !known.starts_with(path) && !path.starts_with(known);
        self.absent.retain(|known| other(known));
        self.noticed.retain(|known| other(known));
        self.links.retain(|(known, _)| other(known));
    }

    /// Sorts parents before children and drops what a read-only parent already covers.
    fn tidy(&mut self) {
        for list in [&mut self.pinned, &mut self.frozen, &mut self.absent] {
            list.sort();
            list.dedup();
        }
        let frozen = self.frozen.clone();
        let covered = |path: &Path| {
            path.ancestors()
                .skip(1)
                .any(|above| frozen.binary_search_by(|p| p.as_path().cmp(above)).is_ok())
        };
        self.frozen.retain(|path| !covered(path));
        self.pinned
            .retain(|path| !covered(path) && !frozen.contains(path));
        self.absent.retain(|path| !covered(path));
    }
}

/// The innermost writable root around `path`, not `path` itself; of git directories the outermost,
/// because the directories between one and a worktree's in it must not be renamed either.
fn containing_root<'a>(policy: &'a ResolvedPolicy, path: &Path) -> Option<&'a Path> {
    let around = policy
        .roots
        .iter()
        .filter(|root| path.starts_with(&root.path) && path != root.path);
    around
        .max_by_key(|root| {
            let length = root.path.as_os_str().len().cast_signed();
            match root.kind {
                RootKind::GitDirectory => (1, -length),
                RootKind::Project | RootKind::Temporary | RootKind::Cache => (0, length),
            }
        })
        .map(|root| root.path.as_path())
}

/// The work tree further up whose repository may track the files of `directory`.
pub(crate) fn repository_above(directory: &Path) -> Option<&Path> {
    directory
        .ancestors()
        .skip(1)
        .find(|above| exists(&above.join(".git")))
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
