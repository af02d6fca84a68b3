//! Finding a session's file: by id, or the one used last.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agent_protocol::ThreadId;
use serde::Deserialize;

use crate::record::SessionMeta;

/// A session's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its id, from the file's name.
    pub id: ThreadId,
    /// Where it is.
    pub path: PathBuf,
}

/// Why no session was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The directory cannot be read.
    #[error("cannot list the sessions in `{path}`", path = path.display())]
    List {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No file has this id.
    #[error("no session `{id}` in `{path}`", path = path.display())]
    NoSuchSession {
        /// What was looked for.
        id: String,
        /// Where.
        path: PathBuf,
    },
    /// There is none yet.
    #[error("there is no session yet in `{path}`", path = path.display())]
    None {
        /// Where.
        path: PathBuf,
    },
}

/// Finds the session with this id.
///
/// # Errors
/// When there is none, or the directory cannot be read.
pub fn find_by_id(home: &Path, id: &str) -> Result<Found, FindError> {
    let files = session_files(home)?;
    let wanted = id.parse::<ThreadId>().ok();
    files
        .into_iter()
        .map(|(found, _)| found)
        .find(|found| Some(found.id) == wanted)
        .ok_or_else(|| FindError::NoSuchSession {
            id: id.to_owned(),
            path: home.join("sessions"),
        })
}

/// Finds the session that was written last, of a working directory or of any.
///
/// # Errors
/// When there is none, or the directory cannot be read.
pub fn find_latest(home: &Path, cwd: Option<&Path>) -> Result<Found, FindError> {
    let mut files = session_files(home)?;
    files.sort_by(|(_, a), (_, b)| b.cmp(a));
    files
        .into_iter()
        .map(|(found, _)| found)
        .find(|found| cwd.is_none_or(|cwd| is_of(&found.path, cwd)))
        .ok_or_else(|| FindError::None {
            path: home.join("sessions"),
        })
}

/// Whether a session's commands run in this directory. A session whose head is damaged may be
/// of any.
fn is_of(path: &Path, cwd: &Path) -> bool {
    let dir = working_directory(path);
    // Recorded as text, so compared as text.
    dir.is_none_or(|dir| dir.to_string_lossy() == cwd.to_string_lossy())
}

/// Where a session's commands run, from its first line; `None` when that line is damaged.
fn working_directory(path: &Path) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Head {
        payload: SessionMeta,
    }
    let mut line = Vec::new();
    let file = fs::File::open(path).ok()?;
    io::Read::take(BufReader::new(file), 1 << 20)
        .read_until(b'\n', &mut line)
        .ok()?;
    let head: Head = serde_json::from_slice(&line).ok()?;
    Some(head.payload.cwd)
}

/// All session files with the time they were written last.
pub(crate) fn session_files(home: &Path) -> Result<Vec<(Found, SystemTime)>, FindError> {
    let root = home.join("sessions");
    let mut directories = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
            // One unreadable day must not hide the others.
            Err(_) if directory != root => continue,
            Err(source) => {
                return Err(FindError::List {
                    path: directory,
                    source,
                });
            }
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                Ok(kind) if kind.is_file() => files.extend(session_file(&entry)),
                Ok(_) | Err(_) => {}
            }
        }
    }
    Ok(files)
}

fn session_file(entry: &DirEntry) -> Option<(Found, SystemTime)> {
    let path = entry.path();
    if path.extension() != Some(OsStr::new("jsonl")) {
        return None;
    }
    let stem = path.file_stem()?.to_str()?;
    let id = stem.get(stem.len().checked_sub(UUID_LENGTH)?..)?;
    let found = Found {
        id: id.parse().ok()?,
        path: path.clone(),
    };
    let modified = entry.metadata().ok()?.modified().ok()?;
    Some((found, modified))
}

/// Length of a UUID in its usual spelling (RFC 9562 section 4).
const UUID_LENGTH: usize = 36;
