//! Questions of the model: one after another, with numbered choices and free text.

use std::time::Instant;

use agent_protocol::{Question, QuestionAnswers, QuestionRequest, RequestId};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::text::{Line, Span};

use super::Outcome;
use super::list::{Entry, List, Picked};
use super::scroll::Scroll;
use crate::composer::{Composer, ComposerOptions};
use crate::look::Look;
use crate::row::Row;
use crate::terminal::Size;
use crate::text;

/// Questions while they are shown.
#[derive(Debug)]
pub(crate) struct Questions {
    request: QuestionRequest,
    /// The question that is shown.
    index: usize,
    answers: QuestionAnswers,
    list: List,
    scroll: Scroll,
    /// An answer in the user's own words, while it is written.
    own: Option<Box<Composer>>,
}

impl Questions {
    pub(crate) fn new(request: QuestionRequest) -> Self {
        let mut questions = Self {
            request,
            index: 0,
            answers: QuestionAnswers::new(),
            list: List::new(Vec::new()),
            scroll: Scroll::default(),
            own: None,
        };
        questions.show();
        questions
    }

    /// The questions with their answers, for the transcript.
    pub(super) fn record(&self, answers: Option<&QuestionAnswers>) -> String {
        let questions = self.request.questions.iter();
        let lines = questions.map(|question| {
            let answer = answers.and_then(|answers| answers.get(&question.id));
            let answer = answer.map(|words| words.join(", "));
            let answer = answer.unwrap_or_else(|| "not answered".to_owned());
            format!("{} {answer}", question.question.trim())
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(super) fn request_id(&self) -> RequestId {
        self.request.request_id
    }

    fn question(&self) -> Option<&Question> {
        self.request.questions.get(self.index)
    }

    /// Prepares the question that is shown next.
    fn show(&mut self) {
        let options = self.question().map(|question| &question.options);
        let mut entries: Vec<Entry> = options
            .into_iter()
            .flatten()
            .map(|option| Entry {
                label: option.label.clone(),
                detail: option.description.clone(),
                key: None,
            })
            .collect();
        self.own = entries
            .is_empty()
            .then(|| Box::new(Composer::new(ComposerOptions::default())));
        entries.push(Entry {
            label: "Something else".to_owned(),
            detail: "in your own words".to_owned(),
            key: None,
        });
        self.list = List::new(entries);
        self.scroll = Scroll::default();
    }

    pub(super) fn takes_text(&self) -> bool {
        self.own.is_some()
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(own) = &mut self.own {
            own.paste(text, &|_| false);
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Outcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let leaves = key.code == KeyCode::Esc || control && key.code == KeyCode::Char('c');
        if self.scroll.key(key.code) {
            return Outcome::Stay;
        }
        if let Some(own) = &mut self.own {
            if leaves {
                return self.leave_own();
            }
            if key.code == KeyCode::Enter {
                let text = own.text();
                return self.answered(text);
            }
            if super::writes_answer(key) {
                own.key(key, now);
            }
            return Outcome::Stay;
        }
        if leaves {
            return self.finish(None);
        }
        match self.list.key(key) {
            Picked::Nothing => Outcome::Unused,
            Picked::Moved => Outcome::Stay,
            Picked::Entry(index) => self.picked(index),
        }
    }

    /// A whole line, where there are no keys.
    pub(super) fn line(&mut self, line: &str) -> Outcome {
        match (&self.own, self.list.named(line)) {
            (Some(_), _) => self.answered(line.to_owned()),
            (None, Some(index)) => self.picked(index),
            (None, None) => Outcome::Stay,
        }
    }

    fn leave_own(&mut self) -> Outcome {
        if self
            .question()
            .is_some_and(|question| question.options.is_empty())
        {
            return self.finish(None);
        }
        self.own = None;
        Outcome::Stay
    }

    fn picked(&mut self, index: usize) -> Outcome {
        let option = self
            .question()
            .and_then(|question| question.options.get(index));
        if let Some(label) = option.map(|option| option.label.clone()) {
            return self.answered(label);
        }
        self.own = Some(Box::new(Composer::new(ComposerOptions::default())));
        Outcome::Stay
    }

    fn answered(&mut self, answer: String) -> Outcome {
        if answer.trim().is_empty() {
            return Outcome::Stay;
        }
        if let Some(id) = self.question().map(|question| question.id.clone()) {
            self.answers.insert(id, vec![answer]);
        }
        self.index += 1;
        if self.question().is_some() {
            self.show();
            return Outcome::Stay;
        }
        let answers = std::mem::take(&mut self.answers);
        self.finish(Some(answers))
    }

    fn finish(&self, answers: Option<QuestionAnswers>) -> Outcome {
        Outcome::Reply {
            request_id: self.request.request_id,
            answers,
        }
    }

    pub(super) fn view(&mut self, look: &Look, size: Size) -> (Vec<Row>, Option<(u16, u16)>) {
        let height = usize::from(size.rows);
        let head = self.head(look);
        let (mut bottom, cursor) = if look.is_plain() && self.own.is_some() {
            (Vec::new(), None)
        } else if let Some(own) = &mut self.own {
            own.set_columns(look.width);
            let view = own.view(look, 4);
            (view.rows, view.cursor)
        } else {
            (self.list.view(look, height.saturating_sub(2).max(1)), None)
        };
        let hint = match (look.is_plain(), &self.own) {
            (false, _) => "enter answers, esc does not",
            (true, None) => "a number answers",
            (true, Some(_)) => "a line answers",
        };
        let hint = Row::from(Span::styled(hint, look.theme.dim));
        bottom.push(text::truncate_row(&hint, look));
        let room = height.saturating_sub(bottom.len());
        let mut rows = if room == 0 {
            Vec::new()
        } else {
            self.scroll.view(head, room, look)
        };
        let n_above = rows.len();
        rows.extend(bottom);
        rows.truncate(height);
        let cursor = cursor.and_then(|(column, row)| {
            let row = usize::from(row) + n_above;
            Some((column, u16::try_from(row).ok().filter(|_| row < height)?))
        });
        (rows, cursor)
    }

    fn head(&self, look: &Look) -> Vec<Row> {
        let Some(question) = self.question() else {
            return Vec::new();
        };
        let n_questions = self.request.questions.len();
        let title = format!(
            "{} ({} of {n_questions})",
            text::one_line(&question.header),
            self.index + 1
        );
        let heading = Line::from(Span::styled(title, look.theme.heading));
        let mut rows = text::wrap(&heading, look.width, &[], &[]);
        let line = Line::from(Span::styled(
            text::spelled_out(&question.question),
            look.theme.text,
        ));
        rows.extend(text::wrap(&line, look.width, &[], &[]));
        rows
    }
}
