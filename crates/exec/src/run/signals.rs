//! The signals that end a run.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears of hang-up, interrupt and terminate. What the parent process had ignored (`nohup`, or a
/// job in the background of a script) stays ignored.
pub(super) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
    /// Writing beyond a file-size limit is an error of the write, not the end of the process.
    _file_size: Option<Signal>,
}

/// `SIGXFSZ` (signal(7)); the same number on the platforms that are built for.
const SIGXFSZ: i32 = 25;

impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        let ignored = ignored_signals();
        let listen = |kind: SignalKind| {
            let bit = 1_u64 << (kind.as_raw_value() - 1);
            (ignored & bit == 0).then(|| signal(kind)).transpose()
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            _file_size: listen(SignalKind::from_raw(SIGXFSZ))?,
        })
    }

    /// The number of the next signal.
    ///
    /// # Cancel safety
    /// A call that is dropped has lost nothing.
    pub(super) async fn next(&mut self) -> i32 {
        let kind = tokio::select! {
            () = next(&mut self.interrupt) => SignalKind::interrupt(),
            () = next(&mut self.terminate) => SignalKind::terminate(),
            () = next(&mut self.hang_up) => SignalKind::hangup(),
        };
        kind.as_raw_value()
    }
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// The mask of signals that this process was started with ignored (`SigIgn` in proc(5)).
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
