//! A terminal emulator with scrollback, and what a person sees in it.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::{Processor, StdSyncHandler};

use super::super::Size;

/// A terminal.
pub(super) struct Emulator {
    term: Term<VoidListener>,
    parser: Processor<StdSyncHandler>,
}

struct Area(Size);

impl Dimensions for Area {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.0.columns)
    }
}

impl Emulator {
    pub(super) fn new(size: Size) -> Self {
        Self {
            term: Term::new(Config::default(), &Area(size), VoidListener),
            parser: Processor::new(),
        }
    }

    pub(super) fn write(&mut self, bytes: &str) {
        self.parser.advance(&mut self.term, bytes.as_bytes());
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.term.resize(Area(size));
    }

    /// Where the cursor is: column and row of the screen.
    pub(super) fn cursor(&self) -> (usize, usize) {
        let point = self.term.grid().cursor.point;
        (point.column.0, usize::try_from(point.line.0).unwrap())
    }

    /// The text of a line of the screen, or of the scrollback when negative, and whether it goes
    /// on in the next.
    fn line(&self, index: i32) -> (String, bool) {
        let row = &self.term.grid()[Line(index)];
        let spacers = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
        let cells = (0..self.term.columns()).map(|column| &row[Column(column)]);
        let mut text = String::new();
        for cell in cells.filter(|cell| !cell.flags.intersects(spacers)) {
            text.push(cell.c);
            text.extend(cell.zerowidth().into_iter().flatten());
        }
        let last = &row[Column(self.term.columns() - 1)];
        (text, last.flags.contains(Flags::WRAPLINE))
    }

    fn history(&self) -> i32 {
        i32::try_from(self.term.grid().history_size()).unwrap()
    }

    /// Whether a line of the scrollback begins so.
    pub(super) fn has_scrolled_off(&self, text: &str) -> bool {
        (-self.history()..0).any(|index| self.line(index).0.starts_with(text))
    }

    fn height(&self) -> i32 {
        i32::try_from(self.term.screen_lines()).unwrap()
    }

    /// All lines from the oldest, those that were wrapped joined.
    pub(super) fn logical_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut whole = String::new();
        for index in -self.history()..self.height() {
            let (text, goes_on) = self.line(index);
            whole.push_str(&text);
            if !goes_on {
                lines.push(std::mem::take(&mut whole).trim_end().to_owned());
            }
        }
        lines
    }

    /// The text of the screen, from a row of it on.
    pub(super) fn rows_from(&self, first: usize) -> Vec<String> {
        let first = i32::try_from(first).unwrap();
        let rows = (first..self.height()).map(|index| self.line(index).0.trim_end().to_owned());
        rows.collect()
    }

    /// Scrollback, a rule, the screen; the cursor as a bar.
    pub(super) fn shown(&self) -> String {
        let (column, row) = self.cursor();
        let mut shown = String::new();
        for index in -self.history()..self.height() {
            if index == 0 {
                shown.push_str("----\n");
            }
            let (text, _) = self.line(index);
            if index == i32::try_from(row).unwrap() {
                let before: String = text.chars().take(column).collect();
                let behind: String = text.chars().skip(column).collect();
                shown.push_str(&before);
                shown.push('▏');
                shown.push_str(behind.trim_end());
            } else {
                shown.push_str(text.trim_end());
            }
            shown.push('\n');
        }
        shown
    }
}
