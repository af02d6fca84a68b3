//! Tells a paste that arrives as single keys from typing, by time alone.
//!
//! Characters are never held back. An Enter that directly follows a burst of characters is held
//! for a moment: when more keys follow it was pasted and is a line break, else it was meant.

use std::time::{Duration, Instant};

/// Keys of a paste arrive closer together than this. Fast typists and key repeat need 15 ms.
const WINDOW: Duration = Duration::from_millis(8);
/// How long an Enter is held: a paste that comes in several reads goes on before.
const HOLD: Duration = Duration::from_millis(25);
/// So many characters within the window make a burst.
const BURST: usize = 3;

/// Keys, as far as a paste is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A character.
    Text,
    /// A line feed, which is a line break in any case.
    LineFeed,
    Tab,
    Enter,
    /// What no paste consists of.
    Other,
}

/// How a key is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As the key it is.
    Ordinary,
    /// As the character it would be in a text.
    Pasted,
    /// Not yet: it is an Enter, and `due` tells when it is one for good.
    Held,
}

/// What was seen of the keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Burst {
    last: Option<Instant>,
    run: usize,
    /// A line break or tab was part of the burst: this is a paste.
    pasted: bool,
    held: Option<Instant>,
}

impl Burst {
    /// When a held Enter is one for good.
    pub(super) fn due(&self) -> Option<Instant> {
        self.held.map(|since| since + HOLD)
    }

    /// Takes the held Enter out, because a key follows: it turned out to be a line break.
    pub(super) fn take_held(&mut self, now: Instant) -> bool {
        let was_held = self.held.take().is_some();
        if was_held {
            self.pasted = true;
            // A paste that comes in several reads pauses between them.
            self.last = Some(now);
        }
        was_held
    }

    /// Whether the held Enter is one for good by now; it is no longer held then.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.reset();
        }
        due
    }

    /// Something else follows: forgets all, and tells whether an Enter was held, which is a line
    /// break then.
    pub(super) fn end(&mut self) -> bool {
        let was_held = self.held.is_some();
        self.reset();
        was_held
    }

    /// Forgets all.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Notes a key and judges it. A held Enter must have been taken out before.
    pub(super) fn judge(&mut self, kind: Kind, now: Instant) -> Verdict {
        let since = self.last.map(|last| now.saturating_duration_since(last));
        // Once it is known for a paste, a pause between two reads of it does not end it.
        let window = if self.pasted { HOLD } else { WINDOW };
        let goes_on = since.is_some_and(|since| since <= window);
        if !goes_on {
            self.reset();
        }
        let is_burst = self.pasted || self.run >= BURST;
        match kind {
            Kind::Text | Kind::LineFeed => {
                self.pasted |= kind == Kind::LineFeed && is_burst;
                self.run += 1;
                self.last = Some(now);
                Verdict::Ordinary
            }
            Kind::Tab if is_burst => {
                self.last = Some(now);
                Verdict::Pasted
            }
            Kind::Enter if self.pasted => {
                self.last = Some(now);
                Verdict::Pasted
            }
            Kind::Enter if is_burst => {
                self.last = Some(now);
                self.held = Some(now);
                Verdict::Held
            }
            Kind::Tab | Kind::Enter | Kind::Other => {
                self.reset();
                Verdict::Ordinary
            }
        }
    }
}
