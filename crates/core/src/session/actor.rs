//! The task that owns a session: it takes operations one after another and drives the turn
//! that runs.

use std::pin::pin;

use agent_protocol::{Event, FailureKind, Op, ThreadEvent, TurnFailure, UserInput};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::turn::{StopCause, TurnControl, run_regular_task};

/// Runs until it is told to shut down or nobody can send operations any more.
pub(crate) async fn run_actor(mut session: Session, mut ops: mpsc::Receiver<Op>) {
    while let Some(op) = ops.recv().await {
        match op {
            Op::UserTurn {
                input,
                output_schema,
            } => {
                if drive_turn(&mut session, &mut ops, input, output_schema).await == Next::ShutDown
                {
                    break;
                }
            }
            // Nothing runs, nothing waits for an answer.
            Op::Interrupt | Op::Answer { .. } => {}
            Op::Shutdown => break,
        }
    }
    session.environment.stop_all().await;
    session.log.sync();
    session.sink.emit(Event::Thread(ThreadEvent::Closed)).await;
}

#[derive(PartialEq)]
enum Next {
    TakeOps,
    ShutDown,
}

/// Runs a turn and, beside it, takes the operations that concern it.
async fn drive_turn(
    session: &mut Session,
    ops: &mut mpsc::Receiver<Op>,
    input: Vec<UserInput>,
    output_schema: Option<Value>,
) -> Next {
    let cancel = CancellationToken::new();
    let (steering, steered) = mpsc::unbounded_channel(); // Bounded by how fast a person types.
    let deadline = session.settings.limits.timeout;
    let control = TurnControl::new(cancel.clone(), steered);
    let cause = control.cause();
    let mut turn = pin!(run_regular_task(session, control, input, output_schema));
    let mut deadline = pin!(sleep_or_forever(deadline));
    let mut next = Next::TakeOps;
    let mut listening = true;
    loop {
        // Each branch is cancel-safe: `recv` loses nothing, the pinned futures stay as they are.
        tokio::select! {
            biased;
            () = &mut turn => return next,
            op = ops.recv(), if listening => match op {
                Some(Op::UserTurn { input, .. }) => {
                    // The turn may have ended in this very moment; then nothing reads it.
                    steering.send(input).ok();
                }
                Some(Op::Interrupt) => cause.stop(&cancel, StopCause::Interrupted),
                Some(Op::Answer { .. }) => {}
                Some(Op::Shutdown) | None => {
                    listening = false;
                    next = Next::ShutDown;
                    cause.stop(&cancel, StopCause::Interrupted);
                }
            },
            () = &mut deadline, if !cancel.is_cancelled() => {
                cause.stop(&cancel, StopCause::Failed(time_is_up()));
            }
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
