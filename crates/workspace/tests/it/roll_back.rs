//! Commits that fail half-way: afterwards every file is as it was, inode included.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use agent_workspace::{ChangeKind, FileChange, Target};

use crate::support::Place;

fn update(target: Target, before: &str, after: &str) -> FileChange {
    let kind = ChangeKind::Update {
        before: before.into(),
        after: after.into(),
        move_to: None,
    };
    FileChange { target, kind }
}

fn create(target: Target) -> FileChange {
    let kind = ChangeKind::Create {
        after: b"x\n".to_vec(),
    };
    FileChange { target, kind }
}

fn delete(target: Target, before: &str) -> FileChange {
    let kind = ChangeKind::Delete {
        before: before.into(),
    };
    FileChange { target, kind }
}

#[test]
fn a_failing_preparation_leaves_nothing_behind() {
    let place = Place::new();
    place.write("a", "a\n");
    place.write("d", "d\n");
    place.write("clash", "");
    let before = place.tree();
    let inode = fs::metadata(place.inside("a")).unwrap().ino();
    let changes = vec![
        update(place.target("a"), "a\n", "A\n"),
        create(place.target("new/dir/x")),
        create(place.target("new/dir/y")),
        delete(place.target("d"), "d\n"),
        delete(place.target("clash"), "other\n"),
    ];
    let err = place.commit(changes).unwrap_err();
    assert!(
        err.contains("`clash` has changed since it was read"),
        "{err}"
    );
    assert_eq!(place.tree(), before);
    assert_eq!(fs::metadata(place.inside("a")).unwrap().ino(), inode);
}

#[test]
fn a_file_where_a_directory_must_be_takes_all_back() {
    let place = Place::new();
    place.write("a", "a\n");
    let before = place.tree();
    let inode = fs::metadata(place.inside("a")).unwrap().ino();
    // `n` can be prepared as a file and as a directory, but not renamed onto it.
    let changes = vec![
        update(place.target("a"), "a\n", "A\n"),
        create(place.target("n")),
        create(place.target("n/x")),
    ];
    let err = place.commit(changes).unwrap_err();
    assert!(err.contains("`n` already exists"), "{err}");
    assert_eq!(fs::metadata(place.inside("a")).unwrap().ino(), inode);
    assert_eq!(place.tree(), before);
}

#[test]
fn changed_and_new_files_are_noticed() {
    let place = Place::new();
    place.write("a", "a\n");
    place.write("b", "b\n");
    let before = place.tree();
    let changes = vec![
        update(place.target("a"), "a\n", "A\n"),
        update(place.target("b"), "c\n", "B\n"),
    ];
    let err = place.commit(changes).unwrap_err();
    assert_eq!(err, "`b` has changed since it was read; read it again");
    let changes = vec![
        update(place.target("a"), "a\n", "A\n"),
        create(place.target("b")),
    ];
    assert_eq!(place.commit(changes).unwrap_err(), "`b` already exists");
    let changes = vec![
        update(place.target("a"), "a\n", "A\n"),
        update(place.target("missing"), "c\n", "B\n"),
    ];
    let err = place.commit(changes).unwrap_err();
    assert_eq!(
        err,
        "`missing` has changed since it was read; read it again"
    );
    assert_eq!(place.tree(), before);
}

#[test]
fn a_move_onto_a_file_is_refused() {
    let place = Place::new();
    place.write("a", "a\n");
    place.write("b", "b\n");
    let before = place.tree();
    let kind = ChangeKind::Update {
        before: b"a\n".to_vec(),
        after: b"A\n".to_vec(),
        move_to: Some(place.target("b")),
    };
    let target = place.target("a");
    let err = place.commit(vec![FileChange { target, kind }]).unwrap_err();
    assert_eq!(err, "`b` already exists");
    assert_eq!(place.tree(), before);
}
