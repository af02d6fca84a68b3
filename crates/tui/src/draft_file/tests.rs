use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{DraftError, DraftFile};
use crate::composer::{Composer, ComposerOptions, Draft};

fn draft(text: &str) -> Draft {
    let mut composer = Composer::new(ComposerOptions::default());
    composer.paste(text, &|_: &Path| false);
    composer.draft()
}

/// The files in `drafts`.
fn files(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.join("drafts")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn each_directory_has_its_own_draft() {
    let home = tempfile::tempdir().unwrap();
    let one = DraftFile::new(home.path(), Path::new("/one"));
    let two = DraftFile::new(home.path(), Path::new("/two"));
    assert_eq!(one.load().unwrap(), None);
    one.save(&draft("first")).unwrap();
    one.save(&draft(&"long\n".repeat(30))).unwrap();
    two.save(&draft("other")).unwrap();
    let again = DraftFile::new(home.path(), Path::new("/one"));
    assert_eq!(again.load().unwrap(), Some(draft(&"long\n".repeat(30))));
    assert_eq!(files(home.path()).len(), 2);
    for file in files(home.path()) {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    one.remove().unwrap();
    one.remove().unwrap();
    assert_eq!(one.load().unwrap(), None);
    assert_eq!(two.load().unwrap(), Some(draft("other")));
}

#[test]
fn an_empty_draft_leaves_no_file() {
    let home = tempfile::tempdir().unwrap();
    let file = DraftFile::new(home.path(), Path::new("/one"));
    file.save(&draft("x")).unwrap();
    file.save(&draft("")).unwrap();
    assert_eq!(files(home.path()), [""; 0].map(PathBuf::from));
}

#[test]
fn a_damaged_file_is_an_error_and_can_be_replaced() {
    let home = tempfile::tempdir().unwrap();
    let file = DraftFile::new(home.path(), Path::new("/one"));
    file.save(&draft("x")).unwrap();
    let path = files(home.path()).remove(0);
    let whole = fs::read_to_string(&path).unwrap();
    for damaged in [
        &whole[..whole.len() / 2],
        "",
        &whole.replace("\"version\":1", "\"version\":9"),
    ] {
        fs::write(&path, damaged).unwrap();
        let error = file.load().unwrap_err();
        assert!(matches!(error, DraftError::Damaged { .. }), "{damaged}");
    }
    file.save(&draft("y")).unwrap();
    assert_eq!(file.load().unwrap(), Some(draft("y")));
}

#[test]
fn the_draft_of_another_directory_with_the_same_hash_is_not_taken() {
    let home = tempfile::tempdir().unwrap();
    let file = DraftFile::new(home.path(), Path::new("/one"));
    file.save(&draft("x")).unwrap();
    let path = files(home.path()).remove(0);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replace("/one", "/two")).unwrap();
    assert_eq!(file.load().unwrap(), None);
}

#[test]
fn a_draft_that_cannot_be_kept_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("drafts"), "").unwrap();
    let file = DraftFile::new(home.path(), Path::new("/one"));
    assert!(matches!(
        file.save(&draft("x")),
        Err(DraftError::Write { .. })
    ));
}
