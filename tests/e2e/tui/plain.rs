//! Terminals that can do less: no answers to questions, no colours, no cursor.

use std::time::Duration;

use agent_test_support::{Item, Step, TerminalCommand};

use super::support::{
    CTRL_C, CTRL_D, answers, ask, command, escalated, is_restored, n_lines, ready, request, submit,
};
use crate::support::{Scene, agent};

#[test]
fn it_works_where_no_question_is_answered() {
    let scene = answers(&["hi there"]);
    let mut terminal = ready(command(&scene).without_replies());
    ask(&terminal, "hello", "hi there");
    submit(&terminal, "/quit");
    assert_eq!(terminal.wait().code, Some(0));
    is_restored(&terminal, "without replies");
    assert_eq!(n_lines(&terminal, "hi there"), 1);
}

#[test]
fn a_plain_terminal_gets_lines_and_no_escape_sequence() {
    for (arguments, term) in [(&["--plain"][..], "alacritty"), (&[], "dumb")] {
        let scene = Scene::new(vec![
            Step::message("# Title\n\n- **bold** item\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
            Step::items(vec![Item::command_with(escalated("echo done >made"))]),
            Step::message("second-answer"),
        ]);
        let mut terminal = command(&scene)
            .args(arguments.iter().copied())
            .env("TERM", term)
            .spawn();
        terminal.wait_for_screen("a prompt", |rows| rows.iter().any(|row| row == ">"));
        terminal.send("hello\r");
        terminal.wait_for("bold item");
        terminal.wait_for_screen("a prompt", |rows| {
            rows.iter()
                .rfind(|row| !row.is_empty())
                .is_some_and(|row| row == ">")
        });
        terminal.send("write\r");
        terminal.wait_for("1. Yes");
        terminal.wait_for("answer>");
        terminal.send("1\r");
        terminal.wait_for("second-answer");
        assert_eq!(scene.workspace.read("made"), "done\n");
        terminal.wait_for_screen("a prompt", |rows| {
            rows.iter()
                .rfind(|row| !row.is_empty())
                .is_some_and(|row| row == ">")
        });
        terminal.send(CTRL_D);
        assert_eq!(terminal.wait().code, Some(0));
        let raw = terminal.raw();
        let shown = String::from_utf8_lossy(&raw);
        assert!(!raw.contains(&0x1b), "{shown}");
        is_restored(&terminal, term);
    }
}

#[test]
fn no_color_means_no_colour() {
    let scene = answers(&["# Title\n\n```rust\nfn main() {}\n```\n"]);
    let terminal = ready(command(&scene).env("NO_COLOR", "1"));
    ask(&terminal, "hello", "fn main");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let styles = raw.split("\x1b[").filter_map(|rest| {
        let end = rest.find(|last: char| ('@'..='~').contains(&last))?;
        rest[end..].starts_with('m').then(|| rest[..end].to_owned())
    });
    for style in styles {
        for number in style.split(';').filter_map(|n| n.parse::<u32>().ok()) {
            assert!(number < 30, "a colour: {style}");
        }
    }
}

#[test]
fn without_a_terminal_it_names_exec() {
    let scene = answers(&["hi there"]);
    let run = scene.agent(&[]).run();
    run.assert_code(2);
    assert!(run.stderr.contains("agent exec"), "{}", run.stderr);
}

#[test]
fn ctrl_c_in_a_plain_terminal_stops_the_turn_first() {
    let words = Step::message("slow words")
        .deltas(2)
        .delay_between_deltas(Duration::from_mins(1));
    let scene = Scene::new(vec![words, Step::message("second-answer")]);
    let mut terminal = command(&scene).arg("--plain").spawn();
    terminal.wait_for_screen("a prompt", |rows| rows.iter().any(|row| row == ">"));
    terminal.send("hello\r");
    request(&scene, 1);
    terminal.send(CTRL_C);
    terminal.wait_for("nterrupted");
    terminal.send("more\r");
    terminal.wait_for("second-answer");
    terminal.wait_for_screen("a prompt", |rows| {
        rows.iter()
            .rfind(|row| !row.is_empty())
            .is_some_and(|row| row == ">")
    });
    terminal.send(CTRL_C);
    assert_eq!(terminal.wait().code, Some(130));
}

#[test]
fn a_plain_terminal_is_read_after_what_was_piped_in() {
    let scene = answers(&["piped-answer", "second-answer"]);
    let script = "echo hi-piped | \"$@\"";
    let mut terminal = TerminalCommand::new("sh", &scene.workspace)
        .args(["-c", script, "sh"])
        .arg(agent())
        .arg("--plain")
        .spawn();
    terminal.wait_for("piped-answer");
    terminal.send("more\r");
    terminal.wait_for("second-answer");
    terminal.wait_for_screen("a prompt", |rows| {
        let last = rows.iter().rfind(|row| !row.is_empty());
        last.is_some_and(|row| row == ">")
    });
    terminal.send(CTRL_D);
    assert_eq!(terminal.wait().code, Some(0));
}

#[test]
fn a_plain_terminal_lists_sessions_by_number() {
    // `exec` has other tools.
    let second = Step::message("second-answer").allow_new_window();
    let scene = Scene::new(vec![Step::message("hi there"), second]);
    scene.human(&["an earlier task"]).run().assert_code(0);
    let terminal = TerminalCommand::new(agent(), &scene.workspace)
        .args(["resume", "--plain"])
        .spawn();
    terminal.wait_for("1. ");
    terminal.wait_for("number>");
    terminal.send("1\r");
    terminal.wait_for("hi there");
    terminal.send("more\r");
    terminal.wait_for("second-answer");
    assert!(request(&scene, 2).raw.contains("an earlier task"));
}
