//! Rules for the files: size, what they begin with, words that have no place.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// No source file is longer, in lines; 400 is what is wanted.
const MAX_LINES: usize = 600;
/// Files that are longer all the same. The list may only shrink.
const LONG_FILES: &[&str] = &[];
/// No file imports more.
const MAX_USE_ITEMS: usize = 30;
/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &[
    "utils", "util", "common", "helpers", "helper", "misc", "manager",
];
/// Documents with a limit, in lines.
const DOCUMENTS: &[(&str, usize)] = &[("AGENTS.md", 60), ("docs/ARCHITECTURE.md", 300)];
/// Where unsafe code may stand.
const UNSAFE_PLACES: &[&str] = &[
    "crates/sandbox/src/sys",
    "crates/sandbox/tests/it/escape/sys",
    "crates/process/src/sys",
];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (name, max) in DOCUMENTS {
        let path = root.join(name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{name}`"))?;
        let n_lines = text.lines().count();
        if n_lines > *max {
            problems.push(format!("{name}: {n_lines} lines, at most {max}"));
        }
    }
    for path in sources(root)? {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(&path);
        check_source(name, &text, &mut problems);
    }
    Ok(problems)
}

/// All Rust files of the product and its tests.
fn sources(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut open = vec![root.join("crates"), root.join("tests")];
    let mut files = Vec::new();
    while let Some(directory) = open.pop() {
        let entries = fs::read_dir(&directory)
            .with_context(|| format!("cannot list `{}`", directory.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn check_source(path: &Path, text: &str, problems: &mut Vec<String>) {
    let name = path.to_string_lossy();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_test = stem == "tests" || name.contains("/tests/") || name.starts_with("tests/");
    let mut problem = |what: String| problems.push(format!("{name}: {what}"));
    if EMPTY_NAMES.contains(&&*stem) {
        problem(format!("`{stem}` says nothing about what is in it"));
    }
    if !is_test && !text.starts_with("//!") {
        problem("must begin with `//!`: what it is for".to_owned());
    }
    let n_lines = text.lines().count();
    if !is_test && n_lines > MAX_LINES && !LONG_FILES.contains(&&*name) {
        problem(format!("{n_lines} lines, at most {MAX_LINES}"));
    }
    let n_uses = text.lines().filter(|line| line.starts_with("use ")).count();
    if n_uses > MAX_USE_ITEMS {
        problem(format!("{n_uses} `use` items, at most {MAX_USE_ITEMS}"));
    }
    let may_be_unsafe = UNSAFE_PLACES.iter().any(|place| name.starts_with(place));
    for (line_idx, line) in text.lines().enumerate() {
        let comment = line.trim_start().starts_with("//");
        let todo = ["TODO", "FIXME", "XXX"]
            .iter()
            .any(|word| line.contains(word));
        if comment && todo && !line.contains('#') {
            problem(format!(
                "line {}: a TODO names its issue: `TODO(#12)`",
                line_idx + 1
            ));
        }
        let unsafe_here = line.contains("unsafe {") || line.contains("unsafe fn");
        if unsafe_here && !comment && !may_be_unsafe && !name.starts_with("crates/xtask") {
            problem(format!(
                "line {}: unsafe code belongs into a `sys` module",
                line_idx + 1
            ));
        }
    }
}
