//! Where a work tree keeps its git data, and which of that would later be executed.
//!
//! The files are read here; git is never run. Whatever they say is believed only if the other
//! side agrees: a `.git` file could have been planted by an earlier command.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

const MODULE_DEPTH: usize = 6;
const MODULE_LIMIT: usize = 200;
const CONFIG_LIMIT: u64 = 1024 * 1024;

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
    let config = read_small(&git_dir.join("config")).unwrap_or_default();
    values_of(&config, b"worktree")
        .filter_map(|value| path_from(&value))
        .any(|value| git_dir.join(value).canonicalize().ok().as_deref() == Some(root))
}

fn common_dir(git_dir: &Path) -> PathBuf {
    read_small(&git_dir.join("commondir"))
        .and_then(|text| path_from(&text))
        .and_then(|common| git_dir.join(common).canonicalize().ok())
        .unwrap_or_else(|| git_dir.to_owned())
}

/// Every path that must stay as it is so that git, run by the user later, executes nothing new.
/// Paths that do not exist are part of the answer: they must not appear.
pub(crate) fn protected(root: &Path) -> Vec<PathBuf> {
    let inner = root.join(".git");
    let mut directories = Vec::new();
    let mut paths = Vec::new();
    let kind = inner
        .symlink_metadata()
        .map(|metadata| metadata.file_type())
        .ok();
    if kind.is_some_and(|kind| kind.is_dir()) {
        directories.push(inner);
    } else if kind.is_some_and(|kind| kind.is_symlink()) {
        directories.extend(inner.canonicalize());
        paths.push(inner);
    } else if let Some(git_dir) = linked(root) {
        let common = common_dir(&git_dir);
        if common != git_dir {
            directories.push(common);
        }
        directories.push(git_dir);
        paths.push(inner);
    }
    for directory in directories {
        paths.extend(PROTECTED.iter().map(|name| directory.join(name)));
        paths.extend(named_by_config(root, &directory));
        let mut modules = Vec::new();
        find_modules(&directory.join("modules"), MODULE_DEPTH, &mut modules);
        for module in modules {
            paths.extend(PROTECTED.iter().map(|name| module.join(name)));
        }
    }
    paths
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

/// Hook directories and included files that the configuration names, as far as they are inside
/// the work tree (all else is out of reach of commands anyway).
fn named_by_config(root: &Path, git_dir: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for name in ["config", "config.worktree"] {
        let text = read_small(&git_dir.join(name)).unwrap_or_default();
        let hooks = values_of(&text, b"hookspath").filter_map(|value| path_from(&value));
        paths.extend(hooks.map(|path| root.join(path)));
        let included = values_of(&text, b"path").filter_map(|value| path_from(&value));
        paths.extend(included.map(|path| git_dir.join(path)));
    }
    paths
        .into_iter()
        .map(|path| normal(&path))
        .filter(|path| path.starts_with(root) && path != root && *path != root.join(".git"))
        .collect()
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

/// The values of every `key = value` line, whatever the section; the key in lower case.
fn values_of<'a>(config: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
    config.split(|byte| *byte == b'\n').filter_map(move |line| {
        // A key may follow its section's header on the same line.
        let line = match line.iter().rposition(|byte| *byte == b']') {
            Some(end) if line.trim_ascii_start().starts_with(b"[") => line.get(end + 1..)?,
            _ => line,
        };
        let equals = line.iter().position(|byte| *byte == b'=')?;
        let (name, value) = line.split_at(equals);
        if !name.trim_ascii().eq_ignore_ascii_case(key) {
            return None;
        }
        let value = value.get(1..)?.trim_ascii();
        Some(value.iter().copied().filter(|byte| *byte != b'"').collect())
    })
}

fn path_from(text: &[u8]) -> Option<PathBuf> {
    let text = text.trim_ascii();
    let path = Path::new(std::ffi::OsStr::from_bytes(text));
    (!text.is_empty() && !text.starts_with(b"~")).then(|| path.to_owned())
}

/// Reads a file that a command may be replacing by a pipe or a huge file right now.
fn read_small(path: &Path) -> Option<Vec<u8>> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let mut bytes = Vec::new();
    if file.metadata().ok()?.is_file() {
        file.take(CONFIG_LIMIT).read_to_end(&mut bytes).ok()?;
    }
    Some(bytes)
}
