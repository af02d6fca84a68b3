//! What was typed survives, whatever happens to the program.

use super::support::{CTRL_R, EMPTY, ENTER, UP, answers, ask, composed, start, submit, type_in};
use crate::support::soon;

#[test]
fn a_draft_survives_a_signal() {
    let scene = answers(&["hi there"]);
    let mut terminal = start(&scene);
    type_in(&terminal, "half a thought");
    terminal.signal("TERM");
    terminal.wait();
    let terminal = start(&scene);
    composed(&terminal, "half a thought");
}

#[test]
fn a_draft_survives_a_kill_and_is_gone_when_it_was_sent() {
    let scene = answers(&["hi there"]);
    let mut terminal = start(&scene);
    type_in(&terminal, "half a thought");
    let drafts = scene.workspace.home().join("drafts");
    let kept = || {
        let mut files = std::fs::read_dir(&drafts).into_iter().flatten().flatten();
        files.any(|file| {
            // One that is written just now has another name.
            let path = file.path();
            path.extension().is_some_and(|end| end == "json")
                && std::fs::read_to_string(path).is_ok_and(|text| text.contains("half a thought"))
        })
    };
    assert!(soon(kept), "the draft is not kept");
    terminal.signal("KILL");
    terminal.wait();
    let mut terminal = start(&scene);
    composed(&terminal, "half a thought");
    terminal.send(ENTER);
    terminal.wait_for_line("hi there");
    assert!(!kept(), "what was sent is a draft still");
    terminal.signal("KILL");
    terminal.wait();
    let terminal = start(&scene);
    composed(&terminal, EMPTY);
}

#[test]
fn what_was_sent_is_found_again_by_later_sessions() {
    let scene = answers(&["hi there"]);
    let mut terminal = start(&scene);
    ask(&terminal, "the first question", "hi there");
    submit(&terminal, "/quit");
    terminal.wait();
    let terminal = start(&scene);
    terminal.send(UP);
    composed(&terminal, "the first question");
    terminal.send("\x15");
    composed(&terminal, EMPTY);
    terminal.send(CTRL_R);
    terminal.send("first");
    terminal.wait_for("the first question");
    terminal.send(ENTER);
    composed(&terminal, "the first question");
}
