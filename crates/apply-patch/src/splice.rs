//! Writes the new bytes of a file: old lines are copied, new ones take their neighbours' endings.

use crate::lines::{Ending, Lines};
use crate::locate::Placed;
use crate::patch::{ChunkLine, Mark};

/// How added lines are indented differently from the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reindent {
    /// The file has this more than the patch.
    Insert(String),
    /// The patch has this more than the file.
    Strip(String),
}

/// A placed chunk, ready to be written.
pub(crate) struct Piece<'p> {
    pub(crate) placed: Placed<'p>,
    pub(crate) reindent: Option<Reindent>,
}

/// The new bytes of the file. The pieces are in order and apart.
pub(crate) fn splice(lines: &Lines<'_>, pieces: &[Piece<'_>]) -> Vec<u8> {
    let added: usize = pieces
        .iter()
        .flat_map(|piece| piece.placed.body)
        .map(|line| line.text.len() + 2)
        .sum();
    let mut writer = Writer {
        lines,
        out: Vec::with_capacity(lines.start(lines.len()) + added),
        at: 0,
        owed: None,
        last: Last::Kept,
    };
    writer.out.extend_from_slice(lines.bom());
    for piece in pieces {
        writer.keep_until(piece.placed.start);
        let mut rest = piece.placed.body;
        while let Some(line) = rest.first() {
            let n_lines = if line.mark == Mark::Context {
                writer.keep_until(writer.at + 1);
                1
            } else {
                let n_lines = rest.iter().take_while(|l| l.mark != Mark::Context).count();
                writer.change(rest.get(..n_lines).unwrap_or(&[]), piece.reindent.as_ref());
                n_lines
            };
            rest = rest.get(n_lines..).unwrap_or(&[]);
        }
    }
    writer.keep_until(lines.len());
    writer.finish()
}

/// What the last written line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Kept,
    /// Added, and what the patch says about a final newline.
    Added(FinalNewline),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FinalNewline {
    /// Nothing is said: as the file was.
    AsBefore,
    /// The marker for none follows the new line.
    None,
    /// The marker follows the old line and not the new one.
    Wanted,
}

struct Writer<'l, 'f> {
    lines: &'l Lines<'f>,
    out: Vec<u8>,
    /// The next line of the old file.
    at: usize,
    /// The ending that the last written line needs if another one follows.
    owed: Option<Ending>,
    last: Last,
}

impl Writer<'_, '_> {
    fn keep_until(&mut self, to: usize) {
        if to <= self.at {
            return;
        }
        self.pay();
        self.out.extend_from_slice(self.lines.raw(self.at, to));
        self.at = to;
        self.last = Last::Kept;
        if self.lines.ending(to - 1) == Ending::Missing {
            self.owed = Some(self.lines.ending_before(to));
        }
    }

    /// Writes an ending that was left out before something that follows.
    fn pay(&mut self) {
        if let Some(ending) = self.owed.take() {
            self.out.extend_from_slice(ending.bytes());
        }
    }

    /// Replaces the removed lines of a group by its added ones: the first takes the ending of the
    /// first, and so on; those left over take the ending of the line they follow.
    fn change(&mut self, group: &[ChunkLine], reindent: Option<&Reindent>) {
        let first = self.at;
        let n_removed = group.iter().filter(|l| l.mark == Mark::Remove).count();
        let old_says_none = group
            .iter()
            .any(|line| line.mark == Mark::Remove && line.no_newline);
        self.at += n_removed;
        let mut previous = self.lines.ending_before(first);
        let added = group.iter().filter(|line| line.mark == Mark::Add);
        for (index, line) in added.enumerate() {
            let paired = (index < n_removed).then(|| self.lines.ending(first + index));
            let ending = paired.filter(|ending| *ending != Ending::Missing);
            previous = ending.unwrap_or(previous);
            self.pay();
            self.add(&line.text, reindent);
            self.owed = Some(previous);
            self.last = Last::Added(match (line.no_newline, old_says_none) {
                (true, _) => FinalNewline::None,
                (false, true) => FinalNewline::Wanted,
                (false, false) => FinalNewline::AsBefore,
            });
        }
    }

    fn add(&mut self, text: &str, reindent: Option<&Reindent>) {
        let mut text = text;
        if self.out == self.lines.bom() {
            // The file's own mark is written already.
            text = text
                .strip_prefix('\u{feff}')
                .filter(|_| !self.out.is_empty())
                .unwrap_or(text);
        }
        match reindent {
            Some(Reindent::Insert(prefix)) if !text.trim().is_empty() => {
                self.out.extend_from_slice(prefix.as_bytes());
            }
            Some(Reindent::Strip(prefix)) => {
                text = text.strip_prefix(prefix.as_str()).unwrap_or(text);
            }
            Some(Reindent::Insert(_)) | None => {}
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        let wants = match self.last {
            Last::Kept | Last::Added(FinalNewline::None) => false,
            Last::Added(FinalNewline::Wanted) => true,
            Last::Added(FinalNewline::AsBefore) => !self.lines.lacks_final_newline(),
        };
        if wants {
            self.pay();
        }
        self.out
    }
}
