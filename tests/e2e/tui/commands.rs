//! Commands of the model while a person watches: they have no way to the terminal, and Esc ends
//! them (EX-13, EX-15, EX-19, ST-25).

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use agent_test_support::{Item, Step, TerminalCommand};
use serde_json::json;

use super::support::{EMPTY, ENTER, ESC, ask, command, composed, ready, request, start, submit};
use crate::support::{Scene, agent, is_there, soon};

/// The interface with commands that are not held back.
fn without_sandbox(scene: &Scene) -> TerminalCommand {
    TerminalCommand::new(agent(), &scene.workspace).args([
        "-s",
        "danger-full-access",
        "-c",
        "approval_policy=\"never\"",
    ])
}

#[test]
fn ex_13_escape_sequences_of_a_command_stay_in_its_output() {
    let printed = r"printf '\033]0;pwn\007\033]52;c;QUJD\007\033[2J\033[?1049h\033[31mred-text'";
    let scene = Scene::new(vec![
        Step::items(vec![Item::command(&format!("{printed}; echo"))]),
        Step::message("fin-answer"),
    ]);
    let terminal = start(&scene);
    ask(&terminal, "hello", "fin-answer");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for sequence in ["\x1b]0;pwn", "\x1b]52;c;QUJD", "\x1b[2J\x1b[?1049h"] {
        assert!(!raw.contains(sequence), "{sequence:?}");
    }
    terminal.wait_for_line("red-text");
}

#[test]
fn ex_15_a_command_cannot_ask_at_the_terminal() {
    let refused = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = refused.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for stream in refused.incoming().map_while(Result::ok) {
            refuse(stream).ok();
        }
    });
    let tty = "sh -c 'printf %s%s QZX WVU >/dev/tty; read p </dev/tty'; echo tty-rc=$?";
    let git = format!("git ls-remote http://127.0.0.1:{port}/x.git");
    let call = |cmd: &str| {
        let call = json!({ "cmd": cmd, "yield_time_ms": 8000 });
        Step::items(vec![Item::command_with(call)])
    };
    let scene = Scene::new(vec![
        call(tty),
        Step::message("first-answer"),
        call(&git),
        Step::message("second-answer"),
        Step::message("third-answer"),
    ]);
    let terminal = ready(without_sandbox(&scene));
    ask(&terminal, "hello", "first-answer");
    assert!(
        scene.output(0, 0).contains("tty-rc="),
        "{}",
        scene.output(0, 0)
    );
    assert!(
        !scene.output(0, 0).contains("tty-rc=0"),
        "{}",
        scene.output(0, 0)
    );
    ask(&terminal, "again", "second-answer");
    let output = scene.output(2, 0);
    assert!(output.contains("exited with code"), "{output}");
    ask(&terminal, "third", "third-answer");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains("QZXWVU"), "{raw:?}");
    assert!(!raw.contains("Username for") || output.contains("Username for"));
}

/// Answers a request by asking who it is.
fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    let reader = BufReader::new(stream.try_clone()?);
    for line in reader.lines() {
        if line?.is_empty() {
            break;
        }
    }
    stream.write_all(
        b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
          Content-Length: 0\r\nConnection: close\r\n\r\n",
    )
}

#[test]
fn ex_19_esc_ends_a_server_in_the_background_as_well() {
    if !is_there("python3") {
        return;
    }
    let port = {
        let free = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        free.local_addr().expect("its address").port()
    };
    let cmd = format!("sh -c 'python3 -m http.server {port} --bind 127.0.0.1 & wait'");
    let call = json!({ "cmd": cmd, "yield_time_ms": 30000 });
    let scene = Scene::new(vec![
        Step::items(vec![Item::command_with(call)]),
        Step::message("second-answer"),
    ]);
    let is_up = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    let terminal = ready(without_sandbox(&scene));
    submit(&terminal, "serve");
    assert!(soon(is_up), "the server was never started");
    terminal.send(ESC);
    assert!(soon(|| !is_up()), "the server still runs");
    terminal.wait_gone("esc to interrupt");
    composed(&terminal, EMPTY);
    ask(&terminal, "next prompt", "second-answer");
}

#[test]
fn st_25_esc_stops_an_answer_that_only_drips() {
    let words: Vec<String> = (0..200).map(|number| format!("w{number} ")).collect();
    let drip = Step::message(words.concat())
        .deltas(200)
        .delay_between_deltas(Duration::from_millis(100));
    let scene = Scene::new(vec![drip, Step::message("second-answer")]);
    let terminal = ready(command(&scene));
    submit(&terminal, "go");
    terminal.wait_for("w3");
    terminal.send(ESC);
    terminal.wait_for_line("nterrupted");
    terminal.wait_gone("esc to interrupt");
    terminal.send("next");
    terminal.wait_for("next");
    terminal.send(ENTER);
    terminal.wait_for_line("second-answer");
    let said = request(&scene, 2);
    assert!(said.raw.contains("w3"), "what was said is kept");
}
