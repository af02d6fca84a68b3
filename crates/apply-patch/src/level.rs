//! How strictly a line of a patch is compared with a line of a file.

use std::borrow::Cow;

/// Levels of leniency; each accepts all that the one before accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Exact,
    TrimEnd,
    Trim,
    /// Trimmed, and typographic punctuation equals its ASCII form.
    Fold,
}

impl Level {
    pub(crate) const ALL: [Self; 4] = [Self::Exact, Self::TrimEnd, Self::Trim, Self::Fold];

    /// What the level overlooks, for a warning.
    pub(crate) fn overlooks(self) -> &'static str {
        match self {
            Self::Exact => "nothing",
            Self::TrimEnd => "trailing white space",
            Self::Trim => "indentation",
            Self::Fold => "typographic punctuation",
        }
    }

    /// The part of `line` that counts at this level.
    pub(crate) fn normal(self, line: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::TrimEnd => Cow::Borrowed(trim_end(line)),
            Self::Trim => Cow::Borrowed(trim(line)),
            Self::Fold => fold(trim(line)),
        }
    }
}

/// The first level at which the two lines are equal.
pub(crate) fn level_of(file_line: &[u8], patch_line: &[u8]) -> Option<Level> {
    Level::ALL
        .into_iter()
        .find(|level| level.normal(file_line) == level.normal(patch_line))
}

fn trim_end(line: &[u8]) -> &[u8] {
    let ascii = line.trim_ascii_end();
    if ascii.last().is_none_or(u8::is_ascii) {
        // A vertical tab is white space to Unicode only.
        return ascii.strip_suffix(b"\x0b").map_or(ascii, trim_end);
    }
    match std::str::from_utf8(ascii) {
        Ok(text) => text.trim_end().as_bytes(),
        Err(_) => ascii,
    }
}

fn trim(line: &[u8]) -> &[u8] {
    let line = trim_end(line).trim_ascii_start();
    if line.first().is_none_or(u8::is_ascii) {
        return line.strip_prefix(b"\x0b").map_or(line, trim);
    }
    match std::str::from_utf8(line) {
        Ok(text) => text.trim_start().as_bytes(),
        Err(_) => line,
    }
}

/// Replaces what a model cannot type or read exactly; bytes that are not UTF-8 become U+FFFD.
fn fold(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let text = String::from_utf8_lossy(line);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let folded: String = text.chars().map(fold_char).collect();
    Cow::Owned(folded.trim().as_bytes().to_vec())
}

fn fold_char(character: char) -> char {
    match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        _ => character,
    }
}
