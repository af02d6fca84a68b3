//! Keys that were meant for the composer do not answer a question that appeared meanwhile.
//!
//! A question that comes up while the user types takes no answer until the keys have rested for
//! a moment; so does one whose first keys mean nothing to it, because they are words. Leaving it
//! (Esc, Ctrl-C) always works.

use std::time::{Duration, Instant};

use agent_protocol::RequestId;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// How long the keys must rest.
const REST: Duration = Duration::from_millis(400);

/// Whether the question in front takes answers already.
#[derive(Debug, Default)]
pub(super) struct Guard {
    last_key: Option<Instant>,
    /// The question that is seen.
    seen: Option<RequestId>,
    /// Until then it takes no answer.
    until: Option<Instant>,
}

impl Guard {
    /// Time has passed.
    pub(super) fn tick(&mut self, now: Instant) {
        self.until = self.until.filter(|until| *until > now);
    }

    /// A key was pressed, whatever it is for.
    pub(super) fn pressed(&mut self, now: Instant) {
        self.last_key = Some(now);
    }

    /// This question is in front now, or none.
    pub(super) fn see(&mut self, question: Option<RequestId>, now: Instant) {
        if question == self.seen {
            return;
        }
        self.seen = question;
        let is_typing = self.last_key.is_some_and(|last| now < last + REST);
        self.until = question.filter(|_| is_typing).map(|_| now + REST);
    }

    /// The question in front had no use for this key.
    pub(super) fn unused(&mut self, key: KeyEvent, now: Instant) {
        if matches!(key.code, KeyCode::Char(_)) {
            self.until = Some(now + REST);
        }
    }

    /// Whether the question in front must not have this key. Such a key means that the user still
    /// types.
    pub(super) fn keeps_away(&mut self, key: KeyEvent, now: Instant) -> bool {
        let leaves = key.code == KeyCode::Esc
            || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        let answers = matches!(key.code, KeyCode::Char(_) | KeyCode::Enter);
        let kept = self.is_up() && answers && !leaves;
        if kept {
            self.until = Some(now + REST);
        }
        kept
    }

    /// Whether keys are kept away.
    pub(super) fn is_up(&self) -> bool {
        self.until.is_some()
    }

    /// When the question takes answers.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.until
    }
}
