//! What models put around a patch changes nothing: fences, heredocs, indentation, CR at line ends.
#![no_main]

use agent_apply_patch::{FileOp, Patch, parse};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Wrapper {
    Fence(u8),
    Tildes,
    Heredoc,
    Command,
    Cat,
    TabsTakenOff,
    BlankLines,
}

#[derive(Debug, Arbitrary)]
enum Line {
    Add(String),
    Delete(String),
    Update(String),
    Move(String),
    Header(String),
    BareHeader,
    Keep(String),
    Remove(String),
    Insert(String),
    Blank,
    NoNewline,
    EndOfFile,
}

impl Line {
    fn write(&self) -> String {
        let text = match self {
            Self::Add(path) => format!("*** Add File: {path}"),
            Self::Delete(path) => format!("*** Delete File: {path}"),
            Self::Update(path) => format!("*** Update File: {path}"),
            Self::Move(path) => format!("*** Move to: {path}"),
            Self::Header(text) => format!("@@ {text}"),
            Self::BareHeader => "@@".to_owned(),
            Self::Keep(text) => format!(" {text}"),
            Self::Remove(text) => format!("-{text}"),
            Self::Insert(text) => format!("+{text}"),
            Self::Blank => String::new(),
            Self::NoNewline => "\\ No newline at end of file".to_owned(),
            Self::EndOfFile => "*** End of File".to_owned(),
        };
        // A line end is the frame's business, not the text's.
        text.replace(['\n', '\r'], "")
    }
}

#[derive(Debug, Arbitrary)]
struct Input {
    lines: Vec<Line>,
    indentation: u8,
    crlf: bool,
    bom: bool,
    wrappers: Vec<Wrapper>,
}

fn wrap(text: &str, wrapper: &Wrapper) -> String {
    match wrapper {
        Wrapper::Fence(n) => {
            let fence = "`".repeat(usize::from(n % 4) + 3);
            format!("{fence}patch\n{text}\n{fence}\n")
        }
        Wrapper::Tildes => format!("~~~\n{text}\n~~~\n"),
        Wrapper::Heredoc => format!("<<'EOF'\n{text}\nEOF\n"),
        Wrapper::Command => format!("apply_patch <<PATCH\n{text}\nPATCH\n"),
        Wrapper::Cat => format!("cat <<\"END\" | apply_patch\n{text}\nEND"),
        Wrapper::TabsTakenOff => format!("apply_patch <<-'X'\n{text}\n\tX\n"),
        Wrapper::BlankLines => format!("\n  \n{text}\n\n"),
    }
}

/// Line numbers count from the first line of the patch or of the wrapper; they do not matter here.
fn without_lines(mut patch: Patch) -> Patch {
    for hunk in &mut patch.hunks {
        hunk.line = 0;
        if let FileOp::Update { chunks, .. } = &mut hunk.op {
            for chunk in chunks {
                chunk.line = 0;
            }
        }
    }
    patch
}

fuzz_target!(|input: Input| {
    let body: String = input.lines.iter().map(|line| line.write() + "\n").collect();
    let plain = format!("*** Begin Patch\n{body}*** End Patch");
    let expected = parse(&plain);
    let indentation = " ".repeat(usize::from(input.indentation % 9));
    let mut text: String = plain
        .lines()
        .map(|line| format!("{indentation}{line}\n"))
        .collect();
    let n_wrappers = input
        .wrappers
        .iter()
        .filter(|w| !matches!(w, Wrapper::BlankLines))
        .count();
    if n_wrappers > 4 {
        return;
    }
    for wrapper in &input.wrappers {
        text = wrap(&text, wrapper);
    }
    if input.crlf {
        text = text.replace('\n', "\r\n");
    }
    if input.bom {
        text.insert(0, '\u{feff}');
    }
    match (expected, parse(&text)) {
        (Ok(plain), Ok(wrapped)) => assert_eq!(without_lines(plain), without_lines(wrapped)),
        (Err(plain), Err(wrapped)) => assert_eq!(plain.problem, wrapped.problem),
        (plain, wrapped) => panic!("{plain:?}\n{wrapped:?}\n{text}"),
    }
});
