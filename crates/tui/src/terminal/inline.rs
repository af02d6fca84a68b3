//! A terminal that is written on like a typewriter: finished rows scroll into the terminal's
//! own scrollback, a few live rows at the end are drawn again.
//!
//! All movement is relative to the cursor, so that no position has to be asked for. Rows end
//! with real line ends, which is what makes a terminal (and tmux) keep them.

use std::fmt::Write as _;
use std::io;

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
    /// In which of the live rows the cursor is.
    at: usize,
    /// The live rows cannot be trusted to be where they were left.
    disturbed: bool,
}

impl InlineTerminal {
    /// Begins on the line of the cursor, which must be empty.
    pub(crate) fn new(size: Size, reflow: Reflow) -> Self {
        Self {
            size,
            reflow,
            shown: Frame::default(),
            at: 0,
            disturbed: false,
        }
    }

    /// The terminal has another size now; what is shown may have moved.
    pub(crate) fn resize(&mut self, size: Size) {
        if size == self.size {
            return;
        }
        if self.reflow == Reflow::Wraps && size.columns < self.size.columns {
            let lines = |row: &Row| row.width().div_ceil(usize::from(size.columns)).max(1);
            let above = self.shown.rows.iter().take(self.at);
            let column = self.shown.cursor.map_or(0, |(column, _)| column);
            self.at = above.map(lines).sum::<usize>() + usize::from(column / size.columns);
        }
        self.size = size;
        self.disturbed = true;
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
        }
        out.push_str("\x1b[?2026l");
        self.shown = frame;
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
                out.push_str("\r\n");
            }
            write_row(out, row);
        }
        self.at = frame.rows.len().saturating_sub(1);
        if frame.rows.is_empty() && n_written > 0 {
            out.push_str("\r\n\x1b[K");
        }
        if !self.disturbed {
            erase_rows(out, self.shown.rows.len().saturating_sub(n_written));
        }
    }

    /// Moves to the start of a live row.
    fn go_to(&mut self, out: &mut String, row: usize) {
        if row < self.at {
            let _ = write!(out, "\x1b[{}A", self.at - row);
        } else if row > self.at {
            let _ = write!(out, "\x1b[{}B", row - self.at);
        }
        out.push('\r');
        self.at = row;
    }

    /// Takes the live rows off the screen and leaves the cursor where they began.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let mut out = String::new();
        self.go_to(&mut out, 0);
        out.push_str("\x1b[K");
        erase_rows(&mut out, self.shown.rows.len().saturating_sub(1));
        out.push('\r');
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
            Some(bytes) => write_all(&(bytes + "\r")),
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

/// Writes a row over whatever its line holds. The line is erased first: doing it afterwards
/// would take the last character of a full line (the cursor waits on it to wrap).
fn write_row(out: &mut String, row: &Row) {
    out.push_str("\x1b[K");
    encode::row(out, row);
}

/// Erases so many lines below and comes back.
fn erase_rows(out: &mut String, n: usize) {
    for _ in 0..n {
        out.push_str("\r\n\x1b[K");
    }
    if n > 0 {
        let _ = write!(out, "\x1b[{n}A");
    }
}

/// Erases the current line and all below it. Not from its first column: tmux takes erasing from
/// the top left corner for clearing the screen and moves what was there into its history.
fn erase_below(out: &mut String) {
    out.push_str("\x1b[K\x1b[C\x1b[J\r");
}

#[cfg(test)]
mod tests;
