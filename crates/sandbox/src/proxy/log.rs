//! What the proxy refused, for those who explain the failures of commands.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::hosts::HostDenial;

/// How many different denials are kept.
const MAX_KEPT: usize = 64;

/// The latest denials, each different one once.
#[derive(Debug, Default)]
pub(crate) struct DenialLog(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// How many denials there were.
    n_denials: u64,
    /// With the number of its last time, the oldest first.
    denials: VecDeque<(u64, HostDenial)>,
}

impl DenialLog {
    /// Notes a denial; whether it is a new one.
    pub(super) fn add(&self, denial: &HostDenial) -> bool {
        let mut kept = self.kept();
        kept.n_denials += 1;
        let number = kept.n_denials;
        let n_before = kept.denials.len();
        kept.denials.retain(|(_, other)| other != denial);
        let is_new = kept.denials.len() == n_before;
        kept.denials.push_back((number, denial.clone()));
        if kept.denials.len() > MAX_KEPT {
            kept.denials.pop_front();
        }
        is_new
    }

    /// A mark for [`Self::since`].
    pub(crate) fn now(&self) -> u64 {
        self.kept().n_denials
    }

    /// What was refused after a mark was made.
    pub(crate) fn since(&self, mark: u64) -> Vec<HostDenial> {
        let kept = self.kept();
        let later = kept.denials.iter().filter(|(number, _)| *number > mark);
        later.map(|(_, denial)| denial.clone()).collect()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Every change leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
