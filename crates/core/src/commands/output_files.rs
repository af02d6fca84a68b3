//! Files that keep the whole output of commands where memory keeps its ends only.
//!
//! Each thread has a directory of its own, which its commands may read and not write, so that the
//! model can look for what it was not shown. Nothing is written for an output that the model saw
//! whole. What is old or too much is removed when the next file is made.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use agent_protocol::ThreadId;

/// The directory in the agent's home that has one directory a thread.
const DIRECTORY: &str = "outputs";

/// How much is kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Of the start of one output, in bytes.
    file_bytes: u64,
    /// Of one thread beside the output that comes, in bytes.
    thread_bytes: u64,
    /// Of all other threads, in bytes.
    other_bytes: u64,
    /// After a thread has ended.
    age: Duration,
}

const LIMITS: Limits = Limits {
    file_bytes: 64 << 20,
    thread_bytes: 256 << 20,
    other_bytes: 1 << 30,
    age: Duration::from_hours(7 * 24),
};

/// Where the files of a thread are.
pub(crate) fn directory(agent_home: &Path, thread: ThreadId) -> PathBuf {
    agent_home.join(DIRECTORY).join(thread.to_string())
}

/// The files of one thread. Dropping it removes its directory if nothing is in it.
#[derive(Debug)]
pub(crate) struct OutputFiles {
    directory: PathBuf,
    is_ephemeral: bool,
    limits: Limits,
    /// Held while the thread lives, so that no other one removes its files.
    lock: OnceLock<File>,
}

impl OutputFiles {
    /// None yet. With `is_ephemeral` they are removed in the end.
    pub(crate) fn new(directory: PathBuf, is_ephemeral: bool) -> Self {
        Self {
            directory,
            is_ephemeral,
            limits: LIMITS,
            lock: OnceLock::new(),
        }
    }

    /// A new file for the command of this number.
    pub(super) fn create(&self, number: u64) -> io::Result<OutputFile> {
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)?;
        if self.lock.get().is_none() {
            let lock = File::open(&self.directory)?;
            // A command may hold a lock of its own; then nobody else removes the files either.
            if let Err(err) = lock.try_lock_shared() {
                tracing::debug!(error = %err, "the outputs are not locked");
            }
            // Another command may have been quicker; either of the locks holds.
            self.lock.set(lock).ok();
            if let Some(all) = self.directory.parent() {
                prune_threads(all, &self.directory, self.limits);
            }
        }
        prune_files(&self.directory, self.limits.thread_bytes);
        let path = self.directory.join(format!("{number}.txt"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let room = self.limits.file_bytes;
        Ok(OutputFile { file, path, room })
    }
}

impl Drop for OutputFiles {
    fn drop(&mut self) {
        let removed = if self.is_ephemeral {
            fs::remove_dir_all(&self.directory)
        } else {
            fs::remove_dir(&self.directory)
        };
        // Of an ephemeral thread nothing stays, not even the place, unless others use it.
        let place = self.directory.parent().filter(|_| self.is_ephemeral);
        let removed = removed.and_then(|()| place.map_or(Ok(()), fs::remove_dir));
        if let Err(err) = removed {
            tracing::trace!(error = %err, "outputs stay");
        }
    }
}

/// The file of one output.
#[derive(Debug)]
pub(super) struct OutputFile {
    file: File,
    pub(super) path: PathBuf,
    /// How much more may be written, in bytes.
    room: u64,
}

impl OutputFile {
    /// Takes what came next, as far as there is room. Returns how many bytes were written.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let n_bytes = usize::try_from(self.room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.file.write_all(bytes.split_at(n_bytes).0)?;
        let n_bytes = n_bytes as u64;
        self.room -= n_bytes;
        Ok(n_bytes)
    }

    /// Takes the file away.
    pub(super) fn remove(&self) {
        log_failure(&self.path, fs::remove_file(&self.path));
    }

    /// Puts the end of an output behind its start, and in between how much is left out.
    pub(super) fn write_end(&mut self, n_omitted: u64, end: &[u8]) -> io::Result<()> {
        if n_omitted > 0 {
            writeln!(self.file, "\n... {n_omitted} bytes omitted ...")?;
        }
        self.file.write_all(end)
    }
}

/// Something that can be removed.
struct Entry {
    path: PathBuf,
    changed: SystemTime,
    n_bytes: u64,
}

/// The entries of a directory, the newest first.
fn entries(directory: &Path, entry: impl Fn(PathBuf) -> Option<Entry>) -> Vec<Entry> {
    let found = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<Entry> = found.filter_map(|found| entry(found.path())).collect();
    found.sort_by_key(|entry| std::cmp::Reverse(entry.changed));
    found
}

fn file_entry(path: PathBuf) -> Option<Entry> {
    let metadata = path.symlink_metadata().ok()?;
    Some(Entry {
        changed: metadata.modified().ok()?,
        n_bytes: metadata.len(),
        path,
    })
}

fn thread_entry(path: PathBuf) -> Option<Entry> {
    let own = file_entry(path)?;
    let files = entries(&own.path, file_entry);
    let changed = files.iter().map(|file| file.changed);
    Some(Entry {
        changed: changed.fold(own.changed, SystemTime::max),
        n_bytes: files.iter().map(|file| file.n_bytes).sum(),
        path: own.path,
    })
}

/// Removes the oldest files until the rest is within the limit.
fn prune_files(directory: &Path, max_bytes: u64) {
    let mut n_kept = 0;
    for file in entries(directory, file_entry) {
        n_kept += file.n_bytes;
        if n_kept > max_bytes {
            log_failure(&file.path, fs::remove_file(&file.path));
        }
    }
}

/// Removes what other threads kept, if it is old or too much, and if none of them lives.
fn prune_threads(all: &Path, own: &Path, limits: Limits) {
    let now = SystemTime::now();
    let mut n_kept = 0;
    for thread in entries(all, thread_entry) {
        let age = now.duration_since(thread.changed).unwrap_or_default();
        n_kept += thread.n_bytes;
        let goes = age > limits.age || n_kept > limits.other_bytes;
        if !goes || thread.path == own {
            continue;
        }
        // No link is followed: what is no directory cannot be removed this way.
        let is_free = File::open(&thread.path).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_free {
            log_failure(&thread.path, fs::remove_dir_all(&thread.path));
        }
    }
}

fn log_failure(path: &Path, removed: io::Result<()>) {
    if let Err(err) = removed {
        tracing::debug!(path = %path.display(), error = %err, "an old output cannot be removed");
    }
}

#[cfg(test)]
mod tests;
