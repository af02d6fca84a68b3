//! The files of the workspace, for `@`.
//!
//! One thread of its own lists them and matches them; it owns the list. Whoever asks never
//! waits: a query replaces the one before, and the best matches so far can be read at any time.

mod worker;

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Matches that are reported.
pub(crate) const MAX_MATCHES: usize = 8;

/// A file that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    /// Its path below the root; folders end with a slash.
    pub path: String,
    /// Which of its characters match, in order.
    pub matched: Vec<usize>,
}

/// What the two sides share.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    query: String,
    /// Counts queries, so that the worker sees that there is a new one.
    asked: u64,
    /// The answer, with the query that it is for.
    answer: Option<(String, Vec<Match>)>,
    stopped: bool,
    /// All files are listed.
    complete: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list of files. Dropping it stops its thread.
#[derive(Debug)]
pub(crate) struct FileIndex {
    shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
}

impl FileIndex {
    /// Begins to list the files below `root` that no ignore file excludes. Hidden files are left
    /// out, links are not followed. `notify` is called on the thread of the index whenever
    /// [`Self::results`] has something new.
    pub(crate) fn start(root: &Path, notify: impl Fn() + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let root = root.to_owned();
        let worker = std::thread::Builder::new()
            .name("file index".to_owned())
            .spawn(move || worker::run(&root, &theirs, &notify))
            .ok();
        Self { shared, worker }
    }

    /// Asks for the files that match a query.
    pub(crate) fn search(&self, query: &str) {
        let mut state = self.shared.lock();
        state.asked += 1;
        query.clone_into(&mut state.query);
        self.shared.changed.notify_one();
    }

    /// The newest answer and the query that it is for: the best matches first, at most
    /// [`MAX_MATCHES`]. `None` before the first answer.
    pub(crate) fn results(&self) -> Option<(String, Vec<Match>)> {
        self.shared.lock().answer.clone()
    }

    /// All files are listed; until then the answer may change.
    #[cfg(test)]
    pub(crate) fn is_complete(&self) -> bool {
        self.shared.lock().complete
    }
}

impl Drop for FileIndex {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_one();
        if let Some(worker) = self.worker.take() {
            // A worker that panicked has said so; there is nothing to save.
            drop(worker.join());
        }
    }
}

#[cfg(test)]
mod tests;
