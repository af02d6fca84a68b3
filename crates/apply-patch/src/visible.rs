//! Shows text of files and patches in messages: bounded, on one line, white space visible.

use std::fmt::Write as _;

/// How many characters of a line are shown.
const MAX_CHARS: usize = 120;

/// Renders one line so that tabs, odd blanks and outer spaces can be seen.
pub(crate) fn visible(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.get(..MAX_CHARS * 4).unwrap_or(line));
    let inner_start = text.len() - text.trim_start_matches(' ').len();
    let inner_end = text.trim_end_matches(' ').len();
    let mut out = String::new();
    for (n_chars, (at, character)) in text.char_indices().enumerate() {
        if n_chars == MAX_CHARS {
            out.push('…');
            return out;
        }
        match character {
            ' ' if at < inner_start || at >= inner_end => out.push('·'),
            '\t' => out.push('→'),
            '\r' => out.push('␍'),
            _ if character == ' ' || !is_odd(character) => out.push(character),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "<U+{:04X}>", u32::from(character));
            }
        }
    }
    if text.len() < line.len() && line.len() > MAX_CHARS * 4 {
        out.push('…');
    }
    out
}

/// A bounded, quoted form for use inside a sentence.
pub(crate) fn quoted(line: &str) -> String {
    format!("`{}`", visible(line.as_bytes()))
}

/// Characters that a reader cannot tell from nothing or from a plain space.
fn is_odd(character: char) -> bool {
    character.is_control()
        || character.is_whitespace()
        || matches!(character, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{ad}')
}
