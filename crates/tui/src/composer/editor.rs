//! The text, the cursor in it, and every change to the two.
//!
//! All changes pass through one function, which keeps the cursor on a border of a grapheme and
//! notes what is needed to take the change back.

use std::ops::Range;

use super::kill_ring::{KillRing, Side};
use super::layout::{self, Layout};
use super::motion::{self, Motion};
use super::rich_text::RichText;
use super::undo::{Edit, Join, Undo};

/// What was done last, as far as the next action depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Last {
    #[default]
    Other,
    /// A character was typed.
    Typed(char),
    /// Something was cut: the next cut joins it.
    Killed,
    /// Something was put here from the ring: it can be exchanged.
    Yanked(Range<usize>),
    /// The cursor moved between rows and tends to this column.
    Rows(usize),
}

/// A row further up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vertical {
    Up,
    Down,
}

/// The text being written.
#[derive(Debug, Clone, Default)]
pub(super) struct Editor {
    text: RichText,
    cursor: usize,
    undo: Undo,
    kills: KillRing,
    last: Last,
}

impl Editor {
    pub(super) fn text(&self) -> &RichText {
        &self.text
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Begins anew with a text; what was cut is kept.
    pub(super) fn reset(&mut self, text: RichText, cursor: usize) {
        self.cursor = text.snap(cursor);
        self.text = text;
        self.undo = Undo::default();
        self.last = Last::Other;
    }

    /// Puts `with` in the place of a range, the cursor behind it.
    pub(super) fn replace(&mut self, range: Range<usize>, with: &RichText) {
        self.undo.close();
        self.change(range, with, Join::Apart);
        self.undo.close();
        self.last = Last::Other;
    }

    /// Puts text at the cursor.
    pub(super) fn insert(&mut self, text: &RichText) {
        self.replace(self.cursor..self.cursor, text);
    }

    /// A typed character. A word is taken back as a whole, with the space behind it.
    pub(super) fn type_char(&mut self, character: char) {
        let join = match self.last {
            Last::Typed(before) if character.is_whitespace() || !before.is_whitespace() => {
                Join::WithLast
            }
            Last::Typed(_) | Last::Other | Last::Killed | Last::Yanked(_) | Last::Rows(_) => {
                Join::Apart
            }
        };
        let at = self.cursor..self.cursor;
        self.change(at, &RichText::plain(character), join);
        self.last = Last::Typed(character);
    }

    fn change(&mut self, range: Range<usize>, with: &RichText, join: Join) -> RichText {
        let range = self.text.outward(range);
        let at = range.start;
        if range.is_empty() && with.is_empty() {
            self.cursor = self.text.snap(at);
            return RichText::default();
        }
        let cursor_before = self.cursor;
        let removed = self.text.replace(range, with);
        self.cursor = self.text.snap(at + with.len());
        let edit = Edit {
            at,
            removed: removed.clone(),
            inserted: with.clone(),
            cursor_before,
            cursor_after: self.cursor,
        };
        self.undo.record(edit, join);
        removed
    }

    /// Moves the cursor to the nearest border.
    pub(super) fn move_to(&mut self, offset: usize) {
        self.cursor = self.text.snap(offset);
        self.end_group();
    }

    /// Moves the cursor, but the column that it tends to stays.
    pub(super) fn nudge(&mut self, offset: usize) {
        self.cursor = self.text.snap(offset);
    }

    /// What comes next is taken back apart from what was before.
    pub(super) fn end_group(&mut self) {
        self.undo.close();
        self.last = Last::Other;
    }

    /// Moves the cursor.
    pub(super) fn go(&mut self, motion: Motion) {
        self.move_to(motion::target(&self.text, self.cursor, motion));
    }

    /// Moves the cursor by a row of the screen; false when there is none in that direction.
    pub(super) fn go_row(&mut self, direction: Vertical, layout: &Layout) -> bool {
        let (row, column) = layout.position(&self.text, self.cursor);
        let column = match self.last {
            Last::Rows(preferred) => preferred,
            Last::Other | Last::Typed(_) | Last::Killed | Last::Yanked(_) => column,
        };
        let row = match direction {
            Vertical::Up => row.checked_sub(1),
            Vertical::Down => Some(row + 1).filter(|row| *row < layout.len()),
        };
        let Some(row) = row else { return false };
        let from = self.cursor;
        self.move_to(layout.offset(&self.text, row, column));
        // A label over several rows has no border inside; the cursor must get past it all the same.
        match direction {
            Vertical::Up if self.cursor >= from => self.move_to(self.text.prev(from)),
            Vertical::Down if self.cursor <= from => self.move_to(self.text.next(from)),
            Vertical::Up | Vertical::Down => {}
        }
        self.last = Last::Rows(column);
        true
    }

    /// Deletes from the cursor to where a movement leads.
    pub(super) fn delete(&mut self, motion: Motion) {
        let range = self.span(motion);
        if !range.is_empty() {
            self.replace(range, &RichText::default());
        }
    }

    /// Cuts from the cursor to where a movement leads.
    pub(super) fn kill(&mut self, motion: Motion) {
        let range = self.span(motion);
        if range.is_empty() {
            return;
        }
        let side = if range.start < self.cursor {
            Side::Before
        } else {
            Side::After
        };
        let joins = self.last == Last::Killed;
        self.undo.close();
        let killed = self.change(range, &RichText::default(), Join::Apart);
        if joins {
            self.kills.extend(killed, side);
        } else {
            self.kills.push(killed);
        }
        self.last = Last::Killed;
    }

    fn span(&self, motion: Motion) -> Range<usize> {
        let to = motion::target(&self.text, self.cursor, motion);
        to.min(self.cursor)..to.max(self.cursor)
    }

    /// Keeps a text as if it had been cut.
    pub(super) fn keep(&mut self, text: RichText) {
        self.kills.push(text);
    }

    /// Puts the text that was cut last at the cursor.
    pub(super) fn yank(&mut self) {
        if let Some(text) = self.kills.newest().cloned() {
            let at = self.cursor;
            self.insert(&text);
            self.last = Last::Yanked(at..at + text.len());
        }
    }

    /// Exchanges what was just put for the text that was cut before it.
    pub(super) fn yank_older(&mut self) {
        let Last::Yanked(range) = self.last.clone() else {
            return;
        };
        if let Some(text) = self.kills.rotate().cloned() {
            let at = range.start;
            self.replace(range, &text);
            self.last = Last::Yanked(at..at + text.len());
        }
    }

    pub(super) fn undo(&mut self) {
        if let Some(cursor) = self.undo.undo(&mut self.text) {
            self.cursor = self.text.snap(cursor);
        }
        self.last = Last::Other;
    }

    pub(super) fn redo(&mut self) {
        if let Some(cursor) = self.undo.redo(&mut self.text) {
            self.cursor = self.text.snap(cursor);
        }
        self.last = Last::Other;
    }

    /// The rows of the screen, `capacity` columns wide.
    pub(super) fn layout(&self, capacity: usize) -> Layout {
        layout::wrap(&self.text, capacity)
    }
}
