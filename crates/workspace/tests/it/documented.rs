//! `docs/apply-patch.md` has every message, as the code words it.

use std::io;
use std::os::unix::fs::symlink;

use agent_apply_patch::{ParseError, PlanError, Problem, parse, plan};
use agent_workspace::{CommitError, Refusal, Workspace};

use crate::support::Place;

/// Fails if the document does not have the text.
#[track_caller]
fn check(text: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/apply-patch.md");
    let document = std::fs::read_to_string(path).unwrap();
    // Some are in the running text and go over the end of a line.
    let joined = document.replace('\n', " ");
    assert!(
        document.contains(text) || joined.contains(text),
        "docs/apply-patch.md does not have: {text}"
    );
}

fn path() -> String {
    "PATH".to_owned()
}

fn other() -> String {
    "OTHER".to_owned()
}

#[test]
fn every_problem_of_a_text() {
    // Whoever adds a variant is led here by the compiler; it belongs into the list below too.
    let is_known = |problem: Problem| match problem {
        Problem::NoBegin
        | Problem::NoEnd
        | Problem::AfterEnd
        | Problem::Empty
        | Problem::NoFileHeader
        | Problem::NoPath
        | Problem::AddedLine
        | Problem::BodyLine
        | Problem::EmptyChunk
        | Problem::TooManyHeaders
        | Problem::EmptyUpdate
        | Problem::StrayMove
        | Problem::StrayEndOfFile
        | Problem::Environment => true,
    };
    for problem in [
        Problem::NoBegin,
        Problem::NoEnd,
        Problem::AfterEnd,
        Problem::Empty,
        Problem::NoFileHeader,
        Problem::NoPath,
        Problem::AddedLine,
        Problem::BodyLine,
        Problem::EmptyChunk,
        Problem::TooManyHeaders,
        Problem::EmptyUpdate,
        Problem::StrayMove,
        Problem::StrayEndOfFile,
        Problem::Environment,
    ] {
        assert!(is_known(problem));
        check(&format!("| {problem} |"));
        let text = "TEXT".to_owned();
        let err = ParseError {
            line: 7,
            text,
            problem,
        };
        let (head, _) = err
            .to_string()
            .split_once("`: ")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        check(&format!("{}`: ", head.replace('7', "N")));
    }
}

/// The message of a body of an update of `PATH`, with these bytes.
#[track_caller]
fn refused(before: &[u8], body: &str) -> String {
    let text = format!("*** Begin Patch\n*** Update File: PATH\n{body}*** End Patch\n");
    let patch = parse(&text).unwrap();
    let err = plan(&patch, &mut |_| Ok(Some(before.to_vec()))).unwrap_err();
    match &err {
        PlanError::NoFit { .. }
        | PlanError::Unsupported { .. }
        | PlanError::Exists { .. }
        | PlanError::MissingUpdate { .. }
        | PlanError::MissingDelete { .. }
        | PlanError::MoveOnto { .. }
        | PlanError::MovedAway { .. }
        | PlanError::Unreadable { .. } => err.to_string(),
    }
}

#[test]
fn every_reason_why_a_patch_does_not_fit() {
    let (path, move_to) = (path(), other());
    for err in [
        PlanError::Exists { path: path.clone() },
        PlanError::MissingUpdate { path: path.clone() },
        PlanError::MissingDelete { path: path.clone() },
        PlanError::MoveOnto {
            path: path.clone(),
            move_to: move_to.clone(),
        },
        PlanError::MovedAway {
            path: path.clone(),
            move_to,
        },
        PlanError::Unreadable {
            path,
            reason: "REASON".to_owned(),
        },
    ] {
        check(&format!("| {err} |"));
    }
    for (before, body) in [
        (&b"\xff\xfea\0"[..], "+x\n*** End of File\n"),
        (b"\xe9\nx\n", "-x\n+\u{e9}\n"),
    ] {
        check(&format!("| {} |", refused(before, body)));
    }
    // Nobody makes such a file for a test.
    let large = "it is larger than 4 GiB; change it with a command";
    assert!(include_str!("../../../apply-patch/src/plan/file.rs").contains(large));
    check(&format!("| cannot edit `PATH`: {large} |"));
}

#[test]
fn every_reason_why_a_chunk_does_not_fit() {
    let head = "cannot apply the chunk at patch line 3 to `PATH`: ";
    check(&head.replace('3', "N"));
    for (before, body) in [
        ("a\n", "@@ TEXT\n-a\n"),
        ("a\n", "@@\n+a\n"),
        ("a\nb\n", "@@\n-a\n*** End of File\n"),
        ("h\na\n", "@@ h\n-h\n-x\n"),
        ("b\na\nh\n", "@@ h\n-b\n"),
        ("a\na\n", "@@\n-a\n"),
    ] {
        let message = refused(before.as_bytes(), body);
        let reason = message.strip_prefix(head).unwrap();
        let first = reason.lines().next().unwrap();
        let first = first.replace("2 matches, at lines 1, 2", "N matches, at lines N, N");
        check(&format!("| {} |", first.replace("at line 1", "at line N")));
    }
    let message = refused(b"a\nb\n", "-b\n@@\n-a\n");
    let (_, reason) = message.split_once("`PATH`: ").unwrap();
    check(&format!("| {} |", reason.replace("at line 1", "at line N")));
    // That takes seconds, so that only the tests of the matching do it.
    let effort = "its chunks take too long to find; send the patch in parts, each with \\
                          fewer chunks and `@@` lines";
    assert!(include_str!("../../../apply-patch/src/plan/file.rs").contains(effort));
    let words: Vec<_> = effort
        .replace('\\', "")
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    check(&format!("| {} |", words.join(" ")));
    for before in ["", "\n"] {
        let message = refused(before.as_bytes(), "-zzzz\n");
        check(&format!("| {} |", message.lines().last().unwrap()));
    }
}

#[test]
fn every_refusal_of_a_path() {
    let (path, reason) = (path(), "REASON".to_owned());
    for refusal in [
        Refusal::Outside {
            path: path.clone().into(),
        },
        Refusal::Protected {
            path: path.clone().into(),
            reason: reason.clone(),
        },
        Refusal::Denied {
            path: path.clone().into(),
        },
        Refusal::Invalid { path, reason },
    ] {
        match refusal {
            Refusal::Outside { .. }
            | Refusal::Protected { .. }
            | Refusal::Denied { .. }
            | Refusal::Invalid { .. } => check(&format!("| {refusal} |")),
        }
    }
    let place = Place::new();
    for path in [".agent/x", ".git/x", "", "a\0", "d/", "."] {
        match place.workspace.resolve(path).unwrap_err() {
            Refusal::Protected { reason, .. } | Refusal::Invalid { reason, .. } => check(&reason),
            refusal @ (Refusal::Outside { .. } | Refusal::Denied { .. }) => panic!("{refusal}"),
        }
    }
    check("`DIRECTORY` may not be written");
}

#[test]
fn every_reason_why_a_file_cannot_be_read() {
    let place = Place::new();
    symlink("nothing", place.inside("link")).unwrap();
    std::fs::create_dir(place.inside("d")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(place.inside("socket")).unwrap());
    let large = std::fs::File::create(place.inside("large")).unwrap();
    large.set_len(agent_workspace::MAX_READ_BYTES + 1).unwrap();
    let mode = rustix::fs::Mode::from(0o600);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, place.inside("fifo"), fifo, mode, 0).unwrap();
    for name in ["link", "d", "socket", "fifo", "large"] {
        let err = place.workspace.read(&place.target(name)).unwrap_err();
        check(&format!("`{err}`"));
    }
    let machine = Workspace::unrestricted("/dev".into());
    let err = machine.read(&machine.resolve("null").unwrap()).unwrap_err();
    check(&format!("`{err}`"));
    // A link that appears after its path was followed.
    let target = place.target("later");
    symlink("d", place.inside("later")).unwrap();
    let err = place.workspace.read(&target).unwrap_err();
    check(&format!("`{err}`"));
}

#[test]
fn every_failure_to_write() {
    let (path, other) = (path(), other());
    let source = || io::Error::other("REASON");
    for err in [
        CommitError::Changed { path: path.clone() },
        CommitError::Exists { path: path.clone() },
        CommitError::SameFile {
            path: path.clone(),
            other,
        },
        CommitError::Directory {
            path: path.clone(),
            source: source(),
        },
        CommitError::Write {
            path: path.clone(),
            source: source(),
        },
        CommitError::Remove {
            path: path.clone(),
            source: source(),
        },
        CommitError::RollBack {
            paths: vec![path.clone()],
            source: Box::new(CommitError::Changed { path }),
        },
    ] {
        match err {
            CommitError::Changed { .. }
            | CommitError::Exists { .. }
            | CommitError::SameFile { .. }
            | CommitError::Directory { .. }
            | CommitError::Write { .. }
            | CommitError::Remove { .. }
            | CommitError::RollBack { .. } => check(&format!("| {err} |")),
        }
    }
}

#[test]
fn every_warning() {
    let place = Place::new();
    for (before, body) in [("a \n", "-a\n+b\n"), ("  a\n", "-a\n+b\n"), ("a\n", " a\n")] {
        place.write("PATH", before);
        let said = place
            .apply(&format!("*** Update File: PATH\n{body}"))
            .unwrap();
        let (_, warning) = said.trim_end().split_once("warning: ").unwrap();
        let warning = warning
            .replace("line 3", "line N")
            .replace("line 1", "line N");
        let (what, more) = warning.split_at(warning.find("; added").unwrap_or(warning.len()));
        check(&what.replace("indentation", "trailing white space"));
        check(&more.replace("··", "TEXT"));
    }
    // These come where the file system refuses something; the tests of faults make it do so.
    let sources = [
        include_str!("../../src/commit/prepare.rs"),
        include_str!("../../src/commit/step.rs"),
    ];
    for text in [
        "`{path}` was written in place, not replaced at once: {why}",
        "`{path}` has not all attributes of its source: {err}",
        "a temporary file beside `{name}` could not be removed: {err}",
        "it cannot be replaced ({why}), and it has other hard links",
    ] {
        assert!(sources.iter().any(|source| source.contains(text)), "{text}");
        let text = text.replace("{path}", "PATH").replace("{name}", "PATH");
        check(&text.replace("{why}", "REASON").replace("{err}", "REASON"));
    }
}
