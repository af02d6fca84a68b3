//! The commands of a thread: each is watched by a task of its own from its start to the end of its
//! last process, so that a call can leave it in the background and another one come back to it.
//!
//! A *command session* is such a command with its number. It ends with the thread at the latest;
//! those that a turn started end when the turn is interrupted.

mod output;
pub(crate) mod output_files;
mod pump;
mod session;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent_protocol::{CommandExecution, CommandInfo};
use tokio::task::JoinSet;

use crate::environment::RunningCommand;
use crate::events::ItemEvents;

use output::Output;
use output_files::OutputFiles;

pub use output::WholeOutput;
pub use session::{CommandChunk, CommandSession, Ending, InputError};

/// How many commands may run at a time.
pub const MAX_LIVE: usize = 64;

/// How many that have ended are kept for a call that asks how.
const MAX_ENDED: usize = 64;

/// How long stopped commands may take to be gone.
const STOP_TIME: Duration = Duration::from_secs(3);

/// A command to watch.
pub struct NewCommand {
    /// As it was started.
    pub running: Box<dyn RunningCommand>,
    /// How it is shown.
    pub execution: CommandExecution,
    /// Where its output and, if its call leaves it, its end are told.
    pub events: ItemEvents,
    /// After so long it is ended.
    pub limit: Option<Duration>,
    /// Whether it has a terminal, so that it takes input.
    pub has_terminal: bool,
}

/// What the configuration says of the time that commands may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandLimits {
    /// After so long a command is ended that sets no limit of its own.
    pub default_timeout: Option<Duration>,
    /// How long one call may wait for more output.
    pub max_wait: Duration,
}

/// The commands of a thread.
pub struct CommandSessions {
    limits: CommandLimits,
    files: Arc<OutputFiles>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    sessions: BTreeMap<u64, Arc<CommandSession>>,
    last_id: u64,
    /// Counts turns, so that what one started can be told from the rest.
    turn: u64,
    tasks: JoinSet<()>,
}

impl CommandSessions {
    /// None yet.
    pub(crate) fn new(limits: CommandLimits, files: OutputFiles) -> Self {
        Self {
            limits,
            files: Arc::new(files),
            inner: Mutex::default(),
        }
    }

    /// What the configuration says of the time that commands may take.
    pub fn limits(&self) -> CommandLimits {
        self.limits
    }

    /// Watches a command from now on. If too many run, the one that has been idle longest is asked
    /// to end; its number is returned.
    pub fn start(&self, command: NewCommand) -> (Arc<CommandSession>, Option<u64>) {
        let mut inner = self.lock();
        while inner.tasks.try_join_next().is_some() {}
        inner.forget_old();
        let ended = inner.make_room();
        inner.last_id += 1;
        let (id, turn) = (inner.last_id, inner.turn);
        let output = Output::new(Arc::clone(&self.files), id);
        let (session, task) = pump::begin(turn, output, command);
        inner.sessions.insert(id, Arc::clone(&session));
        session.watched_by(inner.tasks.spawn(task));
        (session, ended)
    }

    /// The command of this number, if its call left it and nobody has been told of its end yet.
    pub fn get(&self, id: u64) -> Option<Arc<CommandSession>> {
        let session = self.lock().sessions.get(&id).cloned();
        session.filter(|session| session.is_left())
    }

    /// The conversation is an older one of so many items, which may name commands of another
    /// program: their numbers are not used again. No number is above the count of items that
    /// there were then.
    pub(crate) fn number_after(&self, n_items: usize) {
        self.lock().last_id = n_items as u64;
    }

    /// Nobody will ask for it any more.
    pub fn forget(&self, id: u64) {
        self.lock().sessions.remove(&id);
    }

    /// What runs in the background, oldest first.
    pub fn list(&self) -> Vec<CommandInfo> {
        let inner = self.lock();
        let live = inner.sessions.values().filter(|session| !session.is_gone());
        live.map(|session| session.info()).collect()
    }

    /// A turn begins.
    pub(crate) fn begin_turn(&self) {
        self.lock().turn += 1;
    }

    /// Ends what the running turn started, and waits until it is gone.
    pub(crate) async fn stop_turn(&self, why: &'static str) {
        let turn = self.lock().turn;
        self.stop(why, |session| session.turn() == turn).await;
    }

    /// Ends everything and waits until it is gone.
    pub(crate) async fn stop_all(&self, why: &'static str) {
        self.stop(why, |_| true).await;
    }

    async fn stop(&self, why: &'static str, which: impl Fn(&CommandSession) -> bool) {
        let sessions: Vec<Arc<CommandSession>> = {
            let inner = self.lock();
            let live = inner.sessions.values().filter(|session| !session.is_gone());
            live.filter(|session| which(session)).cloned().collect()
        };
        for session in &sessions {
            session.ask_to_stop(why);
        }
        let all_gone = async {
            for session in &sessions {
                session.gone().await;
            }
        };
        if tokio::time::timeout(STOP_TIME, all_gone).await.is_err() {
            tracing::warn!("commands do not end; their tasks are broken off");
            for session in &sessions {
                session.break_off().await;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Asks the command to end that has been idle longest, if too many run.
    fn make_room(&mut self) -> Option<u64> {
        let live = || self.sessions.values().filter(|session| !session.is_gone());
        if live().count() < MAX_LIVE {
            return None;
        }
        let idle = live().min_by_key(|session| session.last_used())?;
        idle.ask_to_stop("too many commands were running");
        Some(idle.id())
    }

    /// Drops those that ended long ago and that nobody asked for.
    fn forget_old(&mut self) {
        let ended = self
            .sessions
            .iter()
            .filter(|(_, session)| session.is_gone());
        let mut ended: Vec<(Instant, u64)> = ended
            .map(|(id, session)| (session.last_used(), *id))
            .collect();
        ended.sort_unstable();
        let n_over = ended.len().saturating_sub(MAX_ENDED);
        for (_, id) in ended.into_iter().take(n_over) {
            self.sessions.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests;
