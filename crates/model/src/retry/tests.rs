use super::*;
use crate::ErrorClass;

fn error(class: ErrorClass, phase: Phase) -> ModelError {
    ModelError::new(class, phase, "x")
}

fn request_failure() -> ModelError {
    error(ErrorClass::Server, Phase::Request)
}

fn stream_failure() -> ModelError {
    error(ErrorClass::Stream, Phase::Stream)
}

fn state(max_requests: u32) -> RetryState {
    RetryState::new(&ProviderSettings::new("p", "http://x"), max_requests)
}

/// The delays in milliseconds until it gives up.
fn delays(state: &mut RetryState, error: &ModelError, random: f64) -> Vec<u128> {
    std::iter::from_fn(|| state.next_with(error, random))
        .map(|retry| retry.delay.as_millis())
        .collect()
}

#[test]
fn each_phase_has_its_own_limit() {
    let mut state = state(u32::MAX);
    assert_eq!(
        delays(&mut state, &request_failure(), 0.5),
        [200, 400, 800, 1600]
    );
    assert_eq!(
        delays(&mut state, &stream_failure(), 0.5),
        [200, 400, 800, 1600, 3200]
    );
}

#[test]
fn jitter_is_a_tenth_each_way() {
    let low = delays(&mut state(9), &request_failure(), 0.0);
    let high = delays(&mut state(9), &request_failure(), 1.0);
    assert_eq!((low[0], high[0]), (180, 220));
}

#[test]
fn attempts_are_told_and_all_requests_together_have_a_limit() {
    let mut state = state(6);
    let told = |retry: Option<Retry>| retry.map(|retry| (retry.attempt, retry.limit));
    assert_eq!(told(state.next(&stream_failure())), Some((1, 5)));
    assert_eq!(told(state.next(&request_failure())), Some((1, 4)));
    assert_eq!(told(state.next(&stream_failure())), Some((2, 5)));
    assert_eq!(told(state.next(&stream_failure())), Some((3, 5)));
    assert_eq!(told(state.next(&stream_failure())), Some((4, 5)));
    assert_eq!(told(state.next(&stream_failure())), None);
}

#[test]
fn the_wait_that_is_asked_for_is_kept_up_to_a_limit() {
    let asked = |seconds| {
        let delay = Some(Duration::from_secs(seconds));
        error(ErrorClass::RateLimited, Phase::Request).with_retry_after(delay)
    };
    assert_eq!(delays(&mut state(2), &asked(30), 0.5), [30_000]);
    assert_eq!(delays(&mut state(2), &asked(0), 0.5), [200]);
    assert_eq!(delays(&mut state(2), &asked(301), 0.5), []);
}

#[test]
fn final_errors_are_final_and_a_filter_gets_one_more_chance() {
    let refused = error(ErrorClass::InvalidRequest, Phase::Request);
    assert_eq!(delays(&mut state(6), &refused, 0.5), []);
    let incomplete = |reason: &str| {
        let reason = reason.to_owned();
        error(ErrorClass::Incomplete { reason }, Phase::Stream)
    };
    assert_eq!(
        delays(&mut state(6), &incomplete("content_filter"), 0.5),
        [200]
    );
    assert_eq!(
        delays(&mut state(6), &incomplete("max_output_tokens"), 0.5),
        []
    );
}

#[test]
fn the_wait_does_not_grow_without_end() {
    let mut settings = ProviderSettings::new("p", "http://x");
    settings.stream_max_retries = 1_000;
    let mut state = RetryState::new(&settings, u32::MAX);
    let delays = delays(&mut state, &stream_failure(), 0.5);
    assert_eq!((delays.len(), delays[99]), (100, 60_000));
}
