//! One line of the screen: styled text that is no wider than the terminal, and the links in it.

use std::ops::Range;

use ratatui_core::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// One line of the screen. Its text is sanitised: no control character, no escape sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The text, in styled pieces.
    pub line: Line<'static>,
    /// Parts of it that lead somewhere, in order, not overlapping.
    pub links: Vec<Link>,
}

/// A part of a row that leads somewhere (an OSC 8 hyperlink where the terminal has them).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The columns that it covers.
    pub columns: Range<u16>,
    /// The address; only printable ASCII.
    pub target: String,
}

impl Row {
    /// A row of pieces.
    pub(crate) fn new(spans: Vec<Span<'static>>) -> Self {
        Self {
            line: Line::from(spans),
            links: Vec::new(),
        }
    }

    /// An empty row.
    pub(crate) fn blank() -> Self {
        Self::default()
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.line.spans.iter().map(|s| s.content.width()).sum()
    }

    /// Its text without styles.
    pub(crate) fn text(&self) -> String {
        self.line.spans.iter().map(|s| s.content.as_ref()).collect()
    }
}

impl From<Line<'static>> for Row {
    fn from(line: Line<'static>) -> Self {
        Self {
            line,
            links: Vec::new(),
        }
    }
}

impl From<Span<'static>> for Row {
    fn from(span: Span<'static>) -> Self {
        Self::new(vec![span])
    }
}
