//! A list with one selected entry: moving, digits, and how it looks.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::text::{Line, Span};

use crate::look::Look;
use crate::row::Row;
use crate::text;

/// Rows that one entry takes at most.
const MAX_ENTRY_ROWS: usize = 4;

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it is.
    pub(crate) label: String,
    /// What it means.
    pub(crate) detail: String,
    /// A key that chooses it, beside its digit.
    pub(crate) key: Option<char>,
}

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Picked {
    /// Nothing.
    Nothing,
    /// The selection moved, or not.
    Moved,
    /// The entry of this index was chosen.
    Entry(usize),
}

/// Entries, one of them selected.
#[derive(Debug, Clone)]
pub(crate) struct List {
    entries: Vec<Entry>,
    selected: usize,
}

impl List {
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        Self {
            entries,
            selected: 0,
        }
    }

    pub(crate) fn select(&mut self, index: usize) {
        self.selected = index.min(self.entries.len().saturating_sub(1));
    }

    /// Arrows (and their Emacs and Vim keys) move, Enter, a digit or the entry's key choose.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    pub(crate) fn key(&mut self, key: KeyEvent) -> Picked {
        // Esc and a key that follow at once arrive as one key with Alt.
        if key
            .modifiers
            .difference(KeyModifiers::SHIFT | KeyModifiers::CONTROL)
            != KeyModifiers::NONE
        {
            return Picked::Nothing;
        }
        let last = self.entries.len().saturating_sub(1);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => Picked::Entry(self.selected),
            KeyCode::Up => self.move_to(self.selected.saturating_sub(1)),
            KeyCode::Down => self.move_to(self.selected + 1),
            KeyCode::Char('p') if control => self.move_to(self.selected.saturating_sub(1)),
            KeyCode::Char('n') if control => self.move_to(self.selected + 1),
            KeyCode::Home | KeyCode::PageUp => self.move_to(0),
            KeyCode::End | KeyCode::PageDown => self.move_to(last),
            KeyCode::Char(character) if !control => self.character(character),
            _ => Picked::Nothing,
        }
    }

    /// The entry that a whole line names, by its number or its key. A line that was meant for
    /// something else, and only begins like that, names none.
    pub(crate) fn named(&self, line: &str) -> Option<usize> {
        if let Ok(number) = line.parse::<usize>() {
            return number
                .checked_sub(1)
                .filter(|index| *index < self.entries.len());
        }
        let mut characters = line.chars();
        let key = characters.next().filter(|_| characters.next().is_none())?;
        let key = key.to_ascii_lowercase();
        self.entries.iter().position(|entry| entry.key == Some(key))
    }

    fn move_to(&mut self, index: usize) -> Picked {
        self.select(index);
        Picked::Moved
    }

    fn character(&mut self, character: char) -> Picked {
        let by_key = |entry: &Entry| entry.key == Some(character.to_ascii_lowercase());
        if let Some(index) = self.entries.iter().position(by_key) {
            return Picked::Entry(index);
        }
        let digit = character
            .to_digit(10)
            .and_then(|digit| digit.checked_sub(1));
        let index = digit.and_then(|digit| usize::try_from(digit).ok());
        match (index.filter(|index| *index < self.entries.len()), character) {
            (Some(index), _) => Picked::Entry(index),
            (None, 'j') => self.move_to(self.selected + 1),
            (None, 'k') => self.move_to(self.selected.saturating_sub(1)),
            (None, _) => Picked::Nothing,
        }
    }

    /// Rows of the entries around the selected one, at most `max`.
    pub(crate) fn view(&self, look: &Look, max: usize) -> Vec<Row> {
        let entries = self.entries.iter().enumerate();
        let entries: Vec<Vec<Row>> = entries
            .map(|(index, entry)| self.entry_rows(index, entry, look))
            .collect();
        let n_rows = |index: usize| entries.get(index).map_or(usize::MAX, Vec::len);
        let (mut first, mut end) = (self.selected, self.selected + 1);
        let mut room = max.saturating_sub(n_rows(self.selected));
        // In turn below and above, as long as one of them fits.
        loop {
            let (first_before, end_before) = (first, end);
            if n_rows(end) <= room {
                room -= n_rows(end);
                end += 1;
            }
            if let Some(above) = first.checked_sub(1).filter(|above| n_rows(*above) <= room) {
                room -= n_rows(above);
                first = above;
            }
            if (first, end) == (first_before, end_before) {
                break;
            }
        }
        let shown = entries.into_iter().skip(first).take(end - first);
        shown.flatten().take(max.max(1)).collect()
    }

    /// An entry in as many rows as it takes, but few enough to leave room for others.
    fn entry_rows(&self, index: usize, entry: &Entry, look: &Look) -> Vec<Row> {
        let selected = index == self.selected;
        let (mark, style) = if selected {
            (look.glyphs.selected, look.theme.selected)
        } else {
            (" ", look.theme.text)
        };
        let number = format!("{mark} {}. ", index + 1);
        let indent = [text::spaces(text::width(&number))];
        let label = text::one_line(&entry.label);
        let mut spans = vec![Span::styled(label, style)];
        if let Some(key) = entry.key {
            spans.push(Span::styled(format!(" ({key})"), look.theme.dim));
        }
        if !entry.detail.is_empty() {
            let detail = format!("  {}", text::one_line(&entry.detail));
            spans.push(Span::styled(detail, look.theme.dim));
        }
        let number = [Span::styled(number, style)];
        let mut rows = text::wrap(&Line::from(spans), look.width, &number, &indent);
        if rows.len() > MAX_ENTRY_ROWS {
            rows.truncate(MAX_ENTRY_ROWS);
            if let Some(last) = rows.last_mut() {
                last.line.spans.push(Span::styled("  ", style));
                last.line
                    .spans
                    .push(Span::styled(look.glyphs.ellipsis, style));
                *last = text::truncate_row(last, look);
            }
        }
        rows
    }
}
