//! A pager: the whole transcript with everything that cells fold away, or one long text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::style::Modifier;
use ratatui_core::text::Span;

use super::ScreenOutcome;
use crate::cell::Detail;
use crate::cells;
use crate::look::Look;
use crate::row::Row;
use crate::terminal::{Frame, Size};
use crate::text;
use crate::transcript::Transcript;

/// Rows of a diff that are shown at most.
const MAX_DIFF_ROWS: usize = 100_000;

/// A pager.
#[derive(Debug)]
pub(crate) struct Pager {
    source: Source,
    /// The rows for a width; made again when it changes.
    rows: Vec<Row>,
    made_for: Option<u16>,
    /// The first row that is shown.
    top: usize,
    /// Rows that are shown at once, from the last view.
    height: usize,
    /// What is searched for, and whether it is still being typed.
    search: Option<Search>,
}

#[derive(Debug)]
enum Source {
    /// The cells of the transcript, as many as there were.
    Transcript { n_cells: usize },
    /// A unified diff.
    Diff(String),
}

#[derive(Debug, Default)]
struct Search {
    text: String,
    typing: bool,
}

impl Pager {
    pub(super) fn transcript(n_cells: usize) -> Self {
        Self::new(Source::Transcript { n_cells }, usize::MAX)
    }

    pub(super) fn diff(text: &str) -> Self {
        Self::new(Source::Diff(text.to_owned()), 0)
    }

    fn new(source: Source, top: usize) -> Self {
        Self {
            source,
            rows: Vec::new(),
            made_for: None,
            top,
            height: 1,
            search: None,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    pub(super) fn key(&mut self, key: KeyEvent) -> ScreenOutcome {
        if self.search.as_ref().is_some_and(|search| search.typing) {
            self.search_key(key);
            return ScreenOutcome::Stay;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = self.height.saturating_sub(1).max(1);
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return ScreenOutcome::Close,
            KeyCode::Char('c' | 't') if control => return ScreenOutcome::Close,
            KeyCode::Up | KeyCode::Char('k') => self.scroll_to(self.top.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Enter => self.scroll_to(self.top + 1),
            KeyCode::PageUp | KeyCode::Char('b' | 'u') => {
                self.scroll_to(self.top.saturating_sub(page));
            }
            KeyCode::PageDown | KeyCode::Char(' ' | 'f' | 'd') => self.scroll_to(self.top + page),
            KeyCode::Home | KeyCode::Char('g') => self.scroll_to(0),
            KeyCode::End | KeyCode::Char('G') => self.scroll_to(usize::MAX),
            KeyCode::Char('/') => {
                self.search = Some(Search {
                    text: String::new(),
                    typing: true,
                });
            }
            KeyCode::Char('n') => self.find(Direction::Down),
            KeyCode::Char('N') => self.find(Direction::Up),
            _ => {}
        }
        ScreenOutcome::Stay
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    fn search_key(&mut self, key: KeyEvent) {
        let Some(search) = &mut self.search else {
            return;
        };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => self.search = None,
            KeyCode::Char('c') if control => self.search = None,
            KeyCode::Enter => {
                search.typing = false;
                self.find(Direction::Down);
            }
            KeyCode::Backspace => {
                search.text.pop();
            }
            KeyCode::Char(character) if !control => search.text.push(character),
            _ => {}
        }
    }

    /// Goes to the next row that has the text, around the ends.
    fn find(&mut self, direction: Direction) {
        let Some(search) = &self.search else { return };
        let wanted = search.text.to_lowercase();
        let n_rows = self.rows.len();
        if wanted.is_empty() || n_rows == 0 {
            return;
        }
        let order = (1..=n_rows).map(|step| match direction {
            Direction::Down => (self.top + step) % n_rows,
            Direction::Up => (self.top + n_rows - step) % n_rows,
        });
        let mut hits = order.filter(|index| {
            let row = self.rows.get(*index);
            row.is_some_and(|row| row.text().to_lowercase().contains(&wanted))
        });
        if let Some(index) = hits.next() {
            self.scroll_to(index);
        }
    }

    fn scroll_to(&mut self, top: usize) {
        self.top = top.min(self.rows.len().saturating_sub(self.height));
    }

    /// Shows about the same part after all rows were made again: the end if it was shown.
    fn keep_place(&mut self, n_before: usize) {
        if n_before == 0 {
            return; // Nothing was shown yet.
        }
        self.top = if self.top + self.height >= n_before {
            usize::MAX
        } else {
            self.top * self.rows.len() / n_before
        };
    }

    pub(super) fn all_rows(&self, transcript: &Transcript, look: &Look) -> Vec<Row> {
        self.source.rows(transcript, look)
    }

    pub(super) fn view(&mut self, transcript: &Transcript, look: &Look, size: Size) -> Frame {
        if self.made_for != Some(look.width) {
            let n_before = self.rows.len();
            self.rows = self.source.rows(transcript, look);
            self.made_for = Some(look.width);
            self.keep_place(n_before);
        }
        self.height = usize::from(size.rows).saturating_sub(1).max(1);
        self.scroll_to(self.top);
        let mut rows: Vec<Row> = self
            .rows
            .iter()
            .skip(self.top)
            .take(self.height)
            .map(|row| self.marked(row))
            .collect();
        rows.resize(self.height, Row::blank());
        if size.rows > 1 {
            rows.push(self.footer(look));
        }
        Frame { rows, cursor: None }
    }

    /// A row that has what is searched for stands out.
    fn marked(&self, row: &Row) -> Row {
        let mut row = row.clone();
        if let Some(search) = self
            .search
            .as_ref()
            .filter(|search| !search.text.is_empty())
            && row
                .text()
                .to_lowercase()
                .contains(&search.text.to_lowercase())
        {
            row.line.style = row.line.style.add_modifier(Modifier::REVERSED);
        }
        row
    }

    fn footer(&self, look: &Look) -> Row {
        let text = match &self.search {
            Some(search) if search.typing => format!("/{}", search.text),
            Some(_) | None => {
                let seen = (self.top + self.height).min(self.rows.len());
                let percent = (seen * 100).checked_div(self.rows.len()).unwrap_or(100);
                format!("{percent}%  arrows and pages scroll, / searches, n next, q leaves")
            }
        };
        text::truncate_row(&Row::from(Span::styled(text, look.theme.dim)), look)
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Down,
    Up,
}

impl Source {
    fn rows(&self, transcript: &Transcript, look: &Look) -> Vec<Row> {
        match self {
            Self::Diff(diff) => cells::diff_rows(diff, look, MAX_DIFF_ROWS),
            Self::Transcript { n_cells } => {
                let mut rows = Vec::new();
                for cell in transcript.cells().iter().take(*n_cells) {
                    if !rows.is_empty() {
                        rows.push(Row::blank());
                    }
                    rows.extend(cell.rows(look, Detail::Full));
                }
                rows
            }
        }
    }
}
