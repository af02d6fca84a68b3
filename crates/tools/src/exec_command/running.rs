//! A command while it runs: its output is kept in bounded memory, its end, its time limit and
//! the user's wish to stop are watched.

use std::time::{Duration, Instant};

use agent_core::environment::{CommandEvent, RunningCommand};
use agent_core::tool::{ToolContext, ToolOutcome};
use agent_process::Capture;
use agent_protocol::ItemDelta;

use super::Args;
use super::report::{Ending, Report};

/// Output that is kept in memory, in bytes.
const KEPT_BYTES: usize = 1 << 20;
/// Output that is shown while it arrives, in bytes; the rest is shown at the end.
const SHOWN_BYTES: usize = 256 << 10;
/// How long a command may take to end after it was asked to.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// How long output is waited for after the shell has ended, while processes still hold it.
const DRAIN_GRACE: Duration = Duration::from_millis(200);
/// How long the last processes of a command are waited for once its output is closed.
const GONE_GRACE: Duration = Duration::from_millis(100);

/// Watches a command to its end.
pub(super) async fn run(
    args: &Args,
    context: &ToolContext,
    mut command: Box<dyn RunningCommand>,
) -> ToolOutcome {
    let started = Instant::now();
    let mut output = Output {
        capture: Capture::new(KEPT_BYTES),
        n_shown: 0,
        open: true,
    };
    let ending = watch(args, context, &mut *command, &mut output).await;
    let mut leftovers = false;
    match ending {
        Ending::Ended(_) => {
            drain(context, &mut *command, &mut output).await;
            let gone = tokio::time::timeout(GONE_GRACE, command.gone()).await;
            leftovers = gone.is_err() && command.has_leftovers();
        }
        Ending::TimedOut(_) | Ending::Aborted => {
            command.stop(STOP_GRACE).await;
            drain(context, &mut *command, &mut output).await;
        }
        Ending::Lost(_) => {}
    }
    let report = Report {
        wall: started.elapsed(),
        captured: output.capture.captured(),
        findings: command.findings(),
        ending,
        leftovers,
    };
    if leftovers {
        context.environment.keep_running(command);
    }
    report.outcome(args, context)
}

/// What has been printed so far.
struct Output {
    capture: Capture,
    n_shown: usize,
    open: bool,
}

impl Output {
    async fn take(&mut self, context: &ToolContext, bytes: &[u8]) {
        self.capture.push(bytes);
        if self.n_shown < SHOWN_BYTES {
            self.n_shown += bytes.len();
            let text = String::from_utf8_lossy(bytes).into_owned();
            context
                .events
                .delta(ItemDelta::CommandOutput { text })
                .await;
        }
    }
}

async fn watch(
    args: &Args,
    context: &ToolContext,
    command: &mut dyn RunningCommand,
    output: &mut Output,
) -> Ending {
    let limit = args.timeout_ms.map(Duration::from_millis);
    let mut time_is_up = std::pin::pin!(sleep_or_forever(limit));
    loop {
        // Each branch is cancel-safe: `next` loses nothing.
        let event = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Ending::Aborted,
            event = next(command, output.open) => event,
            () = &mut time_is_up => return Ending::TimedOut(limit.unwrap_or_default()),
        };
        match event {
            CommandEvent::Output(bytes) => output.take(context, &bytes).await,
            CommandEvent::OutputClosed => output.open = false,
            CommandEvent::Ended(end) => return Ending::Ended(end),
            CommandEvent::Lost(why) => return Ending::Lost(why),
        }
    }
}

/// The next event; once the output is closed, only the end is one.
async fn next(command: &mut dyn RunningCommand, output_is_open: bool) -> CommandEvent {
    loop {
        let event = command.next().await;
        let is_output = matches!(event, CommandEvent::Output(_) | CommandEvent::OutputClosed);
        if output_is_open || !is_output {
            return event;
        }
    }
}

/// Takes what was printed and not read yet. Processes that still hold the output are not
/// waited for beyond the grace.
async fn drain(context: &ToolContext, command: &mut dyn RunningCommand, output: &mut Output) {
    let deadline = tokio::time::Instant::now() + DRAIN_GRACE;
    while output.open {
        match tokio::time::timeout_at(deadline, command.next()).await {
            Ok(CommandEvent::Output(bytes)) => output.take(context, &bytes).await,
            Ok(CommandEvent::OutputClosed | CommandEvent::Lost(_)) | Err(_) => {
                output.open = false;
            }
            Ok(CommandEvent::Ended(_)) => {}
        }
    }
}

async fn sleep_or_forever(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
