//! What the patches of a turn changed, as one diff.
//!
//! Of each file the content before the first and after the last edit are kept, so that the diff
//! shows what the turn came to. What commands changed in between shows where it meets a patch.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use agent_workspace::GitDiff;

use crate::tool::{EditedContent, FileEdit};

/// How much content is kept, in bytes. Files beyond are named instead.
const MAX_KEPT_BYTES: usize = 64 << 20;
/// The longest diff, in bytes. Files beyond are named instead.
const MAX_DIFF_BYTES: usize = 8 << 20;

/// The edits of a turn so far.
#[derive(Debug, Default)]
pub(super) struct TurnDiff {
    files: BTreeMap<PathBuf, EditedFile>,
    /// Files that the diff leaves out, and why.
    left_out: BTreeMap<PathBuf, &'static str>,
}

#[derive(Debug)]
struct EditedFile {
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    executable: bool,
    /// Where its content was before the turn.
    moved_from: Option<PathBuf>,
}

/// A diff that is finished.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FinishedDiff {
    /// In the format of git, with paths relative to the root.
    pub(super) text: String,
    /// Files that it leaves out, each with the reason.
    pub(super) left_out: Vec<String>,
}

impl TurnDiff {
    /// Takes what a call did.
    pub(super) fn record(&mut self, edits: Vec<FileEdit>) {
        for edit in edits {
            let (path, moved_to) = (edit.path, edit.moved_to);
            match edit.content {
                EditedContent::Unknown { reason } => {
                    for path in std::iter::once(path).chain(moved_to) {
                        self.leave_out(path, reason);
                    }
                }
                EditedContent::Known {
                    before,
                    after,
                    executable,
                } => {
                    let file = EditedFile {
                        before,
                        after,
                        executable,
                        moved_from: None,
                    };
                    self.edit(path, moved_to, file);
                }
            }
        }
    }

    fn edit(&mut self, path: PathBuf, moved_to: Option<PathBuf>, edit: EditedFile) {
        let size = |file: &EditedFile| {
            let sides = [&file.before, &file.after];
            sides.into_iter().flatten().map(Vec::len).sum::<usize>()
        };
        let kept: usize = self.files.values().map(size).sum();
        let known = [Some(&path), moved_to.as_ref()];
        let is_left_out = |path: &PathBuf| self.left_out.contains_key(path);
        let spoilt = known.into_iter().flatten().any(is_left_out);
        if spoilt || kept + size(&edit) > MAX_KEPT_BYTES {
            let reason = "the turn changed too much to keep it all";
            for path in std::iter::once(path).chain(moved_to) {
                self.leave_out(path, reason);
            }
            return;
        }
        let Some(moved_to) = moved_to else {
            self.set(path, edit);
            return;
        };
        let source = EditedFile {
            after: None,
            before: edit.before,
            executable: edit.executable,
            moved_from: None,
        };
        self.set(path.clone(), source);
        let origin = self
            .files
            .get(&path)
            .and_then(|file| file.moved_from.clone());
        let target = EditedFile {
            before: None,
            after: edit.after,
            executable: edit.executable,
            moved_from: Some(origin.unwrap_or(path)),
        };
        self.set(moved_to, target);
    }

    fn set(&mut self, path: PathBuf, edit: EditedFile) {
        match self.files.get_mut(&path) {
            Some(file) => {
                file.after = edit.after;
                // A command may have made a new file executable since.
                if file.before.is_none() {
                    file.executable = edit.executable;
                }
                if edit.moved_from.is_some() {
                    file.moved_from = edit.moved_from;
                }
            }
            None => {
                self.files.insert(path, edit);
            }
        }
    }

    fn leave_out(&mut self, path: PathBuf, reason: &'static str) {
        self.files.remove(&path);
        self.left_out.entry(path).or_insert(reason);
    }

    /// The diff with paths relative to `root`; `None` if nothing changed. May take a while.
    pub(super) fn finish(self, root: &Path) -> Option<FinishedDiff> {
        let mut text = String::new();
        let mut left_out: Vec<(&Path, String)> = self
            .left_out
            .iter()
            .map(|(path, reason)| (path.as_path(), (*reason).to_owned()))
            .collect();
        let moved = self.moves(root);
        let sources: BTreeSet<&Path> = moved.values().copied().collect();
        for (path, file) in &self.files {
            if sources.contains(path.as_path()) {
                continue;
            }
            let source = moved.get(path.as_path()).copied();
            match self.file_diff(root, (path, file), source) {
                Ok(diff) if text.len() + diff.len() > MAX_DIFF_BYTES => {
                    left_out.push((path, "the diff would be too long".to_owned()));
                }
                Ok(diff) => text.push_str(&diff),
                Err(reason) => left_out.push((path, reason)),
            }
        }
        if text.is_empty() && left_out.is_empty() {
            return None;
        }
        let left_out = left_out.into_iter().map(|(path, reason)| {
            let path = path.strip_prefix(root).unwrap_or(path);
            format!("`{}`: {reason}", path.display())
        });
        let left_out = left_out.collect();
        Some(FinishedDiff { text, left_out })
    }

    fn file_diff(
        &self,
        root: &Path,
        (path, file): (&Path, &EditedFile),
        source: Option<&Path>,
    ) -> Result<String, String> {
        let relative = path.strip_prefix(root).ok();
        let Some(path) = relative.filter(|_| belongs_to(root, path)) else {
            return Err("it is outside of the repository".to_owned());
        };
        let before = match source {
            Some(source) => self
                .files
                .get(source)
                .and_then(|file| file.before.as_deref()),
            None => file.before.as_deref(),
        };
        let diff = GitDiff {
            path,
            moved_from: source.and_then(|source| source.strip_prefix(root).ok()),
            before,
            after: file.after.as_deref(),
            executable: file.executable,
        };
        diff.render().map_err(|reason| reason.to_string())
    }

    /// The files that are now elsewhere beneath `root`: new path to old path. A path that was
    /// filled again, or whose content went to two places, is no move but a change of each.
    fn moves<'a>(&'a self, root: &Path) -> BTreeMap<&'a Path, &'a Path> {
        let mut moves = BTreeMap::new();
        let mut sources = BTreeSet::new();
        for (path, file) in &self.files {
            let Some(source) = file.moved_from.as_deref() else {
                continue;
            };
            let was_moved = self
                .files
                .get(source)
                .is_some_and(|file| file.before.is_some() && file.after.is_none());
            let is_new = file.before.is_none() && file.after.is_some();
            let inside = belongs_to(root, path) && belongs_to(root, source);
            if was_moved && is_new && inside && sources.insert(source) {
                moves.insert(path.as_path(), source);
            }
        }
        moves
    }
}

/// Whether a file is in the working tree at `root`, and not in a submodule or another repository
/// beneath.
fn belongs_to(root: &Path, path: &Path) -> bool {
    let directories = path.ancestors().skip(1);
    let mut beneath = directories.take_while(|directory| *directory != root);
    path.starts_with(root) && !beneath.any(|directory| directory.join(".git").exists())
}

#[cfg(test)]
mod tests;
