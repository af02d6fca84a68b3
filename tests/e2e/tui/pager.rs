//! The transcript over the whole terminal, and calls for somebody who looks elsewhere.

use std::time::Duration;

use agent_test_support::Step;

use super::support::{
    CTRL_C, CTRL_T, EMPTY, answers, ask, command, composed, has_rows, is_restored, n_lines, ready,
    start, submit,
};
use crate::support::Scene;

#[test]
fn what_is_finished_while_the_transcript_is_open_is_printed_once_afterwards() {
    let list: Vec<String> = (0..120)
        .map(|row| format!("- row-{row:03}-end\n"))
        .collect();
    let step = Step::message(list.concat())
        .deltas(120)
        .delay_between_deltas(Duration::from_millis(5));
    let scene = Scene::new(vec![step]);
    let terminal = start(&scene);
    submit(&terminal, "go");
    terminal.wait_for("row-003-end");
    terminal.send(CTRL_T);
    terminal.wait_for_screen("the pager", |rows| {
        !rows.iter().any(|row| row.contains("esc to"))
    });
    assert!(terminal.modes().contains(&"1049".to_owned()));
    for (columns, n_rows) in [(60, 20), (100, 40), (80, 24)] {
        terminal.resize(columns, n_rows);
        terminal.settle(Duration::from_millis(100));
    }
    terminal.send("q");
    composed(&terminal, EMPTY);
    assert!(!terminal.modes().contains(&"1049".to_owned()));
    terminal.wait_for_line("row-119-end");
    terminal.wait_gone("esc to interrupt");
    has_rows(&terminal.history().join("\n"), 120);
}

#[test]
fn ctrl_c_stops_the_turn_and_a_second_one_ends() {
    let step = Step::message("a b c d")
        .deltas(4)
        .delay_between_deltas(Duration::from_mins(1));
    let scene = Scene::new(vec![step]);
    let mut terminal = start(&scene);
    submit(&terminal, "go");
    terminal.wait_for("esc to interrupt");
    terminal.send(CTRL_C);
    terminal.wait_for_line("Interrupted.");
    terminal.send(CTRL_C);
    assert_eq!(terminal.wait().code, Some(0));
    is_restored(&terminal, "ctrl-c twice");
}

#[test]
fn who_looks_elsewhere_is_called_once() {
    let scene = answers(&["hi there"]);
    let terminal = ready(command(&scene).env("TERM", "xterm-kitty"));
    let calls = || {
        let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
        raw.matches("\x1b]9;agent: ").count()
    };
    ask(&terminal, "hello", "hi there");
    assert_eq!(calls(), 0, "the terminal has the focus");
    terminal.send("\x1b[O");
    submit(&terminal, "again");
    terminal.wait_for_raw(0, "a call", |raw| {
        raw.windows(5).any(|bytes| bytes == b"\x1b]9;a")
    });
    composed(&terminal, EMPTY);
    assert_eq!(calls(), 1);
    terminal.send("\x1b[I");
    submit(&terminal, "and again");
    terminal.wait_for_line("› and again");
    terminal.wait_gone("esc to interrupt");
    composed(&terminal, EMPTY);
    assert_eq!(calls(), 1);
    assert_eq!(n_lines(&terminal, "hi there"), 3);
}
