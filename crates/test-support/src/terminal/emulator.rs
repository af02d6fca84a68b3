//! What a terminal makes of the bytes: a screen, a scrollback, and answers to questions.

use std::mem;
use std::sync::{Arc, Mutex};

use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::{Dimensions, Indexed};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::Config;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor, Processor};

use crate::fail::lock;

/// How many lines the scrollback keeps.
const SCROLLBACK: usize = 20_000;

/// Keeps what the terminal answers.
#[derive(Debug, Clone, Default)]
struct Answers(Arc<Mutex<String>>);

impl EventListener for Answers {
    fn send_event(&self, event: Event) {
        if let Event::PtyWrite(text) = event {
            lock(&self.0).push_str(&text);
        }
    }
}

struct Size {
    columns: usize,
    rows: usize,
}

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }
}

/// One cell of the screen as it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a cell has these independent attributes"
)]
pub struct Glyph {
    /// Its column, from 0.
    pub column: usize,
    /// Its row, from 0.
    pub row: usize,
    /// The character with what is combined with it.
    pub text: String,
    /// The colour of the text.
    pub foreground: Ink,
    /// The colour behind it.
    pub background: Ink,
    /// Heavier.
    pub bold: bool,
    /// Fainter.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// With a line below.
    pub underlined: bool,
}

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The terminal's own for this purpose.
    Default,
    /// The terminal's own for the other purpose.
    Opposite,
    /// One of the terminal's sixteen.
    Numbered(u8),
    /// Red, green and blue.
    Exact(u8, u8, u8),
}

impl Ink {
    fn of(color: Color) -> Self {
        match color {
            Color::Named(named) => match u8::try_from(named as usize) {
                Ok(number @ 0..16) => Self::Numbered(number),
                Ok(_) | Err(_) => Self::Default,
            },
            Color::Indexed(number) => Self::Numbered(number),
            Color::Spec(rgb) => Self::Exact(rgb.r, rgb.g, rgb.b),
        }
    }
}

impl Glyph {
    fn of(cell: &Indexed<&Cell>) -> Option<Self> {
        let reversed = cell.flags.contains(Flags::INVERSE);
        let default_background = cell.bg == Color::Named(NamedColor::Background);
        if cell.c == ' ' && default_background && !reversed {
            return None;
        }
        let mut text = cell.c.to_string();
        text.extend(cell.zerowidth().into_iter().flatten());
        let (mut foreground, mut background) = (Ink::of(cell.fg), Ink::of(cell.bg));
        if reversed {
            let other = |ink| {
                if ink == Ink::Default {
                    Ink::Opposite
                } else {
                    ink
                }
            };
            (foreground, background) = (other(background), other(foreground));
        }
        Some(Self {
            column: cell.point.column.0,
            row: usize::try_from(cell.point.line.0).ok()?,
            text,
            foreground,
            background,
            bold: cell.flags.contains(Flags::BOLD),
            dim: cell.flags.contains(Flags::DIM),
            italic: cell.flags.contains(Flags::ITALIC),
            underlined: cell.flags.intersects(Flags::ALL_UNDERLINES),
        })
    }
}

/// The terminal.
pub(super) struct Emulator {
    term: Term<Answers>,
    parser: Processor,
    answers: Answers,
}

impl Emulator {
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        let config = Config {
            scrolling_history: SCROLLBACK,
            kitty_keyboard: true,
            ..Config::default()
        };
        let answers = Answers::default();
        let term = Term::new(config, &size(columns, rows), answers.clone());
        Self {
            term,
            parser: Processor::new(),
            answers,
        }
    }

    /// Takes bytes; what it answers comes back.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> String {
        self.parser.advance(&mut self.term, bytes);
        mem::take(&mut *lock(&self.answers.0))
    }

    pub(super) fn resize(&mut self, columns: u16, rows: u16) {
        self.term.resize(size(columns, rows));
    }

    pub(super) fn screen(&self) -> Vec<String> {
        let n_rows = i32::try_from(self.term.screen_lines()).unwrap_or(0);
        (0..n_rows)
            .map(|row| self.row(row).0.trim_end().to_owned())
            .collect()
    }

    /// Each cell of the screen that holds something.
    pub(super) fn glyphs(&self) -> Vec<Glyph> {
        let cells = self.term.grid().display_iter();
        let cells = cells.filter(|cell| {
            let placeholder = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
            !cell.flags.intersects(placeholder)
        });
        cells.filter_map(|cell| Glyph::of(&cell)).collect()
    }

    pub(super) fn history(&self) -> Vec<String> {
        let n_rows = i32::try_from(self.term.screen_lines()).unwrap_or(0);
        let n_before = i32::try_from(self.term.grid().history_size()).unwrap_or(0);
        let mut lines = Vec::new();
        let mut line = String::new();
        for row in -n_before..n_rows {
            let (text, wraps) = self.row(row);
            line.push_str(&text);
            if !wraps {
                lines.push(mem::take(&mut line).trim_end().to_owned());
            }
        }
        lines.push(line.trim_end().to_owned());
        lines
    }

    pub(super) fn cursor(&self) -> (usize, usize) {
        let point = self.term.grid().cursor.point;
        (point.column.0, usize::try_from(point.line.0).unwrap_or(0))
    }

    /// The text of a row, and whether its line goes on in the next one.
    fn row(&self, row: i32) -> (String, bool) {
        let mut text = String::new();
        let mut wraps = false;
        let row = &self.term.grid()[Line(row)];
        for column in 0..self.term.columns() {
            let cell = &row[Column(column)];
            wraps = cell.flags.contains(Flags::WRAPLINE);
            let placeholder = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
            if cell.flags.intersects(placeholder) {
                continue;
            }
            text.push(cell.c);
            text.extend(cell.zerowidth().into_iter().flatten());
        }
        (text, wraps)
    }
}

fn size(columns: u16, rows: u16) -> Size {
    Size {
        columns: usize::from(columns),
        rows: usize::from(rows),
    }
}
