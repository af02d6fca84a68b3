//! Every class of error, by what the server does.

use std::net::TcpListener;
use std::time::Duration;

use agent_model::{ProviderSettings, ResponsesProvider, RetryState, Secret};
use agent_test_support::{ModelServer, Step};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::{ask_all, request, said, settings, show_error};

/// What becomes of each answer, one paragraph each.
async fn check(steps: Vec<Step>, expected: Expect) {
    let mut shown = String::new();
    for step in steps {
        let server = ModelServer::start(vec![step]);
        let mut settings = settings(&server);
        settings.api_key = Some(Secret::new("k"));
        settings.env_key = Some("MOCK_KEY".to_owned());
        settings.stream_idle_timeout = Duration::from_millis(300);
        let (_, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
        assert_eq!(server.requests().len(), 1, "no retry happens inside");
        shown.push_str(&show_error(&error.expect("an error"), &server));
        shown.push_str("\n\n");
    }
    expected.assert_eq(&shown);
}

fn error(code: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "type": "some_error", "param": null}})
}

#[tokio::test]
async fn refused_requests_are_final() {
    let body = json!({"error": {"message": "bad \u{1b}[31mitem", "type": "invalid_request_error",
        "param": "input[3]", "code": "invalid_value"}});
    let steps = vec![
        Step::refusal(400, body),
        Step::refusal(422, json!({"detail": "no such field"})),
        Step::refusal(401, error("invalid_api_key", "Incorrect key")),
        Step::refusal(403, json!("<html>Forbidden</html>")),
        Step::refusal(404, error("model_not_found", "no model x")),
        Step::refusal(405, json!("")),
    ];
    check(steps, expect![[r#"
        InvalidRequest in Request, final, param input[3]
        `mock` answered 400 Bad Request: bad [31mitem

        InvalidRequest in Request, final
        `mock` answered 422 Unprocessable Entity: no such field

        Authentication in Request, final
        `mock` answered 401 Unauthorized: Incorrect key
        hint: check the key in `MOCK_KEY`: provider `mock` does not accept it

        Authentication in Request, final
        `mock` answered 403 Forbidden: <html>Forbidden</html>
        hint: check that the key in `MOCK_KEY` may use this model of provider `mock`

        NotFound in Request, final
        `mock` answered 404 Not Found: no model x
        hint: check that `URL` is the right base_url of provider `mock` (it usually ends in `/v1`) and that it offers the model `mock-model`

        InvalidRequest in Request, final
        `mock` answered 405 Method Not Allowed

    "#]]).await;
}

#[tokio::test]
async fn codes_are_told_apart_whatever_the_status() {
    let vllm = "This model's maximum context length is 4096 tokens.";
    let limit = json!({"error": {"type": "usage_limit_reached", "message": "limit",
        "plan_type": "plus", "resets_at": 1_700_000_000}});
    let steps = vec![
        Step::refusal(400, error("context_length_exceeded", "too long")),
        Step::refusal(400, json!({"message": vllm})),
        Step::refusal(400, error("invalid_prompt", "flagged")),
        Step::refusal(400, error("cyber_policy", "no")),
        Step::refusal(429, error("insufficient_quota", "pay")),
        Step::refusal(429, limit),
        Step::refusal(402, json!({"error": "no credit"})),
    ];
    check(steps, expect![[r#"
        ContextWindow in Request, final
        the conversation ran out of room in the context window: too long
        hint: compact the conversation, start a new one, or choose a model with a larger window

        ContextWindow in Request, final
        the conversation ran out of room in the context window: This model's maximum context length is 4096 tokens.
        hint: compact the conversation, start a new one, or choose a model with a larger window

        InvalidPrompt in Request, final
        the provider refuses the conversation: flagged

        Policy in Request, final
        the provider's policy forbids this request: no

        Quota { resets_at: None } in Request, final
        the usage limit is reached: pay
        hint: check the plan and the billing of provider `mock`

        Quota { resets_at: Some(1700000000) } in Request, final
        the usage limit is reached until 2023-11-14T22:13:20Z: limit
        hint: check the plan and the billing of provider `mock`

        Quota { resets_at: None } in Request, final
        the usage limit is reached: no credit
        hint: check the plan and the billing of provider `mock`

    "#]]).await;
}

#[tokio::test]
async fn what_passes_is_retryable() {
    let steps = vec![
        Step::refusal(408, json!("")),
        Step::refusal(409, json!("")),
        Step::refusal(429, json!("")),
        Step::refusal(500, json!("oops")),
        Step::refusal(502, json!("")),
        Step::refusal(503, error("server_is_overloaded", "busy")),
        Step::refusal(503, error("slow_down", "busy")),
    ];
    check(
        steps,
        expect![[r#"
        Server in Request, retryable
        `mock` answered 408 Request Timeout

        Server in Request, retryable
        `mock` answered 409 Conflict

        RateLimited in Request, retryable
        `mock` answered 429 Too Many Requests

        Server in Request, retryable
        `mock` answered 500 Internal Server Error: oops

        Server in Request, retryable
        `mock` answered 502 Bad Gateway

        Overloaded in Request, retryable
        the selected model is at capacity: busy
        hint: try again later, or choose another model

        Overloaded in Request, retryable
        the selected model is at capacity: busy
        hint: try again later, or choose another model

    "#]],
    )
    .await;
}

#[tokio::test]
async fn delays_are_understood_in_every_form() {
    let refusal = |status| Step::refusal(status, json!(""));
    let body = error("rate_limit_exceeded", "Please try again in 1m3s.");
    let steps = vec![
        refusal(429).header("retry-after", "2"),
        refusal(503).header("Retry-After-Ms", "1500"),
        refusal(503).header("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
        refusal(500).header("retry-after", "2"),
        refusal(429).header("retry-after", "7200"),
        Step::refusal(429, body),
    ];
    check(
        steps,
        expect![[r#"
        RateLimited in Request, retryable after 2s
        `mock` answered 429 Too Many Requests

        Server in Request, retryable after 1.5s
        `mock` answered 503 Service Unavailable

        Server in Request, retryable after 0ns
        `mock` answered 503 Service Unavailable

        Server in Request, retryable
        `mock` answered 500 Internal Server Error

        RateLimited in Request, retryable after 7200s
        `mock` answered 429 Too Many Requests
        hint: the provider asks to wait 120 minutes; try again then

        RateLimited in Request, retryable after 63s
        `mock` answered 429 Too Many Requests: Please try again in 1m3s.

    "#]],
    )
    .await;
}

#[tokio::test]
async fn other_answers_are_explained() {
    let redirect = Step::refusal(307, json!("")).header("location", "https://u:p@x.example/v1?k=1");
    let page = Step::empty()
        .raw("<html>")
        .header("content-type", "text/html");
    let whole = Step::refusal(200, json!({"id": "resp", "output": []}));
    let hidden = Step::refusal(200, error("rate_limit_exceeded", "slow"));
    let steps = vec![redirect, page, whole, hidden];
    check(steps, expect![[r#"
        Redirect in Request, final
        `mock` redirects the request (307) to `https://x.example/v1`; the key and the conversation are not sent on
        hint: set the base_url of provider `mock` to where its API really is

        Protocol in Request, final
        `mock` answered with something else than a stream of events: <html>
        hint: check that `URL` is the base_url of an API that answers `POST /responses` with a stream

        Protocol in Request, final
        `mock` answered with something else than a stream of events
        hint: check that `URL` is the base_url of an API that answers `POST /responses` with a stream

        Protocol in Request, final
        `mock` answered with something else than a stream of events: slow
        hint: check that `URL` is the base_url of an API that answers `POST /responses` with a stream

    "#]]).await;
}

#[tokio::test]
async fn failures_inside_a_stream() {
    let failed = |code: &str, message: &str| Step::message("part").failed(code, message);
    let steps = vec![
        failed("context_length_exceeded", "too long"),
        failed("insufficient_quota", "pay"),
        failed("usage_not_included", "plan"),
        failed("invalid_prompt", "flagged"),
        failed("cyber_policy", "no"),
        failed("server_is_overloaded", "busy"),
        failed("rate_limit_exceeded", "Try again in 1.5s"),
        failed("slow_down", "please"),
        failed("server_error", "sorry"),
        failed("", ""),
        Step::message("part").incomplete("max_output_tokens"),
        Step::message("part").incomplete("content_filter"),
    ];
    check(
        steps,
        expect![[r#"
        ContextWindow in Stream, final
        the conversation ran out of room in the context window: too long
        hint: compact the conversation, start a new one, or choose a model with a larger window

        Quota { resets_at: None } in Stream, final
        the usage limit is reached: pay
        hint: check the plan and the billing of provider `mock`

        Quota { resets_at: None } in Stream, final
        the usage limit is reached: plan
        hint: check the plan and the billing of provider `mock`

        InvalidPrompt in Stream, final
        the provider refuses the conversation: flagged

        Policy in Stream, final
        the provider's policy forbids this request: no

        Overloaded in Stream, final
        the selected model is at capacity: busy
        hint: try again later, or choose another model

        RateLimited in Stream, retryable after 1.5s
        the response failed: Try again in 1.5s

        RateLimited in Stream, retryable
        the response failed: please

        Server in Stream, retryable
        the response failed: sorry

        Server in Stream, retryable
        the response failed

        Incomplete { reason: "max_output_tokens" } in Stream, final
        incomplete response returned, reason: max_output_tokens
        hint: ask for a shorter answer, or for the work in smaller steps

        Incomplete { reason: "content_filter" } in Stream, retryable
        incomplete response returned, reason: content_filter

    "#]],
    )
    .await;
}

#[tokio::test]
async fn error_events_count() {
    let raw = |text: &str| Step::empty().raw(format!("event: error\ndata: {text}\n\n"));
    let nested = r#"{"type":"error","error":{"type":"server_error","message":"broken"}}"#;
    let flat = r#"{"type":"error","code":"rate_limit_exceeded","message":"slow","param":"p"}"#;
    let steps = vec![
        raw(nested),
        raw(flat),
        raw(r#"{"error":{"message":"unnamed","code":"insufficient_quota"}}"#),
    ];
    check(
        steps,
        expect![[r#"
        Server in Stream, retryable
        the response failed: broken

        RateLimited in Stream, retryable, param p
        the response failed: slow

        Quota { resets_at: None } in Stream, final
        the usage limit is reached: unnamed
        hint: check the plan and the billing of provider `mock`

    "#]],
    )
    .await;
}

#[tokio::test]
async fn answers_that_break_off() {
    let steps = vec![
        Step::message("abc").without_terminal(),
        Step::message("abc").cut_after_bytes(300),
        Step::message("abc").hang_after_created(),
        Step::message("abc").hang_before_headers(),
    ];
    check(
        steps,
        expect![[r#"
        Stream in Stream, retryable
        stream closed before response.completed

        Stream in Stream, retryable
        the answer broke off: unexpected EOF during chunk size line

        Idle in Stream, retryable
        nothing arrived for 300ms while the model was answering
        hint: if the model needs longer to think, raise `stream_idle_timeout_ms` of provider `mock`

        Idle in Request, retryable
        no answer from `URL/responses` for 300ms
        hint: if the model needs longer to think, raise `stream_idle_timeout_ms` of provider `mock`

    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_closed_port_is_a_failure_to_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let settings = ProviderSettings::new("mock", format!("http://{address}/v1"));
    let (_, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    let error = error.unwrap();
    assert!(error.is_retryable());
    let shown = format!("{:?}: {error}", error.class()).replace(&address.to_string(), "ADDRESS");
    expect!["Connect: cannot connect to `http://ADDRESS/v1/responses`: Connection refused (os error 111)"].assert_eq(&shown);
    assert!(error.hint().unwrap().contains("network"));
}

#[tokio::test]
async fn a_missing_key_is_hinted_at() {
    let server = ModelServer::start(vec![Step::refusal(401, json!(""))]);
    let mut settings = settings(&server);
    settings.env_key = Some("MOCK_KEY".to_owned());
    let (_, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    expect!["set `MOCK_KEY` to the key of provider `mock`"]
        .assert_eq(&error.unwrap().hint().unwrap());
}

#[tokio::test]
async fn an_unusable_url_is_named() {
    let settings = ProviderSettings::new("mock", "localhost:8080");
    let (_, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    expect!["provider `mock` has an unusable base_url `localhost:8080`: it does not begin with `http://` or `https://`"]
        .assert_eq(&error.unwrap().to_string());
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again() {
    let server = ModelServer::start(vec![
        Step::message("AABBCC").without_terminal(),
        Step::refusal(503, json!("")),
        Step::message("AABBCCDD"),
    ]);
    let settings = settings(&server);
    let mut retries = RetryState::new(&settings, 6);
    let provider = ResponsesProvider::new(settings);
    let mut counts = Vec::new();
    let text = loop {
        match ask_all(&provider, &request()).await {
            (events, None) => break said(&events),
            (_, Some(error)) => {
                let retry = retries.next(&error).unwrap();
                counts.push((retry.attempt, retry.limit));
            }
        }
    };
    assert_eq!(text, "AABBCCDD");
    assert_eq!(counts, [(1, 5), (1, 4)]);
    assert_eq!(server.requests().len(), 3);
    server.assert_clean();
}
