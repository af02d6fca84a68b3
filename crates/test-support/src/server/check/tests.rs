use serde_json::{Value, json};

use super::{Checker, Options};

const OPTIONS: Options = Options {
    item_cap: 100,
    functions_only: false,
    checks: true,
};

fn body(input: &Value) -> String {
    json!({"model": "m", "instructions": "i", "input": input, "tools": [], "store": false,
        "stream": true, "prompt_cache_key": "k"})
    .to_string()
}

fn check(input: &Value) -> Vec<String> {
    Checker::default().check(&body(input), false, OPTIONS)
}

fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "n", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "done"})
}

#[test]
fn a_valid_conversation_passes() {
    let custom = json!({"type": "custom_tool_call", "call_id": "b", "name": "n", "input": "x"});
    let custom_output = json!({"type": "custom_tool_call_output", "call_id": "b", "output": []});
    let input = json!([user("x"), call("a"), custom, output("a"), custom_output]);
    assert_eq!(check(&input), Vec::<String>::new());
}

#[test]
fn calls_and_outputs_must_pair() {
    assert_eq!(check(&json!([call("a")])), ["call `a` has no output"]);
    assert_eq!(
        check(&json!([output("a")])),
        ["input[0]: output without call `a`"]
    );
    assert_eq!(
        check(&json!([output("a"), call("a")])),
        [
            "input[0]: output without call `a`",
            "call `a` has no output"
        ]
    );
    assert_eq!(
        check(&json!([call("a"), output("a"), output("a")])),
        ["input[2]: call `a` has a second output"]
    );
    let custom = json!({"type": "custom_tool_call_output", "call_id": "a", "output": ""});
    assert_eq!(
        check(&json!([call("a"), custom])),
        [
            "input[1]: output of call `a` has another form",
            "call `a` has no output"
        ]
    );
    let torn = json!({"type": "function_call", "call_id": "a", "name": "n", "arguments": "{\"x"});
    assert_eq!(
        check(&json!([torn, output("a")])),
        ["input[0]: arguments of call `a` are no JSON"]
    );
}

#[test]
fn our_items_have_a_cap_and_images_do_not_count() {
    let long = "x".repeat(200);
    let image = json!({"type": "function_call_output", "call_id": "a",
        "output": [{"type": "input_image", "image_url": long}]});
    assert_eq!(check(&json!([call("a"), image])), Vec::<String>::new());
    let said = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": long}]});
    assert_eq!(check(&json!([said])), Vec::<String>::new());
    assert_eq!(
        check(&json!([user(&long)])),
        ["input[0] (message) has 221 bytes of text, over 100"]
    );
}

#[test]
fn a_conversation_only_grows() {
    let mut checker = Checker::default();
    let mut check = |raw: &str, new_window| checker.check(raw, new_window, OPTIONS);
    let one = body(&json!([user("a")]));
    let two = body(&json!([user("a"), user("b")]));
    let changed = body(&json!([user("A"), user("b")]));
    let none = Vec::<String>::new();
    assert_eq!(check(&one, false), none);
    assert_eq!(check(&two, false), none);
    assert_eq!(check(&two, false), none, "a repetition is no change");
    assert_eq!(
        check(&one, false),
        ["`input` has 1 items, the request before had 2"]
    );
    assert!(check(&changed, false)[0].starts_with("input[0] is not what"));
    let respaced = two.replacen("\"text\":\"a\"", "\"text\": \"a\"", 1);
    assert_eq!(
        check(&respaced, false).len(),
        1,
        "bytes count, not only values"
    );
    let tools = two.replacen("\"tools\":[]", "\"tools\":[{\"type\":\"function\"}]", 1);
    assert_eq!(
        check(&tools, false),
        ["`tools` are not those of the request before"]
    );
    assert_eq!(check(&changed, true), none);
    assert!(!check(&two, false).is_empty());
}

#[test]
fn other_keys_are_checked() {
    let options = Options {
        functions_only: true,
        ..OPTIONS
    };
    let body = json!({"instructions": "", "input": [], "stream": false,
        "tools": [{"type": "custom"}, {}]});
    assert_eq!(
        Checker::default().check(&body.to_string(), false, options),
        [
            "`model` is missing",
            "`store` is not false",
            "`stream` is not true",
            "tools[0].type is `custom`, not `function`",
            "tools[1] has no type"
        ]
    );
    let found = Checker::default().check("{", false, options);
    assert!(found[0].starts_with("the body cannot be read"));
}
