//! Where a work tree keeps its git data, and which of that would later be executed.
//!
//! The files are read here; git is never run. Whatever they say is believed only if the other
//! side agrees: a `.git` file could have been planted by an earlier command.

mod config;
pub(crate) mod nested;

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

pub(crate) use config::Named;

const MODULE_DEPTH: usize = 6;
const MODULE_LIMIT: usize = 200;
const WORKTREE_LIMIT: usize = 200;
const CONFIG_LIMIT: u64 = 1024 * 1024;

/// Where the user's own configuration is, relative to the home directory.
const GLOBAL_FILES: &[&str] = &[".gitconfig", ".config/git/config"];

/// Names in `worktrees/NAME` that lead to what is executed.
const WORKTREE_NAMES: &[&str] = &["commondir", "gitdir", "config.worktree"];

/// Names inside a git directory that decide what is executed.
const PROTECTED: &[&str] = &[
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "info/attributes",
];

/// The work tree that a directory belongs to: itself, or the nearest one above it that has a
/// `.git`. Without one, the directory itself.
pub(crate) fn work_tree(directory: &Path) -> &Path {
    let mut around = directory.ancestors();
    around
        .find(|path| path.join(".git").symlink_metadata().is_ok())
        .unwrap_or(directory)
}

/// Git directories outside `root` that its work tree uses: that of a linked worktree or of a
/// submodule, or the one of the repository that `root` is a part of.
pub(crate) fn outside(root: &Path) -> Vec<PathBuf> {
    let tree = work_tree(root);
    let inner = tree.join(".git");
    if tree != root
        && inner
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir())
    {
        return vec![inner];
    }
    let Some(git_dir) = linked(tree) else {
        return Vec::new();
    };
    let common = common_dir(&git_dir);
    [common, git_dir]
        .into_iter()
        .filter(|path| !path.starts_with(root))
        .collect()
}

/// The git directory that the file `root/.git` names, if that directory names `root` as well.
fn linked(root: &Path) -> Option<PathBuf> {
    let pointer = root.join(".git");
    if !pointer.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = read_small(&pointer)?;
    let target = path_from(text.strip_prefix(b"gitdir: ")?)?;
    let git_dir = root.join(target).canonicalize().ok()?;
    (is_worktree_of(&git_dir, &pointer) || is_module_of(&git_dir, root)).then_some(git_dir)
}

fn is_worktree_of(git_dir: &Path, pointer: &Path) -> bool {
    let back = read_small(&git_dir.join("gitdir")).and_then(|text| path_from(&text));
    back.and_then(|back| git_dir.join(back).canonicalize().ok())
        .as_deref()
        == Some(pointer)
}

fn is_module_of(git_dir: &Path, root: &Path) -> bool {
    work_trees(git_dir).any(|tree| tree == root)
}

fn common_dir(git_dir: &Path) -> PathBuf {
    read_small(&git_dir.join("commondir"))
        .and_then(|text| path_from(&text))
        .and_then(|common| git_dir.join(common).canonicalize().ok())
        .unwrap_or_else(|| git_dir.to_owned())
}

/// What the user's own configuration and the machine's name.
pub(crate) fn global(homes: &[PathBuf]) -> Named {
    let mut files = vec![PathBuf::from("/etc/gitconfig")];
    for home in homes {
        files.extend(GLOBAL_FILES.iter().map(|name| home.join(name)));
    }
    config::follow(files, homes)
}

/// The files of the user's own configuration, and what they include.
pub(crate) fn global_files(global: &Named) -> &[PathBuf] {
    &global.files
}

/// Every path that must stay as it is so that git, run by the user later in the work tree `root`,
/// executes nothing new. Paths that do not exist are part of the answer: they must not appear.
pub(crate) fn protected(root: &Path, global: &Named, homes: &[PathBuf]) -> Vec<PathBuf> {
    let inner = root.join(".git");
    let mut paths = Vec::new();
    let Ok(metadata) = inner.symlink_metadata() else {
        return paths;
    };
    if !metadata.is_dir() {
        paths.push(inner.clone());
    }
    // Protecting what a planted file names does no harm, so the other side need not agree.
    let Some(git_dir) = git_dir_of(&inner) else {
        return paths;
    };
    let common = common_dir(&git_dir);
    if common != git_dir {
        protect_directory(root, &common, homes, &mut paths);
    }
    protect_directory(root, &git_dir, homes, &mut paths);
    paths.extend(hooks(root, &global.hooks));
    paths
}

/// The same for a repository without a work tree.
pub(crate) fn protected_bare(git_dir: &Path) -> Vec<PathBuf> {
    PROTECTED.iter().map(|name| git_dir.join(name)).collect()
}

fn protect_directory(root: &Path, directory: &Path, homes: &[PathBuf], paths: &mut Vec<PathBuf>) {
    paths.extend(protected_bare(directory));
    let files = ["config", "config.worktree"];
    let named = config::follow(files.map(|name| directory.join(name)).into(), homes);
    paths.extend(hooks(root, &named.hooks));
    let included = named.files.into_iter();
    paths.extend(included.filter(|path| !root.starts_with(path) && *path != root.join(".git")));
    for module in modules(directory) {
        paths.extend(protected_bare(&module));
        paths.extend(
            work_trees(&module)
                .map(|tree| tree.join(".git"))
                .filter(exists),
        );
    }
    let worktrees = fs::read_dir(directory.join("worktrees"));
    for entry in worktrees
        .into_iter()
        .flatten()
        .flatten()
        .take(WORKTREE_LIMIT)
    {
        let worktree = entry.path();
        paths.extend(WORKTREE_NAMES.iter().map(|name| worktree.join(name)));
        let pointer = read_small(&worktree.join("gitdir")).and_then(|text| path_from(&text));
        let pointer = pointer.map(|pointer| normal(&worktree.join(pointer)));
        paths.extend(pointer.filter(exists));
    }
}

/// The git directories of submodules in a git directory, inner ones first.
pub(crate) fn modules(git_dir: &Path) -> Vec<PathBuf> {
    let mut modules = Vec::new();
    find_modules(&git_dir.join("modules"), MODULE_DEPTH, &mut modules);
    modules
}

/// The git directories of the work tree `root`: its own, and that of its repository.
pub(crate) fn of_tree(root: &Path) -> Vec<PathBuf> {
    let Some(git_dir) = git_dir_of(&root.join(".git")) else {
        return Vec::new();
    };
    let common = common_dir(&git_dir);
    if common == git_dir {
        vec![git_dir]
    } else {
        vec![git_dir, common]
    }
}

#[expect(clippy::ptr_arg, reason = "it is a filter of owned paths")]
fn exists(path: &PathBuf) -> bool {
    path.symlink_metadata().is_ok()
}

/// Directories of hooks, but for those around the work tree itself.
fn hooks(root: &Path, named: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    named
        .iter()
        .map(|path| normal(&root.join(path)))
        .filter(move |path| !root.starts_with(path) && *path != root.join(".git"))
}

/// The work trees that the configuration of a submodule's git directory names.
fn work_trees(git_dir: &Path) -> impl Iterator<Item = PathBuf> {
    config::parse(&read_small(&git_dir.join("config")).unwrap_or_default())
        .into_iter()
        .filter(|setting| setting.is("core", "worktree"))
        .filter_map(|setting| path_from(&setting.value))
        .filter_map(|tree| git_dir.join(tree).canonicalize().ok())
}

/// The git directory that a `.git` is or leads to, or a git directory itself.
pub(crate) fn git_dir_of(git: &Path) -> Option<PathBuf> {
    let directory = if git.symlink_metadata().ok()?.is_file() {
        let text = read_small(git)?;
        git.parent()?
            .join(path_from(text.strip_prefix(b"gitdir:")?)?)
    } else {
        git.to_owned()
    };
    let directory = directory.canonicalize().ok()?;
    directory.is_dir().then_some(directory)
}

fn find_modules(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        if depth == 0 || found.len() >= MODULE_LIMIT {
            return;
        }
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        if path.join("HEAD").exists() {
            find_modules(&path.join("modules"), depth - 1, found);
            found.push(path);
        } else {
            find_modules(&path, depth - 1, found);
        }
    }
}

/// Removes `.` and `..` by their text; links on the way are not followed.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

fn path_from(text: &[u8]) -> Option<PathBuf> {
    let text = text.trim_ascii();
    let path = Path::new(std::ffi::OsStr::from_bytes(text));
    (!text.is_empty() && !text.starts_with(b"~")).then(|| path.to_owned())
}

/// Reads a file that a command may be replacing by a pipe or a huge file right now.
fn read_small(path: &Path) -> Option<Vec<u8>> {
    read_limited(path, CONFIG_LIMIT)
}

fn read_limited(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let mut bytes = Vec::new();
    if file.metadata().ok()?.is_file() {
        file.take(limit).read_to_end(&mut bytes).ok()?;
    }
    Some(bytes)
}
