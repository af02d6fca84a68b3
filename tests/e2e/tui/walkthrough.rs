//! One conversation from the first start to the end of a resumed one, as a person has it.

use std::time::Duration;

use agent_test_support::{Item, ModelServer, Step, Terminal, TerminalCommand};
use serde_json::json;

use super::support::{
    DOWN, EMPTY, ENTER, ESC, UP, answer, ask, command, composed, distrust, escalated, is_restored,
    last_words, n_lines, ready, request, submit, type_in, untrusted,
};
use crate::support::{Scene, agent, n_processes, soon, unique_sleep};

/// A call that needs consent.
fn asking(cmd: &str) -> Step {
    Step::items(vec![Item::command_with(escalated(cmd))])
}

/// What the model does, one answer a request.
fn script(scene_file: &str, seconds: &str) -> Vec<Step> {
    let words: Vec<String> = (0..40).map(|number| format!("drip{number} ")).collect();
    vec![
        Step::message("The first answer is here.").deltas(5),
        asking(&format!("echo one >>{scene_file}")),
        Step::message("Approved once."),
        asking("echo two >>twice"),
        asking("echo two >>twice"),
        Step::message("Approved for the session."),
        asking("rm -r precious"),
        Step::message("Then it stays."),
        Step::items(vec![Item::command_with(
            json!({ "cmd": format!("sleep {seconds}"), "yield_time_ms": 30000 }),
        )]),
        Step::message(words.concat())
            .deltas(40)
            .delay_between_deltas(Duration::from_millis(50)),
        Step::message("Steered to here."),
        Step::message("The queue came after."),
        Step::message("You ran echo."),
        Step::message("After the resume."),
        Step::message("After going back.").allow_new_window(),
    ]
}

/// The scene of the walk, in a directory that nobody has trusted yet.
fn scene(seconds: &str) -> Scene {
    let mut scene = untrusted(Vec::new());
    let made = scene.outside("made").display().to_string();
    scene.server = ModelServer::start(script(&made, seconds));
    distrust(&scene);
    std::fs::create_dir(scene.workspace.work().join("precious")).expect("a directory");
    scene
}

#[test]
fn a_conversation_from_the_first_start_to_the_end() {
    let seconds = unique_sleep();
    let scene = scene(&seconds);
    let mut terminal = TerminalCommand::new(agent(), &scene.workspace).spawn();
    answer(&terminal, "Do you trust this directory?", "1");
    composed(&terminal, EMPTY);
    ask(&terminal, "first question", "The first answer is here.");
    approvals(&scene, &terminal);
    interrupted(&scene, &terminal, &seconds);
    steered(&scene, &terminal);
    submit(&terminal, "!echo from-$((40+2))-shell");
    terminal.wait_for_line("from-42-shell");
    ask(&terminal, "what did I run", "You ran echo.");
    assert!(request(&scene, 13).raw.contains("from-42-shell"));
    submit(&terminal, "/status");
    terminal.wait_for_line("workspace-write");
    submit(&terminal, "/context");
    terminal.wait_for_line("base instructions");
    submit(&terminal, "/quit");
    assert_eq!(terminal.wait().code, Some(0));
    is_restored(&terminal, "/quit");
    printed_in_order(&terminal);
    stored(&scene);
    resumed(&scene);
    scene.server.assert_clean();
}

/// Consent once, for the session, and none but a note.
fn approvals(scene: &Scene, terminal: &Terminal) {
    let made = scene.outside("made");
    submit(terminal, "make it");
    terminal.wait_for("Would you like to run this command outside the sandbox?");
    assert!(!made.exists(), "it ran before anybody agreed");
    answer(terminal, "Yes, this time", "y");
    terminal.wait_for_line("Approved once.");
    assert_eq!(
        std::fs::read_to_string(&made).expect("made outside"),
        "one\n"
    );
    composed(terminal, EMPTY);
    submit(terminal, "make it twice");
    answer(terminal, "Would you like", "a");
    terminal.wait_for_line("Approved for the session.");
    assert_eq!(scene.workspace.read("twice"), "two\ntwo\n");
    composed(terminal, EMPTY);
    submit(terminal, "clean up");
    answer(terminal, "Would you like", "t");
    terminal.wait_for("What should the model know?");
    type_in(terminal, "it is needed");
    terminal.send(ENTER);
    terminal.wait_for_line("Then it stays.");
    let told = request(scene, 8);
    let output = told.output_of("call_6_0").expect("an output");
    assert!(output.contains("it is needed"), "{output}");
    assert!(scene.workspace.work().join("precious").is_dir());
    composed(terminal, EMPTY);
}

/// Esc ends what runs.
fn interrupted(scene: &Scene, terminal: &Terminal, seconds: &str) {
    submit(terminal, "sleep long");
    assert!(soon(|| n_processes(seconds) > 0), "no command runs");
    terminal.send(ESC);
    terminal.wait_for_line("Interrupted.");
    assert!(soon(|| n_processes(seconds) == 0), "the command lives on");
    composed(terminal, EMPTY);
    assert_eq!(scene.server.requests().len(), 9);
}

/// Enter speaks into the turn, Tab waits for its end.
fn steered(scene: &Scene, terminal: &Terminal) {
    submit(terminal, "talk a while");
    terminal.wait_for("drip2");
    submit(terminal, "and now here");
    terminal.wait_for("sent, not read yet: and now here");
    type_in(terminal, "this comes last");
    terminal.send("\t");
    terminal.wait_for("after this turn: this comes last");
    terminal.wait_for_line("The queue came after.");
    terminal.wait_gone("esc to interrupt");
    composed(terminal, EMPTY);
    assert_eq!(last_words(&request(scene, 11)), "and now here");
    assert_eq!(last_words(&request(scene, 12)), "this comes last");
}

/// What a person reads when they scroll up, in order and once.
fn printed_in_order(terminal: &Terminal) {
    let lines = [
        "› first question",
        "The first answer is here.",
        "› make it",
        "Approved once.",
        "› make it twice",
        "Approved for the session.",
        "› clean up",
        "Then it stays.",
        "› sleep long",
        "Interrupted.",
        "› talk a while",
        "› and now here",
        "Steered to here.",
        "› this comes last",
        "The queue came after.",
        "› what did I run",
        "You ran echo.",
        "to go on: agent resume ",
    ];
    let history = terminal.history();
    let place = |text: &str| {
        let found = history.iter().position(|line| {
            let line = line.trim_start();
            if text.starts_with('›') {
                line == text
            } else {
                line.contains(text)
            }
        });
        found.unwrap_or_else(|| panic!("no `{text}` in\n{}", history.join("\n")))
    };
    let places: Vec<usize> = lines.iter().map(|line| place(line)).collect();
    assert!(places.is_sorted(), "{places:?} in\n{}", history.join("\n"));
    for text in lines.iter().filter(|line| !line.starts_with("› make it")) {
        assert_eq!(
            n_lines(terminal, text),
            1,
            "{text} in\n{}",
            history.join("\n")
        );
    }
    for text in [
        "Would you like",
        "esc to interrupt",
        "sent, not read yet",
        EMPTY,
    ] {
        assert_eq!(
            n_lines(terminal, text),
            0,
            "{text} in\n{}",
            history.join("\n")
        );
    }
}

/// The session's file.
fn stored(scene: &Scene) {
    let rollouts = scene.rollouts();
    assert_eq!(rollouts.len(), 1);
    let text = std::fs::read_to_string(&rollouts[0]).expect("the session");
    for said in [
        "first question",
        "this comes last",
        "it is needed",
        "from-42-shell",
    ] {
        assert!(text.contains(said), "{said}");
    }
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect(line);
    }
}

/// The conversation goes on, and back.
fn resumed(scene: &Scene) {
    let mut other = ready(command(scene));
    submit(&other, "/quit");
    other.wait();
    let mut terminal = TerminalCommand::new(agent(), &scene.workspace)
        .arg("resume")
        .spawn();
    terminal.wait_for("Sessions of this directory");
    terminal.wait_for("first question");
    terminal.send(DOWN);
    terminal.send(UP);
    terminal.send(ENTER);
    terminal.wait_for_line("› first question");
    terminal.wait_for_line("You ran echo.");
    composed(&terminal, EMPTY);
    ask(&terminal, "go on", "After the resume.");
    submit(&terminal, "/back");
    terminal.wait_for("Go back");
    terminal.send("1");
    composed(&terminal, "go on");
    terminal.send(" differently");
    composed(&terminal, "go on differently");
    terminal.send(ENTER);
    terminal.wait_for_line("After going back.");
    let asked = request(scene, 15);
    assert_eq!(last_words(&asked), "go on differently");
    assert!(!asked.raw.contains("After the resume."));
    assert!(asked.raw.contains("You ran echo."));
    composed(&terminal, EMPTY);
    terminal.send("\x04");
    assert_eq!(terminal.wait().code, Some(0));
    is_restored(&terminal, "ctrl-d");
}
