//! The project that a directory belongs to: its root, the directories down to where the work
//! is, and whether it is trusted.

use std::fs;
use std::path::{Path, PathBuf};

use agent_config::{Config, TrustLevel};

/// A project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Project {
    /// The nearest directory with a root marker; for a submodule the one of its superproject.
    pub(crate) root: Option<PathBuf>,
    /// For a linked worktree, the main one.
    main_worktree: Option<PathBuf>,
    /// From the root down to the working directory, both included.
    pub(crate) directories: Vec<PathBuf>,
}

impl Project {
    /// Looks upwards from `cwd`.
    pub(crate) fn find(cwd: &Path, markers: &[String]) -> Self {
        let mut project = Self::default();
        for directory in cwd.ancestors() {
            let marker = markers.iter().find(|name| directory.join(name).exists());
            let Some(marker) = marker else { continue };
            project.root = Some(directory.to_owned());
            let git_dir = (marker == ".git")
                .then(|| linked_git_dir(directory))
                .flatten();
            match git_dir {
                // A submodule: its instructions and trust come with those of what it is part of.
                Some(git_dir) if is_below(&git_dir, "modules") => {}
                Some(git_dir) => {
                    project.main_worktree = main_worktree(&git_dir);
                    break;
                }
                None => break,
            }
        }
        let root = project.root.as_deref().unwrap_or(cwd);
        let mut directories: Vec<PathBuf> = cwd
            .ancestors()
            .take_while(|directory| directory.starts_with(root))
            .map(Path::to_owned)
            .collect();
        directories.reverse();
        project.directories = directories;
        project
    }

    /// The branch that is checked out; of a detached head the start of the commit.
    pub(crate) fn branch(&self) -> Option<String> {
        let root = self.root.as_deref()?;
        let git_dir = linked_git_dir(root).unwrap_or_else(|| root.join(".git"));
        let head = agent_config::read_regular(&git_dir.join("HEAD"), MAX_POINTER_BYTES).ok()?;
        let head = String::from_utf8(head).ok()?;
        let head = head.lines().next()?.trim();
        match head.strip_prefix("ref: refs/heads/") {
            Some(branch) => Some(branch.to_owned()),
            None => head.get(..SHORT_COMMIT).map(str::to_owned),
        }
    }

    /// Whether the user trusts the directory.
    pub(crate) fn trust(&self, config: &Config, cwd: &Path) -> Option<TrustLevel> {
        let roots = self.root.iter().chain(&self.main_worktree);
        let roots: Vec<&Path> = roots.map(PathBuf::as_path).collect();
        config.trust(cwd, &roots)
    }
}

/// Where a `.git` file points to (gitrepository-layout(5)); `None` where `.git` is a directory.
fn linked_git_dir(directory: &Path) -> Option<PathBuf> {
    let pointer = directory.join(".git");
    let metadata = fs::metadata(&pointer).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_POINTER_BYTES {
        return None;
    }
    let text = fs::read_to_string(pointer).ok()?;
    let target = text.lines().next()?.strip_prefix("gitdir:")?.trim();
    directory.join(target).canonicalize().ok()
}

/// A `.git` file holds one path; a larger file is something else.
const MAX_POINTER_BYTES: u64 = 16 << 10;

/// How much of a commit's name is shown.
const SHORT_COMMIT: usize = 7;

/// Whether the path lies in `….git/NAME/`.
fn is_below(git_dir: &Path, name: &str) -> bool {
    git_dir.ancestors().skip(1).any(|ancestor| {
        ancestor.ends_with(name)
            && ancestor
                .parent()
                .is_some_and(|parent| parent.ends_with(".git"))
    })
}

/// The main worktree of `MAIN/.git/worktrees/NAME`.
fn main_worktree(git_dir: &Path) -> Option<PathBuf> {
    let common = git_dir
        .parent()
        .filter(|parent| parent.ends_with("worktrees"))?;
    let dot_git = common.parent().filter(|parent| parent.ends_with(".git"))?;
    dot_git.parent().map(Path::to_owned)
}
