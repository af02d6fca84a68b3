//! How the text falls into rows of the screen, and what of it is shown.
//!
//! Rows break after white space where they can, else between graphemes; a wide character is
//! never split. What reorders or hides text is shown as `\u{…}`.

use std::borrow::Cow;
use std::ops::Range;

use agent_terminal_text::sanitize;
use unicode_width::UnicodeWidthStr;

use super::rich_text::{RichText, Unit};

/// Columns of a tab.
const TAB_COLUMNS: usize = 4;

/// The rows of a text.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Never empty; line breaks belong to no row.
    rows: Vec<Range<usize>>,
    capacity: usize,
}

/// What a grapheme looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown<'a> {
    /// Printable text.
    pub(super) text: Cow<'a, str>,
    /// Its columns, at most the capacity of a row.
    pub(super) width: usize,
}

/// What to print for a grapheme in rows of `capacity` columns.
pub(super) fn shown(unit: Unit<'_>, capacity: usize) -> Shown<'_> {
    if let [byte] = unit.text.as_bytes()
        && (b' '..=b'~').contains(byte)
    {
        return Shown {
            text: Cow::Borrowed(unit.text),
            width: 1,
        };
    }
    if unit.text == "\t" {
        let width = TAB_COLUMNS.min(capacity);
        return Shown {
            text: Cow::Owned(" ".repeat(width)),
            width,
        };
    }
    let clean = sanitize(unit.text);
    // What takes no column of its own would be invisible, or merge with what stands before it.
    let text = if clean.width() == 0 || unit.text.chars().any(char::is_control) {
        Cow::Owned(unit.text.escape_unicode().to_string())
    } else if clean == unit.text {
        Cow::Borrowed(unit.text)
    } else {
        Cow::Owned(clean)
    };
    let width = text.width();
    if width > capacity {
        return Shown {
            text: Cow::Borrowed("\u{fffd}"),
            width: 1,
        };
    }
    Shown { text, width }
}

/// Breaks a text into rows of at most `capacity` columns.
pub(super) fn wrap(text: &RichText, capacity: usize) -> Layout {
    let capacity = capacity.max(1);
    let mut rows = Vec::new();
    let mut start = 0;
    let mut width = 0;
    // Where the row can be broken, and how wide what stands behind it is.
    let mut word: Option<(usize, usize)> = None;
    let mut units = text.units(0..text.len()).peekable();
    while let Some(unit) = units.next() {
        if unit.text == "\n" {
            rows.push(start..unit.offset);
            (start, width, word) = (unit.offset + 1, 0, None);
            continue;
        }
        let columns = shown(unit, capacity).width;
        let blank = unit.text.chars().all(char::is_whitespace);
        // A space at the end of a full row stands where the cursor would, when more follows.
        let hangs = unit.text == " "
            && width == capacity
            && units.peek().is_some_and(|next| next.text != "\n");
        if width + columns > capacity && !hangs {
            let (at, behind) = word.filter(|_| !blank).unwrap_or((unit.offset, 0));
            rows.push(start..at);
            (start, width, word) = (at, behind, None);
            // A wide character may not fit behind what was carried over either.
            if width + columns > capacity {
                rows.push(start..unit.offset);
                (start, width) = (unit.offset, 0);
            }
        }
        width += columns;
        if blank {
            word = Some((unit.offset + unit.text.len(), 0));
        } else if let Some((_, behind)) = &mut word {
            *behind += columns;
        }
    }
    rows.push(start..text.len());
    Layout { rows, capacity }
}

impl Layout {
    /// How many rows there are, at least one.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The part of the text that a row shows.
    pub(super) fn row(&self, row: usize) -> Range<usize> {
        self.rows.get(row).cloned().unwrap_or_default()
    }

    /// Row and column of an offset.
    pub(super) fn position(&self, text: &RichText, offset: usize) -> (usize, usize) {
        let row = self.rows.partition_point(|row| row.start <= offset);
        let row = row.saturating_sub(1);
        let units = text.units(self.row(row).start..offset);
        let column = units.map(|unit| shown(unit, self.capacity).width).sum();
        (row, column)
    }

    /// The border in a row that is nearest to a column.
    pub(super) fn offset(&self, text: &RichText, row: usize, column: usize) -> usize {
        let range = self.row(row);
        let mut right = 0;
        for unit in text.units(range.clone()) {
            right += shown(unit, self.capacity).width;
            if right > column {
                let next = text.snap(unit.offset);
                // A label that the column is in: before it, unless it began in a row above.
                return if next == unit.offset {
                    next
                } else {
                    text.prev(next).max(range.start)
                };
            }
        }
        // The end of a row that goes on below is the start of that row.
        let goes_on = self
            .rows
            .get(row + 1)
            .is_some_and(|next| next.start == range.end);
        if goes_on {
            text.prev(range.end).max(range.start)
        } else {
            range.end
        }
    }
}
