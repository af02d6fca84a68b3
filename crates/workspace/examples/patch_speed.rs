//! Measures a patch of ten lines on a file of a thousand: in memory, and with the write included.
//!
//! Started by `scripts/bench/patch`. Asserts no time; prints medians.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for development: its output is the figures, and it ends on an error"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use agent_apply_patch::{ChangeKind as Planned, Plan, parse, plan};
use agent_workspace::{ChangeKind, Durability, FileChange, Workspace, WritableRoot};

const N_LINES: usize = 1000;
const N_RUNS: usize = 3000;

/// A line of the file: indented, and like no other.
fn line(index: usize) -> String {
    format!("        let value_{index} = compute(\"{index}\", {index} * 2);")
}

fn file() -> String {
    let lines = (0..N_LINES).map(|index| match index % 20 {
        0 => format!("    fn block_{index}() {{"),
        19 => "    }".to_owned(),
        _ => line(index),
    });
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// Ten lines: three of context, two that go, two that come, three of context.
fn patch(header: &str, indentation: &str, (old, new): (&str, &str)) -> String {
    let mut body = format!("*** Begin Patch\n*** Update File: f.rs\n@@{header}\n");
    for (mark, index, word) in [
        (' ', 705, "value"),
        (' ', 706, "value"),
        (' ', 707, "value"),
        ('-', 708, old),
        ('-', 709, old),
        ('+', 708, new),
        ('+', 709, new),
        (' ', 710, "value"),
        (' ', 711, "value"),
        (' ', 712, "value"),
    ] {
        let text = line(index).replace("value", word);
        body.push(mark);
        body.push_str(text.strip_prefix(indentation).unwrap_or(&text));
        body.push('\n');
    }
    body.push_str("*** End Patch\n");
    body
}

fn planned(text: &str, read: &mut dyn FnMut() -> Vec<u8>) -> Option<Plan> {
    let patch = parse(text).unwrap();
    plan(&patch, &mut |_| Ok(Some(read()))).ok()
}

/// The whole way: resolve, read, plan, commit.
fn apply(workspace: &Workspace, text: &str) {
    let target = workspace.resolve("f.rs").unwrap();
    let mut read = || workspace.read(&target).unwrap().unwrap();
    let plan = planned(text, &mut read).unwrap();
    let changes = plan
        .changes
        .into_iter()
        .filter_map(|change| match change.kind {
            Planned::Update { before, after, .. } => Some(FileChange {
                target: target.clone(),
                kind: ChangeKind::Update {
                    before,
                    after,
                    move_to: None,
                },
            }),
            Planned::Add { .. } | Planned::Delete { .. } => None,
        });
    workspace.commit(changes.collect()).unwrap();
}

fn report(name: &str, n_runs: usize, mut run: impl FnMut(usize)) {
    let time = |index| {
        let started = Instant::now();
        run(index);
        started.elapsed()
    };
    // The first runs warm the caches.
    let mut times: Vec<Duration> = (0..n_runs + 20).map(time).skip(20).collect();
    times.sort();
    let at = |share: usize| {
        let time = times.get(times.len() * share / 100).copied();
        time.unwrap_or_default().as_secs_f64() * 1e3
    };
    println!("{name:<44}{:>10.3}{:>10.3}", at(50), at(90));
}

fn main() {
    let file = file();
    println!(
        "{:<44}{:>10}{:>10}",
        "10 lines on 1,000", "median ms", "90 % ms"
    );
    let words = ("value", "number");
    for (name, text) in [
        ("in memory", patch("", "", words)),
        (
            "in memory, below a header",
            patch("     fn block_700() {", "", words),
        ),
        (
            "in memory, without its indentation",
            patch("", "        ", words),
        ),
        ("in memory, refused", patch("", "", ("wrong", "number"))),
    ] {
        report(name, N_RUNS, |_| {
            let mut read = || file.as_bytes().to_vec();
            drop(black_box(planned(black_box(&text), &mut read)));
        });
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("f.rs"), &file).unwrap();
    let there_and_back = [patch("", "", words), patch("", "", ("number", "value"))];
    for (name, durability, n_runs) in [
        ("with the write", Durability::Cached, N_RUNS),
        ("with the write, on the disk", Durability::Synced, 100),
    ] {
        let root = WritableRoot {
            path: directory.path().to_owned(),
            protected: Vec::new(),
        };
        let workspace = Workspace::new(directory.path().to_owned(), vec![root], Vec::new());
        let workspace = workspace.with_durability(durability);
        report(name, n_runs, |index| {
            let [there, back] = &there_and_back;
            apply(&workspace, if index % 2 == 0 { there } else { back });
        });
    }
}
