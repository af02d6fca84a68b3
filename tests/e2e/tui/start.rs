//! Starts: with a question first, with words, and those that cannot go well and say what to do.

use agent_test_support::{Item, Step, TerminalCommand};

use super::support::{
    EMPTY, answer, answers, ask, command, composed, ready, request, start, submit, untrusted,
};
use crate::support::{Scene, agent};

#[test]
fn a_broken_configuration_is_named_by_its_place() {
    let scene = answers(&["hi there"]);
    let config = scene.workspace.home().join("config.toml");
    std::fs::write(&config, "model = \"x\"\nmodel = [\n").expect("a file");
    let mut terminal = command(&scene).spawn();
    assert_eq!(terminal.wait().code, Some(2));
    let shown = terminal.history().concat();
    assert!(shown.contains("config.toml:2"), "{shown}");
}

#[test]
fn a_missing_key_is_named() {
    let scene = Scene::new(Vec::new());
    let mut terminal = command(&scene).without_env("MOCK_KEY").spawn();
    let exit = terminal.wait();
    let shown = terminal.history().join("\n");
    assert_eq!(exit.code, Some(2), "{shown}");
    assert!(shown.contains("MOCK_KEY"), "{shown}");
}

#[test]
fn an_unknown_session_is_an_error_on_the_screen() {
    let scene = answers(&["hi there"]);
    let terminal = start(&scene);
    submit(&terminal, "/nonsense");
    terminal.wait_for_line("there is no command /nonsense");
}

#[test]
fn what_it_is_started_with_waits_for_the_answer_about_trust() {
    for (key, wrote) in [("1", true), ("2", false), ("\x1b", false)] {
        let scene = untrusted(vec![
            Step::items(vec![Item::command("echo x >made")]),
            Step::message("all done"),
        ]);
        let terminal = TerminalCommand::new(agent(), &scene.workspace)
            .arg("first words")
            .spawn();
        terminal.wait_for("Do you trust this directory?");
        terminal.settle(std::time::Duration::from_millis(700));
        assert_eq!(scene.server.requests().len(), 0);
        terminal.send(key);
        terminal.wait_for_line("all done");
        composed(&terminal, EMPTY);
        assert!(request(&scene, 1).raw.contains("first words"));
        assert_eq!(
            scene.workspace.work().join("made").exists(),
            wrote,
            "{key:?}"
        );
    }
}

#[test]
fn a_resumed_session_asks_for_trust_as_well() {
    let scene = untrusted(vec![Step::message("hi there")]);
    let mut terminal = start(&scene);
    ask(&terminal, "hello", "hi there");
    submit(&terminal, "/quit");
    terminal.wait();
    let terminal = TerminalCommand::new(agent(), &scene.workspace)
        .args(["resume", "--last"])
        .spawn();
    answer(&terminal, "Do you trust this directory?", "1");
    terminal.wait_for_line("is trusted");
    terminal.wait_for_line("hi there");
    composed(&terminal, EMPTY);
}

#[test]
fn an_empty_prompt_is_not_sent() {
    let scene = answers(&["hi there"]);
    let terminal = ready(command(&scene).arg(""));
    ask(&terminal, "hello", "hi there");
    assert_eq!(scene.server.requests().len(), 1);
}
