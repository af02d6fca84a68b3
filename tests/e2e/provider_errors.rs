//! What a provider answers when it does not answer: the message, the hint, the number of tries.

use std::net::TcpListener;

use agent_test_support::Step;
use serde_json::{Value, json};

use crate::support::{Scene, failure, warnings};

const ONCE: &str = "request_max_retries = 0\nstream_max_retries = 0\n";

fn error(message: &str, kind: &str, code: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "code": code}})
}

/// One task against this answer: the failure, the hint, and the number of requests.
fn fails(step: Step, provider: &str) -> (String, Option<String>, usize) {
    let scene = Scene::with_provider(vec![step], provider);
    let run = scene.exec(&["go"]).run();
    run.assert_code(1);
    scene.server.assert_clean();
    let message = failure(&run);
    let mut lines = run.stderr.lines();
    assert_eq!(lines.next(), Some(format!("error: {message}").as_str()));
    let hint = lines
        .next()
        .map(|line| line.strip_prefix("hint: ").expect(line).to_owned());
    (message, hint, scene.server.requests().len())
}

#[test]
fn a_key_that_is_not_accepted_is_named_by_its_variable() {
    let body = error(
        "Incorrect API key provided",
        "invalid_request_error",
        "invalid_api_key",
    );
    let (message, hint, n_requests) = fails(Step::refusal(401, body), "");
    assert_eq!(
        message,
        "`mock` answered 401 Unauthorized: Incorrect API key provided"
    );
    assert_eq!(
        hint.unwrap(),
        "check the key in `MOCK_KEY`: provider `mock` does not accept it"
    );
    assert_eq!(n_requests, 1);
}

#[test]
fn a_request_that_is_refused_shows_the_providers_reason() {
    let body = error(
        "Unsupported value: 'zebra'",
        "invalid_request_error",
        "unsupported_value",
    );
    let (message, _, n_requests) = fails(Step::refusal(400, body), "");
    assert_eq!(
        message,
        "`mock` answered 400 Bad Request: Unsupported value: 'zebra'"
    );
    assert_eq!(n_requests, 1);
}

#[test]
fn a_path_or_model_that_is_not_there_points_at_the_base_url() {
    let body = error("no such model", "invalid_request_error", "model_not_found");
    let (message, hint, n_requests) = fails(Step::refusal(404, body), "");
    assert!(
        message.contains("404 Not Found: no such model"),
        "{message}"
    );
    let hint = hint.unwrap();
    assert!(
        hint.contains("base_url") && hint.contains("`mock-model`"),
        "{hint}"
    );
    assert_eq!(n_requests, 1);
}

#[test]
fn a_full_context_window_says_so() {
    let body = error(
        "too long",
        "invalid_request_error",
        "context_length_exceeded",
    );
    let (_, hint, n_requests) = fails(Step::refusal(400, body), "");
    assert!(hint.unwrap().contains("larger window"));
    assert_eq!(n_requests, 1);
}

#[test]
fn servers_that_fail_are_tried_again_within_bounds() {
    for status in [500, 503] {
        let step = Step::refusal(status, error("later", "server_error", "x"))
            .header("retry-after-ms", "10");
        let scene = Scene::new(vec![step]);
        let run = scene.exec(&["go"]).run();
        run.assert_code(1);
        let n_requests = scene.server.requests().len();
        assert!((2..=6).contains(&n_requests), "{status}: {n_requests}");
        assert_eq!(warnings(&run).len(), n_requests - 1);
        assert!(failure(&run).contains("later"), "{}", failure(&run));
    }
}

#[test]
fn answers_that_are_no_stream_point_at_the_base_url() {
    let page = Step::empty()
        .raw("<html>hello</html>")
        .header("content-type", "text/html");
    let (message, hint, _) = fails(page, ONCE);
    assert!(!message.is_empty());
    assert!(
        hint.unwrap().contains("is the base_url of an API"),
        "{message}"
    );
}

#[test]
fn a_stream_that_is_no_json_is_a_failure_with_a_reason() {
    let step = Step::empty().raw("event: response.created\ndata: {not json\n\n");
    let (message, _, n_requests) = fails(step, ONCE);
    assert!(!message.is_empty());
    assert_eq!(n_requests, 1);
}

#[test]
fn errors_inside_the_stream_are_told() {
    let step = Step::empty().raw(
        "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"bad \
         zebra\"}\n\n",
    );
    let (message, _, _) = fails(step, ONCE);
    assert!(message.contains("bad zebra"), "{message}");
    let (message, _, _) = fails(Step::empty().failed("server_error", "bad zebra"), ONCE);
    assert!(message.contains("bad zebra"), "{message}");
}

#[test]
fn an_endpoint_that_nobody_serves_is_named() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let scene = Scene::new(Vec::new());
    let url = format!("http://{address}/v1");
    scene.workspace.config_with(&url, "", ONCE);
    let run = scene.exec(&["go"]).run();
    run.assert_code(1);
    let message = failure(&run);
    let expected = format!("cannot connect to `{url}/responses`: Connection refused");
    assert!(message.starts_with(&expected), "{message}");
    assert!(
        run.stderr
            .contains("hint: check the network and the base_url of provider `mock`")
    );

    scene
        .workspace
        .config_with(&url, "", "request_max_retries = 2\n");
    let run = scene.exec(&["go"]).run();
    run.assert_code(1);
    assert_eq!(warnings(&run).len(), 2, "the tries are bounded and shown");
}

#[test]
fn a_base_url_that_is_none_is_named() {
    for url in ["not a url", "ftp://127.0.0.1/v1", ""] {
        let scene = Scene::new(Vec::new());
        scene.workspace.config_with(url, "", ONCE);
        let run = scene.exec(&["go"]).run();
        assert!(matches!(run.code, Some(1 | 2)), "{url}: {run:#?}");
        assert!(
            run.stderr.contains("base_url") || run.stderr.contains(url),
            "{}",
            run.stderr
        );
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    }
}

#[test]
fn a_key_that_the_server_repeats_is_in_no_message_and_no_file() {
    let key = "sk-verysecret-4711";
    let body = error(
        &format!("Incorrect API key provided: {key}"),
        "x",
        "invalid_api_key",
    );
    let scene = Scene::new(vec![Step::refusal(401, body)]);
    let run = scene
        .exec(&["go"])
        .env("MOCK_KEY", key)
        .env("AGENT_LOG", "trace")
        .run();
    run.assert_code(1);
    assert_eq!(
        scene.server.requests()[0].header("authorization"),
        Some("Bearer sk-verysecret-4711")
    );
    let message = failure(&run);
    assert_eq!(
        message,
        "`mock` answered 401 Unauthorized: Incorrect API key provided: [key]"
    );
    assert!(
        !run.stdout.contains(key) && !run.stderr.contains(key),
        "{run:#?}"
    );
    let log = scene.workspace.home().join("log/agent.log");
    let mut files = scene.rollouts();
    files.push(log);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains(key), "{}", file.display());
    }
}
