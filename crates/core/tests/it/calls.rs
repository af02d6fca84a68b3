//! Which calls run side by side, and what becomes of those that break.

use agent_test_support::{Item, Step};
use serde_json::{Value, json};

use crate::support::{Scene, trace};

fn call(tool: &str, args: Value) -> Item {
    Item::function_call(tool, args)
}

#[tokio::test]
async fn reads_run_side_by_side() {
    let step = Step::items(vec![
        call("read", json!({"name": "side/a", "wait_for": "side/b"})),
        call("read", json!({"name": "side/b", "wait_for": "side/a"})),
    ]);
    let mut scene = Scene::start(vec![step, Step::message("done")]).await;
    scene.say("go").await;
    assert_eq!(scene.answer().await, "done");
    scene.server.assert_clean();
    let request = &scene.server.requests()[1];
    assert_eq!(request.output_of("call_0_0").unwrap(), "output of side/a");
    assert_eq!(request.output_of("call_0_1").unwrap(), "output of side/b");
}

#[tokio::test]
async fn writes_run_alone_and_in_order() {
    let step = Step::items(vec![
        call("read", json!({"name": "order/r1"})),
        call("write", json!({"name": "order/w1"})),
        call("write", json!({"name": "order/w2"})),
        call("read", json!({"name": "order/r2"})),
    ]);
    let mut scene = Scene::start(vec![step, Step::message("done")]).await;
    scene.say("go").await;
    assert_eq!(scene.answer().await, "done");
    assert_eq!(
        trace("order"),
        [
            "begin r1", "end r1", "begin w1", "end w1", "begin w2", "end w2", "begin r2", "end r2"
        ]
    );
}

#[tokio::test]
async fn outputs_are_sent_in_the_order_of_the_calls() {
    let step = Step::items(vec![
        call(
            "read",
            json!({"name": "sent/late", "wait_for": "sent/early"}),
        ),
        call("read", json!({"name": "sent/early"})),
    ]);
    let steps = vec![step, Step::message("one"), Step::message("two")];
    let mut scene = Scene::start(steps).await;
    scene.say("go").await;
    assert_eq!(scene.answer().await, "one");
    scene.say("on").await;
    assert_eq!(scene.answer().await, "two");
    scene.server.assert_clean();
    let requests = scene.server.requests();
    let outputs = requests[1].input().iter();
    let ids: Vec<&str> = outputs
        .filter(|item| item["type"] == "function_call_output")
        .filter_map(|item| item["call_id"].as_str())
        .collect();
    assert_eq!(ids, ["call_0_0", "call_0_1"]);
}

#[tokio::test]
async fn a_call_that_breaks_ends_alone() {
    let step = Step::items(vec![
        call("write", json!({"name": "broken/a", "breaks": true})),
        call("read", json!({"name": "broken/b"})),
    ]);
    let mut scene = Scene::start(vec![step, Step::message("done")]).await;
    scene.say("go").await;
    assert_eq!(scene.answer().await, "done");
    scene.server.assert_clean();
    let request = &scene.server.requests()[1];
    let broken = request.output_of("call_0_0").unwrap();
    assert!(broken.contains("a fault in the program"), "{broken}");
    assert_eq!(request.output_of("call_0_1").unwrap(), "output of broken/b");
}

#[tokio::test]
async fn a_call_id_that_comes_again_is_made_unique() {
    let item = |name: &str| {
        Item::raw(json!({
            "type": "function_call", "id": "fc", "call_id": "same", "name": "read",
            "arguments": json!({"name": name}).to_string(),
        }))
    };
    let steps = vec![
        Step::items(vec![item("again/a")]),
        Step::items(vec![item("again/b")]),
        Step::message("done"),
    ];
    let mut scene = Scene::start(steps).await;
    scene.say("go").await;
    assert_eq!(scene.answer().await, "done");
    scene.server.assert_clean();
    let request = &scene.server.requests()[2];
    assert_eq!(request.output_of("same").unwrap(), "output of again/a");
    assert_eq!(request.output_of("same-2").unwrap(), "output of again/b");
}

#[tokio::test]
async fn arguments_that_a_tool_does_not_have_are_named() {
    let args = json!({"name": "extra/a", "tty": true, "yield_time_ms": 5});
    let step = Step::items(vec![call("read", args)]);
    let mut scene = Scene::start(vec![step, Step::message("done")]).await;
    scene.say("go").await;
    assert_eq!(scene.answer().await, "done");
    assert_eq!(
        scene.server.requests()[1].output_of("call_0_0").unwrap(),
        "output of extra/a\nNote: unknown arguments were ignored: `tty`, `yield_time_ms`"
    );
}
