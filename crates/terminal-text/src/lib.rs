//! Sanitising of foreign text: what models, commands, files and servers say, made harmless
//! before it reaches a terminal, and made plain before it reaches the model.
//!
//! Escape sequences are parsed by the library that terminals use (`vte`), so that what is left
//! is what a terminal would have shown.

use vte::{Parser, Perform};

/// Text that shows on a terminal as it reads here: no escape sequence, no control character but
/// line feeds and tabs; characters that reorder or hide text stand as `\u{…}`.
pub fn sanitize(text: &str) -> String {
    plain(text.as_bytes(), Hidden::Escape)
}

/// What a command printed, as plain text: escape sequences are dropped, bytes that are no UTF-8
/// become U+FFFD, NUL becomes `\0`, and of a line that was overwritten (carriage returns, as
/// progress bars use them) the last state is kept.
pub fn plain_output(bytes: &[u8]) -> String {
    plain(bytes, Hidden::Keep)
}

/// What happens to characters that reorder or hide text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hidden {
    Escape,
    Keep,
}

fn plain(bytes: &[u8], hidden: Hidden) -> String {
    let mut collector = Collector {
        text: String::with_capacity(bytes.len()),
        line_start: 0,
        overwrite: false,
        hidden,
    };
    // Each line begins in the ground state: a sequence that never ends hides its own line only.
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        Parser::new().advance(&mut collector, line);
        if line.ends_with(b"\n") && !collector.text.ends_with('\n') {
            collector.execute(b'\n');
        }
    }
    collector.text
}

/// Collects what would be shown.
struct Collector {
    text: String,
    /// Where the current line begins in `text`.
    line_start: usize,
    /// A carriage return was seen; the next printed character begins the line anew.
    overwrite: bool,
    hidden: Hidden,
}

impl Collector {
    fn push(&mut self, character: char) {
        if self.overwrite {
            self.text.truncate(self.line_start);
            self.overwrite = false;
        }
        if character.is_control() && character != '\t' {
            return; // DEL and the C1 controls, which a terminal acts on.
        }
        if self.hidden == Hidden::Escape && reorders_or_hides(character) {
            self.text.extend(character.escape_unicode());
        } else {
            self.text.push(character);
        }
    }
}

impl Perform for Collector {
    fn print(&mut self, character: char) {
        self.push(character);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.overwrite = false;
                self.text.push('\n');
                self.line_start = self.text.len();
            }
            b'\t' => self.push('\t'),
            b'\r' => self.overwrite = true,
            0 => {
                self.push('\\');
                self.push('0');
            }
            // Backspace takes back what it would overwrite; everything else shows nothing.
            0x08 if self.text.len() > self.line_start && !self.overwrite => {
                self.text.pop();
            }
            _ => {}
        }
    }
}

/// Unicode 16.0: characters that change the order of others, or show nothing and can hide text
/// (`Default_Ignorable_Code_Point`). Terminals do not agree on how wide they are either. The
/// joiners U+200C and U+200D and the variation selectors U+FE00 to U+FE0F are left, because
/// emoji and several scripts need them.
fn reorders_or_hides(character: char) -> bool {
    matches!(character,
        '\u{00AD}' | '\u{034F}' | '\u{061C}'
        | '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}'
        | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}' | '\u{200E}' | '\u{200F}'
        | '\u{2028}' | '\u{2029}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}'
    )
}
