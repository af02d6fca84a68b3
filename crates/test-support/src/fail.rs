//! Ends the test when a fixture cannot be made.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Panics with what was attempted.
pub(crate) trait OrFail<T> {
    /// The value, or a panic that says what could not be done.
    fn or_fail(self, attempted: impl Display) -> T;
}

impl<T, E: Display> OrFail<T> for Result<T, E> {
    #[track_caller]
    fn or_fail(self, attempted: impl Display) -> T {
        match self {
            Ok(value) => value,
            Err(error) => panic!("cannot {attempted}: {error}"),
        }
    }
}

/// Locks; a thread that panicked while it held the lock has failed the test already.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
