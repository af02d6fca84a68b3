//! What the stream of an answer may do: break, fall silent, trickle, be refused.

use std::fmt::Write as _;
use std::time::Duration;

use agent_test_support::{Item, ModelServer, Step};
use serde_json::{Value, json};

use crate::support::{Scene, failure, messages, warnings};

/// One second try of each kind.
const TWICE: &str = "request_max_retries = 1\nstream_max_retries = 1\n";

/// The body of a stream with these events.
fn body(events: &[Value]) -> String {
    let mut text = String::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let _ = write!(text, "event: {kind}\ndata: {event}\n\n");
    }
    text
}

/// A whole answer that is one message.
fn good(text: &str) -> String {
    body(&[
        json!({"type": "response.created", "response": {"id": "resp_0"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": {
            "type": "message", "role": "assistant", "id": "msg_0",
            "content": [{"type": "output_text", "text": text}]}}),
        json!({"type": "response.completed", "response": {"id": "resp_0", "usage": {
            "input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}}),
    ])
}

/// Runs one task against these raw bytes, which must be taken at the first try.
#[track_caller]
fn takes(step: Step, text: &str) {
    let scene = Scene::with_provider(vec![step], TWICE);
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), [text]);
    assert_eq!(scene.server.requests().len(), 1);
}

/// An answer that breaks after this delta.
fn broken_after(delta: &str) -> Step {
    let begun = body(&[
        json!({"type": "response.created", "response": {"id": "resp_0"}}),
        json!({"type": "response.output_item.added", "output_index": 0,
            "item": {"type": "message", "role": "assistant", "id": "msg_0", "content": []}}),
        json!({"type": "response.output_text.delta", "item_id": "msg_0", "output_index": 0,
            "content_index": 0, "delta": delta}),
    ]);
    let length = begun.len();
    Step::empty().raw(begun).cut_after_bytes(length)
}

#[test]
fn st_01_a_message_that_broke_is_said_once() {
    let steps = || vec![broken_after("AABBCC"), Step::message("AABBCCDD")];
    let scene = Scene::new(steps());
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["AABBCCDD"]);
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("Reconnecting... 1/"), "{said:?}");
    let requests = scene.server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].input(), requests[1].input());

    let scene = Scene::new(steps());
    let run = scene.human(&["go"]).run();
    run.assert_code(0);
    assert_eq!(run.stdout, "AABBCCDD\n");
    assert_eq!(run.stderr.matches("AABBCCDD").count(), 0, "{}", run.stderr);
}

#[test]
fn st_03_a_rate_limit_is_waited_out() {
    let body = json!({"error": {"message": "Rate limit reached", "type": "rate_limit_error",
        "code": "rate_limit_exceeded"}});
    for (name, value, wait) in [("retry-after", "1", 1000), ("retry-after-ms", "700", 700)] {
        let limited = Step::refusal(429, body.clone()).header(name, value);
        let scene = Scene::new(vec![limited, Step::message("fin")]);
        let run = scene.completes(&["go"]);
        assert_eq!(messages(&run), ["fin"]);
        let requests = scene.server.requests();
        assert_eq!(requests.len(), 2);
        let waited = requests[1].arrived - requests[0].arrived;
        assert!(waited >= Duration::from_millis(wait), "{name}: {waited:?}");
        assert!(
            warnings(&run)[0].contains("Rate limit reached"),
            "{:?}",
            warnings(&run)
        );
    }
}

#[test]
fn st_03_an_http_date_is_understood() {
    let date = http_date(3);
    let limited =
        Step::refusal(429, json!({"error": {"message": "slow down"}})).header("retry-after", date);
    let scene = Scene::new(vec![limited, Step::message("fin")]);
    scene.completes(&["go"]);
    let requests = scene.server.requests();
    let waited = requests[1].arrived - requests[0].arrived;
    // The date has whole seconds, and the program takes a moment to start.
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
}

/// So many seconds from now, as HTTP writes dates.
fn http_date(seconds: u64) -> String {
    let date = crate::support::tool("date")
        .args([
            "-u",
            "-d",
            &format!("+{seconds} seconds"),
            "+%a, %d %b %Y %H:%M:%S GMT",
        ])
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

#[test]
fn st_05_a_used_up_quota_is_not_tried_again_and_the_session_resumes() {
    let body = json!({"error": {"message": "You exceeded your current quota.",
        "type": "insufficient_quota", "code": "insufficient_quota"}});
    let mut scene = Scene::new(vec![Step::refusal(429, body)]);
    let run = scene.exec(&["first words"]).run();
    run.assert_code(1);
    assert_eq!(scene.server.requests().len(), 1);
    assert!(failure(&run).contains("You exceeded your current quota."));
    assert!(
        run.stderr
            .contains("hint: check the plan and the billing of provider `mock`")
    );

    scene.answer_by(vec![Step::message("went on")]);
    let run = scene.completes(&["resume", "--last", "again"]);
    assert_eq!(messages(&run), ["went on"]);
    let texts = crate::support::user_texts(&scene, 0);
    assert!(texts.contains(&"first words".to_owned()), "{texts:?}");
}

#[test]
fn st_07_a_silent_stream_is_given_up() {
    let provider = "stream_idle_timeout_ms = 400\nstream_max_retries = 1\n";
    let silent = || Step::message("never").hang_after_created();
    let scene = Scene::with_provider(vec![silent(), Step::message("fin")], provider);
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    assert_eq!(warnings(&run).len(), 1);
    assert_eq!(scene.server.requests().len(), 2);

    let scene = Scene::with_provider(vec![silent()], provider);
    let run = scene.exec(&["go"]).run();
    run.assert_code(1);
    failure(&run);
    assert_eq!(scene.server.requests().len(), 2);
    assert!(
        run.stderr.contains("raise `stream_idle_timeout_ms`"),
        "{}",
        run.stderr
    );
}

#[test]
fn st_07_comments_keep_a_stream_alive() {
    let step = Step::message("long thought")
        .deltas(1)
        .delay_between_deltas(Duration::from_secs(4))
        .keep_alive_comments(Duration::from_millis(100));
    let provider = "stream_idle_timeout_ms = 2000\nstream_max_retries = 0\n";
    let scene = Scene::with_provider(vec![step], provider);
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["long thought"]);
    assert_eq!(scene.server.requests().len(), 1);
}

#[test]
fn st_09_an_answer_that_was_cut_short_is_kept_and_said() {
    let step = Step::message("half of the answ").incomplete("max_output_tokens");
    let scene = Scene::new(vec![step]);
    let run = scene.exec(&["go"]).run();
    run.assert_code(1);
    assert_eq!(scene.server.requests().len(), 1);
    assert_eq!(messages(&run), ["half of the answ"]);
    assert!(
        failure(&run).contains("max_output_tokens"),
        "{}",
        failure(&run)
    );
    assert!(
        run.stderr.contains("hint: ask for a shorter answer"),
        "{}",
        run.stderr
    );

    let step = Step::message("half of the answ").incomplete("max_output_tokens");
    let scene = Scene::new(vec![step]);
    let run = scene.human(&["go"]).run();
    run.assert_code(1);
    assert!(run.stderr.contains("half of the answ"), "{}", run.stderr);
}

#[test]
fn st_15_the_last_event_needs_no_blank_line() {
    let whole = good("hello-15");
    let one_line_end = whole.strip_suffix('\n').unwrap();
    let none = whole.trim_end_matches('\n');
    for bytes in [&whole, one_line_end, none] {
        takes(Step::empty().raw(bytes), "hello-15");
    }
    takes(Step::message("hello-15").crlf(), "hello-15");
}

#[test]
fn st_17_chunks_may_split_characters() {
    let text = "é漢😀 naïve";
    takes(Step::empty().raw(good(text)).split_bytes(1), text);
    takes(Step::message(text).split_bytes(7), text);
}

#[test]
fn st_19_an_empty_answer_is_said_to_be_empty() {
    let scene = Scene::with_provider(vec![Step::empty()], TWICE);
    let run = scene.exec(&["go"]).run();
    run.assert_code(1);
    scene.server.assert_clean();
    assert_eq!(failure(&run), "the model gave an empty response");
    assert!(
        run.stderr
            .contains("hint: try again, or choose another model with `-m`")
    );
}

#[test]
fn st_21_a_request_that_is_refused_is_sent_once() {
    for status in [400, 401, 403, 404, 422] {
        let body = json!({"error": {"message": "bad zebra", "type": "invalid_request_error",
            "code": null, "param": null}});
        let scene = Scene::new(vec![Step::refusal(status, body)]);
        let run = scene.exec(&["go"]).run();
        run.assert_code(1);
        assert_eq!(scene.server.requests().len(), 1);
        assert!(failure(&run).contains("bad zebra"));
    }
}

#[test]
fn st_25_a_slow_drip_does_not_time_out() {
    let text = "one two three four five six seven eight nine ten";
    let step = Step::message(text)
        .deltas(10)
        .delay_between_deltas(Duration::from_millis(350));
    let provider = "stream_idle_timeout_ms = 2500\nstream_max_retries = 1\n";
    let scene = Scene::with_provider(vec![step], provider);
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), [text]);
    assert_eq!(scene.server.requests().len(), 1);
}

#[test]
fn st_27_the_prefix_is_stable_over_many_turns() {
    let mut steps = vec![
        Step::items(vec![Item::reasoning("r"), Item::command("echo a")]),
        Step::items(vec![Item::command("echo b"), Item::command("exit 3")]),
        Step::items(vec![Item::patch(
            "*** Begin Patch\n*** Add File: c.txt\n+c\n*** End Patch\n",
        )]),
        Step::message("t0"),
    ];
    for turn in 1..8 {
        if turn % 2 == 1 {
            steps.push(Step::items(vec![Item::command(&format!("echo {turn}"))]));
        }
        steps.push(Step::message(format!("t{turn}")));
    }
    let n_steps = steps.len();
    let scene = Scene::new(steps);
    // The server compares each request with the one before, byte for byte.
    scene.completes(&["turn 0"]);
    for turn in 1..8 {
        let run = scene.completes(&["resume", "--last", &format!("turn {turn}")]);
        assert_eq!(messages(&run), [format!("t{turn}")]);
    }
    let requests = scene.server.requests();
    assert_eq!(requests.len(), n_steps);
    for pair in requests.windows(2) {
        let before = pair[0].input();
        assert_eq!(before, &pair[1].input()[..before.len()]);
        for key in ["tools", "instructions", "prompt_cache_key", "model"] {
            assert_eq!(pair[0].body[key], pair[1].body[key], "{key}");
        }
    }
}

#[test]
fn st_23_a_server_that_takes_only_functions_gets_only_functions() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n";
    let steps = || {
        vec![
            Step::items(vec![Item::function_call(
                "apply_patch",
                json!({"input": patch}),
            )]),
            Step::message("fin"),
        ]
    };
    for (top, provider) in [
        ("", "function_tools_only = true\n"),
        ("features.apply_patch_freeform = false\n", ""),
    ] {
        let server = ModelServer::builder(steps()).functions_only().start();
        let scene = Scene::start(server);
        let url = scene.server.base_url();
        scene.workspace.config_with(&url, top, provider);
        let run = scene.completes(&["go"]);
        assert_eq!(messages(&run), ["fin"]);
        assert_eq!(scene.workspace.read("a.txt"), "a\n");
        let tools = scene.server.requests()[0].body["tools"].clone();
        let tools = tools.as_array().unwrap();
        assert!(tools.iter().all(|tool| tool["type"] == "function"));
        assert!(tools.iter().any(|tool| tool["name"] == "apply_patch"));
    }
}

#[test]
fn raw_reasoning_is_shown_only_when_asked_for() {
    let events = body(&[
        json!({"type": "response.created", "response": {"id": "resp_0"}}),
        json!({"type": "response.reasoning_text.delta", "delta": "raw thought"}),
        json!({"type": "response.output_item.done", "item": {"type": "reasoning", "id": "r",
            "summary": [], "content": [{"type": "reasoning_text", "text": "raw thought"}]}}),
        json!({"type": "response.output_item.done", "item": {
            "type": "message", "role": "assistant", "id": "m",
            "content": [{"type": "output_text", "text": "done"}]}}),
        json!({"type": "response.completed", "response": {"id": "resp_0"}}),
    ]);
    for (setting, n_shown) in [("false", 0), ("true", 1)] {
        let scene = Scene::new(vec![Step::message("").raw(events.clone())]);
        let setting = format!("show_raw_agent_reasoning={setting}");
        let run = scene.completes(&["-c", &setting, "go"]);
        assert_eq!(messages(&run), ["done"]);
        let items = run.events_of("item.completed").into_iter();
        let shown: Vec<_> = items.filter(|e| e["item"]["type"] == "reasoning").collect();
        assert_eq!(shown.len(), n_shown);
        assert!(
            shown
                .iter()
                .all(|event| event["item"]["text"] == "raw thought")
        );
    }
}
