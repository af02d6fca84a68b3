//! Work that would keep the loop waiting: reading session files, finding files for mentions.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::mentions::{FileIndex, Match};

/// How long work that stops is waited for.
const STOP_TIME: Duration = Duration::from_millis(500);

/// Work that was done.
#[derive(Debug)]
pub(super) enum Done {
    /// The files that a mention may mean.
    Mentions(String, Vec<Match>),
    /// The image on the clipboard is in this file.
    Image(Result<PathBuf, String>),
    /// What there is on this machine to work with.
    LookedAround(Vec<String>),
    /// The work broke; a fault of the program.
    Broken(String),
    /// An editor was left.
    Edited(Result<String, String>),
    /// The list of sessions.
    Sessions {
        sessions: Result<Vec<agent_core::SessionSummary>, String>,
        all: bool,
        now: SystemTime,
    },
}

/// Does the work.
pub(super) struct Worker {
    tasks: JoinSet<Done>,
    index: Option<FileIndex>,
    notify: mpsc::Sender<()>,
    notified: mpsc::Receiver<()>,
}

impl Worker {
    pub(super) fn new() -> Self {
        let (notify, notified) = mpsc::channel(1);
        Self {
            tasks: JoinSet::new(),
            index: None,
            notify,
            notified,
        }
    }

    /// Does something that blocks.
    pub(super) fn spawn(&mut self, work: impl FnOnce() -> Done + Send + 'static) {
        self.tasks.spawn_blocking(work);
    }

    /// Does something that waits.
    pub(super) fn spawn_waiting(&mut self, work: impl Future<Output = Done> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Finds files below a directory; the results come as they are found.
    pub(super) fn search(&mut self, root: &Path, query: &str) {
        let notify = self.notify.clone();
        let index = self.index.get_or_insert_with(|| {
            // One word that there is news is enough, however much of it there is.
            FileIndex::start(root, move || {
                notify.try_send(()).ok();
            })
        });
        index.search(query);
    }

    /// The next thing that was done.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub(super) async fn next(&mut self) -> Done {
        loop {
            tokio::select! {
                Some(joined) = self.tasks.join_next() => {
                    return joined.unwrap_or_else(|err| Done::Broken(err.to_string()));
                }
                Some(()) = self.notified.recv() => {
                    if let Some((query, matches)) = self.index.as_ref().and_then(FileIndex::results) {
                        return Done::Mentions(query, matches);
                    }
                }
            }
        }
    }

    /// Stops; what still reads a file ends by itself. Work that blocks cannot be called off: an
    /// editor that is open does not keep the program from its end.
    pub(super) async fn stop(&mut self) {
        self.index = None;
        // Late work is left to the runtime, which does not wait for it either.
        tokio::time::timeout(STOP_TIME, self.tasks.shutdown())
            .await
            .ok();
    }
}
