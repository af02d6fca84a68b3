//! The forms in which an answer may arrive.

use std::time::Duration;

use agent_model::{ErrorClass, ModelEvent, ResponsesProvider};
use agent_test_support::{Item, ModelServer, Step};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::{ask, ask_all, request, said, settings, show};

async fn check(step: Step, expected: Expect) {
    let server = ModelServer::start(vec![step]);
    let (events, error) = ask(&server).await;
    assert_eq!(error, None);
    server.assert_clean();
    expected.assert_eq(&show(&events));
}

/// What a text looks like when it arrives in one message.
async fn check_said(step: Step, expected: &str) {
    let server = ModelServer::start(vec![step]);
    let (events, error) = ask(&server).await;
    assert_eq!(error, None);
    assert_eq!(said(&events), expected);
}

#[tokio::test]
async fn every_kind_of_item_arrives_with_its_own_text() {
    check(
        Step::items(vec![
            Item::reasoning("think"),
            Item::message("hé"),
            Item::function_call("f", json!({"a": 1})),
            Item::patch("*** x"),
            Item::raw(json!({"type": "web_search_call", "new": {"z": 1, "a": 2}})),
        ])
        .deltas(2)
        .usage(7, 3, 2),
        expect![[r#"
            created Some("resp_0")
            reasoning part
            reasoning "thi"
            reasoning "nk"
            item {"encrypted_content":"encrypted_0_0","id":"rs_0_0","summary":[{"text":"think","type":"summary_text"}],"type":"reasoning"}
            message started
            message "hé"
            item {"content":[{"annotations":[],"text":"hé","type":"output_text"}],"id":"msg_0_1","role":"assistant","status":"completed","type":"message"}
            Function call f started: Some("fc_0_2") Some("call_0_2")
            input Some("fc_0_2") "{\"a\""
            input Some("fc_0_2") ":1}"
            item {"arguments":"{\"a\":1}","call_id":"call_0_2","id":"fc_0_2","name":"f","status":"completed","type":"function_call"}
            Custom call apply_patch started: Some("ctc_0_3") Some("call_0_3")
            input Some("ctc_0_3") "***"
            input Some("ctc_0_3") " x"
            item {"call_id":"call_0_3","id":"ctc_0_3","input":"*** x","name":"apply_patch","status":"completed","type":"custom_tool_call"}
            item {"new":{"a":2,"z":1},"type":"web_search_call"}
            completed Some("resp_0") Some((7, 2))
        "#]],
    )
    .await;
}

const RAW: &str = "event: response.created\ndata: {\"type\":\"response.created\"}\n\n\
    data: not json\n\n\
    data: {\"type\":\"response.brand_new\",\"delta\":{\"x\":1}}\n\n\
    : a comment\n\
    event: response.output_text.delta\ndata: {\"delta\":\"by name\"}\n\n\
    data: {\"type\":\"response.output_item.done\",\ndata: \"item\": {\"type\":\"message\",\ndata:  \"role\":\"assistant\", \"content\":[],\"b\":1,\"a\":1.50}}\n\n\
    data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\"}}\n\n\
    data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"usage\":{\"input_tokens\":1,\"input_tokens_details\":null,\"output_tokens\":2,\"output_tokens_details\":null}}}";

#[tokio::test]
async fn unreadable_and_unknown_events_are_skipped_and_the_end_may_be_open() {
    check(
        Step::empty().raw(RAW),
        expect![[r#"
            created None
            message "by name"
            item {"type":"message",  "role":"assistant", "content":[],"b":1,"a":1.50}
            item {"type":"function_call","call_id":"","name":"","arguments":"{}"}
            completed Some("r") Some((1, 2))
        "#]],
    )
    .await;
}

#[tokio::test]
async fn line_ends_and_the_size_of_pieces_do_not_matter() {
    let text = "é漢😀\r\n\u{2028}x";
    for size in [1, 2, 3, 7, 4095] {
        check_said(Step::message(text).deltas(1).split_bytes(size), text).await;
        check_said(Step::message(text).crlf().split_bytes(size), text).await;
        check_said(Step::empty().raw(RAW).split_bytes(size), "by name").await;
    }
    let carriage_returns = RAW.replace('\n', "\r");
    check_said(
        Step::empty().raw(carriage_returns).split_bytes(3),
        "by name",
    )
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_replaced_and_nothing_else_is_lost() {
    let mut raw =
        b"data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\xff\xfeb\"}\n\n".to_vec();
    raw.extend_from_slice(b"data: {\"type\":\"response.output_text.delta\",\"delta\":\"c\"}\n\n");
    raw.extend_from_slice(b"data: {\"type\":\"response.completed\"}\n\n");
    check_said(Step::empty().raw(raw).split_bytes(5), "a\u{fffd}\u{fffd}bc").await;
}

#[tokio::test]
async fn an_empty_answer_is_complete() {
    check(
        Step::empty(),
        expect![[r#"
            created Some("resp_0")
            completed Some("resp_0") Some((100, 10))
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_long_answer_in_many_deltas_arrives_whole() {
    let text = "0123456789 é漢 abcdefghijklmnopqrstuvwxyz\n".repeat(25_000);
    check_said(Step::message(&text).deltas(20_000), &text).await;
}

#[tokio::test]
async fn a_slow_answer_is_no_idle_one() {
    let server = ModelServer::start(vec![
        Step::message("abcdefgh")
            .deltas(8)
            .delay_between_deltas(Duration::from_millis(60)),
    ]);
    let mut settings = settings(&server);
    settings.stream_idle_timeout = Duration::from_millis(250);
    let (events, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    assert_eq!((said(&events).as_str(), error), ("abcdefgh", None));
}

#[tokio::test]
async fn comments_keep_a_silent_stream_alive() {
    let server = ModelServer::start(vec![
        Step::message("a")
            .deltas(1)
            .delay_between_deltas(Duration::from_millis(700))
            .keep_alive_comments(Duration::from_millis(50)),
    ]);
    let mut settings = settings(&server);
    settings.stream_idle_timeout = Duration::from_millis(250);
    let (events, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    assert_eq!((said(&events).as_str(), error), ("a", None));
}

#[tokio::test]
async fn a_call_of_next_that_loses_a_race_loses_no_event() {
    use futures_util::FutureExt;
    let server = ModelServer::start(vec![
        Step::message("0123456789")
            .deltas(10)
            .delay_between_deltas(Duration::from_millis(5))
            .split_bytes(7),
    ]);
    let provider = ResponsesProvider::new(settings(&server));
    let mut stream = agent_model::ModelProvider::open(&provider, &request())
        .await
        .unwrap();
    let mut text = String::new();
    loop {
        let Some(event) = stream.next().now_or_never() else {
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        };
        match event {
            None => break,
            Some(Ok(ModelEvent::MessageDelta { text: delta })) => text.push_str(&delta),
            Some(event) => drop(event.unwrap()),
        }
    }
    assert_eq!(text, "0123456789");
}

#[tokio::test]
async fn an_endless_line_is_given_up() {
    let mut raw = b"data: ".to_vec();
    raw.resize(65 * 1024 * 1024, b'x');
    let server = ModelServer::start(vec![Step::empty().raw(raw)]);
    let (_, error) = ask(&server).await;
    let error = error.unwrap();
    assert_eq!(*error.class(), ErrorClass::Protocol);
    assert!(!error.is_retryable());
}

const ODD_CALLS: &str = "data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"id\":7,\"call_id\":null,\"name\":\"f\"}}\n\n\
    data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"id\":\"i\",\"name\":\"\"}}\n\n\
    data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"id\":{}}}\n\n\
    data: {\"type\":\"response.output_text.delta\",\"item_id\":[1],\"delta\":\"said\"}\n\n\
    data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":5,\"delta\":\"a\"}\n\n\
    data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"b\"}\n\n\
    data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"\\u0069\",\"delta\":\"c\"}\n\n\
    data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\"}}\n\n";

#[tokio::test]
async fn ids_that_are_odd_or_missing_spoil_no_event() {
    check(
        Step::empty().raw(ODD_CALLS),
        expect![[r#"
        Function call f started: None None
        message started
        message "said"
        input None "a"
        input None "b"
        input Some("i") "c"
        completed Some("r") None
    "#]],
    )
    .await;
}
