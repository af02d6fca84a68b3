//! The alternate screen, for what needs all of the terminal for a while: the transcript, lists.

use std::fmt::Write as _;
use std::io;

use super::encode;
use super::inline::Frame;
use super::modes::{Modes, Size, write_all};

/// The alternate screen while it is on.
#[derive(Debug, Default)]
pub(crate) struct AlternateScreen {
    shown: Option<Frame>,
    size: Option<Size>,
}

impl AlternateScreen {
    /// Switches it on.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn enter(modes: &mut Modes) -> io::Result<Self> {
        write_all("\x1b[?1049h\x1b[H\x1b[2J")?;
        modes.set_alternate(true);
        Ok(Self::default())
    }

    /// Switches it off; the terminal shows what it showed before.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn leave(modes: &mut Modes) -> io::Result<()> {
        modes.set_alternate(false);
        write_all("\x1b[?1049l")
    }

    /// Draws a frame over the whole screen, in one write; nothing if it is shown already.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn draw(&mut self, size: Size, frame: Frame) -> io::Result<()> {
        if self.size == Some(size) && self.shown.as_ref() == Some(&frame) {
            return Ok(());
        }
        let out = self.encode(size, &frame);
        self.shown = Some(frame);
        self.size = Some(size);
        write_all(&out)
    }

    fn encode(&self, size: Size, frame: &Frame) -> String {
        let mut out = String::from("\x1b[?2026h\x1b[?25l");
        let same_size = self.size == Some(size);
        let before = self.shown.as_ref().filter(|_| same_size);
        for index in 0..usize::from(size.rows) {
            let row = frame.rows.get(index);
            let unchanged = before.is_some_and(|before| before.rows.get(index) == row);
            if unchanged {
                continue;
            }
            let _ = write!(out, "\x1b[{};1H\x1b[K", index + 1);
            if let Some(row) = row {
                encode::row(&mut out, row);
            }
        }
        if let Some((column, row)) = frame.cursor {
            let _ = write!(out, "\x1b[{};{}H\x1b[?25h", row + 1, column + 1);
        }
        out.push_str("\x1b[?2026l");
        out
    }
}

#[cfg(test)]
mod tests;
