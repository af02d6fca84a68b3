//! One command and what is known of it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agent_process::{Capture, Captured};
use agent_protocol::{CommandExecution, CommandInfo, ItemDelta, ItemStatus, TurnItem};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::output::{Output, WholeOutput};
use crate::environment::CommandEnd;
use crate::events::ItemEvents;

/// Output that is kept for the next call that asks, in bytes.
const UNREAD_BYTES: usize = 256 << 10;
/// Output that is shown while it arrives, in bytes; the rest is shown at the end.
const SHOWN_BYTES: usize = 256 << 10;
/// Orders that wait to be taken by the watching task: calls that type come one after the other.
const ORDERS_CAPACITY: usize = 16;

/// How a command came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Its shell ended.
    Ended(CommandEnd),
    /// The time limit was reached.
    TimedOut(Duration),
    /// It was stopped: why.
    Stopped(&'static str),
    /// It cannot be watched any more.
    Lost(String),
}

impl Ending {
    /// The exit status, if it has one.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Ended(end) => Some(end.code()),
            Self::TimedOut(_) | Self::Stopped(_) | Self::Lost(_) => None,
        }
    }

    fn status(&self) -> ItemStatus {
        match self.exit_code() {
            Some(0) => ItemStatus::Completed,
            Some(_) | None => ItemStatus::Failed,
        }
    }
}

/// Why a command takes no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// It has no terminal.
    #[error("its standard input is closed; start the command with `tty: true` to write to it")]
    Closed,
    /// It has ended.
    #[error("it has ended")]
    Ended,
    /// It does not read what it was sent.
    #[error("it does not read what was written to it before")]
    Full,
}

/// What a call learns of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChunk {
    /// What it printed since the last call asked.
    pub captured: Captured,
    /// How it ended; `None` while its shell runs.
    pub ending: Option<Ending>,
    /// Whether processes of it are left although its shell has ended.
    pub leftovers: bool,
    /// What the sandbox found after it.
    pub findings: Vec<String>,
    /// How long it has been running.
    pub wall: Duration,
}

/// What the watching task is asked for.
#[derive(Debug)]
pub(super) enum Order {
    /// To type this; the answer tells whether it was taken.
    Input(Vec<u8>, oneshot::Sender<Result<(), InputError>>),
    Stop(&'static str),
}

/// How far a command has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Running,
    /// Its shell has ended; its processes may go on.
    Ended,
    /// Nothing of it is left.
    Gone,
}

/// A command that is watched.
pub struct CommandSession {
    id: u64,
    turn: u64,
    execution: CommandExecution,
    has_terminal: bool,
    started: Instant,
    state: Mutex<State>,
    phase: watch::Sender<Phase>,
    orders: mpsc::Sender<Order>,
    events: ItemEvents,
    task: OnceLock<AbortHandle>,
}

struct State {
    all: Output,
    /// Since its call left it.
    unread: Option<Capture>,
    n_shown: usize,
    ending: Option<Ending>,
    /// Its end was told, or its call tells it.
    is_told: bool,
    findings: Vec<String>,
    leftovers: bool,
    last_used: Instant,
    ended: Option<Instant>,
}

impl CommandSession {
    pub(super) fn new(
        (turn, output): (u64, Output),
        execution: CommandExecution,
        has_terminal: bool,
        events: ItemEvents,
    ) -> (Arc<Self>, mpsc::Receiver<Order>) {
        let (orders, receiver) = mpsc::channel(ORDERS_CAPACITY);
        let now = Instant::now();
        let session = Self {
            id: output.number(),
            turn,
            execution,
            has_terminal,
            started: now,
            state: Mutex::new(State {
                all: output,
                unread: None,
                n_shown: 0,
                ending: None,
                is_told: true,
                findings: Vec::new(),
                leftovers: false,
                last_used: now,
                ended: None,
            }),
            phase: watch::Sender::new(Phase::Running),
            orders,
            events,
            task: OnceLock::new(),
        };
        (Arc::new(session), receiver)
    }

    /// Its number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// How it is shown.
    pub fn execution(&self) -> &CommandExecution {
        &self.execution
    }

    /// Whether it has a terminal.
    pub fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    pub(super) fn last_used(&self) -> Instant {
        self.lock().last_used
    }

    pub(super) fn is_gone(&self) -> bool {
        *self.phase.borrow() == Phase::Gone
    }

    /// Whether its call does not wait for it any more.
    pub(super) fn is_left(&self) -> bool {
        self.lock().unread.is_some()
    }

    pub(super) fn info(&self) -> CommandInfo {
        CommandInfo {
            session_id: self.id,
            command: self.execution.command.clone(),
            running_ms: millis(self.started.elapsed()),
        }
    }

    /// Waits until its shell, or if that has ended its last process, has ended, or the time has
    /// come.
    ///
    /// # Cancel safety
    /// A call that is dropped has lost nothing.
    pub async fn ended_by(&self, deadline: Option<tokio::time::Instant>) {
        let next = match *self.phase.borrow() {
            Phase::Running => Phase::Ended,
            Phase::Ended | Phase::Gone => Phase::Gone,
        };
        let ended = self.reached(next);
        match deadline {
            // Either way the state tells.
            Some(deadline) => drop(tokio::time::timeout_at(deadline, ended).await),
            None => ended.await,
        }
    }

    /// Waits until nothing of it is left.
    ///
    /// # Cancel safety
    /// A call that is dropped has lost nothing.
    pub async fn gone(&self) {
        self.reached(Phase::Gone).await;
    }

    async fn reached(&self, wanted: Phase) {
        let mut phase = self.phase.subscribe();
        // The sender is here: it cannot be gone.
        let _phase = phase.wait_for(|phase| *phase >= wanted).await;
    }

    /// Asks for its end. The first reason counts.
    pub fn ask_to_stop(&self, why: &'static str) {
        // A full queue means that it is being asked already, or does not read its input; then
        // the end of its task ends it.
        if self.orders.try_send(Order::Stop(why)).is_err() {
            tracing::debug!(session = self.id, "a command could not be asked to stop");
        }
    }

    /// Types something into its terminal.
    ///
    /// # Errors
    /// When it takes no input.
    ///
    /// # Cancel safety
    /// When it is dropped, the input may have been typed.
    pub async fn write(&self, bytes: Vec<u8>) -> Result<(), InputError> {
        if *self.phase.borrow() != Phase::Running {
            return Err(InputError::Ended);
        }
        if !self.has_terminal {
            return Err(InputError::Closed);
        }
        self.lock().last_used = Instant::now();
        let (answer, answered) = oneshot::channel();
        let sent = self.orders.try_send(Order::Input(bytes, answer));
        sent.map_err(|_full| InputError::Full)?;
        answered.await.unwrap_or(Err(InputError::Ended))
    }

    /// What is known of it. If its shell still runs it is left in the background, and its end is
    /// told by itself.
    pub async fn leave(&self) -> CommandChunk {
        let (chunk, is_left) = {
            let mut state = self.lock();
            let chunk = self.chunk(&mut state);
            let is_left = chunk.ending.is_none() && state.unread.is_none();
            state.is_told &= !is_left;
            if chunk.ending.is_none() || chunk.leftovers {
                let mut unread = Capture::new(UNREAD_BYTES);
                unread.push(state.all.ends().unfinished());
                state.unread.get_or_insert(unread);
            }
            (chunk, is_left)
        };
        if is_left {
            let execution = CommandExecution {
                session_id: Some(self.id),
                aggregated_output: chunk.captured.text.clone(),
                ..self.execution.clone()
            };
            let item = TurnItem::CommandExecution(execution);
            self.events.updated(item).await;
        }
        chunk
    }

    fn chunk(&self, state: &mut State) -> CommandChunk {
        state.last_used = Instant::now();
        let captured = match &mut state.unread {
            Some(unread) => unread.take(),
            None if state.ending.is_none() => state.all.ends().captured_so_far(),
            None => state.all.ends().captured(),
        };
        CommandChunk {
            captured,
            ending: state.ending.clone(),
            leftovers: state.leftovers,
            findings: state.findings.clone(),
            wall: self.wall(state),
        }
    }

    /// The step as it ended; call it when it has.
    pub fn ended_execution(&self) -> CommandExecution {
        let state = self.lock();
        let ending = state.ending.as_ref();
        CommandExecution {
            aggregated_output: state.all.ends().captured().text,
            exit_code: ending.and_then(Ending::exit_code),
            status: ending.map_or(ItemStatus::InProgress, Ending::status),
            duration_ms: Some(millis(self.wall(&state))),
            session_id: state.unread.is_some().then_some(self.id),
            ..self.execution.clone()
        }
    }

    /// Says where the whole of what it printed is; from the first time on that is a file.
    pub fn whole_output(&self) -> WholeOutput {
        self.lock().all.whole()
    }

    fn wall(&self, state: &State) -> Duration {
        let end = state.ended.unwrap_or_else(Instant::now);
        end.duration_since(self.started)
    }

    /// Takes what it printed.
    pub(super) async fn take_output(&self, bytes: &[u8]) {
        let is_shown = {
            let mut state = self.lock();
            state.all.push(bytes);
            if let Some(unread) = &mut state.unread {
                unread.push(bytes);
            }
            let is_shown = state.unread.is_none() && state.n_shown < SHOWN_BYTES;
            state.n_shown += bytes.len();
            is_shown
        };
        if is_shown {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.events.delta(ItemDelta::CommandOutput { text }).await;
        }
    }

    /// Its shell has ended, or it was ended.
    pub(super) async fn end(&self, ending: Ending, findings: Vec<String>, leftovers: bool) {
        {
            let mut state = self.lock();
            state.ending = Some(ending);
            state.findings = findings;
            state.leftovers = leftovers;
            state.ended = Some(Instant::now());
            if !leftovers {
                state.all.close();
            }
        }
        self.tell_end().await;
        self.phase.send_replace(Phase::Ended);
    }

    /// Tells its end unless it was told or its call does it.
    async fn tell_end(&self) {
        if self.lock().is_told {
            return;
        }
        let item = TurnItem::CommandExecution(self.ended_execution());
        self.events.completed(item).await;
        self.lock().is_told = true;
    }

    /// The task that watches it.
    pub(super) fn watched_by(&self, task: AbortHandle) {
        // It is set once, by who starts the task.
        self.task.set(task).ok();
    }

    /// Ends its task, and with that the command.
    pub(super) async fn break_off(&self) {
        if let Some(task) = self.task.get() {
            task.abort();
        }
        self.gone().await;
        self.tell_end().await;
    }

    /// Nothing of it is left.
    pub(super) fn set_gone(&self) {
        let mut state = self.lock();
        state.all.close();
        state.leftovers = false;
        // Its task was broken off.
        state
            .ending
            .get_or_insert(Ending::Stopped("the session ended"));
        drop(state);
        self.phase.send_replace(Phase::Gone);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
