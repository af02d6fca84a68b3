//! `f`, `F`, `t`, `T`: the search for a character within the line.

use crate::composer::motion::line;
use crate::composer::rich_text::RichText;

/// `f`, `F`, `t`, `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FindKind {
    forward: bool,
    /// It stops beside the character.
    beside: bool,
}

impl FindKind {
    pub(super) fn of(character: char) -> Option<Self> {
        let (forward, beside) = match character {
            'f' => (true, false),
            'F' => (false, false),
            't' => (true, true),
            'T' => (false, true),
            _ => return None,
        };
        Some(Self { forward, beside })
    }
}

/// Which search it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// One that was just given.
    New,
    /// The last one again.
    Same,
    /// The last one in the other direction.
    Reversed,
}

/// A search for a character in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) kind: FindKind,
    pub(super) character: char,
}

impl Find {
    /// Where it leads; `None` when the line has too few of them.
    pub(super) fn target(
        self,
        text: &RichText,
        at: usize,
        count: usize,
        which: Which,
    ) -> Option<usize> {
        let forward = self.kind.forward != (which == Which::Reversed);
        let line = line(text, at);
        let step = |to: usize| {
            if forward {
                Some(text.next(to)).filter(|next| *next < line.end)
            } else {
                Some(text.prev(to)).filter(|previous| to > line.start && *previous < to)
            }
        };
        let is_it = |to: usize| text.get(to..text.next(to)).starts_with(self.character);
        let mut to = at;
        // A repeated `t` would stay where it is.
        if self.kind.beside && which != Which::New && step(at).is_some_and(is_it) {
            to = step(at)?;
        }
        for _ in 0..count {
            to = step(to)?;
            while !is_it(to) {
                to = step(to)?;
            }
        }
        Some(match (self.kind.beside, forward) {
            (false, _) => to,
            (true, true) => text.prev(to),
            (true, false) => text.next(to),
        })
    }
}
