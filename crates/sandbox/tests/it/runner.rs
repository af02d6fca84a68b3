//! A small test runner, because the standard one owns `main`.

use std::panic::catch_unwind;
use std::process::ExitCode;

/// A named test.
pub(crate) type Test = (&'static str, fn());

/// Runs the tests whose names contain one of the arguments, one after another.
pub(crate) fn run(groups: &[&[Test]]) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let list = words.iter().any(|word| word == "--list");
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mut failed = Vec::new();
    let mut n_run = 0;
    for (name, test) in groups.iter().copied().flatten() {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        if list {
            println!("{name}: test");
            continue;
        }
        n_run += 1;
        let started = std::time::Instant::now();
        let outcome = catch_unwind(*test);
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!(
            "test {name} ... {verdict} ({} ms)",
            started.elapsed().as_millis()
        );
        if outcome.is_err() {
            failed.push(*name);
        }
    }
    println!("{n_run} run, {} failed {failed:?}", failed.len());
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
