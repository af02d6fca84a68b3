use std::fmt::Write;
use std::time::Duration;

use expect_test::{Expect, expect};

use super::*;

async fn play(provider: &ScriptedProvider) -> String {
    let request = ModelRequest::new("m", "");
    let mut shown = String::new();
    let mut stream = match provider.open(&request).await {
        Ok(stream) => stream,
        Err(error) => return format!("error: {error} (retryable: {})\n", error.is_retryable()),
    };
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        if let ModelEvent::ItemDone { serialized, .. } = event {
            writeln!(shown, "item {}", serialized.json()).unwrap();
        } else {
            writeln!(shown, "{event:?}").unwrap();
        }
    }
    shown
}

#[tokio::test]
async fn steps_answer_one_request_each() {
    let provider = ScriptedProvider::from_json(
        r#"[
            [{"reasoning": "hm"}, {"call": {"name": "f", "arguments": {"a": 1}}},
             {"custom": {"name": "p", "input": "x"}}],
            {"items": [{"message": "two words"}], "delay_ms": 1, "usage": {"input_tokens": 5}}
        ]"#,
    )
    .unwrap();
    let mut shown = play(&provider).await;
    assert_eq!(provider.steps_left(), 1);
    shown.push_str(&play(&provider).await);
    shown.push_str(&play(&provider).await);
    expect![[r#"
        Created { response_id: Some("resp_0") }
        ReasoningPartAdded
        ReasoningDelta { text: "hm" }
        item {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}
        item {"type":"function_call","call_id":"call_0_1","name":"f","arguments":"{\"a\":1}"}
        item {"type":"custom_tool_call","call_id":"call_0_2","name":"p","input":"x"}
        Completed { response_id: Some("resp_0"), usage: None }
        Created { response_id: Some("resp_1") }
        MessageStarted
        MessageDelta { text: "two " }
        MessageDelta { text: "words" }
        item {"type":"message","role":"assistant","content":[{"type":"output_text","text":"two words"}]}
        Completed { response_id: Some("resp_1"), usage: Some(TokenUsage { input_tokens: 5, cached_input_tokens: 0, cache_write_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0 }) }
        error: the script has 2 steps, and this is request 3 (retryable: false)
    "#]].assert_eq(&shown);
}

#[tokio::test(start_paused = true)]
async fn the_delay_is_between_the_words() {
    let json = r#"[{"items": [{"message": "a b c d"}], "delay_ms": 1000}]"#;
    let provider = ScriptedProvider::from_json(json).unwrap();
    let begun = tokio::time::Instant::now();
    play(&provider).await;
    assert_eq!(begun.elapsed(), Duration::from_secs(4));
}

fn check_error(json: &str, expected: &Expect) {
    let error = ScriptedProvider::named("demo.json", json).unwrap_err();
    expected.assert_eq(&error.to_string());
}

#[test]
fn a_bad_script_says_where_and_why() {
    check_error(
        "[",
        &expect![
            "the script `demo.json` is no list of steps: EOF while parsing a list at line 1 column 1"
        ],
    );
    check_error(
        "{}",
        &expect![
            "the script `demo.json` is no list of steps: expected a list, or an object with the list `steps`"
        ],
    );
    check_error(
        "[[], 5]",
        &expect![
            "step 2 of the script `demo.json`: expected a list of items, or an object with the list `items`"
        ],
    );
    check_error(
        r#"[[], [{"message": "x"}, {"mesage": "x"}]]"#,
        &expect![
            "step 2 of the script `demo.json`: item 2: unknown variant `mesage`, expected one of `message`, `reasoning`, `call`, `custom`"
        ],
    );
    check_error(
        r#"[[{"call": {"name": "f"}}]]"#,
        &expect!["step 1 of the script `demo.json`: item 1: missing field `arguments`"],
    );
    check_error(
        r#"{"steps": [{"items": [], "delay": 1}]}"#,
        &expect![
            "step 1 of the script `demo.json`: unknown field `delay`, expected one of `items`, `usage`, `delay_ms`"
        ],
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = ScriptedProvider::from_file("/nowhere/demo.json").unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read the script `/nowhere/demo.json`"
    );
}
