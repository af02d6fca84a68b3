//! What the composer offers and what becomes of what it holds.

use super::support::{
    DOWN, EMPTY, ENTER, ESC, answers, composed, last_words, request, start, submit, type_in,
};
use crate::support::{Scene, user_texts};

/// A PNG of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn png() -> Vec<u8> {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD
        .decode(PNG)
        .expect("base64")
}

#[test]
fn files_are_offered_and_mentioned() {
    let scene = answers(&["got-it"]);
    for file in ["src/first_module.rs", "src/second_module.rs", "README.md"] {
        scene.workspace.write(file, "x");
    }
    let terminal = start(&scene);
    terminal.send("look at @module");
    terminal.wait_for("src/first_module.rs");
    terminal.wait_for("src/second_module.rs");
    assert!(!terminal.screen().join("\n").contains("README.md"));
    terminal.send(DOWN);
    terminal.send(ENTER);
    terminal.wait_gone("@module");
    terminal.send("please");
    terminal.wait_for("please");
    terminal.send(ENTER);
    let words = last_words(&request(&scene, 1));
    assert!(words.starts_with("look at "), "{words}");
    assert!(words.contains("_module.rs"), "{words}");
    assert!(words.ends_with("please"), "{words}");
}

#[test]
fn commands_are_offered_and_chosen() {
    let scene = answers(&["got-it"]);
    let terminal = start(&scene);
    terminal.send("/");
    terminal.wait_for("/model");
    terminal.send("stat");
    terminal.wait_for("/status");
    terminal.wait_gone("/model");
    terminal.send(ENTER);
    terminal.wait_for_line("mock-model");
    composed(&terminal, EMPTY);
    terminal.send("/");
    terminal.wait_for("/model");
    terminal.send(ESC);
    terminal.wait_gone("/model");
    assert_eq!(scene.server.requests().len(), 0);
}

#[test]
fn the_path_of_an_image_becomes_an_image() {
    let scene = answers(&["got-it"]);
    let path = scene.workspace.write("shot.png", png());
    let terminal = start(&scene);
    terminal.send(format!("\x1b[200~{}\x1b[201~", path.display()));
    terminal.wait_for("[Image");
    terminal.send(" what is it?");
    terminal.wait_for("what is it?");
    terminal.send(ENTER);
    let asked = request(&scene, 1);
    assert!(
        asked.raw.contains("data:image/png;base64,"),
        "{}",
        asked.raw
    );
}

#[test]
fn a_command_of_the_user_is_seen_by_the_model() {
    let scene = answers(&["got-it"]);
    let terminal = start(&scene);
    submit(&terminal, "!echo from-$((40+2))-shell");
    terminal.wait_for_line("from-42-shell");
    composed(&terminal, EMPTY);
    type_in(&terminal, "what did I run?");
    terminal.send(ENTER);
    request(&scene, 1);
    let texts = user_texts(&scene, 0).concat();
    assert!(texts.contains("from-42-shell"), "{texts}");
}

#[test]
fn a_long_line_is_wrapped_and_sent_whole() {
    let scene = Scene::new(vec![agent_test_support::Step::message("got-it")]);
    let terminal = start(&scene);
    let words: Vec<String> = (0..60).map(|number| format!("word{number}")).collect();
    let line = words.join(" ");
    terminal.send(&line);
    terminal.wait_for("word59");
    terminal.send(ENTER);
    assert_eq!(last_words(&request(&scene, 1)), line);
}
