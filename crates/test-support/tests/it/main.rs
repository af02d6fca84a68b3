//! The fixtures, tried from outside.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use agent_test_support::{AgentCommand, Item, ModelServer, Step, Workspace};
use serde_json::{Value, json};

fn post(server: &ModelServer, body: &Value) -> String {
    let address = server.base_url().replace("http://", "").replace("/v1", "");
    let body = body.to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /v1/responses HTTP/1.1\r\nHost: x\r\nX-Test: 1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let timeout = Some(Duration::from_millis(300));
    stream.set_read_timeout(timeout).unwrap();
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(n @ 1..) = stream.read(&mut chunk) {
        answer.extend_from_slice(&chunk[..n]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn request(input: &Value) -> Value {
    json!({"model": "m", "instructions": "i", "input": input, "tools": [], "store": false,
        "stream": true, "prompt_cache_key": "k"})
}

#[test]
fn the_last_step_repeats_and_calls_have_unique_ids() {
    let server = ModelServer::start(vec![
        Step::items(vec![Item::command("ls"), Item::patch("p")]),
        Step::message("héllo").usage(5, 1, 2),
    ]);
    let first = post(&server, &request(&json!([])));
    assert!(first.contains("text/event-stream"));
    assert!(first.contains(r#""call_id":"call_0_0""#) && first.contains(r#""call_id":"call_0_1""#));
    for _ in 0..2 {
        let next = post(&server, &request(&json!([])));
        assert!(next.contains("héllo") && next.contains(r#""input_tokens":5"#));
    }
    assert!(server.wait_for_requests(3, Duration::ZERO));
    assert!(!server.wait_for_requests(4, Duration::from_millis(5)));
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/responses");
    assert_eq!(requests[0].header("x-test"), Some("1"));
    assert_eq!(requests[0].body["model"], "m");
    server.assert_clean();
}

#[test]
fn a_wrong_request_is_refused_and_recorded() {
    let server = ModelServer::start(vec![Step::message("never said")]);
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "x"});
    let answer = post(&server, &request(&json!([output])));
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(
        server.violations(),
        ["request 1: input[0]: output without call `a`"]
    );
    assert_eq!(server.requests()[0].output_of("a").as_deref(), Some("x"));
}

#[test]
fn a_hanging_server_can_be_dropped() {
    let server = ModelServer::start(vec![Step::message("x").hang_after_created()]);
    let answer = post(&server, &request(&json!([])));
    assert!(answer.contains("response.created") && !answer.contains("completed"));
    let begun = Instant::now();
    drop(server);
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_workspace_is_a_repository_outside_of_tmp() {
    let workspace = Workspace::new();
    workspace.write("a/b.txt", "x");
    assert_eq!(workspace.read("a/b.txt"), "x");
    workspace.git(&["add", "."]);
    workspace.git(&["commit", "--quiet", "-m", "first"]);
    assert_eq!(workspace.git(&["log", "--format=%an %s"]), "Test first\n");
    assert!(!workspace.root().starts_with("/tmp"));
}

#[test]
fn a_command_runs_in_a_cleared_environment() {
    let workspace = Workspace::new();
    let script =
        r"env | cut -d= -f1 | grep -vE '^(PWD|OLDPWD|SHLVL|_)$' | sort | tr '\n' ' '; cat; exit 3";
    let run = AgentCommand::new("/bin/sh", &workspace)
        .args(["-c", script])
        .stdin_bytes("in")
        .run();
    run.assert_code(3);
    assert_eq!(
        run.stdout,
        "AGENT_HOME HOME LANG MOCK_KEY PATH SHELL TERM TMPDIR in"
    );
    assert!(!run.timed_out && !run.streams_held_open);
}

#[test]
fn events_are_parsed_and_signals_are_seen() {
    let workspace = Workspace::without_git();
    let script = r#"echo '{"type":"a","n":1}'; echo '{"type":"b"}'; kill -TERM $$"#;
    let run = AgentCommand::new("/bin/sh", &workspace)
        .args(["-c", script])
        .run();
    assert_eq!((run.code, run.signal), (None, Some(15)));
    assert_eq!(run.events_of("a"), [&json!({"type": "a", "n": 1})]);
    assert_eq!(run.events.len(), 2);
}

#[test]
fn a_command_that_waits_is_killed_with_its_children() {
    let workspace = Workspace::without_git();
    let run = AgentCommand::new("/bin/sh", &workspace)
        .args(["-c", "sleep 60 & read line; wait"])
        .stdin_open()
        .timeout(Duration::from_millis(200))
        .run();
    assert!(run.timed_out && !run.streams_held_open);
    assert_eq!(run.signal, Some(9));
}
