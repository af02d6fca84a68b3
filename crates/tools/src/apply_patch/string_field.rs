//! The text of one field of a JSON object that arrives in pieces, cut anywhere.
//!
//! Holds a few bytes and judges nothing: of what is no such object some text may be told, or none.
//! What a call really says is read from its whole text.

/// The longest name of a field that is told from others.
const MAX_NAME: usize = 64;

/// Takes pieces of the object and tells the text of the field.
#[derive(Debug)]
pub(super) struct StringField {
    name: &'static str,
    /// How many objects and lists are open.
    depth: usize,
    place: Place,
    /// The last string of the object itself, which is the name of a field if a colon follows.
    last: String,
    escape: Option<Escape>,
    /// The first half of a character beyond U+FFFF.
    high: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between strings. The value of the field is expected if `is_due`.
    Between { is_due: bool },
    /// In a string.
    String(Kind),
    /// After the field.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The value of the field.
    Wanted,
    /// A string of the object, perhaps a name.
    Name,
    /// Any other.
    Other,
}

/// What stands behind a backslash.
#[derive(Debug, Clone, Copy)]
enum Escape {
    /// Nothing so far.
    Begun,
    /// `u` and some digits.
    Unicode { n_digits: u8, value: u32 },
}

impl StringField {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            depth: 0,
            place: Place::Between { is_due: false },
            last: String::new(),
            escape: None,
            high: None,
        }
    }

    /// Takes a piece, and tells the text of the field in it, in order.
    pub(super) fn push(&mut self, piece: &str, tell: &mut impl FnMut(&str)) {
        let mut rest = piece;
        while !rest.is_empty() {
            rest = match self.place {
                Place::End => return,
                Place::Between { is_due } => self.between(rest, is_due),
                Place::String(kind) => match self.escape {
                    Some(escape) => self.escaped(rest, escape, kind, tell),
                    None => self.plain(rest, kind, tell),
                },
            };
        }
    }

    /// Takes one character outside strings.
    fn between<'a>(&mut self, text: &'a str, is_due: bool) -> &'a str {
        let mut characters = text.chars();
        let is_due_now = match characters.next() {
            Some('"') => {
                self.place = Place::String(match (is_due, self.depth) {
                    (true, _) => Kind::Wanted,
                    (false, 1) => Kind::Name,
                    (false, _) => Kind::Other,
                });
                self.last.clear();
                return characters.as_str();
            }
            Some('{' | '[') => {
                self.depth += 1;
                false
            }
            Some('}' | ']') => {
                self.depth = self.depth.saturating_sub(1);
                false
            }
            Some(':') => self.depth == 1 && self.last == self.name,
            Some(character) => is_due && character.is_ascii_whitespace(),
            None => false,
        };
        self.place = Place::Between { is_due: is_due_now };
        characters.as_str()
    }

    /// Takes text of a string up to its end or an escape.
    fn plain<'a>(&mut self, text: &'a str, kind: Kind, tell: &mut impl FnMut(&str)) -> &'a str {
        let end = text.find(['"', '\\']).unwrap_or(text.len());
        let (plain, rest) = text.split_at(end);
        if !plain.is_empty() {
            self.say(plain, kind, tell);
        }
        let mut characters = rest.chars();
        match characters.next() {
            Some('\\') => self.escape = Some(Escape::Begun),
            Some(_) => {
                self.end_half(kind, tell);
                self.place = if kind == Kind::Wanted {
                    Place::End
                } else {
                    Place::Between { is_due: false }
                };
            }
            None => {}
        }
        characters.as_str()
    }

    /// Takes one character of an escape.
    fn escaped<'a>(
        &mut self,
        text: &'a str,
        escape: Escape,
        kind: Kind,
        tell: &mut impl FnMut(&str),
    ) -> &'a str {
        let mut characters = text.chars();
        let Some(character) = characters.next() else {
            return "";
        };
        self.escape = None;
        match escape {
            Escape::Begun if character == 'u' => {
                self.escape = Some(Escape::Unicode {
                    n_digits: 0,
                    value: 0,
                });
            }
            Escape::Begun => {
                let meant = match character {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    other => other,
                };
                self.say(meant.encode_utf8(&mut [0; 4]), kind, tell);
            }
            Escape::Unicode { n_digits, value } => {
                let Some(digit) = character.to_digit(16) else {
                    // No JSON; the character is taken as it stands.
                    return text;
                };
                let value = value * 16 + digit;
                if n_digits < 3 {
                    self.escape = Some(Escape::Unicode {
                        n_digits: n_digits + 1,
                        value,
                    });
                } else {
                    self.unit(value, kind, tell);
                }
            }
        }
        characters.as_str()
    }

    /// A unit of UTF-16.
    fn unit(&mut self, unit: u32, kind: Kind, tell: &mut impl FnMut(&str)) {
        let code = match (self.high, unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                self.high = None;
                0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00)
            }
            (_, 0xD800..=0xDBFF) => {
                self.end_half(kind, tell);
                self.high = Some(unit);
                return;
            }
            _ => unit,
        };
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.say(character.encode_utf8(&mut [0; 4]), kind, tell);
    }

    fn end_half(&mut self, kind: Kind, tell: &mut impl FnMut(&str)) {
        if self.high.take().is_some() {
            self.say("\u{fffd}", kind, tell);
        }
    }

    fn say(&mut self, text: &str, kind: Kind, tell: &mut impl FnMut(&str)) {
        self.end_half(kind, tell);
        match kind {
            Kind::Wanted => tell(text),
            // A longer name is none that is wanted; one byte more than fits is enough to know.
            Kind::Name if self.last.len() <= MAX_NAME => {
                let end = text.floor_char_boundary(MAX_NAME + 4);
                self.last.push_str(text.get(..end).unwrap_or(text));
            }
            Kind::Name | Kind::Other => {}
        }
    }
}

#[cfg(test)]
mod tests;
