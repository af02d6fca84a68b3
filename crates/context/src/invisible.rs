//! Characters that a person reading a file does not see but a model does. They are made
//! visible before the text reaches the model.

/// A text without invisible characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escaped {
    /// The text; each such character stands as `\u{…}`.
    pub text: String,
    /// How many were escaped.
    pub n_escaped: usize,
}

/// Replaces characters that hide text from people: tag characters, directional overrides,
/// zero-width characters. The joiners U+200C and U+200D stay between other characters, because
/// emoji and several scripts need them, and so does one byte order mark at the start.
pub fn escape_invisible(text: &str) -> Escaped {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut escaped = Escaped {
        text: String::with_capacity(text.len()),
        n_escaped: 0,
    };
    for character in text.chars() {
        if hides(character) {
            escaped.n_escaped += 1;
            escaped.text.extend(character.escape_unicode());
        } else {
            escaped.text.push(character);
        }
    }
    escaped
}

/// Unicode 16.0: format characters that have no place in instructions.
fn hides(character: char) -> bool {
    matches!(character,
        '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{061C}'   // zero width space, direction marks
        | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' // directional embeddings and isolates
        | '\u{2060}'..='\u{2064}' | '\u{206A}'..='\u{206F}' // invisible operators
        | '\u{FEFF}' | '\u{180E}' | '\u{00AD}'              // byte order mark, separators
        | '\u{FFF9}'..='\u{FFFB}'                           // interlinear annotation
        | '\u{E0000}'..='\u{E007F}'                         // tags
        | '\u{E0100}'..='\u{E01EF}'                         // variation selectors supplement
    ) || (character.is_control() && !matches!(character, '\n' | '\r' | '\t' | '\u{0C}'))
}
