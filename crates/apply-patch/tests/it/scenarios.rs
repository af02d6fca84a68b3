//! Scenario folders `input/ patch expected/`, or `error` with a part of the message.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Files, apply};

macro_rules! scenarios {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { run(stringify!($name)); })*
    };
}

include!("../scenarios/names.rs");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

fn files(directory: &Path) -> Files {
    let mut files = Files::new();
    let mut pending = vec![(directory.to_owned(), String::new())];
    while let Some((directory, prefix)) = pending.pop() {
        // Git keeps no empty directory.
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                pending.push((entry.path(), format!("{name}/")));
            } else {
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

#[track_caller]
fn run(name: &str) {
    let directory = root().join(name);
    let patch = fs::read_to_string(directory.join("patch")).unwrap();
    let input = files(&directory.join("input"));
    let outcome = apply(&input, &patch);
    if let Ok(error) = fs::read_to_string(directory.join("error")) {
        let message = outcome.unwrap_err();
        assert!(message.contains(error.trim_end()), "{message}");
        return;
    }
    let (actual, _) = outcome.unwrap_or_else(|err| panic!("{err}"));
    assert_eq!(actual, files(&directory.join("expected")));
}

#[test]
fn every_folder_is_a_test() {
    let entries = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<_> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected = NAMES.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
}
