//! A file and chunks: the result is the file with nothing but the lines of the chunks changed.
//!
//! The check knows the format, but nothing of how places are found: it looks for any way to get
//! from the old lines to the new ones by the chunks.
#![no_main]

use std::collections::HashSet;

use agent_apply_patch::{ChangeKind, FileOp, Mark, parse, plan};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Few different texts, so that lines are often equal, or equal but for white space.
#[derive(Debug, Arbitrary)]
enum Text {
    Blank,
    A,
    B,
    Open,
    Close,
    Typographic,
    Foreign,
    Bom,
    Indented(u8, Box<Text>),
    Tabbed(Box<Text>),
    Padded(Box<Text>),
    Any(String),
}

impl Text {
    fn write(&self, depth: usize) -> String {
        let inner = |text: &Text| {
            if depth > 3 {
                String::new()
            } else {
                text.write(depth + 1)
            }
        };
        let mut text = match self {
            Self::Blank => String::new(),
            Self::A => "a".to_owned(),
            Self::B => "let b = \"x\" - 1;".to_owned(),
            Self::Open => "fn f() {".to_owned(),
            Self::Close => "}".to_owned(),
            Self::Typographic => "let b = \u{201c}x\u{201d} \u{2013} 1;".to_owned(),
            Self::Foreign => "\u{e9}\u{fffd}".to_owned(),
            Self::Bom => "\u{feff}a".to_owned(),
            Self::Indented(n, text) => format!("{}{}", " ".repeat(usize::from(n % 9)), inner(text)),
            Self::Tabbed(text) => format!("\t{}", inner(text)),
            Self::Padded(text) => format!("{} \t", inner(text)),
            Self::Any(text) => text.clone(),
        };
        text.retain(|character| character != '\n');
        text
    }
}

#[derive(Debug, Arbitrary)]
enum End {
    Lf,
    CrLf,
}

#[derive(Debug, Arbitrary)]
enum Kind {
    Keep,
    Remove,
    Add,
}

#[derive(Debug, Arbitrary)]
struct Body {
    headers: Vec<Text>,
    /// Lines of the file at this place come first.
    near: Option<(u8, u8)>,
    lines: Vec<(Kind, Text)>,
    no_newline: bool,
    at_end: bool,
}

#[derive(Debug, Arbitrary)]
struct Input {
    bom: bool,
    file: Vec<(Text, End)>,
    final_newline: bool,
    odd_byte: bool,
    chunks: Vec<Body>,
}

impl Input {
    fn before(&self) -> Vec<u8> {
        let mut out = if self.bom {
            b"\xef\xbb\xbf".to_vec()
        } else {
            Vec::new()
        };
        for (at, (text, end)) in self.file.iter().enumerate() {
            out.extend_from_slice(text.write(0).as_bytes());
            if self.odd_byte && at % 3 == 1 {
                out.push(0xe9);
            }
            let ending: &[u8] = match end {
                End::Lf => b"\n",
                End::CrLf => b"\r\n",
            };
            if self.final_newline || at + 1 < self.file.len() {
                out.extend_from_slice(ending);
            }
        }
        out
    }

    fn patch(&self) -> String {
        let mut out = "*** Begin Patch\n*** Update File: f\n".to_owned();
        for chunk in &self.chunks {
            out.push_str("@@\n");
            for header in chunk.headers.iter().take(3) {
                out.push_str(&format!("@@ {}\n", header.write(0)));
            }
            if let Some((at, n)) = chunk.near {
                let lines = self
                    .file
                    .iter()
                    .skip(usize::from(at))
                    .take(usize::from(n % 4));
                for (text, _) in lines {
                    out.push_str(&format!(" {}\n", text.write(0)));
                }
            }
            for (kind, text) in &chunk.lines {
                let mark = match kind {
                    Kind::Keep => ' ',
                    Kind::Remove => '-',
                    Kind::Add => '+',
                };
                out.push_str(&format!("{mark}{}\n", text.write(0)));
            }
            if chunk.no_newline {
                out.push_str("\\ No newline at end of file\n");
            }
            if chunk.at_end {
                out.push_str("*** End of File\n");
            }
        }
        out.push_str("*** End Patch\n");
        out
    }
}

/// What the patch format overlooks at its most lenient.
fn loose(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let folded = text
        .trim()
        .trim_start_matches('\u{feff}')
        .chars()
        .map(|c| match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{2018}'..='\u{201b}' => '\'',
            '\u{201c}'..='\u{201f}' => '"',
            c if c.is_whitespace() => ' ',
            c => c,
        });
    folded.collect::<String>().trim().to_owned()
}

/// Lines with their endings.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A kept line has its bytes, but for the ending that the last one gets when lines follow it.
fn is_kept(old: &[u8], new: &[u8]) -> bool {
    old == new || (!old.ends_with(b"\n") && content(new) == old && new.len() > old.len())
}

/// Whether the lines of `before` lead to those of `after` by the chunks, in order.
fn explains(before: &[&[u8]], after: &[&[u8]], ops: &[Option<(Mark, &str, bool)>]) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![(0, 0, 0)];
    while let Some(state @ (old, new, op)) = open.pop() {
        if !seen.insert(state) {
            continue;
        }
        if (old, new, op) == (before.len(), after.len(), ops.len()) {
            return true;
        }
        let keeps = old < before.len() && new < after.len() && is_kept(before[old], after[new]);
        // Between chunks anything is kept.
        if (op == ops.len() || ops[op].is_none()) && keeps {
            open.push((old + 1, new + 1, op));
        }
        match ops.get(op) {
            Some(None) => open.push((old, new, op + 1)),
            Some(Some((Mark::Context, text, optional))) => {
                if keeps && loose(before[old]) == loose(text.as_bytes()) {
                    open.push((old + 1, new + 1, op + 1));
                }
                if *optional {
                    open.push((old, new, op + 1));
                }
            }
            Some(Some((Mark::Remove, text, _))) => {
                if old < before.len() && loose(before[old]) == loose(text.as_bytes()) {
                    open.push((old + 1, new, op + 1));
                }
            }
            Some(Some((Mark::Add, text, _))) => {
                let is_it = |line: &[u8]| loose(line) == loose(text.as_bytes());
                if new < after.len() && is_it(after[new]) {
                    open.push((old, new + 1, op + 1));
                }
                // At the end of a file without final newline a blank line has no bytes.
                if text.trim().trim_matches('\u{feff}').is_empty() && new == after.len() {
                    open.push((old, new, op + 1));
                }
            }
            None => {}
        }
    }
    false
}

fuzz_target!(|input: Input| {
    let (before, text) = (input.before(), input.patch());
    if before.len() + text.len() > 4096 {
        return;
    }
    let Ok(patch) = parse(&text) else { return };
    let mut read = |_: &str| Ok(Some(before.clone()));
    let planned = match plan(&patch, &mut read) {
        Ok(planned) => planned,
        Err(err) => {
            assert!(err.to_string().len() < 30_000, "an error is short");
            return;
        }
    };
    let [change] = planned.changes.as_slice() else {
        return;
    };
    let ChangeKind::Update {
        before: old,
        after,
        move_to: None,
    } = &change.kind
    else {
        panic!("{change:?}");
    };
    assert_eq!(*old, before, "what was read is kept");
    // A byte order mark is no part of a line, and stays.
    let mark = if before.starts_with(MARK) { MARK } else { b"" };
    let after = after
        .strip_prefix(mark)
        .expect("the byte order mark is kept");
    let before = &before[mark.len()..];
    let FileOp::Update { chunks, .. } = &patch.hunks[0].op else {
        panic!("{patch:?}");
    };
    let mut ops = vec![None];
    for chunk in chunks {
        let n_fixed = chunk.lines.len() - chunk.optional_tail;
        for (at, line) in chunk.lines.iter().enumerate() {
            ops.push(Some((line.mark, line.text.as_str(), at >= n_fixed)));
        }
        ops.push(None);
    }
    assert!(
        explains(&lines(before), &lines(after), &ops),
        "{:?}\n{text}\n{:?}",
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after)
    );
});
