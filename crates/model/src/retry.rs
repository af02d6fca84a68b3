//! How often a request is made again, and after how long.
//!
//! Pure: it counts and computes; the caller waits and shows. One value belongs to one sampling
//! (one answer that the session wants), across all the requests made for it.

use std::time::Duration;

use crate::{ModelError, Phase, ProviderSettings};

/// A provider that asks for a longer wait than this is not waited for.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// Neither limit can be set higher.
const MOST_RETRIES: u32 = 100;
const FIRST_BACKOFF: Duration = Duration::from_millis(200);
const LONGEST_BACKOFF: Duration = Duration::from_mins(1);

/// The request is to be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Which repetition it is, from 1.
    pub attempt: u32,
    /// How many there will be at most.
    pub limit: u32,
    /// How long to wait first.
    pub delay: Duration,
}

/// Counts the failures of one sampling.
#[derive(Debug, Clone)]
pub struct RetryState {
    request_limit: u32,
    stream_limit: u32,
    max_requests: u32,
    request_failures: u32,
    stream_failures: u32,
    was_filtered: bool,
}

impl RetryState {
    /// Counts from zero. `max_requests` bounds all requests of the sampling, the first included:
    /// 6 where nobody watches, `u32::MAX` where only the two limits of the provider count.
    pub fn new(settings: &ProviderSettings, max_requests: u32) -> Self {
        Self {
            request_limit: settings.request_max_retries.min(MOST_RETRIES),
            stream_limit: settings.stream_max_retries.min(MOST_RETRIES),
            max_requests,
            request_failures: 0,
            stream_failures: 0,
            was_filtered: false,
        }
    }

    /// What follows from a failure: a repetition, or none when the error is final or the limits
    /// are reached.
    pub fn next(&mut self, error: &ModelError) -> Option<Retry> {
        self.next_with(error, fastrand::f64())
    }

    /// `random` is in 0..1.
    fn next_with(&mut self, error: &ModelError, random: f64) -> Option<Retry> {
        let asked = error.retry_after().unwrap_or_default();
        if !error.is_retryable() || asked > LONGEST_WAIT {
            return None;
        }
        if error.is_content_filter() && std::mem::replace(&mut self.was_filtered, true) {
            return None;
        }
        let (failures, limit) = match error.phase() {
            Phase::Request => (&mut self.request_failures, self.request_limit),
            Phase::Stream => (&mut self.stream_failures, self.stream_limit),
        };
        *failures += 1;
        let attempt = *failures;
        let requests = 1 + self.request_failures + self.stream_failures;
        if attempt > limit || requests > self.max_requests {
            return None;
        }
        Some(Retry {
            attempt,
            limit: limit.min(self.max_requests.saturating_sub(1)),
            delay: backoff(attempt, random).max(asked),
        })
    }
}

fn backoff(attempt: u32, random: f64) -> Duration {
    let doubled = FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
    doubled
        .min(LONGEST_BACKOFF)
        .mul_f64(0.2_f64.mul_add(random, 0.9))
}

#[cfg(test)]
mod tests;
