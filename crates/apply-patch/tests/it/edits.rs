//! Random edits of several places at once: the exact bytes after them, and the way back.

use proptest::prelude::*;

use crate::support::edit;

/// What happens at one line of a file.
#[derive(Debug, Clone)]
enum Op {
    Keep,
    Remove,
    Replace(Vec<String>),
    InsertBefore(Vec<String>),
}

/// A file whose lines all differ, and what happens to each.
#[derive(Debug, Clone)]
struct Edit {
    bom: bool,
    /// Whether a line ends with CR LF; one entry a line.
    crlf: Vec<bool>,
    final_newline: bool,
    ops: Vec<Op>,
    at_end: Vec<String>,
}

/// A line of a patch body: its mark and text.
type Line = (char, String);

fn texts(most: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-z]{1,5}", 1..=most)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => Just(Op::Keep),
        1 => Just(Op::Remove),
        1 => texts(3).prop_map(Op::Replace),
        1 => texts(2).prop_map(Op::InsertBefore),
    ]
}

/// An edit; `crlf` makes the endings.
fn edits(crlf: impl Strategy<Value = Vec<bool>>) -> impl Strategy<Value = Edit> {
    let with_ops = crlf.prop_flat_map(|crlf| {
        let ops = prop::collection::vec(op(), crlf.len());
        (Just(crlf), ops)
    });
    let at_end = prop_oneof![3 => Just(Vec::new()), 1 => texts(2)];
    (any::<bool>(), with_ops, any::<bool>(), at_end).prop_map(
        |(bom, (crlf, ops), final_newline, at_end)| Edit {
            bom,
            crlf,
            final_newline,
            ops,
            at_end,
        },
    )
}

fn mixed() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(any::<bool>(), 1..16)
}

fn uniform() -> impl Strategy<Value = Vec<bool>> {
    (any::<bool>(), 1..16_usize).prop_map(|(crlf, n_lines)| vec![crlf; n_lines])
}

fn ending(crlf: bool) -> &'static str {
    if crlf { "\r\n" } else { "\n" }
}

impl Edit {
    fn line(index: usize) -> String {
        format!("{}line {index}", " ".repeat(index % 3))
    }

    fn bytes(&self, lines: &[(String, bool)], final_newline: bool) -> Vec<u8> {
        let mut out = if self.bom { "\u{feff}" } else { "" }.to_owned();
        for (at, (text, crlf)) in lines.iter().enumerate() {
            out.push_str(text);
            if final_newline || at + 1 < lines.len() {
                out.push_str(ending(*crlf));
            }
        }
        out.into_bytes()
    }

    fn before(&self) -> Vec<u8> {
        let lines = self.crlf.iter().enumerate();
        let lines: Vec<_> = lines.map(|(at, crlf)| (Self::line(at), *crlf)).collect();
        self.bytes(&lines, self.final_newline)
    }

    /// How line `index` ends; of a last line without ending, how it would end.
    fn ending_of(&self, index: usize) -> bool {
        let last = self.crlf.len() - 1;
        match (index == last && !self.final_newline, last) {
            (false, _) => self.crlf[index],
            (true, 0) => false,
            (true, last) => self.crlf[last - 1],
        }
    }

    /// All lines of the file and of the edit, as a patch would mark them.
    fn script(&self) -> Vec<Line> {
        let mut out = Vec::new();
        let add = |texts: &[String], out: &mut Vec<Line>| {
            out.extend(texts.iter().map(|text| ('+', text.clone())));
        };
        for (at, op) in self.ops.iter().enumerate() {
            let line = Self::line(at);
            match op {
                Op::Keep => out.push((' ', line)),
                Op::Remove => out.push(('-', line)),
                Op::Replace(texts) => {
                    out.push(('-', line));
                    add(texts, &mut out);
                }
                Op::InsertBefore(texts) => {
                    add(texts, &mut out);
                    out.push((' ', line));
                }
            }
        }
        add(&self.at_end, &mut out);
        out
    }

    /// The bytes that the rules of the format give.
    fn expected(&self) -> Vec<u8> {
        let script = self.script();
        let mut lines = Vec::new();
        let mut index = 0;
        for group in script.chunk_by(|a, b| a.0 != ' ' && b.0 != ' ') {
            if group[0].0 == ' ' {
                lines.push((group[0].1.clone(), self.ending_of(index)));
                index += 1;
                continue;
            }
            let first = index;
            let n_removed = group.iter().filter(|line| line.0 == '-').count();
            index += n_removed;
            // A new line ends like the one it stands for, else like the one it follows.
            let mut ending = self.ending_of(first.saturating_sub(1));
            for (at, (_, text)) in group.iter().filter(|line| line.0 == '+').enumerate() {
                let paired = first + at;
                let has_none = paired + 1 == self.crlf.len() && !self.final_newline;
                if at < n_removed && !has_none {
                    ending = self.crlf[paired];
                }
                lines.push((text.clone(), ending));
            }
        }
        // A kept line keeps its ending, although it may have become the last one.
        let last_goes = matches!(self.ops.last(), Some(Op::Remove)) && self.at_end.is_empty();
        let ends_kept = last_goes
            && script
                .iter()
                .rfind(|line| line.0 != '-')
                .is_some_and(|line| line.0 == ' ');
        self.bytes(&lines, self.final_newline || ends_kept)
    }

    /// The patch body, with one line of context on each side of what changes.
    fn body(script: &[Line], reverse: bool) -> String {
        let changes: Vec<bool> = script.iter().map(|line| line.0 != ' ').collect();
        let mut body = String::new();
        let mut inside = false;
        for (at, (mark, text)) in script.iter().enumerate() {
            let near = (at.saturating_sub(1)..=at + 1).any(|at| changes.get(at) == Some(&true));
            if near && !inside {
                body.push_str("@@\n");
            }
            inside = near;
            if near {
                let mark = match (mark, reverse) {
                    ('+', true) => '-',
                    ('-', true) => '+',
                    (mark, _) => *mark,
                };
                body.push_str(&format!("{mark}{text}\n"));
            }
        }
        body
    }

    /// Whether the patch backwards says all that there is to restore: the ending of a line that is
    /// gone, and that a last line had none, are written nowhere.
    fn can_be_restored(&self) -> bool {
        let last = self.ops.len() - 1;
        let kept = |at: usize| matches!(self.ops[at], Op::Keep | Op::InsertBefore(_));
        if self.final_newline {
            let remains = self.script().iter().any(|line| line.0 != '-');
            return remains || !self.crlf[0];
        }
        let last_fits = !matches!(self.ops[last], Op::Remove) && self.at_end.is_empty();
        last_fits && (!self.crlf[0] || (0..last).any(kept))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn edits_of_several_places_give_the_exact_bytes(edits in edits(mixed())) {
        let script = edits.script();
        prop_assume!(script.iter().any(|line| line.0 != ' '));
        let after = edit(&edits.before(), &Edit::body(&script, false)).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        prop_assert_eq!(text(after), text(edits.expected()));
    }

    #[test]
    fn the_patch_backwards_restores_every_byte(edits in edits(uniform())) {
        let script = edits.script();
        prop_assume!(script.iter().any(|line| line.0 != ' ') && edits.can_be_restored());
        let before = edits.before();
        let after = edit(&before, &Edit::body(&script, false)).unwrap();
        let back = edit(&after, &Edit::body(&script, true)).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        prop_assert_eq!(text(back), text(before));
    }
}
