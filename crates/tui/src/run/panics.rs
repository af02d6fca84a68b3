//! A fault of the program: the terminal is given back first, the report follows.
//!
//! The report is taken when the fault happens (a hook knows the place, what is caught later does
//! not) and printed by whoever started the interface, on a terminal that is whole again.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;

/// Runs the interface; a panic becomes its report.
///
/// Panics of other tasks (a tool call that breaks) end these tasks only; they go to the log.
///
/// # Cancel safety
/// As the future that it runs.
pub(super) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let last: Arc<Mutex<Option<String>>> = Arc::default();
    let noted = Arc::clone(&last);
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let report = report(info);
        tracing::error!(report, "a fault of the program");
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }));
    // What the panic left half done is only drawn once more and then dropped.
    let end = AssertUnwindSafe(work).catch_unwind().await;
    std::panic::set_hook(previous);
    end.map_err(|_| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        last.take().unwrap_or_default()
    })
}

fn report(info: &PanicHookInfo<'_>) -> String {
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        return format!("{info}\n{backtrace}");
    }
    info.to_string()
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[tokio::test]
    async fn a_panic_is_reported_with_its_place_and_other_work_is_not_touched() {
        let fault = caught(async { panic!("on purpose") }).await;
        let report = fault.map(|(): ()| ()).unwrap_err();
        assert!(report.contains("on purpose"), "{report}");
        assert!(report.contains("panics.rs"), "{report}");
        assert_eq!(caught(async { 7 }).await, Ok(7));
    }
}
