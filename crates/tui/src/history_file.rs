//! The file of earlier messages, `history.jsonl` in the home of the program.
//!
//! One line of JSON for each message: `{"session_id":"…","ts":1790000000,"text":"…"}`, `ts` in
//! seconds since 1970. Several programs append to it at once, each line with a single write;
//! lines that are torn or not ours are passed over. It may hold what the user typed, so only the
//! user can read it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::private_file;

/// Bytes at the end of the file that are read.
const MAX_READ: u64 = 1 << 20;
/// Bytes of a message that are kept.
const MAX_TEXT: usize = 16 << 10;
/// A longer file is cut down to what is read of it.
const MAX_FILE: u64 = 4 << 20;

/// Why the history is not kept. The program works on without.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    /// The file cannot be read.
    #[error("cannot read the history `{path}`", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the history `{path}`", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    session_id: String,
    ts: u64,
    text: String,
}

/// The file of earlier messages.
#[derive(Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
    session_id: String,
    /// It was reported that writing fails.
    has_failed: bool,
}

impl HistoryFile {
    /// The history in `home`, for messages of a session.
    pub(crate) fn new(home: &Path, session_id: impl Into<String>) -> Self {
        Self {
            path: home.join("history.jsonl"),
            session_id: session_id.into(),
            has_failed: false,
        }
    }

    /// The newest messages, the oldest of them first. No file is an empty history.
    ///
    /// # Errors
    /// When there is a file that cannot be read.
    pub(crate) fn read(&self) -> Result<Vec<String>, HistoryError> {
        let read = || {
            private_file::refuse_others(&self.path)?;
            read_tail(&mut File::open(&self.path)?)
        };
        let bytes = match read() {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                let path = self.path.clone();
                return Err(HistoryError::Read { path, source });
            }
        };
        let entries = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
        Ok(entries.map(|entry| entry.text).collect())
    }

    /// Adds a message that was sent at `ts`, in seconds since 1970. Of a long one the beginning
    /// is kept.
    ///
    /// # Errors
    /// When it cannot be written; after the first time that stays unsaid.
    pub(crate) fn append(&mut self, ts: u64, text: &str) -> Result<(), HistoryError> {
        match self.write(ts, text) {
            Ok(()) => Ok(()),
            Err(_) if self.has_failed => Ok(()),
            Err(source) => {
                self.has_failed = true;
                let path = self.path.clone();
                Err(HistoryError::Write { path, source })
            }
        }
    }

    fn write(&self, ts: u64, text: &str) -> io::Result<()> {
        let end = text.floor_char_boundary(MAX_TEXT);
        let entry = Entry {
            session_id: self.session_id.clone(),
            ts,
            text: text.get(..end).unwrap_or_default().to_owned(),
        };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        let (mut file, is_locked) = self.open_to_append()?;
        if !ends_a_line(&mut file)? {
            line.insert(0, b'\n');
        }
        file.write_all(&line)?;
        if is_locked && file.metadata()?.len() > MAX_FILE {
            self.trim(&mut file)?;
        }
        Ok(())
    }

    /// The file, and whether it is locked. Another program may have put a shorter one into its place meanwhile;
    /// then that one is opened.
    fn open_to_append(&self) -> io::Result<(File, bool)> {
        if let Some(home) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(home)?;
        }
        loop {
            private_file::refuse_others(&self.path)?;
            let file = OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .mode(0o600)
                .open(&self.path)?;
            let is_locked = lock(&file);
            if !is_locked || is_at(&file, &self.path) {
                return Ok((file, is_locked));
            }
        }
    }

    /// Puts the newest part of the file into its place. The lock is held.
    fn trim(&self, file: &mut File) -> io::Result<()> {
        let tail = read_tail(file)?;
        let whole_lines = tail.iter().position(|byte| *byte == b'\n');
        let kept = whole_lines.and_then(|end| tail.get(end + 1..));
        let temporary = self.path.with_file_name("history.tmp");
        private_file::replace(&self.path, &temporary, kept.unwrap_or_default())
    }
}

/// Locks a file until it is closed. False where the file system has no locks or another program
/// keeps one: the message is written all the same.
fn lock(file: &File) -> bool {
    // A writer holds the lock for milliseconds; one that hangs must not hang everybody.
    for _ in 0..50 {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            Err(TryLockError::Error(_)) => return false,
        }
    }
    false
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(ours), Ok(theirs)) => (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()),
        (Ok(_) | Err(_), _) => false,
    }
}

/// Whether nothing torn is at the end of the file, to which a line would be lost.
fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn read_tail(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_READ)))?;
    let mut tail = Vec::new();
    file.take(MAX_READ).read_to_end(&mut tail)?;
    Ok(tail)
}

#[cfg(test)]
mod tests;
