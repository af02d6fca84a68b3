//! What the user does while a turn runs.

use agent_protocol::{Op, TurnEvent};
use agent_test_support::{Item, Step};
use serde_json::json;

use crate::support::{Scene, trace};

#[tokio::test]
async fn words_during_a_turn_reach_the_model_in_it() {
    let steps = vec![
        Step::message("first answer").delay(std::time::Duration::from_millis(300)),
        Step::message("second answer"),
    ];
    let mut scene = Scene::start(steps).await;
    scene.say("go").await;
    while scene.server.requests().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    scene.say("and mind this").await;
    assert_eq!(scene.answer().await, "second answer");
    scene.server.assert_clean();
    let requests = scene.server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].raw.contains("and mind this"));
}

#[tokio::test]
async fn an_interrupted_turn_gives_each_call_an_output() {
    let step = Step::items(vec![
        Item::function_call("write", json!({"name": "stop/a", "hangs": true})),
        Item::function_call("write", json!({"name": "stop/b"})),
    ]);
    let mut scene = Scene::start(vec![step, Step::message("done")]).await;
    scene.say("go").await;
    while trace("stop").is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    scene.thread.submit(Op::Interrupt).await.unwrap();
    assert_eq!(scene.end_of_turn().await, TurnEvent::Interrupted);
    assert_eq!(trace("stop"), ["begin a", "cancelled a"]);
    scene.say("again").await;
    assert_eq!(scene.answer().await, "done");
    scene.server.assert_clean();
    let request = &scene.server.requests()[1];
    assert_eq!(request.output_of("call_0_0").unwrap(), "aborted by user");
    assert_eq!(request.output_of("call_0_1").unwrap(), "aborted by user");
    assert!(request.raw.contains("<turn_aborted>"));
}

#[tokio::test]
async fn half_an_answer_is_kept_when_the_user_interrupts() {
    let steps = vec![
        Step::message("half of it and the rest")
            .deltas(4)
            .delay_between_deltas(std::time::Duration::from_millis(400)),
        Step::message("done"),
    ];
    let mut scene = Scene::start(steps).await;
    scene.say("go").await;
    loop {
        let envelope = scene.thread.next_event().await.unwrap();
        let text = format!("{:?}", envelope.event);
        if text.contains("Delta") {
            break;
        }
    }
    scene.thread.submit(Op::Interrupt).await.unwrap();
    assert_eq!(scene.end_of_turn().await, TurnEvent::Interrupted);
    scene.say("again").await;
    assert_eq!(scene.answer().await, "done");
    scene.server.assert_clean();
    let request = &scene.server.requests()[1];
    let said = request.input().iter();
    let said = said.filter(|item| item["role"] == "assistant").count();
    assert_eq!(said, 1, "{}", request.raw);
}
