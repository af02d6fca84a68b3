//! Random files, edits and texts.

use agent_apply_patch::parse;
use proptest::prelude::*;

use crate::support::{Files, apply, edit, update};

/// A file as lines that all differ, each with its own ending; the last may have none.
#[derive(Debug, Clone)]
struct File {
    bom: bool,
    crlf: Vec<bool>,
    final_newline: bool,
}

impl File {
    fn line(index: usize) -> String {
        format!("{}line {index}", " ".repeat(index % 3))
    }

    fn bytes(&self, text: impl Fn(usize) -> Vec<String>) -> Vec<u8> {
        let mut out = Vec::new();
        if self.bom {
            out.extend_from_slice(b"\xef\xbb\xbf");
        }
        let mut ending = "";
        for (index, crlf) in self.crlf.iter().enumerate() {
            ending = if *crlf { "\r\n" } else { "\n" };
            for line in text(index) {
                out.extend_from_slice(line.as_bytes());
                out.extend_from_slice(ending.as_bytes());
            }
        }
        if !self.final_newline {
            out.truncate(out.len() - ending.len());
        }
        out
    }
}

fn file() -> impl Strategy<Value = File> {
    let crlf = prop::collection::vec(any::<bool>(), 2..20);
    (any::<bool>(), crlf, any::<bool>()).prop_map(|(bom, crlf, final_newline)| File {
        bom,
        crlf,
        final_newline,
    })
}

/// The body that replaces the chosen lines, with a line of context where there is one.
fn body(n_lines: usize, chosen: usize, new: &[String], reverse: bool) -> String {
    let mut body = "@@\n".to_owned();
    if chosen > 0 {
        body.push_str(&format!(" {}\n", File::line(chosen - 1)));
    }
    let old = [File::line(chosen)];
    let (minus, plus) = if reverse {
        (new, &old[..])
    } else {
        (&old[..], new)
    };
    for line in minus {
        body.push_str(&format!("-{line}\n"));
    }
    for line in plus {
        body.push_str(&format!("+{line}\n"));
    }
    if chosen + 1 < n_lines {
        body.push_str(&format!(" {}\n", File::line(chosen + 1)));
    }
    body
}

proptest! {
    #[test]
    fn an_edit_changes_its_lines_only(
        file in file(),
        chosen in any::<prop::sample::Index>(),
        new in prop::collection::vec("[a-z]{1,5}", 1..4),
    ) {
        let n_lines = file.crlf.len();
        let chosen = chosen.index(n_lines);
        let before = file.bytes(|index| vec![File::line(index)]);
        let expected = file.bytes(|index| {
            if index == chosen { new.clone() } else { vec![File::line(index)] }
        });
        // What follows an unterminated line takes the ending of the line before it.
        prop_assume!(file.final_newline || chosen + 1 < n_lines || new.len() == 1);
        let after = edit(&before, &body(n_lines, chosen, &new, false)).unwrap();
        prop_assert_eq!(&after, &expected);
        let back = edit(&after, &body(n_lines, chosen, &new, true)).unwrap();
        prop_assert_eq!(&back, &before);
    }

    #[test]
    fn any_text_is_parsed_without_panic(text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: f|Move to: b|End of File)\n|@@( [a-c])?\n|[-+ ][a-c]?\n|\\PC{0,9}\n){0,12}") {
        let files = Files::from([("f".to_owned(), b"a\nb\n\nc\na".to_vec())]);
        for text in [text.clone(), format!("*** Begin Patch\n{text}*** End Patch"), update(&text)] {
            if parse(&text).is_ok() {
                let _outcome = apply(&files, &text);
            }
        }
    }

    #[test]
    fn lines_that_a_patch_does_not_name_are_never_lost(
        lines in prop::collection::vec("a|bbbb|cccc", 0..12),
        marks in prop::collection::vec(("[-+ ]", "a|bbbb|cccc"), 1..6),
        end in any::<bool>(),
    ) {
        let before: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut body = "@@\n".to_owned();
        for (mark, text) in &marks {
            body.push_str(&format!("{mark}{text}\n"));
        }
        if end {
            body.push_str("*** End of File\n");
        }
        let count = |wanted: &str| marks.iter().filter(|(mark, _)| mark == wanted).count();
        let side = |skipped: &str| -> String {
            let kept = marks.iter().filter(|(mark, _)| mark != skipped);
            kept.map(|(_, text)| format!("{text}\n")).collect()
        };
        let (old, new) = (side("+"), side("-"));
        if let Ok(after) = edit(before.as_bytes(), &body) {
            let after = String::from_utf8(after).unwrap();
            let n_lines = lines.len() + count("+") - count("-");
            prop_assert_eq!(after.lines().count(), n_lines);
            // The only place is the one where the old lines are.
            if !old.is_empty() && !end {
                let places = (0..=lines.len()).filter(|at| {
                    lines[*at..].iter().map(|line| format!("{line}\n")).collect::<String>().starts_with(&old)
                });
                let places: Vec<usize> = places.collect();
                prop_assert_eq!(places.len(), 1);
                let head: String = lines[..places[0]].iter().map(|line| format!("{line}\n")).collect();
                prop_assert_eq!(after, before.replacen(&format!("{head}{old}"), &format!("{head}{new}"), 1));
            }
        }
    }
}
