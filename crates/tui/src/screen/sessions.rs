//! The list of sessions to go on with, with search and a preview.

use std::time::SystemTime;

use agent_core::SessionSummary;
use agent_protocol::ThreadId;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::text::{Line, Span};

use super::ScreenOutcome;
use crate::look::Look;
use crate::row::Row;
use crate::terminal::{Frame, Size};
use crate::text;

/// Rows below the list: a blank one, the preview, the hint.
const PREVIEW_ROWS: usize = 5;

/// The list.
#[derive(Debug)]
pub(crate) struct SessionList {
    sessions: Vec<SessionSummary>,
    /// Of all directories.
    all: bool,
    search: String,
    selected: usize,
    /// When the list was made.
    now: SystemTime,
}

impl SessionList {
    pub(super) fn new(sessions: Vec<SessionSummary>, all: bool, now: SystemTime) -> Self {
        Self {
            sessions,
            all,
            now,
            search: String::new(),
            selected: 0,
        }
    }

    pub(super) fn search(&mut self, text: &str) {
        self.search.push_str(&text::one_line(text));
        self.selected = 0;
    }

    /// The sessions that have every word of the search.
    fn found(&self) -> Vec<&SessionSummary> {
        let words = self.search.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let has_all = |session: &&SessionSummary| {
            let cwd = session.cwd.as_ref().map(|cwd| cwd.display().to_string());
            let text = format!(
                "{} {} {} {}",
                session.preview,
                session.branch.as_deref().unwrap_or_default(),
                cwd.unwrap_or_default(),
                session.id
            )
            .to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.sessions.iter().filter(has_all).collect()
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    pub(super) fn key(&mut self, key: KeyEvent) -> ScreenOutcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let last = self.found().len().saturating_sub(1);
        match key.code {
            KeyCode::Esc if !self.search.is_empty() => self.search.clear(),
            KeyCode::Esc => return ScreenOutcome::Close,
            KeyCode::Char('c') if control => return ScreenOutcome::Close,
            KeyCode::Tab => return ScreenOutcome::List { all: !self.all },
            KeyCode::Enter => {
                if let Some(session) = self.found().get(self.selected) {
                    return ScreenOutcome::Resume(session.id);
                }
            }
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => self.selected = (self.selected + 1).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(10),
            KeyCode::PageDown => self.selected = (self.selected + 10).min(last),
            KeyCode::Backspace => {
                self.search.pop();
                self.selected = 0;
            }
            KeyCode::Char('u') if control => self.search.clear(),
            KeyCode::Char(character) if !control => {
                self.search.push(character);
                self.selected = 0;
            }
            _ => {}
        }
        ScreenOutcome::Stay
    }

    /// The session of this number, counting from 0.
    pub(crate) fn nth(&self, index: usize) -> Option<ThreadId> {
        self.found().get(index).map(|session| session.id)
    }

    /// All sessions with their numbers, for a terminal that only has lines.
    pub(super) fn plain_rows(&self, look: &Look) -> Vec<Row> {
        let mut rows = vec![row(
            "Sessions; a number chooses, anything else leaves",
            look.theme.text,
            look,
        )];
        let entries = self.found().into_iter().enumerate();
        rows.extend(entries.map(|(index, session)| {
            let entry = self.entry(session, false, look).text();
            row(
                &format!("{}. {}", index + 1, entry.trim_start()),
                look.theme.text,
                look,
            )
        }));
        rows
    }

    pub(super) fn view(&self, look: &Look, size: Size) -> Frame {
        let height = usize::from(size.rows);
        let found = self.found();
        let place = if self.all {
            "all directories"
        } else {
            "this directory"
        };
        let title = format!("Sessions of {place}  search: {}", self.search);
        let mut rows = vec![row(&title, look.theme.heading, look)];
        let n_preview = if height > 10 { PREVIEW_ROWS } else { 1 };
        let room = height.saturating_sub(1 + n_preview).max(1);
        let first = self.selected.saturating_sub(room.saturating_sub(1));
        for (index, session) in found.iter().enumerate().skip(first).take(room) {
            rows.push(self.entry(session, index == self.selected, look));
        }
        if found.is_empty() {
            rows.push(row("  there is none", look.theme.dim, look));
        }
        rows.resize(1 + room, Row::blank());
        if n_preview > 1 {
            rows.extend(preview(found.get(self.selected).copied(), look));
        }
        rows.truncate(height.saturating_sub(1).max(1));
        if height > 1 {
            let other = if self.all {
                "this directory"
            } else {
                "all directories"
            };
            let hint = format!("enter goes on, type to search, tab shows {other}, esc leaves");
            rows.push(row(&hint, look.theme.dim, look));
        }
        rows.truncate(height);
        Frame { rows, cursor: None }
    }

    fn entry(&self, session: &SessionSummary, selected: bool, look: &Look) -> Row {
        let (mark, style) = if selected {
            (look.glyphs.prompt, look.theme.selected)
        } else {
            (" ", look.theme.text)
        };
        let age = self
            .now
            .duration_since(session.modified)
            .unwrap_or_default();
        let words = if session.preview.is_empty() {
            "(nothing was said)".to_owned()
        } else {
            text::one_line(&session.preview)
        };
        let mut spans = vec![
            Span::styled(format!("{mark} "), style),
            Span::styled(format!("{:>8}  ", ago(age.as_secs())), look.theme.dim),
        ];
        if let Some(cwd) = session.cwd.as_ref().filter(|_| self.all) {
            let name = cwd.file_name().map(|name| name.to_string_lossy());
            let name = text::one_line(&name.unwrap_or_default());
            spans.push(Span::styled(format!("{name}  "), look.theme.dim));
        }
        spans.push(Span::styled(words, style));
        text::truncate_row(&Row::from(Line::from(spans)), look)
    }
}

fn row(text: &str, style: ratatui_core::style::Style, look: &Look) -> Row {
    let row = Row::from(Span::styled(text::one_line(text), style));
    text::truncate_row(&row, look)
}

/// The rows about the selected session: four, whatever it is.
fn preview(session: Option<&SessionSummary>, look: &Look) -> Vec<Row> {
    let mut rows = vec![Row::blank()];
    if let Some(session) = session {
        let cwd = session.cwd.as_ref().map(|cwd| cwd.display().to_string());
        let branch = session
            .branch
            .as_ref()
            .map(|branch| format!(" on {branch}"));
        let place = format!(
            "{}{}",
            cwd.unwrap_or_else(|| "a session whose head is damaged".to_owned()),
            branch.unwrap_or_default()
        );
        rows.push(row(&place, look.theme.dim, look));
        rows.push(row(&session.id.to_string(), look.theme.dim, look));
        rows.push(row(&session.preview, look.theme.text, look));
    }
    rows.resize(PREVIEW_ROWS - 1, Row::blank());
    rows
}

/// How long ago, in a few characters.
fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
