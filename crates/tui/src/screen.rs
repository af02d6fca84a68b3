//! What takes the whole terminal for a while, on the alternate screen: pagers and the list of
//! sessions.

mod pager;
mod sessions;

use std::time::SystemTime;

use agent_core::SessionSummary;
use agent_protocol::ThreadId;
use crossterm::event::KeyEvent;

use crate::look::Look;
use crate::row::Row;
use crate::terminal::{Frame, Size};
use crate::transcript::Transcript;
use pager::Pager;
use sessions::SessionList;

/// Something over the whole terminal.
#[derive(Debug)]
pub(crate) enum Screen {
    /// The transcript, or a text.
    Pager(Pager),
    /// The list of sessions.
    Sessions(SessionList),
}

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenOutcome {
    /// It stays.
    Stay,
    /// It goes.
    Close,
    /// It goes, and this session is gone on with.
    Resume(ThreadId),
    /// The sessions of all directories, or of this one only, are wanted.
    List { all: bool },
}

impl Screen {
    /// The transcript, at its end.
    pub(crate) fn transcript(transcript: &Transcript) -> Self {
        Self::Pager(Pager::transcript(transcript.cells().len()))
    }

    /// A unified diff.
    pub(crate) fn diff(text: &str) -> Self {
        Self::Pager(Pager::diff(text))
    }

    /// Sessions to go on with.
    pub(crate) fn sessions(sessions: Vec<SessionSummary>, all: bool, now: SystemTime) -> Self {
        Self::Sessions(SessionList::new(sessions, all, now))
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> ScreenOutcome {
        match self {
            Self::Pager(pager) => pager.key(key),
            Self::Sessions(list) => list.key(key),
        }
    }

    pub(crate) fn paste(&mut self, text: &str) {
        match self {
            Self::Pager(_) => {}
            Self::Sessions(list) => list.search(text),
        }
    }

    /// All rows at once, for a terminal that only has lines.
    pub(crate) fn plain_rows(&mut self, transcript: &Transcript, look: &Look) -> Vec<Row> {
        match self {
            Self::Pager(pager) => pager.all_rows(transcript, look),
            Self::Sessions(list) => list.plain_rows(look),
        }
    }

    pub(crate) fn view(&mut self, transcript: &Transcript, look: &Look, size: Size) -> Frame {
        match self {
            Self::Pager(pager) => pager.view(transcript, look, size),
            Self::Sessions(list) => list.view(look, size),
        }
    }
}
