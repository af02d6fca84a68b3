//! A terminal that is written on like a typewriter: finished rows scroll into the terminal's
//! own scrollback, a few live rows at the end are drawn again.
//!
//! All movement is relative to the cursor, so that no position has to be asked for. Rows end
//! with real line ends, which is what makes a terminal (and tmux) keep them.
//!
//! Whatever size the terminal takes, finished rows stand in it once. Live rows do too, as long as
//! they are on the screen when the terminal has taken its new size. Those that it has pushed into
//! its scrollback by then stay there, and a part of one that it wrapped joins the row below:
//! nothing reaches the scrollback, and to erase all of it would take what other programs printed.
//! What is finished unchanged later is not printed a second time then.
//! A rest can also be left where the cursor's own row was wrapped and it is not known in which
//! of its lines the cursor is.

use std::fmt::Write as _;
use std::io;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::encode;
use super::modes::{Size, write_all};
use crate::row::Row;

/// The live rows, and where the cursor stands among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// At most as many as the terminal has rows.
    pub(crate) rows: Vec<Row>,
    /// Column and row; `None` hides it.
    pub(crate) cursor: Option<(u16, u16)>,
}

/// What the terminal does with lines that no longer fit when it becomes narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reflow {
    /// It wraps them (most do).
    Wraps,
    /// It cuts them off (xterm, the Linux console).
    Cuts,
}

/// Draws. Holds what is on the screen.
#[derive(Debug)]
pub(crate) struct InlineTerminal {
    size: Size,
    reflow: Reflow,
    shown: Frame,
    /// Columns of the terminal when the live rows were drawn.
    drawn_columns: u16,
    /// How many lines of the screen the cursor is below the first live one.
    at: usize,
    /// The live rows cannot be trusted to be where they were left.
    disturbed: bool,
    /// In which line of its row the cursor is, if the terminal wrapped it.
    cursor_line: usize,
    /// Live rows that the terminal pushed into its scrollback, and that nothing finished followed.
    pushed: Vec<Row>,
}

impl InlineTerminal {
    /// Begins on the line of the cursor, which must be empty.
    pub(crate) fn new(size: Size, reflow: Reflow) -> Self {
        Self {
            size,
            reflow,
            shown: Frame::default(),
            drawn_columns: size.columns,
            at: 0,
            disturbed: false,
            cursor_line: 0,
            pushed: Vec::new(),
        }
    }

    /// The terminal has another size now; what is shown may have moved.
    pub(crate) fn resize(&mut self, size: Size) {
        if size == self.size {
            return;
        }
        self.size = size;
        let is_first = !std::mem::replace(&mut self.disturbed, true);
        self.cursor_line = if is_first { self.cursor_wrapped() } else { 0 };
    }

    /// In which line of its row, which the terminal wrapped, the cursor is.
    fn cursor_wrapped(&self) -> usize {
        let columns = usize::from(self.size.columns);
        let Some((column, row)) = self.shown.cursor.filter(|_| self.has_wrapped()) else {
            return 0;
        };
        let column = usize::from(column);
        let Some(row) = self.shown.rows.get(usize::from(row)) else {
            return 0;
        };
        let line = wrapped_position(row, column, columns);
        if row.width() > row.text().chars().count() {
            // Wide characters leave gaps, and terminals differ in whether the cursor counts them.
            line.min(column / columns).saturating_sub(1)
        } else {
            line
        }
    }

    /// Whether the terminal has wrapped live rows since they were drawn.
    fn has_wrapped(&self) -> bool {
        self.reflow == Reflow::Wraps && self.size.columns < self.drawn_columns
    }

    /// Finds the cursor again among live rows that the terminal wrapped. A terminal that wraps
    /// also joins again, so the rows above it are as if there had been no size in between. The
    /// cursor itself may be stuck where a size in between put it, so the first line of its row
    /// is assumed then. That leaves a rest behind where it is wrong; a later line would erase
    /// what is finished.
    fn settle(&mut self) {
        let within = std::mem::take(&mut self.cursor_line);
        let has_wrapped = self.has_wrapped();
        let columns = usize::from(self.size.columns);
        let above = self.shown.rows.iter().take(self.at);
        let above: Vec<usize> = above
            .map(|row| {
                if has_wrapped {
                    wrapped_position(row, usize::MAX, columns) + 1
                } else {
                    1
                }
            })
            .collect();
        if has_wrapped {
            self.at = above.iter().sum::<usize>() + within;
            self.drawn_columns = self.size.columns;
        }
        self.note_pushed(&above);
    }

    /// Notes which of the rows above the cursor, of so many lines each, are on the screen no more:
    /// a terminal that became lower keeps the cursor and what is above it as far as it fits.
    fn note_pushed(&mut self, n_lines: &[usize]) {
        let mut left = (self.at + 1).saturating_sub(usize::from(self.size.rows));
        if left == 0 || !self.disturbed {
            return;
        }
        for (row, n_lines) in self.shown.rows.iter().zip(n_lines) {
            let Some(rest) = left.checked_sub(*n_lines) else {
                break;
            };
            left = rest;
            self.pushed.push(row.clone());
        }
    }

    /// The finished rows without those that the scrollback holds already.
    fn not_pushed<'a>(&mut self, finished: &'a [Row]) -> &'a [Row] {
        let pushed = self.pushed.iter().zip(finished);
        let n_same = pushed.take_while(|(pushed, row)| pushed == row).count();
        let rest = finished.get(n_same..).unwrap_or_default();
        if rest.is_empty() {
            self.pushed.drain(..n_same);
        } else {
            self.pushed.clear();
        }
        rest
    }

    /// Prints finished rows above the live ones and draws these, in one write.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn draw(&mut self, finished: &[Row], frame: Frame) -> io::Result<()> {
        match self.encode(finished, frame) {
            Some(bytes) => write_all(&bytes),
            None => Ok(()),
        }
    }

    /// The bytes that lead from what is shown to what shall be; `None` when nothing changes.
    fn encode(&mut self, finished: &[Row], frame: Frame) -> Option<String> {
        if finished.is_empty() && frame == self.shown && !self.disturbed {
            return None;
        }
        self.settle();
        let finished = self.not_pushed(finished);
        let mut out = String::from("\x1b[?2026h\x1b[?25l");
        let same_place =
            finished.is_empty() && !self.disturbed && frame.rows.len() == self.shown.rows.len();
        if same_place {
            self.redraw_changed(&mut out, &frame);
        } else {
            self.redraw_all(&mut out, finished, &frame);
        }
        if let Some((column, row)) = frame.cursor {
            self.go_to(&mut out, usize::from(row));
            if column > 0 {
                let _ = write!(out, "\x1b[{column}C");
            }
            out.push_str("\x1b[?25h");
        } else {
            // Where it waits unseen must be known when the terminal wraps the row.
            carriage_return(&mut out);
        }
        out.push_str("\x1b[?2026l");
        self.shown = frame;
        self.drawn_columns = self.size.columns;
        self.disturbed = false;
        Some(out)
    }

    fn redraw_changed(&mut self, out: &mut String, frame: &Frame) {
        let shown = std::mem::take(&mut self.shown.rows);
        for (index, (old, new)) in shown.iter().zip(&frame.rows).enumerate() {
            if old != new {
                self.go_to(out, index);
                write_row(out, new);
            }
        }
    }

    fn redraw_all(&mut self, out: &mut String, finished: &[Row], frame: &Frame) {
        self.go_to(out, 0);
        if self.disturbed {
            erase_below(out);
        }
        let n_written = finished.len() + frame.rows.len();
        let rows = finished.iter().chain(&frame.rows);
        for (index, row) in rows.enumerate() {
            if index > 0 {
                end_line(out);
            }
            write_row(out, row);
        }
        self.at = frame.rows.len().saturating_sub(1);
        let mut n_fresh = n_written;
        if frame.rows.is_empty() {
            if n_written > 0 {
                end_line(out);
            }
            if !self.disturbed {
                out.push_str(ERASED);
            }
            n_fresh += 1;
        }
        if !self.disturbed {
            erase_rows(out, self.shown.rows.len().saturating_sub(n_fresh));
        }
    }

    /// Moves to the start of a live row.
    fn go_to(&mut self, out: &mut String, row: usize) {
        if row < self.at {
            let _ = write!(out, "\x1b[{}A", self.at - row);
        } else if row > self.at {
            let _ = write!(out, "\x1b[{}B", row - self.at);
        }
        carriage_return(out);
        self.at = row;
    }

    /// Takes the live rows off the screen and leaves the cursor where they began.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let mut out = String::new();
        self.settle();
        self.go_to(&mut out, 0);
        erase_below(&mut out);
        self.shown = Frame::default();
        self.at = 0;
        write_all(&out)
    }

    /// Prints what is left and a farewell in place of the live rows, and ends the line.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn end(&mut self, finished: &[Row], farewell: &[Row]) -> io::Result<()> {
        let rows: Vec<Row> = finished.iter().chain(farewell).cloned().collect();
        let frame = Frame::default();
        self.disturbed = true;
        match self.encode(&rows, frame) {
            // No frame follows that would show the cursor.
            Some(bytes) => write_all(&(bytes + "\r\x1b[?25h")),
            None => Ok(()),
        }
    }

    /// Something else wrote on the terminal; everything is drawn anew from here.
    pub(crate) fn forget(&mut self) {
        self.shown = Frame::default();
        self.at = 0;
        self.disturbed = true;
    }
}

/// Erases from the cursor, which is at the start of the line wherever this is used.
const ERASED: &str = "\x1b[K";

/// Writes a row over whatever its line holds. The line is erased first: doing it afterwards
/// would take the last character of a full line (the cursor waits on it to wrap).
fn write_row(out: &mut String, row: &Row) {
    out.push_str(ERASED);
    encode::row(out, row);
}

/// Erases so many lines below and comes back.
fn erase_rows(out: &mut String, n: usize) {
    for _ in 0..n {
        end_line(out);
        out.push_str(ERASED);
    }
    if n > 0 {
        let _ = write!(out, "\x1b[{n}A");
    }
}

/// Goes to the start of the next line; a new one at the end of the screen.
fn end_line(out: &mut String) {
    carriage_return(out);
    out.push('\n');
}

/// Goes to the start of the line. Where a line was just erased the cursor is there already, and
/// an erased line with a carriage return behind it is what text that hides something looks like
/// to people and filters that read the bytes.
fn carriage_return(out: &mut String) {
    if !out.ends_with(ERASED) {
        out.push('\r');
    }
}

/// In which of the lines that a row is wrapped to its cell of this column is; the last one for
/// cells that it does not have, unless they are so far off that blank cells were wrapped too.
fn wrapped_position(row: &Row, column: usize, columns: usize) -> usize {
    let text = row.text();
    let (mut line, mut used, mut seen) = (0, 0, 0);
    for grapheme in text.trim_end().graphemes(true) {
        let width = grapheme.width();
        if used + width > columns {
            line += 1;
            used = 0;
        }
        seen += width;
        used += width;
        if seen > column {
            return line;
        }
    }
    if column == usize::MAX {
        return line;
    }
    // A cursor right behind a full line waits there.
    line + (used + column - seen).saturating_sub(1) / columns
}

/// Erases the current line and all below it. Not from its first column: tmux takes erasing from
/// the top left corner for clearing the screen and moves what was there into its history.
fn erase_below(out: &mut String) {
    out.push_str("\x1b[K\x1b[C\x1b[J\r");
}

#[cfg(test)]
mod tests;
