//! What happens when someone interferes between the check and the rename.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::prepare::Transaction;
use super::{CommitError, jobs};
use crate::{ChangeKind, FileChange, Workspace, WritableRoot};

struct Place {
    directory: tempfile::TempDir,
    workspace: Workspace,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a", "b", "d", "e"] {
            fs::write(directory.path().join(name), name).unwrap();
        }
        let root = WritableRoot {
            path: directory.path().to_owned(),
            protected: Vec::new(),
        };
        let workspace = Workspace::new(directory.path().to_owned(), vec![root], Vec::new());
        Self {
            directory,
            workspace,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn change(&self, name: &str, kind: ChangeKind) -> FileChange {
        let target = self.workspace.resolve(name).unwrap();
        FileChange { target, kind }
    }

    fn update(&self, name: &str) -> FileChange {
        let kind = ChangeKind::Update {
            before: name.into(),
            after: b"new".to_vec(),
            move_to: None,
        };
        self.change(name, kind)
    }

    fn delete(&self, name: &str) -> FileChange {
        let before = name.into();
        self.change(name, ChangeKind::Delete { before })
    }

    /// Prepares, interferes, and applies; the error and the names that are left.
    fn interfere(
        &self,
        changes: Vec<FileChange>,
        act: impl FnOnce(&Path),
    ) -> (CommitError, Vec<String>) {
        let mut transaction = Transaction::new(&self.workspace);
        for (path, location, job) in jobs(changes).unwrap() {
            transaction.prepare(path, &location, job).unwrap();
        }
        act(self.directory.path());
        let err = transaction.apply().unwrap_err();
        let err = transaction.roll_back(err);
        let names = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        (err, names)
    }

    #[track_caller]
    fn check(&self, name: &str, content: &str) {
        let path = self.path(name);
        assert_eq!(fs::read_to_string(path).unwrap(), content, "{name}");
    }
}

#[test]
fn a_file_that_changes_is_not_overwritten() {
    let place = Place::new();
    let changes = vec![place.update("a"), place.update("b"), place.delete("d")];
    let (err, names) = place.interfere(changes, |root| {
        fs::write(root.join("b"), "other").unwrap();
    });
    assert!(matches!(err, CommitError::Changed { .. }), "{err}");
    assert_eq!(names, ["a", "b", "d", "e"]);
    place.check("a", "a");
    place.check("b", "other");
    place.check("d", "d");
}

#[test]
fn a_file_that_changes_is_not_removed_and_a_removed_one_comes_back() {
    let place = Place::new();
    let changes = vec![place.delete("d"), place.delete("e"), place.update("a")];
    let (err, names) = place.interfere(changes, |root| {
        fs::write(root.join("e"), "other").unwrap();
    });
    assert!(matches!(err, CommitError::Changed { .. }), "{err}");
    assert_eq!(names, ["a", "b", "d", "e"]);
    place.check("a", "a");
    place.check("d", "d");
    place.check("e", "other");
}

#[test]
fn a_file_that_disappears_stays_away() {
    let place = Place::new();
    let changes = vec![place.update("a"), place.update("b")];
    let (err, names) = place.interfere(changes, |root| fs::remove_file(root.join("b")).unwrap());
    assert!(matches!(err, CommitError::Changed { .. }), "{err}");
    assert_eq!(names, ["a", "d", "e"]);
    place.check("a", "a");
}

#[test]
fn a_file_that_becomes_a_directory_or_link_stays_one() {
    let place = Place::new();
    let changes = vec![place.update("a"), place.update("b")];
    let (err, names) = place.interfere(changes, |root| {
        fs::remove_file(root.join("b")).unwrap();
        fs::create_dir(root.join("b")).unwrap();
    });
    assert!(matches!(err, CommitError::Changed { .. }), "{err}");
    assert_eq!(names, ["a", "b", "d", "e"]);
    assert!(place.path("b").is_dir());
    let place = Place::new();
    let changes = vec![place.update("a"), place.update("b")];
    let (err, _) = place.interfere(changes, |root| {
        fs::remove_file(root.join("b")).unwrap();
        symlink("e", root.join("b")).unwrap();
    });
    assert!(matches!(err, CommitError::Changed { .. }), "{err}");
    assert!(place.path("b").is_symlink());
    place.check("e", "e");
    place.check("a", "a");
}

#[test]
fn a_file_that_appears_is_not_overwritten() {
    let place = Place::new();
    let kind = ChangeKind::Create {
        after: b"mine".to_vec(),
    };
    let changes = vec![place.update("a"), place.change("made/n", kind)];
    let (err, names) = place.interfere(changes, |root| {
        fs::write(root.join("made/n"), "theirs").unwrap();
    });
    assert!(matches!(err, CommitError::Exists { .. }), "{err}");
    assert_eq!(names, ["a", "b", "d", "e", "made"]);
    place.check("made/n", "theirs");
    place.check("a", "a");
}

#[test]
fn made_directories_go_again() {
    let place = Place::new();
    let kind = ChangeKind::Create {
        after: b"mine".to_vec(),
    };
    let changes = vec![place.change("x/y/n", kind), place.update("a")];
    let (_, names) = place.interfere(changes, |root| fs::write(root.join("a"), "other").unwrap());
    assert_eq!(names, ["a", "b", "d", "e"]);
    place.check("a", "other");
}
