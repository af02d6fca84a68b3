use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};

use super::TurnDiff;
use crate::tool::{EditedContent, FileEdit};

fn edit(path: &str, before: Option<&str>, after: Option<&str>) -> FileEdit {
    FileEdit {
        path: PathBuf::from(path),
        moved_to: None,
        content: EditedContent::Known {
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
            executable: false,
        },
    }
}

fn moved(path: &str, to: &str, before: &str, after: &str) -> FileEdit {
    FileEdit {
        moved_to: Some(PathBuf::from(to)),
        ..edit(path, Some(before), Some(after))
    }
}

#[track_caller]
fn check(edits: Vec<FileEdit>, expected: &Expect) {
    let mut diff = TurnDiff::default();
    for edit in edits {
        diff.record(vec![edit]);
    }
    let shown = match diff.finish(Path::new("/w")) {
        None => "nothing".to_owned(),
        Some(diff) => {
            let lines = diff.text.lines().filter(|line| !line.starts_with("index "));
            let lines = lines.map(str::to_owned);
            let left_out = diff
                .left_out
                .into_iter()
                .map(|file| format!("left out {file}"));
            lines.chain(left_out).collect::<Vec<_>>().join("\n")
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn edits_of_one_file_become_one_difference() {
    check(
        vec![
            edit("/w/a", Some("1\n"), Some("2\n")),
            edit("/w/a", Some("2\n"), Some("3\n")),
        ],
        &expect![[r"
            diff --git a/a b/a
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -1
            +3"]],
    );
}

#[test]
fn what_came_and_went_is_no_difference() {
    check(
        vec![
            edit("/w/a", None, Some("1\n")),
            edit("/w/a", Some("1\n"), None),
            edit("/w/b", Some("1\n"), Some("2\n")),
            edit("/w/b", Some("2\n"), Some("1\n")),
        ],
        &expect!["nothing"],
    );
}

#[test]
fn moves_are_followed() {
    check(
        vec![
            moved("/w/a", "/w/b", "1\n", "1\n"),
            moved("/w/b", "/w/sub/c", "1\n", "2\n"),
        ],
        &expect![[r"
            diff --git a/a b/sub/c
            similarity index 50%
            rename from a
            rename to sub/c
            --- a/a
            +++ b/sub/c
            @@ -1 +1 @@
            -1
            +2"]],
    );
}

#[test]
fn a_file_that_went_and_came_back_has_not_moved() {
    check(
        vec![
            moved("/w/a", "/w/b", "1\n", "1\n"),
            edit("/w/a", None, Some("new\n")),
        ],
        &expect![[r"
            diff --git a/a b/a
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -1
            +new
            diff --git a/b b/b
            new file mode 100644
            --- /dev/null
            +++ b/b
            @@ -0,0 +1 @@
            +1"]],
    );
    check(
        vec![
            moved("/w/a", "/w/b", "1\n", "1\n"),
            moved("/w/b", "/w/a", "1\n", "1\n"),
        ],
        &expect!["nothing"],
    );
}

#[test]
fn what_cannot_be_shown_is_named() {
    let large = FileEdit {
        content: EditedContent::Unknown {
            reason: "it is too large",
        },
        ..edit("/w/large", None, None)
    };
    check(
        vec![
            edit("/w/large", Some("1"), Some("2")),
            large,
            edit("/w/large", Some("2"), Some("3")),
            edit("/elsewhere", Some("1"), Some("2")),
            edit("/w/nul", None, Some("a\0b")),
            moved("/w/out", "/gone", "1\n", "1\n"),
        ],
        &expect![[r"
            diff --git a/out b/out
            deleted file mode 100644
            --- a/out
            +++ /dev/null
            @@ -1 +0,0 @@
            -1
            left out `large`: it is too large
            left out `/elsewhere`: it is outside of the repository
            left out `/gone`: it is outside of the repository
            left out `nul`: it is no text"]],
    );
}

#[test]
fn a_new_file_that_became_executable_is_executable() {
    let mut later = edit("/w/a", Some("1\n"), Some("2\n"));
    if let EditedContent::Known { executable, .. } = &mut later.content {
        *executable = true;
    }
    check(
        vec![edit("/w/a", None, Some("1\n")), later],
        &expect![[r"
            diff --git a/a b/a
            new file mode 100755
            --- /dev/null
            +++ b/a
            @@ -0,0 +1 @@
            +2"]],
    );
}
