//! What is known of a patch while it is still being written.
//!
//! Takes the text in slices that are cut anywhere and counts files and lines as [`crate::parse`]
//! would read them, in time linear in the text and in bounded memory. Judges nothing: text that is
//! no patch shows no file, and of a patch with a mistake it shows what could be meant.

mod scanner;

use crate::parse::{BEGIN, END};
use crate::patch::PatchKind;
use crate::wrapper::{MAX_DEPTH, Opening};
use scanner::Scanner;

/// How much of a line is looked at, in bytes: the longest path of Linux. Of longer lines only the
/// beginning counts.
const MAX_LINE: usize = 4096;

/// One file of a patch that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProgress {
    /// The path as it is written in the header.
    pub path: String,
    /// What is to happen to the file.
    pub kind: PatchKind,
    /// The new path as written, if the file moves.
    pub move_to: Option<String>,
    /// Lines that come, so far.
    pub added: usize,
    /// Lines that go, so far.
    pub removed: usize,
}

/// A patch that is being written.
#[derive(Debug, Default)]
pub struct PatchProgress {
    /// The line that is not finished, as far as it is looked at.
    line: String,
    /// Whether anything has come.
    begun: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Before the first marker: what wraps the patch, outermost first.
    Before(Vec<Opening>),
    /// After it.
    Within(Box<Within>),
    /// It is no patch.
    Nothing,
}

impl Default for Stage {
    fn default() -> Self {
        Self::Before(Vec::new())
    }
}

#[derive(Debug)]
struct Within {
    openings: Vec<Opening>,
    /// White space before the first marker. If all lines have it, none of them means it.
    indent: String,
    as_written: Scanner,
    /// The same lines without the indentation, while all of them have it.
    dedented: Option<Scanner>,
    /// Lines that end wrappers, after what may be the last marker. If more of the patch follows,
    /// they were a part of it.
    closings: Option<Vec<String>>,
}

impl PatchProgress {
    /// Takes more of the text. Says whether files or counts are others now.
    pub fn push(&mut self, text: &str) -> bool {
        let mut text = text;
        if !self.begun && !text.is_empty() {
            self.begun = true;
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        let mut changed = false;
        while let Some(at) = memchr::memchr(b'\n', text.as_bytes()) {
            let (end, rest) = text.split_at(at);
            text = rest.strip_prefix('\n').unwrap_or(rest);
            if self.line.is_empty() {
                changed |= self.stage.line(end.strip_suffix('\r').unwrap_or(end));
            } else {
                self.keep(end);
                let line = std::mem::take(&mut self.line);
                changed |= self.stage.line(line.strip_suffix('\r').unwrap_or(&line));
                self.line = line;
                self.line.clear();
            }
        }
        self.keep(text);
        changed
    }

    /// The text has ended. Says whether files or counts are others now.
    pub fn finish(&mut self) -> bool {
        let line = std::mem::take(&mut self.line);
        self.stage.line(&line)
    }

    /// The files so far, in the order of the patch. Of very many, the first ones and the last.
    pub fn files(&self) -> &[FileProgress] {
        self.scanner().map_or(&[], Scanner::files)
    }

    /// How many files are left out before the last one of [`Self::files`].
    pub fn n_left_out(&self) -> usize {
        self.scanner().map_or(0, Scanner::n_left_out)
    }

    /// Lines that come and lines that go, of all files.
    pub fn lines(&self) -> (usize, usize) {
        self.scanner().map_or((0, 0), Scanner::lines)
    }

    fn scanner(&self) -> Option<&Scanner> {
        match &self.stage {
            Stage::Within(within) => Some(within.scanner()),
            Stage::Before(_) | Stage::Nothing => None,
        }
    }

    /// Keeps a part of the unfinished line. A little more than counts is kept, for the line end.
    fn keep(&mut self, part: &str) {
        let room = (MAX_LINE + 8).saturating_sub(self.line.len());
        self.line.push_str(beginning(part, room));
    }
}

impl Stage {
    fn strips_tabs(&self) -> bool {
        let openings = match self {
            Self::Before(openings) => openings,
            Self::Within(within) => &within.openings,
            Self::Nothing => return false,
        };
        openings.iter().any(Opening::strips_tabs)
    }

    /// Takes one whole line without its end.
    fn line(&mut self, line: &str) -> bool {
        let mut line = beginning(line, MAX_LINE);
        if self.strips_tabs() {
            line = line.trim_start_matches('\t');
        }
        match self {
            Self::Nothing => false,
            Self::Within(within) => within.line(line),
            Self::Before(_) if line.trim().is_empty() => false,
            Self::Before(openings) => {
                if line.trim() == BEGIN {
                    let openings = std::mem::take(openings);
                    *self = Self::Within(Box::new(Within::new(openings, line)));
                } else if let Some(opening) = Opening::of(line)
                    && openings.len() < MAX_DEPTH
                {
                    openings.push(opening);
                } else {
                    *self = Self::Nothing;
                }
                false
            }
        }
    }
}

impl Within {
    fn new(openings: Vec<Opening>, begin: &str) -> Self {
        let n_indent = begin.len() - begin.trim_start().len();
        let indent = beginning(begin, n_indent).to_owned();
        Self {
            openings,
            dedented: (!indent.is_empty()).then(Scanner::default),
            indent,
            as_written: Scanner::default(),
            closings: None,
        }
    }

    fn scanner(&self) -> &Scanner {
        self.dedented.as_ref().unwrap_or(&self.as_written)
    }

    fn line(&mut self, line: &str) -> bool {
        // Blank lines separate, or are context: they count for nothing.
        if line.trim().is_empty() {
            return false;
        }
        let mut changed = false;
        if let Some(mut closings) = self.closings.take() {
            let mut open = self.openings.iter().rev().skip(closings.len());
            if open
                .next()
                .is_some_and(|opening| opening.is_closed_by(line))
            {
                closings.push(line.to_owned());
                self.closings = Some(closings);
                return false;
            }
            for closing in closings {
                changed |= self.patch_line(&closing);
            }
        }
        changed |= self.patch_line(line);
        // A line of context may look like the last marker; what follows will tell.
        self.closings = (line.trim() == END).then(Vec::new);
        changed
    }

    fn patch_line(&mut self, line: &str) -> bool {
        let mut changed = self.as_written.line(line);
        if let Some(dedented) = &mut self.dedented {
            if let Some(line) = line.strip_prefix(&self.indent) {
                changed |= dedented.line(line);
            } else {
                self.dedented = None;
                changed = true;
            }
        }
        changed
    }
}

/// The beginning of a text that has at most so many bytes.
fn beginning(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}
