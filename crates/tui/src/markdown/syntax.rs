//! Colours for code: a lexer that knows comments, strings, numbers and words, and nothing of
//! grammar. The languages are a table beside it.
//!
//! A grammar engine (`syntect` with its default set) was measured: 819 KB of the binary, 28 ms
//! to load and 0.1 ms a line, without TypeScript and TOML. This is small, and quick enough to
//! colour as text streams.

mod languages;

use ratatui_core::style::Style;

use crate::look::{SyntaxStyles, Theme};
use crate::text::Piece;
use languages::{Language, Quote};

/// Longer lines, in bytes, are data and not code.
const MAX_LINE: usize = 2048;
/// Further lines of a block stay plain.
const MAX_LINES: usize = 5000;

/// Colours the lines of one block.
#[derive(Debug, Clone)]
pub(crate) struct Highlighter {
    language: Option<&'static Language>,
    open: Open,
    n_lines: usize,
}

/// What the last line left open.
#[derive(Debug, Clone, Copy)]
enum Open {
    Code,
    /// A comment, up to this.
    Comment(&'static str),
    String(&'static Quote),
}

impl Highlighter {
    /// For the words behind a fence, of which the first names the language.
    pub(crate) fn for_info(info: &str) -> Self {
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':' | ';');
        let name = info.split(is_end).next().unwrap_or_default();
        Self::new(languages::named(name))
    }

    fn new(language: Option<&'static Language>) -> Self {
        Self {
            language,
            open: Open::Code,
            n_lines: 0,
        }
    }

    /// The next line in its colours.
    pub(crate) fn line(&mut self, line: &str, theme: &Theme) -> Vec<Piece> {
        self.n_lines += 1;
        let Some(language) = self.language else {
            return vec![Piece::new(line, theme.text)];
        };
        if line.len() > MAX_LINE || self.n_lines > MAX_LINES {
            return vec![Piece::new(line, theme.text)];
        }
        if language.is_diff {
            return vec![Piece::new(line, diff_style(line, theme))];
        }
        let mut lexer = Lexer {
            language,
            rest: line,
            pieces: Vec::new(),
            text: theme.text,
            styles: &theme.syntax,
        };
        while !lexer.rest.is_empty() {
            self.open = lexer.step(self.open);
        }
        if let Open::String(quote) = self.open
            && !quote.many_lines
        {
            self.open = Open::Code;
        }
        lexer.pieces
    }
}

fn diff_style(line: &str, theme: &Theme) -> Style {
    match line.chars().next() {
        Some('+') => theme.added,
        Some('-') => theme.removed,
        Some('@') => theme.syntax.function,
        _ => theme.text,
    }
}

/// One line, from left to right.
struct Lexer<'a> {
    language: &'static Language,
    rest: &'a str,
    pieces: Vec<Piece>,
    text: Style,
    styles: &'a SyntaxStyles,
}

impl Lexer<'_> {
    /// Takes one token. Always takes something if anything is left.
    fn step(&mut self, open: Open) -> Open {
        match open {
            Open::Comment(end) => {
                let found = self.rest.find(end);
                self.take(
                    found.map_or(self.rest.len(), |at| at + end.len()),
                    self.styles.comment,
                );
                if found.is_some() { Open::Code } else { open }
            }
            Open::String(quote) => {
                let end = string_end(self.rest, quote);
                self.take(end.unwrap_or(self.rest.len()), self.styles.string);
                if end.is_some() { Open::Code } else { open }
            }
            Open::Code => self.code(),
        }
    }

    fn code(&mut self) -> Open {
        let language = self.language;
        let begins = |mark: &&&'static str| self.rest.starts_with(**mark);
        if language.line_comments.iter().find(begins).is_some() && self.comment_may_begin() {
            self.take(self.rest.len(), self.styles.comment);
            return Open::Code;
        }
        if let Some((start, end)) = language.block_comment
            && self.rest.starts_with(start)
        {
            self.take(start.len(), self.styles.comment);
            return Open::Comment(end);
        }
        let quote = language
            .quotes
            .iter()
            .find(|quote| self.rest.starts_with(quote.start));
        if let Some(quote) = quote
            && (!quote.is_short || is_char_literal(self.rest))
        {
            self.take(quote.start.len(), self.styles.string);
            return Open::String(quote);
        }
        self.word();
        Open::Code
    }

    /// `#` in the middle of a word is no comment (`$#`, `a#b`).
    fn comment_may_begin(&self) -> bool {
        let before = self
            .pieces
            .last()
            .and_then(|piece| piece.text.chars().last());
        !self.rest.starts_with('#') || before.is_none_or(|c| c.is_whitespace() || ";({".contains(c))
    }

    fn word(&mut self) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let first = self.rest.chars().next().unwrap_or(' ');
        if !is_word(first) {
            let end = first.len_utf8();
            self.take(end, self.text);
            return;
        }
        let is_number = first.is_ascii_digit();
        let end = self
            .rest
            .find(|c: char| !(is_word(c) || (is_number && c == '.')))
            .unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at(end);
        let style = if is_number || self.language.constants.contains(&word) {
            self.styles.constant
        } else if self.language.is_keyword(word) {
            self.styles.keyword
        } else if after.starts_with('(') || after.starts_with("!(") {
            self.styles.function
        } else if first.is_uppercase() && self.language.types_are_capital {
            self.styles.kind
        } else {
            self.text
        };
        self.take(end, style);
    }

    /// Moves the first `length` bytes into a piece.
    fn take(&mut self, length: usize, style: Style) {
        let (token, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        match self.pieces.last_mut() {
            Some(last) if last.style == style => last.text.push_str(token),
            _ => self.pieces.push(Piece::new(token, style)),
        }
    }
}

/// Where a string ends, behind its closing mark.
fn string_end(text: &str, quote: &Quote) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if character == '\\' && quote.escapes {
            escaped = true;
        } else if text
            .get(at..)
            .is_some_and(|rest| rest.starts_with(quote.end))
        {
            return Some(at + quote.end.len());
        }
    }
    None
}

/// Tells `'a'` from the lifetime `'a`.
fn is_char_literal(text: &str) -> bool {
    let mut after = text.chars().skip(1);
    match after.next() {
        Some('\\') => true,
        Some(_) => after.next() == Some('\''),
        None => false,
    }
}

#[cfg(test)]
mod tests;
