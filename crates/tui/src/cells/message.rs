//! What was said: by the user, by the model, and what the model thought.

use ratatui_core::text::Span;

use super::marked;
use crate::look::Look;
use crate::markdown::{MarkdownStream, render};
use crate::row::Row;
use crate::text::{Piece, indent, inner_width, one_line, spaces, truncate, width};

/// What the user said, and how many images came with it.
pub(crate) fn user_message(text: &str, n_images: usize, look: &Look) -> Vec<Row> {
    let mut pieces = vec![Piece::new(text.trim_end(), look.theme.user)];
    if n_images > 0 {
        let unit = if n_images == 1 { "image" } else { "images" };
        let gap = if text.trim().is_empty() { "" } else { "\n" };
        let images = format!("{gap}[{n_images} {unit}]");
        pieces.push(Piece::new(images, look.theme.dim));
    }
    marked(look.glyphs.prompt, look.theme.accent, &pieces, look)
}

/// What the model said, whole.
pub(crate) fn agent_message(text: &str, look: &Look) -> Vec<Row> {
    let prefixes = Prefixes::new(look);
    indent(
        render(text, &prefixes.inner),
        &prefixes.first,
        &prefixes.rest,
        look.width,
    )
}

/// What the model says, while it arrives. All rows together are those of [`agent_message`].
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentMessage {
    stream: MarkdownStream,
    /// The first row was taken, so the mark is shown.
    started: bool,
}

impl AgentMessage {
    /// A message of which nothing has arrived.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Whether a row of it was taken.
    pub(crate) fn has_begun(&self) -> bool {
        self.started
    }

    /// Adds what arrived.
    pub(crate) fn push(&mut self, delta: &str) {
        self.stream.push(delta);
    }

    /// Rows that cannot change any more, each given out once.
    pub(crate) fn take_finished(&mut self, look: &Look) -> Vec<Row> {
        let prefixes = Prefixes::new(look);
        let rows = self.stream.take_finished(&prefixes.inner);
        self.indent(rows, &prefixes, look)
    }

    /// The last rows of what is still open, at most `max_rows`; after
    /// [`AgentMessage::take_finished`].
    pub(crate) fn tail(&self, look: &Look, max_rows: usize) -> Vec<Row> {
        let prefixes = Prefixes::new(look);
        let rows = self.stream.tail(&prefixes.inner, usize::MAX);
        let mut rows = self.clone().indent(rows, &prefixes, look);
        rows.drain(..rows.len().saturating_sub(max_rows));
        rows
    }

    /// Ends the message: the rows that were not taken. It is empty afterwards.
    pub(crate) fn finish(&mut self, look: &Look) -> Vec<Row> {
        let prefixes = Prefixes::new(look);
        let rows = self.stream.finish(&prefixes.inner);
        let rows = self.indent(rows, &prefixes, look);
        self.started = false;
        rows
    }

    fn indent(&mut self, rows: Vec<Row>, prefixes: &Prefixes, look: &Look) -> Vec<Row> {
        if rows.is_empty() {
            return rows;
        }
        if self.started {
            // A blank row in front, so that the first one that matters has one before it.
            let mut padded = vec![Row::blank()];
            padded.extend(rows);
            let mut rows = indent(padded, &prefixes.rest, &prefixes.rest, look.width);
            rows.remove(0);
            return rows;
        }
        self.started = true;
        indent(rows, &prefixes.first, &prefixes.rest, look.width)
    }
}

/// What stands before the rows of a message, and the look of what is left beside it.
struct Prefixes {
    first: Span<'static>,
    rest: Span<'static>,
    inner: Look,
}

impl Prefixes {
    fn new(look: &Look) -> Self {
        let first = Span::styled(format!("{} ", look.glyphs.bullet), look.theme.dim);
        let mut inner = look.clone();
        inner.width = inner_width(&first, look.width);
        Self {
            rest: spaces(width(&first.content)),
            first,
            inner,
        }
    }
}

/// How much of something is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What it is about, in one row.
    Folded,
    /// All of it.
    Full,
}

/// The summary of what the model thought.
pub(crate) fn reasoning(text: &str, detail: Detail, look: &Look) -> Vec<Row> {
    let dim = look.theme.dim;
    match detail {
        Detail::Folded => {
            let title = one_line(title(text));
            let mark = width(look.glyphs.bullet) + 1;
            let room = usize::from(look.width).saturating_sub(mark).max(1);
            let title = truncate(&title, room, look.glyphs.ellipsis);
            marked(look.glyphs.bullet, dim, &[Piece::new(title, dim)], look)
        }
        Detail::Full => {
            let mut rows = agent_message(text, look);
            for span in rows.iter_mut().flat_map(|row| &mut row.line.spans) {
                span.style = span.style.patch(dim);
            }
            rows
        }
    }
}

/// The first heading or bold line, or else the first line.
fn title(text: &str) -> &str {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = lines().find(|line| line.starts_with('#') || line.starts_with("**"));
    let line = heading.or_else(|| lines().next()).unwrap_or_default();
    match line.strip_prefix("**") {
        Some(bold) => bold.split("**").next().unwrap_or(bold),
        None => line.trim_start_matches('#').trim_start(),
    }
}
