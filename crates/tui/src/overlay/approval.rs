//! A wish for consent: what would happen, where, why it is asked, and the answers.
//!
//! What would happen is foreign text and is shown whole: it scrolls where it does not fit, and
//! nothing of it can hide something else.

use agent_protocol::{ApprovalChoice, ApprovalRequest, ApprovalSubject, RequestId};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::text::{Line, Span};

use super::Outcome;
use super::list::{Entry, List, Picked};
use crate::cells;
use crate::composer::{Composer, ComposerEffect, ComposerOptions};
use crate::look::Look;
use crate::row::Row;
use crate::terminal::Size;
use crate::text;

/// Rows of a patch that are shown at most; the rest is named.
const MAX_DIFF_ROWS: usize = 2_000;

/// A wish for consent while it is shown.
#[derive(Debug)]
pub(crate) struct Approval {
    request: ApprovalRequest,
    list: List,
    answers: Vec<Answer>,
    /// The first row of the subject that is shown.
    offset: usize,
    /// How far it can scroll, from the last view.
    max_offset: usize,
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
    pub(crate) fn new(request: ApprovalRequest) -> Self {
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
            list: List::new(entries),
            answers,
            offset: 0,
            max_offset: 0,
            note: None,
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
    pub(super) fn key(&mut self, key: KeyEvent) -> Outcome {
        if self.note.is_some() {
            return self.note_key(key);
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return self.answer(ApprovalChoice::Stop, None),
            KeyCode::Char('c') if control => return self.answer(ApprovalChoice::Stop, None),
            KeyCode::PageUp => self.offset = self.offset.saturating_sub(SCROLL_ROWS),
            KeyCode::PageDown => self.offset = (self.offset + SCROLL_ROWS).min(self.max_offset),
            _ => {
                if let Picked::Entry(index) = self.list.key(key) {
                    return self.picked(index);
                }
            }
        }
        Outcome::Stay
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

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    fn note_key(&mut self, key: KeyEvent) -> Outcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let leaves = key.code == KeyCode::Esc || control && key.code == KeyCode::Char('c');
        if leaves {
            self.note = None;
            return Outcome::Stay;
        }
        let Some(note) = &mut self.note else {
            return Outcome::Stay;
        };
        // No time passes for this small composer: a paste without brackets is sent line by line.
        if key.code == KeyCode::Enter {
            let text = note.text();
            return self.answer(ApprovalChoice::Decline, Some(text));
        }
        match note.key(key, std::time::Instant::now()) {
            ComposerEffect::Submit(submission) => {
                self.answer(ApprovalChoice::Decline, Some(submission.text))
            }
            _ => Outcome::Stay,
        }
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
        let mut rows = self.head(look);
        let subject = self.subject(look);
        rows.truncate(height.saturating_sub(bottom.len() + 1));
        let room = height.saturating_sub(rows.len() + bottom.len()).max(1);
        self.max_offset = subject.len().saturating_sub(room);
        self.offset = self.offset.min(self.max_offset);
        let n_hidden = subject.len().saturating_sub(room + self.offset);
        let n_shown = if self.max_offset > 0 {
            room.saturating_sub(1)
        } else {
            room
        };
        rows.extend(subject.into_iter().skip(self.offset).take(n_shown.max(1)));
        if self.max_offset > 0 && room > 1 {
            let text = format!("  {n_hidden} more rows; page up and page down scroll");
            let row = Row::from(Span::styled(text, look.theme.warning));
            rows.push(text::truncate_row(&row, look));
        }
        let n_above = rows.len();
        rows.append(&mut bottom);
        rows.truncate(height);
        let cursor = cursor.and_then(|(column, row): (u16, u16)| {
            Some((column, row.checked_add(u16::try_from(n_above).ok()?)?))
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
        let hint = "What should the model know? enter sends, esc goes back";
        let hint = Row::from(Span::styled(hint, look.theme.dim));
        let mut rows = vec![Row::blank(), text::truncate_row(&hint, look)];
        note.set_columns(look.width);
        let view = note.view(look, 4);
        let n_above = u16::try_from(rows.len()).unwrap_or(0);
        rows.extend(view.rows);
        let cursor = view.cursor.map(|(column, row)| (column, row + n_above));
        (rows, cursor)
    }

    /// What is asked, why and where it would happen.
    fn head(&self, look: &Look) -> Vec<Row> {
        let (question, place) = match &self.request.subject {
            ApprovalSubject::Command {
                cwd,
                sandboxed: true,
                ..
            } => (
                "Would you like to run this command?",
                format!("in the sandbox, in {}", cwd.display()),
            ),
            ApprovalSubject::Command { cwd, .. } => (
                "Would you like to run this command outside the sandbox?",
                format!("with all your rights, in {}", cwd.display()),
            ),
            ApprovalSubject::Patch { paths, .. } => {
                let paths: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
                (
                    "Would you like to allow an edit outside the workspace?",
                    format!("files: {}", paths.join(", ")),
                )
            }
        };
        let heading = Line::from(Span::styled(question, look.theme.heading));
        let mut rows = text::wrap(&heading, look.width, &[], &[]);
        let indent = [Span::raw("  ")];
        let mut add = |text: &str| {
            let line = Line::from(Span::styled(text::spelled_out_line(text), look.theme.dim));
            rows.extend(text::wrap(&line, look.width, &indent, &indent));
        };
        if let Some(reason) = &self.request.reason {
            add(&format!("why: {reason}"));
        }
        add(&place);
        rows.push(Row::blank());
        rows
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
                text::flow(&[piece], frame, text::Break::Words)
            }
            ApprovalSubject::Patch { diff, .. } => cells::diff_rows(diff, look, MAX_DIFF_ROWS),
        }
    }
}

/// How far a page key scrolls.
const SCROLL_ROWS: usize = 8;
