//! Commands that go on after their call: shown, listed, stopped, and gone with the program.

use agent_test_support::{Item, Step};
use serde_json::json;

use super::support::{ESC, answer, ask, escalated, start, submit};
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

#[test]
fn what_is_typed_into_a_shell_outside_the_sandbox_is_asked_for_each_time() {
    let mut shell = escalated("sh");
    shell["tty"] = json!(true);
    shell["yield_time_ms"] = json!(300);
    let type_in = |line: String| {
        let call = json!({"session_id": 1, "chars": line, "yield_time_ms": 1000});
        Step::items(vec![Item::function_call("write_stdin", call)])
    };
    let place = Scene::new(Vec::new());
    let (yes, no) = (place.outside("yes"), place.outside("no"));
    let touch = |path: &std::path::Path| format!("touch {}\n", path.display());
    let scene = Scene::new(vec![
        Step::items(vec![Item::command_with(shell)]),
        type_in(touch(&yes)),
        type_in(touch(&no)),
        Step::message("fin-answer"),
    ]);
    let terminal = start(&scene);
    submit(&terminal, "go");
    // Even for the session: that is for the shell, and not for what it is told.
    answer(&terminal, "Would you like", "a");
    answer(&terminal, "it is typed into session 1", "y");
    assert!(soon(|| yes.exists()), "it was not typed");
    terminal.wait_for_line("Typed into session 1: \"touch");
    answer(&terminal, "/no", "n");
    terminal.wait_for_line("fin-answer");
    terminal.wait_for_line("Declined to type into session 1");
    assert!(!no.exists(), "it was typed");
}
