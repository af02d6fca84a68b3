//! Signals that concern the interface.

use std::io;

use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// End, with this number.
    End(i32),
    /// Stop until the shell goes on with the job.
    Stop,
    /// The job goes on after it was stopped by a signal that cannot be caught.
    Continue,
}

/// Hears signals.
pub(super) struct Signals {
    hang_up: Stream,
    interrupt: Stream,
    terminate: Stream,
    stop: Stream,
    go_on: Stream,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn listen() -> io::Result<Self> {
        // SIGTSTP and SIGCONT have the same numbers on all Linux architectures but MIPS.
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            stop: signal(SignalKind::from_raw(nix::libc::SIGTSTP))?,
            go_on: signal(SignalKind::from_raw(nix::libc::SIGCONT))?,
        })
    }

    /// The next signal.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub(super) async fn next(&mut self) -> Signal {
        // Signals that end the program come first: with a hang-up comes a signal to go on.
        tokio::select! {
            biased;
            _ = self.hang_up.recv() => Signal::End(SignalKind::hangup().as_raw_value()),
            _ = self.terminate.recv() => Signal::End(SignalKind::terminate().as_raw_value()),
            _ = self.interrupt.recv() => Signal::End(SignalKind::interrupt().as_raw_value()),
            _ = self.stop.recv() => Signal::Stop,
            _ = self.go_on.recv() => Signal::Continue,
        }
    }
}
