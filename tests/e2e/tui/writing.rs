//! A patch is told of while the model writes it, in either form of the call.

use std::time::Duration;

use agent_test_support::{Item, Step, TerminalCommand};
use serde_json::json;

use super::support::{start, submit};
use crate::support::{Scene, agent};

const N_LINES: usize = 40;

/// Adds a file in an answer that takes a while.
fn steps(is_function: bool) -> Vec<Step> {
    let lines = "+a \"line\"\n".repeat(N_LINES);
    let patch = format!("*** Begin Patch\n*** Add File: new.txt\n{lines}*** End Patch\n");
    let call = if is_function {
        Item::function_call("apply_patch", json!({ "input": patch }))
    } else {
        Item::patch(patch)
    };
    let step = Step::items(vec![call]).deltas(N_LINES);
    vec![
        step.delay_between_deltas(Duration::from_millis(40)),
        Step::message("all written"),
    ]
}

#[test]
fn the_terminal_counts_the_lines_of_a_patch_that_comes() {
    for is_function in [false, true] {
        let scene = Scene::new(steps(is_function));
        let terminal = start(&scene);
        submit(&terminal, "go");
        terminal.wait_for("Writing new.txt (+");
        terminal.wait_for_line("Added new.txt (+40 -0)");
        terminal.wait_for_line("all written");
        terminal.wait_gone("Writing");
        assert_eq!(scene.workspace.read("new.txt").lines().count(), N_LINES);
        scene.server.assert_clean();
    }
}

#[test]
fn a_task_at_a_terminal_names_each_file_once() {
    let scene = Scene::new(steps(false));
    let mut terminal = TerminalCommand::new(agent(), &scene.workspace)
        .args(["exec", "go"])
        .spawn();
    terminal.wait_for_line("… writing new.txt");
    terminal.wait_for_line("all written");
    assert_eq!(terminal.wait().code, Some(0));
    let lines = terminal.history();
    let told = lines.iter().filter(|line| line.contains("… writing"));
    assert_eq!(told.count(), 1, "{lines:#?}");
}
