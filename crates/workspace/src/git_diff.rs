//! Differences between files in the format of `git diff`, with whole object names so that
//! `git apply --3way` can find what they were made from.
//!
//! The format is that of git-diff(1), "Generating patch text with -p"; quoting of names as in
//! git-config(1), `core.quotePath`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, group_diff_ops};

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;
/// After so long a smaller difference is not looked for.
const SEARCH_TIME: Duration = Duration::from_millis(300);
/// The name of no object.
const NO_OBJECT: &str = "0000000000000000000000000000000000000000";

/// A file before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GitDiff<'a> {
    /// Where it is, relative to the root of the working tree.
    pub path: &'a Path,
    /// Where it was, if that is elsewhere.
    pub moved_from: Option<&'a Path>,
    /// Its content before; `None` if there was no such file.
    pub before: Option<&'a [u8]>,
    /// Its content after; `None` if it is gone.
    pub after: Option<&'a [u8]>,
    /// Whether it may be executed.
    pub executable: bool,
}

/// Why a difference cannot be written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoText {
    /// The content is not UTF-8 text.
    #[error("it is no text")]
    Content,
    /// The path is not UTF-8.
    #[error("its name is not UTF-8")]
    Name,
}

impl GitDiff<'_> {
    /// The difference as text; empty when there is none.
    ///
    /// # Errors
    /// When names or content cannot be written as text.
    pub fn render(&self) -> Result<String, NoText> {
        if self.before == self.after && self.moved_from.is_none() {
            return Ok(String::new());
        }
        let name = |path: &Path| path.to_str().map(str::to_owned).ok_or(NoText::Name);
        let new_name = name(self.path)?;
        let old_name = self.moved_from.map_or(Ok(new_name.clone()), name)?;
        let before = text(self.before.unwrap_or_default())?;
        let after = text(self.after.unwrap_or_default())?;
        let mut out = format!(
            "diff --git {} {}\n",
            quoted("a/", &old_name),
            quoted("b/", &new_name)
        );
        self.header(&mut out, &old_name, &new_name);
        if before != after {
            let (none, old) = ("/dev/null".to_owned(), quoted("a/", &old_name));
            let old = self.before.map_or(none.clone(), |_| old);
            let new = self.after.map_or(none, |_| quoted("b/", &new_name));
            // Writing to a string cannot fail.
            let _ = writeln!(out, "--- {old}\n+++ {new}");
            out.push_str(&hunks(before, after));
        }
        Ok(out)
    }

    /// The lines that say what happened to the file as a whole.
    fn header(&self, out: &mut String, old_name: &str, new_name: &str) {
        let mode = if self.executable { "100755" } else { "100644" };
        let object =
            |content: Option<&[u8]>| content.map_or_else(|| NO_OBJECT.to_owned(), git_blob_name);
        let (old, new) = (object(self.before), object(self.after));
        // Writing to a string cannot fail.
        let _ = match (self.before, self.after) {
            (None, _) => writeln!(out, "new file mode {mode}\nindex {old}..{new}"),
            (_, None) => writeln!(out, "deleted file mode {mode}\nindex {old}..{new}"),
            (Some(before), Some(after)) if self.moved_from.is_some() => {
                let same = if before == after { 100 } else { 50 };
                let (from, to) = (quoted("", old_name), quoted("", new_name));
                let moved = format!("similarity index {same}%\nrename from {from}\nrename to {to}");
                if before == after {
                    writeln!(out, "{moved}")
                } else {
                    writeln!(out, "{moved}\nindex {old}..{new} {mode}")
                }
            }
            (Some(_), Some(_)) => writeln!(out, "index {old}..{new} {mode}"),
        };
    }
}

/// The name that git gives to a file's content in a repository that uses SHA-1.
fn git_blob_name(content: &[u8]) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(format!("blob {}\0", content.len()).as_bytes());
    hash.update(content);
    hash.digest().to_string()
}

/// Text as git sees it: a file with a NUL is binary.
fn text(content: &[u8]) -> Result<&str, NoText> {
    match std::str::from_utf8(content) {
        Ok(text) if !text.contains('\0') => Ok(text),
        Ok(_) | Err(_) => Err(NoText::Content),
    }
}

/// A name with its prefix; between quotes where it is not made of plain characters only.
fn quoted(prefix: &str, name: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\' && c != ' ';
    if name.chars().all(is_plain) {
        return format!("{prefix}{name}");
    }
    let mut out = format!("\"{prefix}");
    for character in name.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            _ if character.is_control() => {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// The differing lines of two texts, with three unchanged ones around them, as hunks of a unified
/// diff without its head; empty when there are none.
pub fn hunks(before: &str, after: &str) -> String {
    let mut out = String::new();
    // A lone CR ends no line for git.
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let deadline = Instant::now() + SEARCH_TIME;
    for group in group_diff_ops(differences(&old, &new, deadline), CONTEXT_LINES) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let (old_start, new_start) = (first.old_range().start, first.new_range().start);
        let old_len = last.old_range().end - old_start;
        let new_len = last.new_range().end - new_start;
        let _ = writeln!(
            out,
            "@@ -{} +{} @@",
            range(old_start, old_len),
            range(new_start, new_len)
        );
        for op in &group {
            lines(&mut out, op, &old, &new);
        }
    }
    out
}

/// What `similar::capture_diff_slices_deadline` does, without the algorithms that are not used:
/// choosing one at run time would keep all of them in the program, which is 0.6 MB.
fn differences(old: &[&str], new: &[&str], deadline: Instant) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let (all_old, all_new) = (0..old.len(), 0..new.len());
    match myers::diff_deadline(&mut found, old, all_old, new, all_new, Some(deadline)) {
        Ok(()) => found.into_inner().into_inner().into_ops(),
        Err(never) => match never {},
    }
}

/// A range as hunks write it: an empty one names the line before it.
fn range(start: usize, len: usize) -> String {
    match len {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{len}", start + 1),
    }
}

fn lines(out: &mut String, op: &DiffOp, old: &[&str], new: &[&str]) {
    let mut write = |sign: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    match op {
        DiffOp::Equal { .. } => write(' ', old.get(op.old_range())),
        DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
            write('-', old.get(op.old_range()));
            write('+', new.get(op.new_range()));
        }
    }
}
