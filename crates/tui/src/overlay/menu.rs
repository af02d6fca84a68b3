//! A list to choose from, with a title.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::text::{Line, Span};

use super::Outcome;
use super::list::{Entry, List, Picked};
use crate::look::Look;
use crate::row::Row;
use crate::terminal::Size;
use crate::text;

/// What a menu is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// How much the model thinks.
    Effort,
    /// What commands may touch, and when the user is asked.
    Permissions,
    /// Whether there shall be no sandbox.
    FullAccess,
    /// Switches of the interface.
    Settings,
    /// The colours.
    Theme,
    /// Whether the directory is trusted.
    Trust,
    /// The message to go back to.
    Back,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What the choice is called inside the program.
    pub(crate) name: String,
    /// What people see.
    pub(crate) label: String,
    /// What it means.
    pub(crate) detail: String,
}

/// A list to choose from.
#[derive(Debug)]
pub(crate) struct Menu {
    purpose: Purpose,
    title: String,
    /// Lines between the title and the entries.
    body: Vec<String>,
    choices: Vec<Choice>,
    list: List,
}

impl Menu {
    pub(crate) fn new(purpose: Purpose, title: &str, choices: Vec<Choice>) -> Self {
        let entries = choices.iter().map(|choice| Entry {
            label: choice.label.clone(),
            detail: choice.detail.clone(),
            key: None,
        });
        Self {
            purpose,
            title: title.to_owned(),
            body: Vec::new(),
            list: List::new(entries.collect()),
            choices,
        }
    }

    /// Whether its choice is for this.
    pub(crate) fn is_for(&self, purpose: Purpose) -> bool {
        self.purpose == purpose
    }

    /// With lines that explain it.
    pub(crate) fn with_body(mut self, body: Vec<String>) -> Self {
        self.body = body;
        self
    }

    /// With this entry selected.
    pub(crate) fn select(mut self, index: usize) -> Self {
        self.list.select(index);
        self
    }

    /// Whether a stray key must not choose.
    pub(super) fn is_guarded(&self) -> bool {
        self.purpose == Purpose::Trust
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Outcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let leaves = key.code == KeyCode::Esc || control && key.code == KeyCode::Char('c');
        if leaves {
            return Outcome::Close;
        }
        match self.list.key(key) {
            Picked::Nothing => Outcome::Unused,
            Picked::Moved => Outcome::Stay,
            Picked::Entry(index) => self.chosen(index).unwrap_or(Outcome::Stay),
        }
    }

    /// A whole line, where there are no keys; one that chooses nothing leaves.
    pub(super) fn line(&self, line: &str) -> Outcome {
        let chosen = self.list.named(line).and_then(|index| self.chosen(index));
        chosen.unwrap_or(Outcome::Close)
    }

    fn chosen(&self, index: usize) -> Option<Outcome> {
        let choice = self.choices.get(index)?;
        Some(Outcome::Chosen(self.purpose, choice.name.clone()))
    }

    pub(super) fn view(&self, look: &Look, size: Size) -> Vec<Row> {
        let title = Line::from(Span::styled(
            text::one_line(&self.title),
            look.theme.heading,
        ));
        let mut rows = text::wrap(&title, look.width, &[], &[]);
        for line in &self.body {
            let line = Line::from(Span::styled(text::spelled_out_line(line), look.theme.dim));
            let indent = [Span::raw("  ")];
            rows.extend(text::wrap(&line, look.width, &indent, &indent));
        }
        let hint = if look.is_plain() {
            "a number chooses, anything else leaves"
        } else {
            "enter or a digit chooses, esc leaves"
        };
        let hint = Row::from(Span::styled(hint, look.theme.dim));
        let height = usize::from(size.rows);
        let n_entries = self.choices.len().min(height.saturating_sub(2)).max(1);
        rows.truncate(height.saturating_sub(n_entries + 1));
        let room = height.saturating_sub(rows.len() + 1).max(1);
        rows.extend(self.list.view(look, room));
        if rows.len() < height {
            rows.push(text::truncate_row(&hint, look));
        }
        rows
    }
}
