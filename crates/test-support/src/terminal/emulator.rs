//! What a terminal makes of the bytes: a screen, a scrollback, and answers to questions.

use std::mem;
use std::sync::{Arc, Mutex};

use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::Config;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::Processor;

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
