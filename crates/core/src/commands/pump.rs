//! The task that watches one command: it reads its output all the time, so that the command never
//! waits for a reader, and sees its end, its time limit and the wish to stop it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::NewCommand;
use super::output::Output;
use super::session::{CommandSession, Ending, InputError, Order};
use crate::environment::{CommandEvent, RunningCommand};

/// How long a command may take to end after it was asked to.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// Input that may wait for a terminal that is not read, in bytes.
const MAX_UNWRITTEN_BYTES: usize = 64 << 10;
/// How long output is waited for after the shell has ended, while processes still hold it.
const DRAIN_GRACE: Duration = Duration::from_millis(200);
/// How long the last processes of a command are waited for once its output is closed.
const GONE_GRACE: Duration = Duration::from_millis(100);

/// A command with its task. Dropping the task ends the command.
pub(super) fn begin(
    turn: u64,
    output: Output,
    command: NewCommand,
) -> (Arc<CommandSession>, impl Future<Output = ()> + Send + use<>) {
    let NewCommand {
        running,
        execution,
        events,
        limit,
        has_terminal,
    } = command;
    let (session, orders) = CommandSession::new((turn, output), execution, has_terminal, events);
    let pump = Pump {
        session: Arc::clone(&session),
        command: running,
        orders,
        output_is_open: true,
    };
    (session, Guard(pump).run(limit))
}

struct Pump {
    session: Arc<CommandSession>,
    command: Box<dyn RunningCommand>,
    orders: mpsc::Receiver<Order>,
    output_is_open: bool,
}

/// Says that the command is gone, however its task ends.
struct Guard(Pump);

impl Guard {
    async fn run(mut self, limit: Option<Duration>) {
        self.0.run(limit).await;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.session.set_gone();
    }
}

impl Pump {
    async fn run(&mut self, limit: Option<Duration>) {
        let mut time_is_up = std::pin::pin!(sleep_or_forever(limit));
        let timed_out = Ending::TimedOut(limit.unwrap_or_default());
        let ending = self.watch(time_is_up.as_mut(), timed_out).await;
        let mut leftovers = false;
        match &ending {
            Ending::Ended(_) => {
                self.drain().await;
                let gone = tokio::time::timeout(GONE_GRACE, self.command.gone()).await;
                leftovers = gone.is_err() && self.command.has_leftovers();
            }
            Ending::TimedOut(_) | Ending::Stopped(_) => {
                self.command.stop(STOP_GRACE).await;
                self.drain().await;
            }
            Ending::Lost(_) => {}
        }
        let findings = self.command.findings();
        self.session.end(ending, findings, leftovers).await;
        if leftovers {
            self.watch_leftovers(time_is_up).await;
        }
    }

    async fn watch(
        &mut self,
        mut time_is_up: Pin<&mut impl Future<Output = ()>>,
        timed_out: Ending,
    ) -> Ending {
        loop {
            // Each branch is cancel-safe: `recv` and `next` lose nothing.
            let event = tokio::select! {
                biased;
                Some(order) = self.orders.recv() => match order {
                    Order::Stop(why) => return Ending::Stopped(why),
                    Order::Input(bytes, answer) => {
                        // Nobody waits any more when the call was stopped.
                        answer.send(self.write(&bytes)).ok();
                        continue;
                    }
                },
                // Before the output, of which there may always be some.
                () = &mut time_is_up => return timed_out,
                event = next(&mut *self.command, self.output_is_open) => event,
            };
            match event {
                CommandEvent::Output(bytes) => self.session.take_output(&bytes).await,
                CommandEvent::OutputClosed => self.output_is_open = false,
                CommandEvent::Ended(end) => return Ending::Ended(end),
                CommandEvent::Lost(why) => return Ending::Lost(why),
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), InputError> {
        if self.command.n_unwritten() + bytes.len() > MAX_UNWRITTEN_BYTES {
            return Err(InputError::Full);
        }
        self.command.write(bytes);
        Ok(())
    }

    /// Takes what was printed and not read yet. Processes that still hold the output are not
    /// waited for beyond the grace.
    async fn drain(&mut self) {
        let deadline = tokio::time::Instant::now() + DRAIN_GRACE;
        while self.output_is_open {
            match tokio::time::timeout_at(deadline, self.command.next()).await {
                Ok(CommandEvent::Output(bytes)) => self.session.take_output(&bytes).await,
                Ok(CommandEvent::OutputClosed | CommandEvent::Lost(_)) => {
                    self.output_is_open = false;
                }
                Ok(CommandEvent::Ended(_)) => {}
                Err(_) => return,
            }
        }
    }

    /// The processes that a shell left behind: their output is read on, until they are gone.
    async fn watch_leftovers(&mut self, mut time_is_up: Pin<&mut impl Future<Output = ()>>) {
        loop {
            // Each branch is cancel-safe.
            tokio::select! {
                biased;
                Some(order) = self.orders.recv() => if matches!(order, Order::Stop(_)) {
                    self.command.stop(STOP_GRACE).await;
                    return;
                },
                () = &mut time_is_up => {
                    self.command.stop(STOP_GRACE).await;
                    return;
                }
                event = leftovers_event(&mut *self.command, self.output_is_open) => match event {
                    Some(CommandEvent::Output(bytes)) => self.session.take_output(&bytes).await,
                    Some(CommandEvent::OutputClosed | CommandEvent::Lost(_)) => {
                        self.output_is_open = false;
                    }
                    Some(CommandEvent::Ended(_)) => {}
                    None => return,
                },
            }
        }
    }
}

/// What processes that are left print; `None` once none is left.
async fn leftovers_event(
    command: &mut dyn RunningCommand,
    output_is_open: bool,
) -> Option<CommandEvent> {
    if output_is_open {
        return Some(command.next().await);
    }
    command.gone().await;
    None
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

async fn sleep_or_forever(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
