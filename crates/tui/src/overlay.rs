//! What stands in front of the composer for a while: questions that must be answered, lists to
//! choose from, help.

pub(crate) mod approval;
pub(crate) mod help;
mod list;
pub(crate) mod menu;
pub(crate) mod question;
mod scroll;

use std::time::Instant;

use agent_protocol::{ApprovalChoice, QuestionAnswers, RequestId};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::look::Look;
use crate::row::Row;
use crate::terminal::Size;

use menu::Purpose;

/// Something in front of the composer.
#[derive(Debug)]
pub(crate) enum Overlay {
    /// A wish for consent.
    Approval(approval::Approval),
    /// Questions of the model.
    Question(question::Questions),
    /// A list to choose from.
    Menu(menu::Menu),
    /// Commands and keys.
    Help(help::Help),
}

/// What came of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The overlay stays.
    Stay,
    /// It stays, and the key means nothing here: the user may think to be writing.
    Unused,
    /// It goes.
    Close,
    /// It goes with an answer.
    Answer {
        request_id: RequestId,
        choice: ApprovalChoice,
        note: Option<String>,
    },
    /// It goes with answers.
    Reply {
        request_id: RequestId,
        answers: Option<QuestionAnswers>,
    },
    /// It goes with a choice.
    Chosen(Purpose, String),
}

/// Whether a key is for the text of an answer. Tab would take it away to send it later; there is
/// no history to search and no editor to open.
fn writes_answer(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let opens = control && matches!(key.code, KeyCode::Char('r' | 'R' | 'g' | 'G'));
    key.code != KeyCode::Tab && !opens
}

impl Overlay {
    /// A key that arrived at `now`.
    pub(crate) fn key(&mut self, key: KeyEvent, now: Instant) -> Outcome {
        match self {
            Self::Approval(approval) => approval.key(key, now),
            Self::Question(questions) => questions.key(key, now),
            Self::Menu(menu) => menu.key(key),
            Self::Help(help) => help.key(key),
        }
    }

    /// A whole line, where the terminal only has those. It is an answer only as a whole: what was
    /// typed before the question appeared must not answer it.
    pub(crate) fn line(&mut self, line: &str) -> Outcome {
        let line = line.trim();
        match self {
            Self::Approval(approval) => approval.line(line),
            Self::Question(questions) => questions.line(line),
            Self::Menu(menu) => menu.line(line),
            Self::Help(_) => Outcome::Close,
        }
    }

    pub(crate) fn paste(&mut self, text: &str) {
        match self {
            Self::Approval(approval) => approval.paste(text),
            Self::Question(questions) => questions.paste(text),
            Self::Menu(_) | Self::Help(_) => {}
        }
    }

    /// Rows that fit the size, and the cursor in them.
    pub(crate) fn view(&mut self, look: &Look, size: Size) -> (Vec<Row>, Option<(u16, u16)>) {
        match self {
            Self::Approval(approval) => approval.view(look, size),
            Self::Question(questions) => questions.view(look, size),
            Self::Menu(menu) => (menu.view(look, size), None),
            Self::Help(help) => (help.view(look, size), None),
        }
    }

    /// Whether it waits for words rather than for a choice.
    pub(crate) fn takes_text(&self) -> bool {
        match self {
            Self::Approval(approval) => approval.takes_text(),
            Self::Question(questions) => questions.takes_text(),
            Self::Menu(_) | Self::Help(_) => false,
        }
    }

    /// The request that it is about.
    pub(crate) fn asks(&self) -> Option<RequestId> {
        match self {
            Self::Approval(approval) => Some(approval.request_id()),
            Self::Question(questions) => Some(questions.request_id()),
            Self::Menu(_) | Self::Help(_) => None,
        }
    }

    /// Whether its answer allows something, so that no stray key may give it.
    pub(crate) fn is_guarded(&self) -> bool {
        match self {
            Self::Approval(_) | Self::Question(_) => true,
            Self::Menu(menu) => menu.is_guarded(),
            Self::Help(_) => false,
        }
    }

    /// What the transcript says of the outcome, where nothing else does.
    pub(crate) fn record(&self, outcome: &Outcome) -> Option<String> {
        match (self, outcome) {
            (Self::Question(questions), Outcome::Reply { answers, .. }) => {
                Some(questions.record(answers.as_ref()))
            }
            (
                Self::Approval(approval),
                Outcome::Answer {
                    choice: ApprovalChoice::ForSession,
                    ..
                },
            ) => Some(approval.record()),
            (Self::Menu(menu), Outcome::Close) if menu.is_for(Purpose::Trust) => {
                Some("not decided: commands only read here; /trust asks again".to_owned())
            }
            (Self::Approval(_) | Self::Question(_) | Self::Menu(_) | Self::Help(_), _) => None,
        }
    }

    /// Whether the turn waits for its answer.
    pub(crate) fn is_question(&self) -> bool {
        self.asks().is_some()
    }
}
