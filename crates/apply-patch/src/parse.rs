//! Reads the text of a patch. Lenient where only one thing can be meant, strict where not.

use crate::patch::{Chunk, ChunkLine, FileOp, FilePatch, Mark, Patch};
use crate::visible::quoted;
use crate::wrapper::unwrap;

pub(crate) const BEGIN: &str = "*** Begin Patch";
pub(crate) const END: &str = "*** End Patch";
pub(crate) const ADD: &str = "*** Add File:";
pub(crate) const DELETE: &str = "*** Delete File:";
pub(crate) const UPDATE: &str = "*** Update File:";
pub(crate) const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";
const ENVIRONMENT: &str = "*** Environment ID:";
/// How deep `@@` lines may nest; each costs a search of the file.
const MAX_HEADERS: usize = 32;

/// Why a text is not a patch: where, what stands there and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid patch: line {line} {text}: {problem}", text = quoted(.text))]
pub struct ParseError {
    /// The line of the patch; the `*** Begin Patch` line is 1.
    pub line: usize,
    /// That line; empty if the patch ends before it.
    pub text: String,
    /// What is wrong and what to do.
    pub problem: Problem,
}

/// What is wrong with a line of a patch. The texts say what to write instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text has no first marker.
    #[error("the first line of a patch must be `*** Begin Patch`")]
    NoBegin,
    /// The text has no last marker.
    #[error("the last line of a patch must be `*** End Patch`; the patch may have been cut off")]
    NoEnd,
    /// The last marker is not at the end.
    #[error("text follows `*** End Patch`; send one patch and nothing after it")]
    AfterEnd,
    /// The patch names no file.
    #[error(
        "empty patch: it names no file; add an `*** Add File: `, `*** Delete File: ` or `*** Update File: ` section"
    )]
    Empty,
    /// A line where a file header is due is none.
    #[error("expected `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`")]
    NoFileHeader,
    /// A header has no path.
    #[error("the path is missing; write a space and the path after the colon")]
    NoPath,
    /// A line of a new file has no marker.
    #[error("every line of a new file begins with `+`, blank lines too")]
    AddedLine,
    /// A body line has no marker.
    #[error(
        "every line of a chunk begins with ` ` (stays), `-` (goes) or `+` (comes), and a new chunk with `@@`"
    )]
    BodyLine,
    /// A header without body.
    #[error("no lines follow this `@@`; write the lines to find and change after it")]
    EmptyChunk,
    /// More nested headers than code has scopes.
    #[error(
        "more than 32 `@@` lines in a row; write only those of the enclosing definitions, outermost first"
    )]
    TooManyHeaders,
    /// An update without any change.
    #[error("this update changes nothing; write chunks with `-` and `+` lines after it")]
    EmptyUpdate,
    /// The move marker is not right after the file header.
    #[error("`*** Move to: ` comes right after an `*** Update File: ` line, once")]
    StrayMove,
    /// The end-of-file marker follows no body.
    #[error("`*** End of File` comes after the lines of a chunk")]
    StrayEndOfFile,
    /// The environment id is empty, repeated or not at the start.
    #[error("`*** Environment ID: ` comes once, with an id, right after `*** Begin Patch`")]
    Environment,
}

/// Reads a patch.
pub fn parse(text: &str) -> Result<Patch, ParseError> {
    let lines = unwrap(text);
    let mut parser = Parser {
        lines: &lines,
        at: 0,
    };
    parser.check_frame()?;
    parser.patch()
}

struct Parser<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Parser<'a> {
    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn error<T>(&self, at: usize, problem: Problem) -> Result<T, ParseError> {
        let text = self.lines.get(at).copied().unwrap_or("");
        // Bounded here too, so that an error never holds a megabyte.
        let text = text.chars().take(200).collect();
        let line = at + 1;
        Err(ParseError {
            line,
            text,
            problem,
        })
    }

    fn check_frame(&mut self) -> Result<(), ParseError> {
        let trimmed = |line: Option<&&str>| line.map(|line| line.trim().to_owned());
        if trimmed(self.lines.first()).as_deref() != Some(BEGIN) {
            return self.error(0, Problem::NoBegin);
        }
        let last = self.lines.len() - 1;
        if trimmed(self.lines.last()).as_deref() != Some(END) {
            let end = self.lines.iter().position(|line| line.trim_end() == END);
            return match end {
                Some(at) => self.error(at + 1, Problem::AfterEnd),
                None => self.error(last, Problem::NoEnd),
            };
        }
        self.lines = self.lines.get(..last).unwrap_or(&[]);
        self.at = 1;
        Ok(())
    }

    fn patch(&mut self) -> Result<Patch, ParseError> {
        let mut hunks = Vec::new();
        self.environment()?;
        loop {
            self.skip_blank();
            let Some(line) = self.line() else { break };
            hunks.push(self.file(line.trim())?);
        }
        if hunks.is_empty() {
            return self.error(0, Problem::Empty);
        }
        Ok(Patch { hunks })
    }

    fn environment(&mut self) -> Result<(), ParseError> {
        self.skip_blank();
        let line = self.line().map(str::trim);
        let Some(id) = line.and_then(|line| path_after(line, ENVIRONMENT)) else {
            return Ok(());
        };
        if id.is_empty() {
            return self.error(self.at, Problem::Environment);
        }
        self.at += 1;
        Ok(())
    }

    fn file(&mut self, header: &str) -> Result<FilePatch, ParseError> {
        let at = self.at;
        let forms = [ADD, DELETE, UPDATE];
        let found = forms
            .into_iter()
            .find_map(|form| Some((form, path_after(header, form)?)));
        let Some((form, path)) = found else {
            return self.error(at, stray_problem(header));
        };
        if path.is_empty() {
            return self.error(at, Problem::NoPath);
        }
        self.at += 1;
        let op = match form {
            ADD => self.add()?,
            DELETE => FileOp::Delete,
            _ => self.update(at)?,
        };
        let path = path.to_owned();
        let line = at + 1;
        Ok(FilePatch { path, op, line })
    }

    fn add(&mut self) -> Result<FileOp, ParseError> {
        let mut content = String::new();
        // Of a line that is not the last, the marker says nothing.
        let mut no_newline = false;
        while let Some(line) = self.line() {
            if let Some(text) = line.strip_prefix('+') {
                content.push_str(text);
                content.push('\n');
                no_newline = false;
            } else if is_no_newline(line) && !content.is_empty() {
                no_newline = true;
            } else {
                break;
            }
            self.at += 1;
        }
        if no_newline {
            content.pop();
        }
        self.skip_blank();
        match self.line().map(str::trim) {
            Some(line) if !line.starts_with("***") => {
                let shown = self.at.min(self.lines.len());
                self.error(shown, Problem::AddedLine)
            }
            _ => Ok(FileOp::Add { content }),
        }
    }

    fn update(&mut self, header_at: usize) -> Result<FileOp, ParseError> {
        let mut move_to = None;
        // Right after the header no body line can be meant, so that markers may be indented.
        self.skip_blank();
        if let Some(path) = self.line().and_then(|line| path_after(line.trim(), MOVE)) {
            if path.is_empty() {
                return self.error(self.at, Problem::NoPath);
            }
            move_to = Some(path.to_owned());
            self.at += 1;
        }
        let mut chunks: Vec<Chunk> = Vec::new();
        loop {
            self.skip_blank();
            let Some(line) = self.line() else { break };
            let first = chunks.is_empty();
            if line.starts_with('*') || (first && is_file_header(line)) {
                break;
            }
            if !first && !line.starts_with("@@") {
                return self.error(self.at, Problem::BodyLine);
            }
            chunks.push(self.chunk(first)?);
        }
        let stray = self.line().map_or("", str::trim);
        if path_after(stray, MOVE).is_some() || stray == END_OF_FILE {
            return self.error(self.at, stray_problem(stray));
        }
        if chunks.is_empty() && move_to.is_none() {
            return self.error(header_at, Problem::EmptyUpdate);
        }
        Ok(FileOp::Update { move_to, chunks })
    }

    /// One chunk. Its `@@` lines may be indented only as the first thing after the file header.
    fn chunk(&mut self, first: bool) -> Result<Chunk, ParseError> {
        let start = self.at;
        let mut chunk = Chunk {
            line: start + 1,
            ..Chunk::default()
        };
        while let Some(line) = self.line() {
            let line = if first && chunk.lines.is_empty() && self.at == start {
                line.trim_start()
            } else {
                line
            };
            let Some(header) = line.strip_prefix("@@") else {
                break;
            };
            chunk.headers.extend(header_text(header));
            if chunk.headers.len() > MAX_HEADERS {
                return self.error(self.at, Problem::TooManyHeaders);
            }
            self.at += 1;
        }
        self.body(&mut chunk)?;
        if !chunk.lines.is_empty() {
            return Ok(chunk);
        }
        if self.at == start {
            return self.error(start, Problem::BodyLine);
        }
        self.error(self.at - 1, Problem::EmptyChunk)
    }

    fn body(&mut self, chunk: &mut Chunk) -> Result<(), ParseError> {
        while let Some(line) = self.line() {
            if is_no_newline(line) && !chunk.lines.is_empty() {
                if let Some(last) = chunk.lines.last_mut() {
                    last.no_newline = true;
                }
                self.at += 1;
                continue;
            }
            let (mark, text) = match line.split_at_checked(1) {
                None if line.is_empty() => (Mark::Context, ""),
                Some((" ", text)) => (Mark::Context, text),
                Some(("-", text)) => (Mark::Remove, text),
                Some(("+", text)) => (Mark::Add, text),
                Some(("*" | "@", _)) => break,
                _ if line.trim().is_empty() => (Mark::Context, ""),
                _ => return self.error(self.at, Problem::BodyLine),
            };
            chunk.lines.push(ChunkLine {
                mark,
                text: text.to_owned(),
                no_newline: false,
            });
            self.at += 1;
        }
        if self.line().map(str::trim_end) == Some(END_OF_FILE) && !chunk.lines.is_empty() {
            chunk.at_end = true;
            self.at += 1;
        }
        let blank = |line: &&ChunkLine| line.mark == Mark::Context && line.text.trim().is_empty();
        chunk.optional_tail = chunk.lines.iter().rev().take_while(blank).count();
        Ok(())
    }

    fn skip_blank(&mut self) {
        while self.line().is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
    }
}

/// The trimmed path of a header line; `None` if it is no such header.
pub(crate) fn path_after<'a>(line: &'a str, form: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(form)?;
    // A colon that no space follows is refused as a missing path.
    Some(if rest.starts_with(char::is_whitespace) {
        rest.trim()
    } else {
        ""
    })
}

pub(crate) fn is_file_header(line: &str) -> bool {
    [ADD, DELETE, UPDATE]
        .into_iter()
        .any(|form| line.trim_start().starts_with(form))
}

pub(crate) fn is_no_newline(line: &str) -> bool {
    line.trim_end() == "\\ No newline at end of file"
}

/// The text of an `@@` line. Line numbers of a unified diff say nothing that can be relied on.
fn header_text(after: &str) -> Option<String> {
    let text = after.strip_prefix(' ').unwrap_or(after);
    let text = text.strip_suffix(" @@").unwrap_or(text);
    let is_range = |word: &str, sign: char| {
        word.strip_prefix(sign).is_some_and(|numbers| {
            !numbers.is_empty() && numbers.chars().all(|c| c.is_ascii_digit() || c == ',')
        })
    };
    let mut words = text.split_whitespace();
    let ranges = words.next().is_some_and(|word| is_range(word, '-'))
        && words.next().is_some_and(|word| is_range(word, '+'));
    (!ranges && !text.trim().is_empty()).then(|| text.to_owned())
}

fn stray_problem(line: &str) -> Problem {
    if line.starts_with(MOVE) {
        Problem::StrayMove
    } else if line == END_OF_FILE {
        Problem::StrayEndOfFile
    } else if line.starts_with(ENVIRONMENT) {
        Problem::Environment
    } else if line == END {
        Problem::AfterEnd
    } else {
        Problem::NoFileHeader
    }
}
