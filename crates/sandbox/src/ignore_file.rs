//! `.agentignore`: the files of a project that nobody but its people may read.
//!
//! The syntax is that of `gitignore(5)`: one pattern a line, `!` takes back, `/` at the end means
//! directories. What matches when the list is made is closed; what appears later is not.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The name of the file, at the top of a project.
pub const IGNORE_FILE: &str = ".agentignore";

/// Larger files than any list of patterns need, and long to match, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

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
    /// A line is no pattern, or all of them are too much together.
    #[error(
        "`{path}{line}` is no pattern of gitignore(5)",
        path = path.display(),
        line = line.map(|line| format!(":{line}")).unwrap_or_default()
    )]
    Pattern {
        /// The file.
        path: PathBuf,
        /// Which line, from 1, if it is one.
        line: Option<usize>,
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

/// What the patterns match.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct IgnoredPaths {
    /// The paths below the directory of the file.
    pub paths: Vec<PathBuf>,
    /// Links that match and lead elsewhere: what they lead to is not theirs to hide.
    pub links_outside: Vec<PathBuf>,
}

/// The paths below `top` that its `.agentignore` names, as they exist now. Without such a file
/// nothing is looked at.
///
/// # Errors
/// When the list would not be whole.
pub fn ignored_paths(top: &Path) -> Result<IgnoredPaths, IgnoreFileError> {
    let mut found = IgnoredPaths::default();
    let file = top.join(IGNORE_FILE);
    let text = match read(&file) {
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(source) => return Err(IgnoreFileError::Read { path: file, source }),
    };
    let patterns = parse(top, &file, &String::from_utf8_lossy(&text))?;
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        // What cannot be listed by this user cannot be read by its commands.
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type();
            let is_directory = kind.as_ref().is_ok_and(fs::FileType::is_dir);
            match patterns.matched(&path, is_directory) {
                Match::Ignore(_) if kind.is_ok_and(|kind| kind.is_symlink()) => {
                    if leads_inside(&path, top) {
                        found.paths.push(path);
                    } else {
                        found.links_outside.push(path);
                    }
                }
                Match::Ignore(_) => found.paths.push(path),
                Match::None | Match::Whitelist(_) if is_directory => open.push(path),
                Match::None | Match::Whitelist(_) => {}
            }
            if found.paths.len() > MAX_PATHS {
                return Err(IgnoreFileError::TooMany { path: file });
            }
        }
    }
    found.paths.sort();
    found.links_outside.sort();
    Ok(found)
}

/// Whoever may make a link in the project could hide a program of the machine otherwise, or the
/// repository itself.
fn leads_inside(link: &Path, top: &Path) -> bool {
    let (Ok(target), Ok(top)) = (link.canonicalize(), top.canonicalize()) else {
        return false;
    };
    let git = top.join(".git");
    target.starts_with(&top) && target != top && !target.starts_with(git)
}

/// Reads a regular file of this name. A command may have made it: anything else could be waited for
/// without an end.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if !file.symlink_metadata()?.is_file() {
        return refused("it is no regular file");
    }
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(file)?;
    if !opened.metadata()?.is_file() {
        return refused("it is no regular file");
    }
    let mut text = Vec::new();
    opened.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return refused("it has more than 64 KiB");
    }
    Ok(text)
}

fn parse(top: &Path, file: &Path, text: &str) -> Result<Gitignore, IgnoreFileError> {
    let mut patterns = GitignoreBuilder::new(top);
    let broken = |line, source| IgnoreFileError::Pattern {
        path: file.to_owned(),
        line,
        source,
    };
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let added = patterns.add_line(None, line);
        added.map_err(|source| broken(Some(number), source))?;
    }
    patterns.build().map_err(|source| broken(None, source))
}

#[cfg(test)]
mod tests;
