//! The terminal is lent to others: to the shell by Ctrl-Z, to the editor by Ctrl-G.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use agent_test_support::{Step, Terminal, TerminalCommand};

use super::support::{
    CTRL_D, CTRL_G, CTRL_Z, EMPTY, answers, ask, command, composed, is_restored, n_lines, ready,
    submit, type_in,
};
use crate::support::{Scene, agent};

/// An interactive shell that sets no modes of its own.
fn shell(scene: &Scene) -> Terminal {
    let inputrc = scene.outside("inputrc");
    std::fs::write(&inputrc, "set enable-bracketed-paste off\n").expect("a file");
    let terminal = TerminalCommand::new("bash", &scene.workspace)
        .args(["--norc", "--noprofile", "-i"])
        .env("INPUTRC", inputrc)
        .env("PS1", "shell$ ")
        .spawn();
    terminal.wait_for("shell$");
    terminal
}

/// An editor that appends a line of the terminal to the file.
fn editor(scene: &Scene) -> PathBuf {
    let editor = scene.outside("editor");
    let script = "#!/bin/sh\necho EDITOR-RUNS\nread line\nprintf ' %s' \"$line\" >>\"$1\"\n";
    std::fs::write(&editor, script).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&editor, mode).expect("its mode");
    editor
}

/// The interface as a job of a shell.
fn as_job(scene: &Scene) -> Terminal {
    let terminal = shell(scene);
    terminal.send(format!("{} -s workspace-write\r", agent().display()));
    composed(&terminal, EMPTY);
    terminal
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() {
    let scene = answers(&["hi there"]);
    let terminal = as_job(&scene);
    let modes = terminal.modes();
    assert!(modes.contains(&"2004".to_owned()), "{modes:?}");
    ask(&terminal, "hello", "hi there");
    type_in(&terminal, "half a draft");
    for _ in 0..2 {
        let before = terminal.n_bytes();
        terminal.send(CTRL_Z);
        terminal.wait_for_raw(before, "the shell", |raw| raw.ends_with(b"shell$ "));
        let left = terminal.modes();
        assert!(left.is_empty(), "{left:?}");
        terminal.send("echo between\r");
        terminal.wait_for_line("between");
        terminal.send("fg\r");
        composed(&terminal, "half a draft");
        terminal.wait_for_raw(before, "its modes", |_| true);
        assert_eq!(terminal.modes(), modes);
    }
    assert_eq!(
        terminal.screen().join("\n").matches("half a draft").count(),
        1
    );
    terminal.send("\x15");
    composed(&terminal, EMPTY);
    let before = terminal.n_bytes();
    terminal.send(CTRL_D);
    terminal.wait_for_raw(before, "the shell", |raw| raw.ends_with(b"shell$ "));
    assert!(terminal.modes().is_empty(), "{:?}", terminal.modes());
}

#[test]
fn a_stop_from_outside_is_the_same() {
    let scene = answers(&["hi there"]);
    let terminal = as_job(&scene);
    let modes = terminal.modes();
    type_in(&terminal, "half a draft");
    let before = terminal.n_bytes();
    let jobs = format!("/proc/{0}/task/{0}/children", terminal.pid());
    let job = std::fs::read_to_string(jobs).expect("the jobs of the shell");
    let kill = |signal: &str| {
        crate::support::tool("kill")
            .args(["-s", signal, job.trim()])
            .status()
            .expect("kill")
    };
    assert!(kill("TSTP").success());
    terminal.wait_for_raw(before, "the shell", |raw| raw.ends_with(b"shell$ "));
    assert!(terminal.modes().is_empty(), "{:?}", terminal.modes());
    terminal.send("fg\r");
    composed(&terminal, "half a draft");
    assert_eq!(terminal.modes(), modes);
}

#[test]
fn the_editor_has_the_terminal_and_its_text_comes_back() {
    let scene = answers(&["hi there"]);
    let mut terminal = ready(command(&scene).env("EDITOR", editor(&scene)));
    let modes = terminal.modes();
    for (before, line, after) in [
        (
            "from the composer",
            "and more",
            "from the composer and more",
        ),
        (
            "from the composer and more",
            "still",
            "from the composer and more still",
        ),
    ] {
        if before == "from the composer" {
            type_in(&terminal, before);
        }
        let n_bytes = terminal.n_bytes();
        terminal.send(CTRL_G);
        terminal.wait_for_raw(n_bytes, "the editor", |raw| {
            raw.windows(11).any(|bytes| bytes == b"EDITOR-RUNS")
        });
        is_restored(&terminal, "the editor");
        // A reader of keys that has just been told to stop may still be about to read.
        terminal.settle(Duration::from_millis(300));
        terminal.send(format!("{line}\r"));
        composed(&terminal, after);
        assert_eq!(terminal.modes(), modes);
        terminal.settle(Duration::from_millis(300));
    }
    terminal.send("\x15");
    composed(&terminal, EMPTY);
    submit(&terminal, "/quit");
    assert_eq!(terminal.wait().code, Some(0));
    is_restored(&terminal, "the end");
}

#[test]
fn a_stop_during_an_answer_loses_nothing_of_it() {
    let words: Vec<String> = (0..40).map(|number| format!("drip{number}.")).collect();
    let step = Step::message(words.join("\n\n"))
        .deltas(40)
        .delay_between_deltas(Duration::from_millis(20));
    let scene = Scene::new(vec![step]);
    let terminal = as_job(&scene);
    submit(&terminal, "go");
    terminal.wait_for("drip2.");
    let before = terminal.n_bytes();
    terminal.send(CTRL_Z);
    terminal.wait_for_raw(before, "the shell", |raw| raw.ends_with(b"shell$ "));
    assert!(terminal.modes().is_empty(), "{:?}", terminal.modes());
    terminal.send("fg\r");
    terminal.wait_for_line("drip39.");
    terminal.wait_gone("esc to interrupt");
    composed(&terminal, EMPTY);
    for word in words {
        assert_eq!(n_lines(&terminal, &word), 1, "{word}");
    }
}

#[test]
fn nothing_is_drawn_while_the_editor_has_the_terminal() {
    let words = Step::message("one\n\ntwo\n\nthree\n\nfour")
        .deltas(10)
        .delay_between_deltas(Duration::from_millis(50));
    let scene = Scene::new(vec![words]);
    let terminal = ready(command(&scene).env("EDITOR", editor(&scene)));
    submit(&terminal, "go");
    terminal.wait_for("esc to interrupt");
    terminal.send(CTRL_G);
    terminal.wait_for("EDITOR-RUNS");
    let n_bytes = terminal.n_bytes();
    terminal.settle(Duration::from_millis(800));
    assert_eq!(terminal.n_bytes(), n_bytes);
    terminal.send("more\r");
    composed(&terminal, " more");
    terminal.wait_for_line("four");
    terminal.wait_gone("esc to interrupt");
    assert_eq!(n_lines(&terminal, "three"), 1);
}

#[test]
fn a_signal_ends_the_program_while_the_editor_runs() {
    let scene = answers(&["hi there"]);
    let mut terminal = ready(command(&scene).env("EDITOR", editor(&scene)));
    type_in(&terminal, "half a thought");
    terminal.send(CTRL_G);
    terminal.wait_for("EDITOR-RUNS");
    terminal.signal("TERM");
    assert_eq!(terminal.wait().code, Some(143));
    is_restored(&terminal, "the editor");
    let terminal = ready(command(&scene));
    composed(&terminal, "half a thought");
}

#[test]
fn a_plain_interface_is_stopped_without_escape_sequences() {
    let scene = answers(&["hi there"]);
    let terminal = shell(&scene);
    terminal.send(format!("{} --plain\r", agent().display()));
    terminal.wait_for_screen("a prompt", |rows| rows.iter().any(|row| row == ">"));
    for _ in 0..2 {
        let before = terminal.n_bytes();
        terminal.send(CTRL_Z);
        terminal.wait_for_raw(before, "the shell", |raw| raw.ends_with(b"shell$ "));
        terminal.send("fg\r");
        terminal.wait_for_raw(before, "the prompt", |raw| raw.ends_with(b"\n> "));
    }
    terminal.send("hello\r");
    terminal.wait_for("hi there");
    let raw = terminal.raw();
    let shown = String::from_utf8_lossy(&raw);
    assert!(!raw.contains(&0x1b), "{shown}");
}
