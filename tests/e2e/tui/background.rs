//! Commands that go on after their call: shown, listed, stopped, and gone with the program.

use agent_test_support::{Item, Step};
use serde_json::json;

use super::support::{ESC, ask, start, submit};
use crate::support::{Scene, n_processes, soon, unique_sleep};

fn left_behind(script: &str) -> Step {
    let call = json!({"cmd": script, "yield_time_ms": 250});
    Step::items(vec![Item::command_with(call)])
}

#[test]
fn a_command_in_the_background_is_listed_and_stopped() {
    let (first, second) = (unique_sleep(), unique_sleep());
    let scene = Scene::new(vec![
        left_behind(&format!("sleep {first}")),
        Step::message("first-answer"),
        left_behind(&format!("sleep {second}")),
        Step::message("w1 w2").hang_before_terminal(),
        Step::message("last-answer"),
    ]);
    let terminal = start(&scene);
    ask(&terminal, "hello", "first-answer");
    terminal.wait_for_line("Goes on in the background: sleep");
    submit(&terminal, "again");
    assert!(soon(|| n_processes(&second) == 1));
    terminal.wait_for("w2");
    terminal.send(ESC);
    terminal.wait_for_line("nterrupted");
    // What this turn started has ended, what an earlier one started has not.
    assert!(soon(|| n_processes(&second) == 0));
    assert_eq!(n_processes(&first), 1);
    submit(&terminal, "/ps");
    terminal.wait_for_line("In the background");
    submit(&terminal, "/stop");
    terminal.wait_for_line("Stopped in the background: sleep");
    terminal.wait_for_line("nothing runs in the background");
    assert_eq!(n_processes(&first), 0);
    ask(&terminal, "last", "last-answer");
}

#[test]
fn nothing_in_the_background_outlives_the_program() {
    let sleep = unique_sleep();
    let scene = Scene::new(vec![
        left_behind(&format!("setsid nohup sleep {sleep} & sleep {sleep}")),
        Step::message("first-answer"),
    ]);
    let terminal = start(&scene);
    ask(&terminal, "hello", "first-answer");
    assert_eq!(n_processes(&sleep), 2);
    submit(&terminal, "/quit");
    assert!(soon(|| n_processes(&sleep) == 0));
}
