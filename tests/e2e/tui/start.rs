//! Starts that cannot go well say what to do.

use super::support::{answers, command, start, submit};
use crate::support::Scene;

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
