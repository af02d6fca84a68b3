//! However it ends, the terminal is as it was and nobody is left behind.

use agent_test_support::{Item, Step, Terminal, TerminalCommand};
use serde_json::json;

use super::support::{CTRL_G, CTRL_T, answers, ask, command, is_restored, ready, start, submit};
use crate::support::{Scene, agent, n_processes, soon, unique_sleep};

/// A scene whose model sleeps for so long.
fn sleeping(seconds: &str) -> Scene {
    let call = json!({ "cmd": format!("sleep {seconds}"), "yield_time_ms": 30000 });
    Scene::new(vec![
        Step::items(vec![Item::command_with(call)]),
        Step::message("not reached"),
    ])
}

/// The interface while a command runs.
fn busy(scene: &Scene, seconds: &str) -> Terminal {
    let terminal = start(scene);
    submit(&terminal, "sleep");
    terminal.wait_for("esc to interrupt");
    assert!(soon(|| n_processes(seconds) > 0), "no command runs");
    terminal
}

#[test]
fn a_signal_in_the_pager_leaves_the_alternate_screen() {
    let scene = answers(&["hi there"]);
    let mut terminal = start(&scene);
    ask(&terminal, "hello", "hi there");
    terminal.send(CTRL_T);
    terminal.wait_for_raw(0, "the alternate screen", |raw| {
        raw.windows(8).any(|bytes| bytes == b"\x1b[?1049h")
    });
    assert!(terminal.modes().contains(&"1049".to_owned()));
    terminal.signal("TERM");
    assert_eq!(terminal.wait().code, Some(143));
    is_restored(&terminal, "the pager");
    // What was printed before is there again.
    terminal.wait_for_line("hi there");
}

#[test]
fn a_signal_during_a_command_ends_the_command() {
    for signal in ["TERM", "INT"] {
        let seconds = unique_sleep();
        let scene = sleeping(&seconds);
        let mut terminal = busy(&scene, &seconds);
        terminal.signal(signal);
        assert!(terminal.wait().code > Some(128), "{signal}");
        is_restored(&terminal, signal);
        assert!(soon(|| n_processes(&seconds) == 0), "the command lives on");
    }
}

#[test]
fn a_closed_terminal_ends_the_program_and_its_commands() {
    let seconds = unique_sleep();
    let scene = sleeping(&seconds);
    let mut terminal = busy(&scene, &seconds);
    terminal.hang_up();
    terminal.wait();
    assert!(soon(|| n_processes(&seconds) == 0), "the command lives on");
}

#[test]
fn a_closed_terminal_ends_an_idle_program() {
    let scene = answers(&["hi there"]);
    let mut terminal = start(&scene);
    ask(&terminal, "hello", "hi there");
    terminal.hang_up();
    terminal.wait();
}

#[test]
fn a_terminal_that_goes_without_a_signal_ends_an_idle_program() {
    let scene = answers(&["hi there"]);
    let word = unique_sleep();
    // In a session of its own the program has no controlling terminal, so nobody signals it.
    let alone = TerminalCommand::new("setsid", &scene.workspace)
        .arg("--wait")
        .arg(agent())
        .arg(&word);
    let mut terminal = ready(alone);
    terminal.wait_for_line("hi there");
    terminal.hang_up();
    assert!(soon(|| n_processes(&word) == 0), "the program lives on");
}

#[test]
fn an_editor_that_stays_does_not_keep_the_program() {
    let scene = answers(&["hi there"]);
    // It ends by itself some time after the test.
    let seconds = format!("45.{}", unique_sleep());
    let editor = format!("trap '' HUP; sleep {seconds} #");
    let mut terminal = ready(command(&scene).env("EDITOR", editor));
    terminal.send(CTRL_G);
    assert!(soon(|| n_processes(&seconds) > 0), "no editor runs");
    terminal.hang_up();
    assert_eq!(terminal.wait().code, Some(129));
}

#[test]
fn a_closed_terminal_ends_a_program_that_only_gets_lines() {
    let scene = answers(&["hi there"]);
    let mut terminal = command(&scene).arg("--plain").spawn();
    terminal.wait_for(">");
    terminal.hang_up();
    terminal.wait();
}

#[test]
fn a_killed_program_leaves_a_session_that_goes_on() {
    let seconds = unique_sleep();
    let scene = sleeping(&seconds);
    let mut terminal = busy(&scene, &seconds);
    terminal.signal("KILL");
    assert_eq!(terminal.wait().signal, Some(9));
    assert!(soon(|| n_processes(&seconds) == 0), "the command lives on");
    let terminal =
        ready(TerminalCommand::new(agent(), &scene.workspace).args(["resume", "--last"]));
    terminal.wait_for_line("› sleep");
    ask(&terminal, "go on", "not reached");
    scene.server.assert_clean();
}
