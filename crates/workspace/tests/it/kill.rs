//! A process is killed while it commits: each file is wholly old or wholly new.

use std::fs;
use std::path::Path;
use std::time::Duration;

use agent_workspace::{ChangeKind, FileChange};

use crate::support::{Place, workspace};

const N_FILES: usize = 8;
const N_KILLS: u64 = 40;
const CHILD: &str = "AGENT_WORKSPACE_TEST_CHILD";

fn content(generation: usize) -> Vec<u8> {
    format!("generation {generation}\n")
        .repeat(5000)
        .into_bytes()
}

/// What the child does: commits all files together, again and again.
fn write_for_ever(root: &Path) {
    let workspace = workspace(root);
    let mut generation = 0;
    loop {
        let (before, after) = (content(generation), content(generation + 1));
        let changes = (0..N_FILES).map(|index| FileChange {
            target: workspace.resolve(&format!("f{index}")).unwrap(),
            kind: ChangeKind::Update {
                before: before.clone(),
                after: after.clone(),
                move_to: None,
            },
        });
        workspace.commit(changes.collect()).unwrap();
        generation += 1;
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test kills itself, run as another process"
)]
fn each_file_is_wholly_old_or_new() {
    if let Some(root) = std::env::var_os(CHILD) {
        write_for_ever(Path::new(&root));
    }
    let mut newest = 0;
    for kill in 0..N_KILLS {
        let place = Place::new();
        for index in 0..N_FILES {
            place.write(&format!("f{index}"), content(0));
        }
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::each_file_is_wholly_old_or_new"])
            .env(CHILD, place.inside(""))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // The moment is what is random here, so that time is the right thing to wait for.
        std::thread::sleep(Duration::from_micros(20_000 + kill * 937 % 30_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut generations = Vec::new();
        for index in 0..N_FILES {
            let text = fs::read(place.inside(&format!("f{index}"))).unwrap();
            let line = text.split(|byte| *byte == b'\n').next().unwrap();
            let number = String::from_utf8(line.to_vec()).unwrap();
            let number = number.strip_prefix("generation ").unwrap().parse().unwrap();
            assert!(text == content(number), "torn: f{index}");
            generations.push(number);
        }
        let (first, last) = (
            generations.iter().min().unwrap(),
            generations.iter().max().unwrap(),
        );
        assert!(last - first <= 1, "{generations:?}");
        newest = newest.max(*last);
        for (name, _) in place.tree() {
            assert!(
                name.starts_with('f') || name.starts_with(".agent-tmp-"),
                "{name}"
            );
        }
    }
    assert!(newest > 0, "no child has committed anything");
}
