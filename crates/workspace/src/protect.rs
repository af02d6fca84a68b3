//! What is protected inside a writable root: what would later be executed or obeyed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Directories at the top of a root that hold the agent's own settings.
const SETTINGS: [&str; 3] = [".agent", ".agents", ".codex"];

/// Why the file at `relative` beneath a root may not be edited.
pub(crate) fn built_in(relative: &Path) -> Option<String> {
    let first = relative.iter().next()?;
    if SETTINGS.iter().any(|name| first.eq_ignore_ascii_case(name)) {
        let first = first.display();
        return Some(format!("`{first}` holds settings that the agent obeys"));
    }
    let is_git = |part: &OsStr| part.eq_ignore_ascii_case(".git");
    if relative.iter().any(is_git) {
        return Some("`.git` is changed by git commands only".to_owned());
    }
    None
}

/// The entry of `list` that `path` is or lies in.
pub(crate) fn covered<'a>(path: &Path, list: &'a [PathBuf]) -> Option<&'a Path> {
    list.iter()
        .map(PathBuf::as_path)
        .find(|entry| path.starts_with(entry))
}

/// A path together with where its links lead, so that either form is recognised.
pub(crate) fn both_forms(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    let real = crate::follow::follow(&path).ok().map(|f| f.content);
    let other = real.filter(|real| *real != path);
    std::iter::once(path).chain(other)
}
