//! What the tests of the terminal interface share.

use std::time::Duration;

use agent_test_support::{RecordedRequest, Step, Terminal, TerminalCommand};
use serde_json::Value;

use crate::support::{LONG, Scene, agent};

/// Keys as a terminal sends them.
pub(super) const ENTER: &str = "\r";
pub(super) const ESC: &str = "\x1b";
pub(super) const CTRL_A: &str = "\x01";
pub(super) const CTRL_C: &str = "\x03";
pub(super) const CTRL_D: &str = "\x04";
pub(super) const CTRL_G: &str = "\x07";
pub(super) const CTRL_R: &str = "\x12";
pub(super) const CTRL_T: &str = "\x14";
pub(super) const CTRL_Z: &str = "\x1a";
pub(super) const UP: &str = "\x1b[A";
pub(super) const DOWN: &str = "\x1b[B";

/// The interface in the workspace of a scene, in the sandbox that lets commands write there.
pub(super) fn command(scene: &Scene) -> TerminalCommand {
    TerminalCommand::new(agent(), &scene.workspace).args(["-s", "workspace-write"])
}

/// The interface with its composer on the screen.
#[track_caller]
pub(super) fn start(scene: &Scene) -> Terminal {
    ready(command(scene))
}

/// The same with other arguments, variables or sizes.
#[track_caller]
pub(super) fn ready(command: TerminalCommand) -> Terminal {
    let terminal = command.spawn();
    terminal.wait_for_screen("a composer", |rows| {
        let composer = rows.iter().rfind(|row| row.starts_with('›'));
        composer.is_some_and(|row| !row.starts_with("› agent"))
    });
    terminal
}

/// A scene whose server answers by one message a request.
pub(super) fn answers(messages: &[&str]) -> Scene {
    let steps = messages.iter().map(|message| Step::message(*message));
    Scene::new(steps.collect())
}

/// The same for any steps, in a directory that nobody has trusted yet.
pub(super) fn untrusted(steps: Vec<Step>) -> Scene {
    let scene = Scene::new(steps);
    distrust(&scene);
    scene
}

/// Writes the configuration anew without a word on trust.
pub(super) fn distrust(scene: &Scene) {
    let config = format!(
        "model = \"mock-model\"\nmodel_provider = \"mock\"\n\n[model_providers.mock]\n\
         name = \"mock\"\nbase_url = \"{}\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n",
        scene.server.base_url()
    );
    std::fs::write(scene.workspace.home().join("config.toml"), config).expect("a file");
}

/// Types a text and sends it.
#[track_caller]
pub(super) fn submit(terminal: &Terminal, text: &str) {
    type_in(terminal, text);
    terminal.send(ENTER);
}

/// Types a text that fits in a line and waits until the composer holds it.
#[track_caller]
pub(super) fn type_in(terminal: &Terminal, text: &str) {
    terminal.send(text);
    composed(terminal, text);
}

/// What stands in the composer while it is empty.
pub(super) const EMPTY: &str = "Ask anything, @ files, / commands, ? shortcuts";

/// Waits until the first line of the composer is this.
#[track_caller]
pub(super) fn composed(terminal: &Terminal, text: &str) {
    let line = format!("› {text}");
    terminal.wait_for_screen(&line, |rows| {
        let last = rows.iter().rfind(|row| row.starts_with('›'));
        last.is_some_and(|row| row == line.trim_end())
    });
}

/// Sends a text and waits for what comes of it, and for the end of the turn.
#[track_caller]
pub(super) fn ask(terminal: &Terminal, text: &str, answer: &str) {
    submit(terminal, text);
    terminal.wait_for_line(answer);
    terminal.wait_gone("esc to interrupt");
    composed(terminal, EMPTY);
}

/// Waits for so many requests.
#[track_caller]
pub(super) fn request(scene: &Scene, n_requests: usize) -> RecordedRequest {
    let came = scene.server.wait_for_requests(n_requests, LONG);
    assert!(came, "request {n_requests} does not come");
    let mut requests = scene.server.requests();
    requests.swap_remove(n_requests - 1)
}

/// The last text that the user said in a request.
pub(super) fn last_words(request: &RecordedRequest) -> String {
    let users = request.input().iter().filter(|item| item["role"] == "user");
    let parts = users
        .filter_map(|item| item["content"].as_array())
        .flatten();
    let mut texts = parts.filter_map(|part| part["text"].as_str());
    texts.next_back().unwrap_or_default().to_owned()
}

/// Answers a question by a key. What was typed right before a question came up is no answer, so
/// all must be quiet.
#[track_caller]
pub(super) fn answer(terminal: &Terminal, question: &str, key: &str) {
    terminal.wait_for(question);
    terminal.settle(Duration::from_millis(700));
    terminal.send(key);
}

/// A call that asks to run outside the sandbox.
pub(super) fn escalated(cmd: &str) -> Value {
    serde_json::json!({
        "cmd": cmd,
        "sandbox_permissions": "require_escalated",
        "justification": "the test wants it",
    })
}

/// Checks that the program gave the terminal back: modes and settings of the line.
#[track_caller]
pub(super) fn is_restored(terminal: &Terminal, how: &str) {
    let left = terminal.modes();
    assert!(left.is_empty(), "{how}: left on: {left:?}");
    assert_eq!(&terminal.termios(), terminal.termios_before(), "{how}");
}

/// In how many lines of the scrollback this is.
pub(super) fn n_lines(terminal: &Terminal, text: &str) -> usize {
    let lines = terminal.history();
    lines.iter().filter(|line| line.contains(text)).count()
}

/// Checks that the numbers of `row-NNN-end` are all below this one, each once and in order.
#[track_caller]
pub(super) fn has_rows(text: &str, n_rows: usize) {
    let found = rows(text);
    let wrong: Vec<String> = found
        .windows(2)
        .filter(|pair| pair[0] + 1 != pair[1])
        .map(|pair| format!("{} after {}", pair[1], pair[0]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?} in\n{text}");
    assert_eq!(
        (found.first(), found.last()),
        (Some(&0), Some(&(n_rows - 1)))
    );
}

/// The numbers of all `row-NNN-end`, in their order, also of those that are wrapped.
pub(super) fn rows(text: &str) -> Vec<usize> {
    let text: String = text.split_whitespace().collect();
    let pieces = text.split("row-").skip(1);
    pieces
        .filter_map(|piece| piece.split_once("-end")?.0.parse().ok())
        .collect()
}
