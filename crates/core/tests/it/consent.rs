//! Questions to the person who watches, and what the answers do.

use agent_protocol::{
    ApprovalChoice, ApprovalEvent, ApprovalRequest, Event, Op, QuestionEvent, RequestId,
    SettingsChange, ThreadEvent, TurnEvent, UserInput,
};
use agent_test_support::{Item, Step};
use serde_json::json;

use crate::support::{Scene, trace};

fn guarded(name: &str, file: &str) -> Item {
    Item::function_call("write", json!({"name": name, "file": file}))
}

async fn asked(scene: &mut Scene) -> ApprovalRequest {
    scene
        .find(|event| {
            if let Event::Approval(ApprovalEvent::Requested(request)) = event {
                Some(request)
            } else {
                None
            }
        })
        .await
}

async fn answer(scene: &Scene, request_id: RequestId, choice: ApprovalChoice, note: Option<&str>) {
    let note = note.map(str::to_owned);
    let op = Op::Answer {
        request_id,
        choice,
        note,
    };
    scene.thread.submit(op).await.unwrap();
}

#[tokio::test]
async fn a_yes_once_runs_the_call_and_the_next_one_is_asked_again() {
    let steps = vec![
        Step::items(vec![guarded("once/a", "/f"), guarded("once/b", "/f")]),
        Step::message("done"),
    ];
    let mut scene = Scene::watched(steps).await;
    scene.say("go").await;
    let first = asked(&mut scene).await;
    assert_eq!(first.reason.as_deref(), Some("a reason"));
    assert!(trace("once").is_empty(), "nothing runs before the answer");
    answer(&scene, first.request_id, ApprovalChoice::Once, None).await;
    let second = asked(&mut scene).await;
    assert_ne!(first.request_id, second.request_id);
    answer(
        &scene,
        second.request_id,
        ApprovalChoice::Decline,
        Some("use /g"),
    )
    .await;
    assert_eq!(scene.answer().await, "done");
    assert_eq!(trace("once"), ["begin a", "end a"]);
    let output = scene.server.requests()[1].output_of("call_0_1").unwrap();
    assert!(
        output.contains("the user did not allow changing `/f`"),
        "{output}"
    );
    assert!(output.contains("The user says: use /g"), "{output}");
}

#[tokio::test]
async fn a_yes_for_the_session_is_remembered_for_the_same_file_only() {
    let steps = vec![
        Step::items(vec![guarded("session/a", "/f")]),
        Step::message("first"),
        Step::items(vec![guarded("session/b", "/f"), guarded("session/c", "/g")]),
        Step::message("second"),
    ];
    let mut scene = Scene::watched(steps).await;
    scene.say("go").await;
    let request = asked(&mut scene).await;
    answer(&scene, request.request_id, ApprovalChoice::ForSession, None).await;
    assert_eq!(scene.answer().await, "first");
    scene.say("again").await;
    let request = asked(&mut scene).await;
    let subject = format!("{:?}", request.subject);
    assert!(
        subject.contains("/g"),
        "only the other file is asked: {subject}"
    );
    answer(&scene, request.request_id, ApprovalChoice::Decline, None).await;
    assert_eq!(scene.answer().await, "second");
    let ran = ["begin a", "end a", "begin b", "end b"];
    assert_eq!(trace("session"), ran);
}

#[tokio::test]
async fn stop_ends_the_turn_and_a_late_answer_does_nothing() {
    let steps = vec![
        Step::items(vec![guarded("stopped/a", "/f")]),
        Step::message("next turn"),
    ];
    let mut scene = Scene::watched(steps).await;
    scene.say("go").await;
    let request = asked(&mut scene).await;
    answer(&scene, request.request_id, ApprovalChoice::Stop, None).await;
    assert_eq!(scene.end_of_turn().await, TurnEvent::Interrupted);
    answer(&scene, request.request_id, ApprovalChoice::Once, None).await;
    scene.say("again").await;
    assert_eq!(scene.answer().await, "next turn");
    assert!(trace("stopped").is_empty());
    scene.server.assert_clean();
}

#[tokio::test]
async fn an_interrupt_takes_the_question_back() {
    let steps = vec![
        Step::items(vec![guarded("back/a", "/f")]),
        Step::message("x"),
    ];
    let mut scene = Scene::watched(steps).await;
    scene.say("go").await;
    let request = asked(&mut scene).await;
    scene.thread.submit(Op::Interrupt).await.unwrap();
    let resolved = scene
        .find(|event| {
            if let Event::Approval(ApprovalEvent::Resolved { request_id }) = event {
                Some(request_id)
            } else {
                None
            }
        })
        .await;
    assert_eq!(resolved, request.request_id);
    assert!(trace("back").is_empty());
}

#[tokio::test]
async fn a_question_of_the_model_waits_for_its_answer() {
    let ask = Item::function_call("read", json!({"name": "ask/a", "question": "which?"}));
    let mut scene = Scene::watched(vec![Step::items(vec![ask]), Step::message("done")]).await;
    scene.say("go").await;
    let request = scene
        .find(|event| {
            if let Event::Question(QuestionEvent::Asked(request)) = event {
                Some(request)
            } else {
                None
            }
        })
        .await;
    assert_eq!(request.questions[0].question, "which?");
    let answers = [("q".to_owned(), vec!["this one".to_owned()])];
    let op = Op::Reply {
        request_id: request.request_id,
        answers: Some(answers.into()),
    };
    scene.thread.submit(op).await.unwrap();
    assert_eq!(scene.answer().await, "done");
    let output = scene.server.requests()[1].output_of("call_0_0").unwrap();
    assert!(output.contains("this one"), "{output}");
}

#[tokio::test]
async fn words_that_an_interrupted_turn_did_not_read_come_back() {
    let hang = Item::function_call("write", json!({"name": "unread/a", "hangs": true}));
    let mut scene = Scene::watched(vec![Step::items(vec![hang]), Step::message("x")]).await;
    scene.say("go").await;
    while trace("unread").is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    scene.say("mind this").await;
    scene.thread.submit(Op::Interrupt).await.unwrap();
    let returned = scene
        .find(|event| {
            if let Event::Thread(ThreadEvent::InputReturned { input }) = event {
                Some(input)
            } else {
                None
            }
        })
        .await;
    let expected = UserInput::Text {
        text: "mind this".to_owned(),
    };
    assert_eq!(returned, [expected]);
}

#[tokio::test]
async fn settings_change_between_turns_and_are_told_to_the_model() {
    let steps = vec![Step::message("one"), Step::message("two")];
    let mut scene = Scene::watched(steps).await;
    scene.say("go").await;
    assert_eq!(scene.answer().await, "one");
    let change = SettingsChange {
        model: Some("other-model".to_owned()),
        approval_policy: Some(agent_protocol::ApprovalPolicy::Untrusted),
        ..SettingsChange::default()
    };
    scene.thread.submit(Op::Configure(change)).await.unwrap();
    let info = scene
        .find(|event| {
            if let Event::Thread(ThreadEvent::Configured(info)) = event {
                Some(info)
            } else {
                None
            }
        })
        .await;
    assert_eq!(info.model, "other-model");
    scene.say("again").await;
    assert_eq!(scene.answer().await, "two");
    let requests = scene.server.requests();
    assert!(requests[1].raw.contains("\"model\":\"other-model\""));
    let told = requests[1].raw.matches("Approvals: `").count();
    assert_eq!(told, 2, "the change is a new item: {}", requests[1].raw);
    scene.server.assert_clean();
}
