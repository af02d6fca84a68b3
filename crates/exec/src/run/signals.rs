//! The signals that end a run.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears of hang-up, interrupt and terminate.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// The number of the next signal.
    ///
    /// # Cancel safety
    /// A call that is dropped has lost nothing.
    pub(super) async fn next(&mut self) -> i32 {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hang_up.recv() => SignalKind::hangup(),
        };
        kind.as_raw_value()
    }
}
