use std::fs;
use std::path::Path;

use super::{IgnoreFileError, ignored_paths};

fn project(patterns: &str, files: &[&str]) -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    fs::write(top.path().join(".agentignore"), patterns).unwrap();
    for file in files {
        let path = top.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    top
}

#[track_caller]
fn check(patterns: &str, files: &[&str], expected: &[&str]) {
    let top = project(patterns, files);
    let found = ignored_paths(top.path()).unwrap();
    let found: Vec<&Path> = found
        .iter()
        .map(|path| path.strip_prefix(top.path()).unwrap())
        .collect();
    let expected: Vec<&Path> = expected.iter().map(Path::new).collect();
    assert_eq!(found, expected, "{patterns:?}");
}

#[test]
fn patterns_are_those_of_gitignore() {
    let files = &[
        "a/.env",
        "a/.env.example",
        "b/secrets/x",
        "secrets/y",
        ".env",
        "key.pem",
    ];
    check(".env\n", files, &[".env", "a/.env"]);
    check("/.env\n", files, &[".env"]);
    check("# none\n\n", files, &[]);
    check(".env*\n!.env.example\n", files, &[".env", "a/.env"]);
    check("secrets/\n", files, &["b/secrets", "secrets"]);
    check("/b/**/x\r\n*.pem", files, &["b/secrets/x", "key.pem"]);
    check("\u{feff}*.pem", files, &["key.pem"]);
}

#[test]
fn a_directory_without_the_file_is_not_looked_at() {
    let top = tempfile::tempdir().unwrap();
    fs::write(top.path().join(".env"), "").unwrap();
    assert!(ignored_paths(top.path()).unwrap().is_empty());
}

#[test]
fn a_link_is_a_path_and_is_not_followed() {
    let top = project("x\n", &["d/x"]);
    std::os::unix::fs::symlink(top.path(), top.path().join("d/loop")).unwrap();
    assert_eq!(ignored_paths(top.path()).unwrap(), [top.path().join("d/x")]);
}

#[test]
fn a_list_that_cannot_be_whole_is_an_error() {
    let top = project("ok\n{a\n", &[]);
    let error = ignored_paths(top.path()).unwrap_err();
    assert!(
        matches!(error, IgnoreFileError::Pattern { line: 2, .. }),
        "{error}"
    );
    let top = tempfile::tempdir().unwrap();
    fs::create_dir(top.path().join(".agentignore")).unwrap();
    let error = ignored_paths(top.path()).unwrap_err();
    assert!(matches!(error, IgnoreFileError::Read { .. }), "{error}");
    let top = project("*.x\n", &[]);
    for number in 0..=super::MAX_PATHS {
        fs::write(top.path().join(format!("{number}.x")), "").unwrap();
    }
    let error = ignored_paths(top.path()).unwrap_err();
    assert!(matches!(error, IgnoreFileError::TooMany { .. }), "{error}");
}
