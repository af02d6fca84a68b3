use std::fs;
use std::path::Path;

use super::{IgnoreFileError, IgnoredPaths, ignored_paths};

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
    let found = ignored_paths(top.path()).unwrap().paths;
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
    assert_eq!(ignored_paths(top.path()).unwrap(), IgnoredPaths::default());
}

#[test]
fn a_link_is_a_path_and_is_not_followed() {
    let top = project("x\n", &["d/x"]);
    std::os::unix::fs::symlink(top.path(), top.path().join("d/loop")).unwrap();
    let found = ignored_paths(top.path()).unwrap();
    assert_eq!(found.paths, [top.path().join("d/x")]);
}

#[test]
fn a_list_that_cannot_be_whole_is_an_error() {
    let top = project("ok\n{a\n", &[]);
    let error = ignored_paths(top.path()).unwrap_err();
    assert!(
        matches!(error, IgnoreFileError::Pattern { line: Some(2), .. }),
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

#[test]
fn a_link_hides_what_it_leads_to_only_inside_the_project() {
    let top = project("*.key\n", &["d/plain", ".git/config"]);
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, top.path().join(name)).unwrap();
    };
    link("d/plain", "inside.key");
    link("/usr", "machine.key");
    link(".git", "git.key");
    link(".", "top.key");
    link("nowhere", "dangling.key");
    let found = ignored_paths(top.path()).unwrap();
    assert_eq!(found.paths, [top.path().join("inside.key")]);
    assert_eq!(found.links_outside.len(), 4);
}

#[test]
fn what_is_no_small_regular_file_is_refused_at_once() {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join(".agentignore");
    let refused = |why: &str| {
        let error = ignored_paths(top.path()).unwrap_err();
        let IgnoreFileError::Read { source, .. } = error else {
            panic!("{error}");
        };
        assert!(source.to_string().contains(why), "{source}");
        fs::remove_file(&file).unwrap();
    };
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused("no regular file");
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    refused("no regular file");
    fs::write(&file, "x\n".repeat(40_000)).unwrap();
    refused("64 KiB");
}
