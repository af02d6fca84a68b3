//! Notices calls that are refused again and again in the same way, and ends a turn that only
//! repeats one.
//!
//! Only calls that were refused before they did anything count (a patch that does not fit, arguments
//! that cannot be read, a step that was declined): the same call can only be refused again. Equal
//! commands are another thing, as the world they look at may change.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use agent_protocol::{FailureKind, OutputPayload, TurnFailure};

/// From this time on the model is told.
const TOLD_FROM: u32 = 3;
/// This time is the last.
const LAST: u32 = 8;

/// The refusals of a turn, by call and reason.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    counts: HashMap<u64, u32>,
}

impl Repeats {
    /// Counts a refusal. Tells the model in the output when it is not the first; a failure means
    /// that the turn must end.
    pub(super) fn refused(&mut self, call: u64, output: &mut OutputPayload) -> Option<TurnFailure> {
        let OutputPayload::Text(text) = output else {
            return None;
        };
        let mut hash = DefaultHasher::new();
        (call, &*text).hash(&mut hash);
        let count = self.counts.entry(hash.finish()).or_default();
        *count += 1;
        let n_times = *count;
        if n_times < TOLD_FROM {
            return None;
        }
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\nThis exact call was refused {n_times} times with the same answer. Do something else: \
             read the file again, or try another way. After {LAST} times the turn ends."
        );
        (n_times >= LAST).then(|| TurnFailure {
            kind: FailureKind::Model,
            message: format!(
                "the model repeated the same call {LAST} times, and it was refused each time"
            ),
            hint: Some(
                "tell it what to do differently, or choose another model with `-m`".to_owned(),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use agent_protocol::OutputPayload;

    use super::{LAST, Repeats};

    #[test]
    fn only_the_same_refusal_of_the_same_call_counts() {
        let mut repeats = Repeats::default();
        let mut refuse = |call: u64, reason: &str| {
            let mut output = OutputPayload::Text(reason.to_owned());
            let end = repeats.refused(call, &mut output);
            let OutputPayload::Text(text) = output else {
                unreachable!()
            };
            (text != reason, end.is_some())
        };
        for n_times in 1..=LAST {
            assert_eq!(refuse(1, "no"), (n_times >= 3, n_times == LAST));
            // Another reason: something has changed in between.
            assert_eq!(refuse(1, &format!("no {n_times}")), (false, false));
            assert_eq!(refuse(u64::from(n_times) + 1, "no"), (false, false));
        }
    }
}
