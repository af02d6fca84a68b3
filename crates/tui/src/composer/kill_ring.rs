//! The texts that were cut last.

use std::collections::VecDeque;

use super::rich_text::RichText;

/// Texts that are kept.
const MAX_KILLS: usize = 60;

/// On which side of the cursor something was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Before the cursor.
    Before,
    /// After it.
    After,
}

/// The ring: the newest text first.
#[derive(Debug, Clone, Default)]
pub(super) struct KillRing {
    kills: VecDeque<RichText>,
}

impl KillRing {
    /// Adds a text of its own.
    pub(super) fn push(&mut self, killed: RichText) {
        self.kills.push_front(killed);
        self.kills.truncate(MAX_KILLS);
    }

    /// Adds a text to the newest one, on the side where it was cut.
    pub(super) fn extend(&mut self, mut killed: RichText, side: Side) {
        match (self.kills.front_mut(), side) {
            (Some(newest), Side::After) => newest.push(&killed),
            (Some(newest), Side::Before) => {
                killed.push(newest);
                *newest = killed;
            }
            (None, Side::Before | Side::After) => self.push(killed),
        }
    }

    /// The newest text.
    pub(super) fn newest(&self) -> Option<&RichText> {
        self.kills.front()
    }

    /// Puts the newest text behind all others; the text that is the newest then.
    pub(super) fn rotate(&mut self) -> Option<&RichText> {
        if !self.kills.is_empty() {
            self.kills.rotate_left(1);
        }
        self.kills.front()
    }
}
