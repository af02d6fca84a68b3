//! The task that owns a session: it takes operations one after another and drives the turn
//! that runs.

use std::collections::VecDeque;
use std::pin::pin;

use agent_protocol::{
    ApprovalChoice, Event, FailureKind, NoticeEvent, Op, ThreadEvent, TurnFailure, UserInput,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::commands::CommandSessions;
use crate::events::EventSink;
use crate::turn::{StopCause, TurnControl, Unread, run_regular_task};

/// Runs until it is told to shut down or nobody can send operations any more.
pub(crate) async fn run_actor(session: Session, ops: mpsc::Receiver<Op>) {
    let mut actor = Actor {
        session,
        inbox: Inbox {
            ops,
            deferred: VecDeque::new(),
        },
    };
    actor.run().await;
    let session = &mut actor.session;
    session.commands.stop_all("the session ended").await;
    session.log.sync();
    session.sink.emit(Event::Thread(ThreadEvent::Closed)).await;
}

struct Actor {
    session: Session,
    inbox: Inbox,
}

/// Operations as they come, and those that had to wait.
struct Inbox {
    ops: mpsc::Receiver<Op>,
    /// What came while something else ran, and is done after it. Bounded by how fast a person
    /// types.
    deferred: VecDeque<Op>,
}

impl Inbox {
    /// The next operation; `None` when nobody sends any.
    async fn next(&mut self) -> Option<Op> {
        match self.deferred.pop_front() {
            Some(op) => Some(op),
            None => self.ops.recv().await,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    TakeOps,
    ShutDown,
}

impl Actor {
    async fn run(&mut self) {
        while let Some(op) = self.inbox.next().await {
            if self.take(op).await == Next::ShutDown {
                return;
            }
        }
    }

    async fn take(&mut self, op: Op) -> Next {
        match op {
            Op::UserTurn {
                input,
                output_schema,
            } => return self.drive_turns(input, output_schema).await,
            Op::UserCommand { command } => return self.drive_user_command(command).await,
            Op::Configure(change) => self.session.configure(change).await,
            Op::ReportContext => self.session.report_context().await,
            Op::ShowDiff => return self.drive_diff().await,
            Op::ListCommands => tell_commands(&self.session.commands, &self.session.sink).await,
            Op::StopCommands => self.session.commands.stop_all(STOPPED).await,
            // Nothing runs, nothing waits for an answer.
            Op::Interrupt | Op::Answer { .. } | Op::Reply { .. } => {}
            Op::Shutdown => return Next::ShutDown,
        }
        Next::TakeOps
    }

    /// Runs a turn, and another one with what the user said too late for it.
    async fn drive_turns(&mut self, input: Vec<UserInput>, schema: Option<Value>) -> Next {
        let mut input = input;
        let mut schema = schema;
        loop {
            let (next, unread) = self.drive_turn(input, schema.take()).await;
            match unread {
                Unread::Nothing => return next,
                Unread::Next(unread) if next == Next::TakeOps => input = unread,
                Unread::Next(input) | Unread::Return(input) => {
                    let returned = ThreadEvent::InputReturned { input };
                    self.session.sink.emit(Event::Thread(returned)).await;
                    return next;
                }
            }
        }
    }

    /// Runs a turn and, beside it, takes the operations that concern it.
    async fn drive_turn(&mut self, input: Vec<UserInput>, schema: Option<Value>) -> (Next, Unread) {
        let cancel = CancellationToken::new();
        let (steering, steered) = mpsc::unbounded_channel(); // Bounded by how fast a person types.
        let deadline = self.session.settings.limits.timeout;
        let consent = std::sync::Arc::clone(&self.session.consent);
        let commands = std::sync::Arc::clone(&self.session.commands);
        let sink = self.session.sink.clone();
        let control = TurnControl::new(cancel.clone(), steered);
        let cause = control.cause();
        let inbox = &mut self.inbox;
        let mut turn = pin!(run_regular_task(&mut self.session, control, input, schema));
        let mut deadline = pin!(sleep_or_forever(deadline));
        let mut next = Next::TakeOps;
        let mut listening = true;
        loop {
            // Each branch is cancel-safe: `recv` loses nothing, the pinned futures stay as they
            // are.
            let op = tokio::select! {
                biased;
                unread = &mut turn => return (next, unread),
                op = inbox.ops.recv(), if listening => op,
                () = &mut deadline, if !cancel.is_cancelled() => {
                    cause.stop(&cancel, StopCause::Failed(time_is_up()));
                    continue;
                }
            };
            match op {
                Some(Op::UserTurn { input, .. }) => {
                    // The turn hands back what it did not read.
                    steering.send(input).ok();
                }
                Some(Op::Interrupt) => cause.stop(&cancel, StopCause::Interrupted),
                Some(Op::Answer {
                    request_id,
                    choice,
                    note,
                }) => {
                    consent.answer(request_id, &choice, note);
                    if choice == ApprovalChoice::Stop {
                        cause.stop(&cancel, StopCause::Interrupted);
                    }
                }
                Some(Op::Reply {
                    request_id,
                    answers,
                }) => consent.reply(request_id, answers),
                Some(Op::ListCommands) => tell_commands(&commands, &sink).await,
                Some(Op::StopCommands) => commands.stop_all(STOPPED).await,
                Some(
                    op @ (Op::Configure(_)
                    | Op::UserCommand { .. }
                    | Op::ReportContext
                    | Op::ShowDiff),
                ) => inbox.deferred.push_back(op),
                Some(Op::Shutdown) | None => {
                    listening = false;
                    next = Next::ShutDown;
                    cause.stop(&cancel, StopCause::Interrupted);
                }
            }
        }
    }

    async fn drive_user_command(&mut self, command: String) -> Next {
        let cancel = CancellationToken::new();
        let work = self.session.run_user_command(command, cancel.clone());
        beside(work, &cancel, &mut self.inbox).await
    }

    async fn drive_diff(&mut self) -> Next {
        let cancel = CancellationToken::new();
        let work = self.session.show_diff(cancel.clone());
        beside(work, &cancel, &mut self.inbox).await
    }
}

/// Why commands end that the user stops.
const STOPPED: &str = "the user stopped it";

/// Tells what runs in the background.
async fn tell_commands(commands: &CommandSessions, sink: &EventSink) {
    let commands = commands.list();
    let notice = NoticeEvent::Commands { commands };
    sink.emit(Event::Notice(notice)).await;
}

/// Waits for work of the user's and lets the user stop it; everything else is done after it.
async fn beside(
    work: impl Future<Output = ()>,
    cancel: &CancellationToken,
    inbox: &mut Inbox,
) -> Next {
    let mut work = pin!(work);
    let mut next = Next::TakeOps;
    loop {
        // Both branches are cancel-safe.
        let op = tokio::select! {
            biased;
            () = &mut work => return next,
            op = inbox.ops.recv(), if next == Next::TakeOps => op,
        };
        match op {
            Some(Op::Interrupt) => cancel.cancel(),
            Some(Op::Shutdown) | None => {
                next = Next::ShutDown;
                cancel.cancel();
            }
            Some(op) => inbox.deferred.push_back(op),
        }
    }
}

fn time_is_up() -> TurnFailure {
    TurnFailure {
        kind: FailureKind::Budget,
        message: "the time limit of the turn was reached".to_owned(),
        hint: Some("raise it with `--timeout SECONDS`".to_owned()),
    }
}

async fn sleep_or_forever(time: Option<std::time::Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
