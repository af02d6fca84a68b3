//! Markdown into rows, whole or while it arrives.
//!
//! A message that streams is cut at borders between blocks that nothing later can move; each
//! chunk is parsed once, so a message costs time in proportion to its length. What was taken
//! is never rendered again. Differences from parsing the message whole: a link that names a
//! definition (`[text][name]`) works only if both arrive in one block, and a block beyond
//! [`MAX_OPEN`] bytes is cut.

mod block;
mod carry;
mod code;
mod document;
mod inline;
mod split;
mod syntax;
mod table;
mod target;

use crate::look::Look;
use crate::row::Row;
use carry::Carry;
use split::{Chunk, Splitter};

/// A block that is longer, in bytes, is shown in parts. Bounds what is parsed for the live tail.
pub(crate) const MAX_OPEN: usize = 32 * 1024;
/// A line that is longer, in bytes, counts as several.
const MAX_LINE: usize = 16 * 1024;

/// A message while it arrives.
#[derive(Debug, Clone, Default)]
pub(crate) struct MarkdownStream {
    splitter: Splitter,
    /// The last line, not yet ended.
    partial: String,
    /// What is finished and waits to be taken.
    finished: Vec<Chunk>,
    carry: Carry,
}

impl MarkdownStream {
    /// An empty message.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds what arrived. Renders nothing.
    pub(crate) fn push(&mut self, delta: &str) {
        self.partial.push_str(delta);
        if !delta.contains('\n') && self.partial.len() <= MAX_LINE {
            return;
        }
        let text = std::mem::take(&mut self.partial);
        let mut rest = text.as_str();
        while let Some((line, after)) = next_line(rest) {
            self.splitter.line(&clean_line(line), &mut self.finished);
            rest = after;
        }
        rest.clone_into(&mut self.partial);
    }

    /// Rows that can never change any more, each given out once.
    pub(crate) fn take_finished(&mut self, look: &Look) -> Vec<Row> {
        let mut rows = Vec::new();
        for chunk in self.finished.drain(..) {
            rows.append(&mut self.carry.render(&chunk, look));
        }
        rows
    }

    /// The last rows, at most `max_rows`, of what is still open. Call
    /// [`MarkdownStream::take_finished`] first: what waits there is not in here.
    pub(crate) fn tail(&self, look: &Look, max_rows: usize) -> Vec<Row> {
        let mut open = Self {
            splitter: self.splitter.clone(),
            partial: self.partial.clone(),
            finished: Vec::new(),
            carry: self.carry.clone(),
        };
        let mut rows = open.finish(look);
        rows.drain(..rows.len().saturating_sub(max_rows));
        rows
    }

    /// Ends the message: all rows that were not taken. It is empty afterwards.
    pub(crate) fn finish(&mut self, look: &Look) -> Vec<Row> {
        if !self.partial.is_empty() {
            let line = clean_line(&self.partial);
            self.splitter.line(&line, &mut self.finished);
        }
        self.splitter.finish(&mut self.finished);
        let rows = self.take_finished(look);
        *self = Self::new();
        rows
    }
}

/// A whole message.
pub(crate) fn render(text: &str, look: &Look) -> Vec<Row> {
    document::render(&agent_terminal_text::sanitize(text), look)
}

/// The first complete line without its line feed, and what follows.
fn next_line(text: &str) -> Option<(&str, &str)> {
    if let Some((line, rest)) = text.split_once('\n')
        && line.len() <= MAX_LINE
    {
        return Some((line, rest));
    }
    if text.len() <= MAX_LINE {
        return None;
    }
    let cut = text.floor_char_boundary(MAX_LINE);
    let (head, _) = text.split_at(cut);
    // A break between words is less ugly, where there is one.
    let cut = head.rfind(' ').map_or(cut, |space| space + 1);
    Some(text.split_at(cut))
}

/// A line that is safe to parse. Carriage returns at its end vanish here.
fn clean_line(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    if line
        .bytes()
        .all(|b| b == b'\t' || (b' '..=b'~').contains(&b))
    {
        return line.to_owned();
    }
    agent_terminal_text::sanitize(line)
}

#[cfg(test)]
mod tests;
