//! Which modes of a terminal a sequence of bytes leaves switched on.

use std::collections::BTreeMap;

/// The modes that these bytes leave on, in words: `2004`, `cursor hidden`, `keyboard`, `title`,
/// `progress`, `style`. Empty for a program that gave the terminal back.
///
/// Sources: xterm's control sequences for DEC private modes and the window operations 22 and 23,
/// the kitty keyboard protocol for its stack, `ConEmu`'s OSC 9;4 for progress.
pub fn modes_left(bytes: &[u8]) -> Vec<String> {
    let mut left = Left::default();
    let mut rest = bytes;
    while let Some(start) = rest.iter().position(|byte| *byte == 0x1b) {
        rest = &rest[start + 1..];
        match rest.first() {
            Some(b'[') => {
                let body = &rest[1..];
                let Some(end) = body.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
                    break;
                };
                let parameters = String::from_utf8_lossy(&body[..end]).into_owned();
                left.control(&parameters, body[end]);
                rest = &body[end + 1..];
            }
            Some(b']') if rest.starts_with(b"]9;4;") => {
                left.count("progress", i32::from(rest.get(5) != Some(&b'0')));
            }
            _ => {}
        }
    }
    left.words()
}

#[derive(Default)]
struct Left(BTreeMap<String, i32>);

impl Left {
    /// A sequence `CSI parameters last`.
    fn control(&mut self, parameters: &str, last: u8) {
        match last {
            b'h' | b'l' => {
                let modes = parameters.strip_prefix('?').into_iter();
                for mode in modes.flat_map(|modes| modes.split(';')) {
                    let (name, on) = if mode == "25" {
                        ("cursor hidden", last == b'l')
                    } else {
                        (mode, last == b'h')
                    };
                    self.count(name, i32::from(on));
                }
            }
            b'u' if parameters.starts_with('>') => self.add("keyboard", 1),
            b'u' if parameters.starts_with('<') => self.add("keyboard", -1),
            b't' if parameters.starts_with("22;") => self.add("title", 1),
            b't' if parameters.starts_with("23;") => self.add("title", -1),
            b'm' => {
                let reset = parameters.is_empty() || parameters == "0";
                self.count("style", i32::from(!reset));
            }
            _ => {}
        }
    }

    fn count(&mut self, name: &str, value: i32) {
        self.0.insert(name.to_owned(), value);
    }

    fn add(&mut self, name: &str, value: i32) {
        *self.0.entry(name.to_owned()).or_default() += value;
    }

    fn words(self) -> Vec<String> {
        let left = self.0.into_iter().filter(|(_, value)| *value != 0);
        left.map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::modes_left;

    #[test]
    fn what_is_taken_back_is_not_left() {
        let on = b"\x1b[?2004h\x1b[>1u\x1b[22;0t\x1b[?25l\x1b[31m\x1b]9;4;3\x1b\\";
        let all = [
            "2004",
            "cursor hidden",
            "keyboard",
            "progress",
            "style",
            "title",
        ];
        assert_eq!(modes_left(on), all);
        let off = b"\x1b[?2004l\x1b[<1u\x1b[23;0t\x1b[?25h\x1b[0m\x1b]9;4;0\x1b\\";
        assert!(modes_left(&[&on[..], off].concat()).is_empty());
    }
}
