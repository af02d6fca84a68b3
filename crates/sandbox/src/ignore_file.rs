//! `.agentignore`: the files of a project that nobody but its people may read.
//!
//! The syntax is that of `gitignore(5)`: one pattern a line, `!` takes back, `/` at the end means
//! directories. What matches when the list is made is closed; what appears later is not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The name of the file, at the top of a project.
pub const IGNORE_FILE: &str = ".agentignore";

/// Each path is a mount for every session, and a system has 100,000 (`fs.mount-max`, Linux 4.9).
const MAX_PATHS: usize = 10_000;

/// Why the files that a project wants unread cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum IgnoreFileError {
    /// It cannot be read.
    #[error("cannot read `{path}`", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A line is no pattern.
    #[error("`{path}:{line}` is no pattern of gitignore(5)", path = path.display())]
    Pattern {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        source: ignore::Error,
    },
    /// Too many paths match.
    #[error("`{path}` matches more than {MAX_PATHS} paths", path = path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
    },
}

/// The paths below `top` that its `.agentignore` names, as they exist now. Without such a file
/// nothing is looked at.
///
/// # Errors
/// When the list would not be whole.
pub fn ignored_paths(top: &Path) -> Result<Vec<PathBuf>, IgnoreFileError> {
    let file = top.join(IGNORE_FILE);
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(IgnoreFileError::Read { path: file, source }),
    };
    let patterns = parse(top, &file, &String::from_utf8_lossy(&text))?;
    let mut found = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        // What cannot be listed by this user cannot be read by its commands.
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match patterns.matched(&path, is_directory) {
                Match::Ignore(_) => found.push(path),
                Match::None | Match::Whitelist(_) if is_directory => open.push(path),
                Match::None | Match::Whitelist(_) => {}
            }
            if found.len() > MAX_PATHS {
                return Err(IgnoreFileError::TooMany { path: file });
            }
        }
    }
    found.sort();
    Ok(found)
}

fn parse(top: &Path, file: &Path, text: &str) -> Result<Gitignore, IgnoreFileError> {
    let mut patterns = GitignoreBuilder::new(top);
    let broken = |line, source| IgnoreFileError::Pattern {
        path: file.to_owned(),
        line,
        source,
    };
    let mut n_lines = 0;
    for line in text.trim_start_matches('\u{feff}').lines() {
        n_lines += 1;
        let added = patterns.add_line(None, line);
        added.map_err(|source| broken(n_lines, source))?;
    }
    patterns.build().map_err(|source| broken(n_lines, source))
}

#[cfg(test)]
mod tests;
