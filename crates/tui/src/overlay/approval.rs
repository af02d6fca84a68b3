//! A wish for consent: what would happen, where, why it is asked, and the answers.
//!
//! What would happen is foreign text and is shown whole: it scrolls where it does not fit, and
//! nothing of it can hide something else.

use std::path::{Path, PathBuf};
use std::time::Instant;

use agent_protocol::{ApprovalChoice, ApprovalRequest, ApprovalSubject, RequestId};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::text::{Line, Span};

use super::Outcome;
use super::list::{Entry, List, Picked};
use super::scroll::Scroll;
use crate::cells;
use crate::composer::{Composer, ComposerOptions};
use crate::look::Look;
use crate::row::Row;
use crate::terminal::Size;
use crate::text;

/// Rows of a patch that are shown at most; the rest is named.
const MAX_DIFF_ROWS: usize = 20_000;

/// Rows of a reason that stand above what it is about; a longer one comes after it.
const MAX_REASON_ROWS: usize = 4;

/// A wish for consent while it is shown.
#[derive(Debug)]
pub(crate) struct Approval {
    request: ApprovalRequest,
    /// The user's home directory, to show paths shorter.
    home: Option<PathBuf>,
    list: List,
    answers: Vec<Answer>,
    scroll: Scroll,
    /// What the model is told with a no, while it is written.
    note: Option<Box<Composer>>,
}

/// What an entry of the list means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Choice(AnswerKind),
    /// No, with a word to the model.
    Note,
}

/// The choices that need nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    Once,
    ForSession,
    Decline,
    Stop,
}

impl AnswerKind {
    fn choice(self) -> ApprovalChoice {
        match self {
            Self::Once => ApprovalChoice::Once,
            Self::ForSession => ApprovalChoice::ForSession,
            Self::Decline => ApprovalChoice::Decline,
            Self::Stop => ApprovalChoice::Stop,
        }
    }
}

impl Approval {
    pub(crate) fn new(request: ApprovalRequest, home: Option<PathBuf>) -> Self {
        let remembered = match &request.subject {
            ApprovalSubject::Command { .. } => "this very command is not asked again",
            ApprovalSubject::Patch { .. } => "these files are not asked again",
        };
        let mut answers = Vec::new();
        let mut entries = Vec::new();
        let mut add = |answer, label: &str, detail: &str, key| {
            answers.push(answer);
            entries.push(Entry {
                label: label.to_owned(),
                detail: detail.to_owned(),
                key: Some(key),
            });
        };
        for choice in &request.choices {
            match choice {
                ApprovalChoice::Once => {
                    add(Answer::Choice(AnswerKind::Once), "Yes, this time", "", 'y');
                }
                ApprovalChoice::ForSession => add(
                    Answer::Choice(AnswerKind::ForSession),
                    "Yes, for this session",
                    remembered,
                    'a',
                ),
                ApprovalChoice::Decline => {
                    add(
                        Answer::Choice(AnswerKind::Decline),
                        "No, go on without",
                        "",
                        'n',
                    );
                    add(Answer::Note, "No, and tell the model", "", 't');
                }
                ApprovalChoice::Stop => {
                    add(
                        Answer::Choice(AnswerKind::Stop),
                        "Stop the turn",
                        "esc",
                        's',
                    );
                }
            }
        }
        Self {
            request,
            home,
            list: List::new(entries),
            answers,
            scroll: Scroll::default(),
            note: None,
        }
    }

    fn short(&self, path: &Path) -> String {
        text::short_path(path, self.home.as_deref())
    }

    /// What was allowed for the session, for the transcript.
    pub(super) fn record(&self) -> String {
        match &self.request.subject {
            ApprovalSubject::Command { command, .. } => format!(
                "allowed for this session: {}",
                text::spelled_out_line(command)
            ),
            ApprovalSubject::Patch { paths, .. } => {
                let paths: Vec<String> = paths.iter().map(|path| self.short(path)).collect();
                format!("edits allowed for this session: {}", paths.join(", "))
            }
        }
    }

    pub(super) fn request_id(&self) -> RequestId {
        self.request.request_id
    }

    pub(super) fn takes_text(&self) -> bool {
        self.note.is_some()
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(note) = &mut self.note {
            note.paste(text, &|_| false);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Outcome {
        if self.note.is_some() {
            return self.note_key(key, now);
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return self.answer(ApprovalChoice::Stop, None),
            KeyCode::Char('c') if control => return self.answer(ApprovalChoice::Stop, None),
            code if self.scroll.key(code) => {}
            _ => match self.list.key(key) {
                Picked::Entry(index) => return self.picked(index),
                Picked::Nothing => return Outcome::Unused,
                Picked::Moved => {}
            },
        }
        Outcome::Stay
    }

    /// A whole line, where there are no keys.
    pub(super) fn line(&mut self, line: &str) -> Outcome {
        match (&self.note, self.list.named(line)) {
            (Some(_), _) => self.answer(ApprovalChoice::Decline, Some(line.to_owned())),
            (None, Some(index)) => self.picked(index),
            (None, None) => Outcome::Stay,
        }
    }

    fn picked(&mut self, index: usize) -> Outcome {
        match self.answers.get(index) {
            Some(Answer::Choice(kind)) => self.answer(kind.choice(), None),
            Some(Answer::Note) => {
                self.note = Some(Box::new(Composer::new(ComposerOptions::default())));
                Outcome::Stay
            }
            None => Outcome::Stay,
        }
    }

    fn note_key(&mut self, key: KeyEvent, now: Instant) -> Outcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let leaves = key.code == KeyCode::Esc || control && key.code == KeyCode::Char('c');
        if leaves {
            self.note = None;
            return Outcome::Stay;
        }
        let Some(note) = &mut self.note else {
            return Outcome::Stay;
        };
        if key.code == KeyCode::Enter {
            let text = note.text();
            return self.answer(ApprovalChoice::Decline, Some(text));
        }
        if super::writes_answer(key) {
            note.key(key, now);
        }
        Outcome::Stay
    }

    fn answer(&self, choice: ApprovalChoice, note: Option<String>) -> Outcome {
        Outcome::Answer {
            request_id: self.request.request_id,
            choice,
            note: note.filter(|note| !note.trim().is_empty()),
        }
    }

    pub(super) fn view(&mut self, look: &Look, size: Size) -> (Vec<Row>, Option<(u16, u16)>) {
        let height = usize::from(size.rows);
        let (mut bottom, cursor) = self.bottom(look, height);
        let (mut rows, body) = self.text(look);
        rows.truncate(height.saturating_sub(bottom.len() + 1));
        let room = height.saturating_sub(rows.len() + bottom.len());
        rows.extend(self.scroll.view(body, room, look));
        let n_above = rows.len();
        rows.append(&mut bottom);
        rows.truncate(height);
        let cursor = cursor.and_then(|(column, row): (u16, u16)| {
            let row = usize::from(row) + n_above;
            Some((column, u16::try_from(row).ok().filter(|_| row < height)?))
        });
        (rows, cursor)
    }

    fn bottom(&mut self, look: &Look, height: usize) -> (Vec<Row>, Option<(u16, u16)>) {
        let Some(note) = &mut self.note else {
            let mut rows = vec![Row::blank()];
            rows.extend(self.list.view(look, height.saturating_sub(4).max(1)));
            rows.truncate(height);
            return (rows, None);
        };
        let hint = if look.is_plain() {
            "What should the model know?"
        } else {
            "What should the model know? enter sends, esc goes back"
        };
        let hint = Row::from(Span::styled(hint, look.theme.dim));
        let mut rows = vec![Row::blank(), text::truncate_row(&hint, look)];
        if look.is_plain() {
            return (rows, None);
        }
        note.set_columns(look.width);
        let view = note.view(look, 4);
        let n_above = u16::try_from(rows.len()).unwrap_or(0);
        rows.extend(view.rows);
        let cursor = view.cursor.map(|(column, row)| (column, row + n_above));
        (rows, cursor)
    }

    /// What is asked; and why, where and what would happen.
    fn text(&self, look: &Look) -> (Vec<Row>, Vec<Row>) {
        let (question, place) = match &self.request.subject {
            ApprovalSubject::Command {
                cwd,
                sandboxed: true,
                ..
            } => (
                "Would you like to run this command?",
                format!("in the sandbox, in {}", self.short(cwd)),
            ),
            ApprovalSubject::Command { cwd, .. } => (
                "Would you like to run this command outside the sandbox?",
                format!("with all your rights, in {}", self.short(cwd)),
            ),
            ApprovalSubject::Patch { paths, .. } => {
                let paths: Vec<String> = paths.iter().map(|p| self.short(p)).collect();
                (
                    "Would you like to allow this edit?",
                    format!("files: {}", paths.join(", ")),
                )
            }
        };
        let heading = Line::from(Span::styled(question, look.theme.heading));
        let heading = text::wrap(&heading, look.width, &[], &[]);
        let indent = [Span::raw("  ")];
        let set = |text: &str| {
            let line = Line::from(Span::styled(text::spelled_out_line(text), look.theme.dim));
            text::wrap(&line, look.width, &indent, &indent)
        };
        let reason = self.request.reason.as_ref();
        let mut why = reason.map_or_else(Vec::new, |reason| set(&format!("why: {reason}")));
        // The model's words do not push away what they are about.
        let mut behind = Vec::new();
        if why.len() > MAX_REASON_ROWS {
            behind.push(Row::blank());
            behind.append(&mut why);
        }
        let mut body = why;
        body.extend(set(&place));
        body.push(Row::blank());
        body.extend(self.subject(look));
        body.append(&mut behind);
        (heading, body)
    }

    /// All of what would happen.
    fn subject(&self, look: &Look) -> Vec<Row> {
        match &self.request.subject {
            ApprovalSubject::Command { command, .. } => {
                let frame = text::Frame {
                    width: look.width,
                    first: &[Span::styled("  $ ", look.theme.accent)],
                    rest: &[Span::raw("    ")],
                };
                let piece = text::Piece::new(text::spelled_out(command), look.theme.text);
                let rows = text::flow(&[piece], frame, text::Break::Words);
                without_gaps(rows, look)
            }
            ApprovalSubject::Patch { diff, .. } => cells::diff_rows(diff, look, MAX_DIFF_ROWS),
        }
    }
}
/// Empty rows that are more than this say only how many they are, so that what follows them is
/// not pushed out of sight.
const MAX_EMPTY_ROWS: usize = 2;

fn without_gaps(rows: Vec<Row>, look: &Look) -> Vec<Row> {
    let mut kept = Vec::with_capacity(rows.len());
    let mut n_empty = 0;
    let end_gap = |kept: &mut Vec<Row>, n_empty: &mut usize| {
        let n = std::mem::take(n_empty);
        if n > MAX_EMPTY_ROWS {
            let line = format!("    {} {n} empty lines", look.glyphs.skip);
            let row = Row::from(Span::styled(line, look.theme.warning));
            kept.push(text::truncate_row(&row, look));
        } else {
            kept.extend(std::iter::repeat_n(Row::blank(), n));
        }
    };
    for row in rows {
        if row.text().trim().is_empty() {
            n_empty += 1;
        } else {
            end_gap(&mut kept, &mut n_empty);
            kept.push(row);
        }
    }
    end_gap(&mut kept, &mut n_empty);
    kept
}
