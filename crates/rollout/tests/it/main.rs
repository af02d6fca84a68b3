//! Rollouts that were cut, damaged, shared or written by others.
#![cfg(test)]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use agent_protocol::{FragmentKind, ResponseItem, Role, SerializedItem, ThreadId};
use agent_rollout::{
    EventRecord, FindError, GitInfo, ItemMetadata, Record, SessionMeta, Writer, WriterError,
    find_by_id, find_latest, list, read,
};

const ID: &str = "019f1b2e-0000-7000-8000-000000000001";

fn id() -> ThreadId {
    ID.parse().unwrap()
}

fn meta(cwd: &str) -> SessionMeta {
    SessionMeta {
        id: ID.to_owned(),
        timestamp: String::new(),
        cwd: cwd.into(),
        originator: "agent".to_owned(),
        cli_version: "0.1.0".to_owned(),
        source: "exec".into(),
        model_provider: None,
        base_instructions: None,
        git: None,
    }
}

fn message(text: &str) -> SerializedItem {
    SerializedItem::render(&ResponseItem::text_message(Role::User, text)).unwrap()
}

fn say(writer: &mut Writer, text: &str) {
    let item = message(text);
    let metadata = ItemMetadata {
        response: Some(1),
        fragment: Some(FragmentKind::Environment),
    };
    let record = Record::ResponseItem {
        item: &item,
        metadata,
    };
    writer.append(&record).unwrap();
}

fn session(home: &Path, texts: &[&str]) -> std::path::PathBuf {
    let mut writer = Writer::create(home, id()).unwrap();
    writer.append(&Record::SessionMeta(&meta("/w"))).unwrap();
    for text in texts {
        say(&mut writer, text);
    }
    writer.path().to_owned()
}

fn texts(path: &Path) -> Vec<String> {
    let items = read(path).unwrap().items;
    items
        .iter()
        .map(|item| item.item.json().to_string())
        .collect()
}

#[test]
fn what_is_written_is_read_back() {
    let home = tempfile::tempdir().unwrap();
    let path = session(home.path(), &["one", "two\nlines \u{2028}"]);
    let session = read(&path).unwrap();
    assert!(session.damage.is_none());
    assert_eq!(session.meta, Some(meta("/w")));
    assert_eq!(session.items[1].item, message("two\nlines \u{2028}"));
    assert_eq!(session.items[1].metadata.response, Some(1));
    assert_eq!(
        session.items[1].metadata.fragment,
        Some(FragmentKind::Environment)
    );
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
}

#[test]
fn any_prefix_of_a_session_is_read() {
    let home = tempfile::tempdir().unwrap();
    let path = session(home.path(), &["one", "two", "three"]);
    let bytes = fs::read(&path).unwrap();
    for length in 0..=bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let session = read(&path).unwrap();
        let n_whole = bytes[..length]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        // A last line without its end is whole when only the line end is missing.
        let n_lines = session.items.len() + usize::from(session.meta.is_some());
        assert!(n_lines == n_whole || n_lines == n_whole + 1, "{length}");
        assert_eq!(session.damage.broken_lines, 0, "{length}");
    }
}

#[test]
fn records_after_a_torn_line_begin_on_a_fresh_one() {
    let home = tempfile::tempdir().unwrap();
    let path = session(home.path(), &["one", "two"]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 25]).unwrap();
    assert!(read(&path).unwrap().damage.torn_tail);
    say(&mut Writer::resume(&path).unwrap(), "three");
    let session = read(&path).unwrap();
    assert_eq!(session.damage.broken_lines, 1);
    assert!(!session.damage.torn_tail);
    assert_eq!(
        texts(&path),
        [
            message("one").json().to_string(),
            message("three").json().to_string()
        ]
    );
}

#[test]
fn damaged_lines_are_skipped_and_counted() {
    let home = tempfile::tempdir().unwrap();
    let path = session(home.path(), &["one", "two"]);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(
        &path,
        format!("\0\0\0\n{}\n{{\"type\":\"response_item\",\"payload\":[]}}\n{{\"type\":\"new_kind\",\"payload\":{{}}}}\n{}\n", lines[1], lines[2]),
    )
    .unwrap();
    let session = read(&path).unwrap();
    assert_eq!(session.items.len(), 2);
    assert_eq!(
        session.damage.to_string(),
        "its first record is missing, 2 damaged lines were skipped"
    );
}

#[test]
fn unknown_item_kinds_keep_their_text() {
    let home = tempfile::tempdir().unwrap();
    let path = session(home.path(), &[]);
    let payload = r#"{"type":"hologram","x":[1,2]}"#;
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(
        file,
        r#"{{"timestamp":"t","type":"response_item","payload":{payload}}}"#
    )
    .unwrap();
    assert_eq!(texts(&path), [payload]);
}

#[test]
fn a_second_writer_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let writer = Writer::create(home.path(), id()).unwrap();
    assert!(matches!(
        Writer::resume(writer.path()),
        Err(WriterError::InUse { .. })
    ));
    let path = writer.path().to_owned();
    drop(writer);
    assert!(Writer::resume(&path).is_ok());
}

#[test]
fn sessions_are_found_by_id_and_by_directory() {
    let home = tempfile::tempdir().unwrap();
    assert!(matches!(
        find_latest(home.path(), Some(Path::new("/w"))),
        Err(FindError::None { .. })
    ));
    let path = session(home.path(), &[]);
    assert_eq!(find_by_id(home.path(), ID).unwrap().path, path);
    assert_eq!(
        find_latest(home.path(), Some(Path::new("/w")))
            .unwrap()
            .path,
        path
    );
    assert!(find_latest(home.path(), Some(Path::new("/elsewhere"))).is_err());
    assert_eq!(find_latest(home.path(), None).unwrap().path, path);
    let other = ID.replace("0001", "0002");
    assert!(matches!(
        find_by_id(home.path(), &other),
        Err(FindError::NoSuchSession { .. })
    ));
}

/// A session of this id in this directory, with the user's first words if there are any.
fn listed(home: &Path, id: &str, cwd: &str, words: Option<&str>) {
    let mut writer = Writer::create(home, id.parse().unwrap()).unwrap();
    let mut meta = meta(cwd);
    meta.git = Some(GitInfo {
        branch: Some("topic".to_owned()),
        commit_hash: None,
    });
    writer.append(&Record::SessionMeta(&meta)).unwrap();
    if let Some(words) = words {
        let message = words.to_owned();
        let event = EventRecord::UserMessage { message };
        writer.append(&Record::Event(&event)).unwrap();
    }
}

#[test]
fn lists_show_the_first_words_and_leave_out_what_nobody_used() {
    let home = tempfile::tempdir().unwrap();
    let id = |n: u8| format!("019f1b2e-0000-7000-8000-0000000000{n:02}");
    listed(home.path(), &id(1), "/w", Some("fix  the\ntest"));
    listed(home.path(), &id(2), "/other", Some("another"));
    listed(home.path(), &id(3), "/w", None);
    let found = list(home.path(), Some(Path::new("/w")), 10).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|session| (session.id.to_string(), session.preview.as_str()))
        .collect();
    assert_eq!(shown, [(id(1), "fix the test")]);
    assert_eq!(found[0].branch.as_deref(), Some("topic"));
    assert_eq!(list(home.path(), None, 10).unwrap().len(), 2);
    assert_eq!(list(home.path(), None, 1).unwrap().len(), 1);
}

#[test]
fn a_session_with_a_damaged_head_is_listed_everywhere() {
    let home = tempfile::tempdir().unwrap();
    let path = session(home.path(), &[]);
    fs::write(&path, "damaged\n").unwrap();
    let found = list(home.path(), Some(Path::new("/any")), 10).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].cwd, None);
}
