use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{HistoryFile, MAX_FILE, MAX_READ, MAX_TEXT};

fn texts(home: &Path) -> Vec<String> {
    HistoryFile::new(home, "s").read().unwrap()
}

#[test]
fn messages_are_read_as_they_were_written() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(texts(home.path()), [""; 0]);
    let mut file = HistoryFile::new(home.path(), "s-1");
    file.append(1_790_000_000, "one\nline \u{202e}\"").unwrap();
    HistoryFile::new(home.path(), "s-2")
        .append(2, "two")
        .unwrap();
    file.append(3, "three").unwrap();
    assert_eq!(texts(home.path()), ["one\nline \u{202e}\"", "two", "three"]);
    let path = home.path().join("history.jsonl");
    let first = fs::read_to_string(&path).unwrap();
    assert_eq!(
        first.lines().nth(1),
        Some(r#"{"session_id":"s-2","ts":2,"text":"two"}"#)
    );
    assert_eq!(
        fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn torn_and_foreign_lines_are_passed_over() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("history.jsonl");
    let foreign = "no json\n{\"ts\":1}\n\u{0}\n{\"session_id\":\"a\",\"ts\":1,\"text\":\"kept\",\"x\":1}\n{\"sess";
    fs::write(&path, [foreign.as_bytes(), b"\xff"].concat()).unwrap();
    assert_eq!(texts(home.path()), ["kept"]);
    // The torn line does not take the next one with it.
    HistoryFile::new(home.path(), "s")
        .append(2, "next")
        .unwrap();
    assert_eq!(texts(home.path()), ["kept", "next"]);
}

#[test]
fn a_long_message_is_cut_between_characters() {
    let home = tempfile::tempdir().unwrap();
    let text = format!("a{}", "漢".repeat(MAX_TEXT));
    HistoryFile::new(home.path(), "s").append(1, &text).unwrap();
    let kept = &texts(home.path())[0];
    assert!(kept.len() <= MAX_TEXT && kept.len() > MAX_TEXT - 3);
    assert!(text.starts_with(kept.as_str()));
}

#[test]
fn a_long_file_is_cut_to_its_newest_part() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("history.jsonl");
    let mut lines = String::new();
    let text = "x".repeat(1_000);
    let mut n_lines = 0;
    while lines.len() < usize::try_from(MAX_FILE).unwrap() {
        writeln!(
            lines,
            r#"{{"session_id":"s","ts":{n_lines},"text":"{n_lines} {text}"}}"#
        )
        .unwrap();
        n_lines += 1;
    }
    fs::write(&path, &lines).unwrap();
    let before = texts(home.path());
    assert!(before.len() < n_lines, "only the end is read");
    HistoryFile::new(home.path(), "s").append(1, "new").unwrap();
    assert!(fs::metadata(&path).unwrap().len() <= MAX_READ);
    let after = texts(home.path());
    assert_eq!(after.last().unwrap(), "new");
    assert_eq!(after[after.len() - 2], before[before.len() - 1]);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn many_writers_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let home = home.path();
            scope.spawn(move || {
                let mut file = HistoryFile::new(home, format!("s-{writer}"));
                for message in 0..50 {
                    file.append(1, &format!("{writer} {message}")).unwrap();
                }
            });
        }
    });
    assert_eq!(texts(home.path()).len(), 200);
}

#[test]
fn a_failure_is_told_once() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("history.jsonl")).unwrap();
    let mut file = HistoryFile::new(home.path(), "s");
    let message = file.append(1, "x").unwrap_err().to_string();
    assert!(
        message.starts_with("cannot write the history `"),
        "{message}"
    );
    file.append(1, "x").unwrap();
    assert!(file.read().is_err());
}
