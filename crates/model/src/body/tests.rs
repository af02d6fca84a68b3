use agent_protocol::{ResponseItem, Role, SerializedItem};
use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

fn check(request: &ModelRequest, expected: &Expect) {
    let bytes = RequestBody::new(request).into_bytes();
    serde_json::from_slice::<Value>(&bytes).unwrap();
    expected.assert_eq(std::str::from_utf8(&bytes).unwrap());
}

fn raw(json: &str) -> SerializedItem {
    SerializedItem::from_parsed(json, &ResponseItem::text_message(Role::User, ""))
}

#[test]
fn the_least_request_has_all_fixed_keys() {
    check(
        &ModelRequest::new("m", "say \"é\"\n"),
        &expect![[
            r#"{"model":"m","instructions":"say \"é\"\n","input":[],"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"store":false,"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":""}"#
        ]],
    );
}

#[test]
fn texts_of_items_and_tools_are_not_rendered_again() {
    let mut request = ModelRequest::new("m", "");
    request.input = vec![raw(r#"{ "z":1.50, "a":"\u00e9" }"#), raw(r#"{"b":1}"#)];
    request.tools = r#"[ {"name" : "f"} ]"#.into();
    request.prompt_cache_key = "t".to_owned();
    request.reasoning_summary = Some("auto".to_owned());
    request.output_schema = Some(json!({"type": "object"}));
    request.parallel_tool_calls = false;
    check(
        &request,
        &expect![[
            r#"{"model":"m","instructions":"","input":[{ "z":1.50, "a":"\u00e9" },{"b":1}],"tools":[ {"name" : "f"} ],"tool_choice":"auto","parallel_tool_calls":false,"reasoning":{"summary":"auto"},"store":false,"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"t","text":{"format":{"type":"json_schema","name":"agent_output_schema","strict":true,"schema":{"type":"object"}}}}"#
        ]],
    );
}

#[test]
fn frames_join_to_the_same_bytes_and_large_texts_are_not_copied() {
    let large: Arc<str> = "x".repeat(LARGE).into();
    let mut request = ModelRequest::new("m", "");
    for _ in 0..40 {
        request.input.push(raw(&"y".repeat(LARGE / 4)));
    }
    let user = ResponseItem::text_message(Role::User, "");
    let shared = SerializedItem::from_parsed(Arc::clone(&large), &user);
    request.input.push(shared);
    let mut body = RequestBody::new(&request);
    let whole = RequestBody::new(&request).into_bytes();
    let mut joined = Vec::new();
    let mut seen_shared = false;
    while let Some(frame) = body.next_frame() {
        assert!(frame.len() <= FRAME);
        seen_shared |= frame.as_ptr() == large.as_ptr();
        joined.extend_from_slice(&frame);
    }
    assert!(seen_shared && joined == whole);
    assert!(body.is_end_stream());
}
