//! The only place that knows the API: applies patches to files in memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use agent_apply_patch::{ChangeKind, Plan, parse, plan, summary};
use expect_test::Expect;

/// Files by path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Plans a whole patch text.
pub(crate) fn try_plan(files: &Files, text: &str) -> Result<Plan, String> {
    let patch = parse(text).map_err(|err| err.to_string())?;
    let mut read = |path: &str| Ok(files.get(path).cloned());
    plan(&patch, &mut read).map_err(|err| err.to_string())
}

/// The files after a whole patch text, and what is said about it.
pub(crate) fn apply(files: &Files, text: &str) -> Result<(Files, String), String> {
    let plan = try_plan(files, text)?;
    let said = summary(&plan);
    let mut files = files.clone();
    for change in plan.changes {
        match change.kind {
            ChangeKind::Add { after } => {
                assert!(files.insert(change.path, after).is_none());
            }
            ChangeKind::Delete { before } => assert_eq!(files.remove(&change.path), Some(before)),
            ChangeKind::Update {
                before,
                after,
                move_to,
            } => {
                assert_eq!(files.remove(&change.path), Some(before));
                let path = move_to.unwrap_or(change.path);
                assert!(files.insert(path, after).is_none());
            }
        }
    }
    Ok((files, said))
}

/// One file `f`, updated by a patch body.
pub(crate) fn edit(before: &[u8], body: &str) -> Result<Vec<u8>, String> {
    let files = Files::from([("f".to_owned(), before.to_vec())]);
    let (mut files, _) = apply(&files, &update(body))?;
    Ok(files.remove("f").unwrap())
}

/// The whole patch text around the body of an update of `f`.
pub(crate) fn update(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

/// Compares the bytes of `f` after an update.
#[track_caller]
pub(crate) fn check_bytes(before: &[u8], body: &str, expected: &[u8]) {
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let after = edit(before, body).unwrap_or_else(|err| panic!("{err}"));
    assert_eq!(
        (shown(&after), after.as_slice()),
        (shown(expected), expected)
    );
}

/// Compares the text of `f`, the warnings, or the error, after an update.
#[track_caller]
pub(crate) fn check(before: &str, body: &str, expected: &Expect) {
    let files = Files::from([("f".to_owned(), before.as_bytes().to_vec())]);
    check_text(&files, &update(body), expected);
}

/// Compares the files, the warnings, or the error, after a whole patch text.
#[track_caller]
pub(crate) fn check_text(files: &Files, text: &str, expected: &Expect) {
    let actual = match try_plan(files, text) {
        Err(err) => format!("error: {err}\n"),
        Ok(plan) => {
            let (files, _) = apply(files, text).unwrap();
            let mut out = String::new();
            for (path, bytes) in files {
                writeln!(out, "--- {path}\n{}", String::from_utf8_lossy(&bytes)).unwrap();
            }
            for warning in plan.warnings {
                writeln!(out, "warning: {warning}").unwrap();
            }
            out
        }
    };
    expected.assert_eq(&actual);
}
