//! What is made of a conversation that is on disk: what people are shown of it, and a copy of
//! its beginning.

use agent_core::{Resume, ThreadOptions, TranscriptEntry};
use agent_protocol::TurnItem;
use agent_test_support::{Item, Step};
use serde_json::json;

use crate::support::Scene;

fn user(text: &str) -> TranscriptEntry {
    TranscriptEntry::User {
        text: text.to_owned(),
        n_images: 0,
    }
}

fn said(text: &str) -> TranscriptEntry {
    TranscriptEntry::Item(TurnItem::AgentMessage {
        text: text.to_owned(),
    })
}

async fn two_turns() -> Scene {
    let call = Item::function_call("read", json!({"name": "earlier/a"}));
    let steps = vec![
        Step::items(vec![call]),
        Step::message("one"),
        Step::message("two"),
        Step::message("three"),
    ];
    let mut scene = Scene::watched(steps).await;
    scene.say("first").await;
    assert_eq!(scene.answer().await, "one");
    scene.say("second").await;
    assert_eq!(scene.answer().await, "two");
    scene
}

#[tokio::test]
async fn people_are_shown_what_was_said_and_not_what_the_program_added() {
    let scene = two_turns().await;
    let which = Resume::Id(scene.thread.id().to_string());
    let cwd = scene.workspace.work();
    let (entries, n_before) = scene.manager.transcript(&which, &cwd, 100).unwrap();
    let expected = [user("first"), said("one"), user("second"), said("two")];
    assert_eq!((entries.as_slice(), n_before), (&expected[..], 0));
    let (last, n_before) = scene.manager.transcript(&which, &cwd, 2).unwrap();
    assert_eq!((last.as_slice(), n_before), (&expected[2..], 2));
}

#[tokio::test]
async fn a_fork_holds_what_came_before_the_message_and_leaves_the_rest_alone() {
    let mut scene = two_turns().await;
    let id = scene.thread.id();
    let options = ThreadOptions::interactive(scene.workspace.work());
    scene.thread = scene.manager.fork_before(id, 1, options).await.unwrap();
    assert_ne!(scene.thread.id(), id);
    scene.say("instead").await;
    assert_eq!(scene.answer().await, "three");
    let request = &scene.server.requests()[3].raw;
    assert!(request.contains("\"one\""), "{request}");
    assert!(request.contains("output of earlier/a"), "{request}");
    assert!(!request.contains("second"), "{request}");
    let shown = |scene: &Scene, id: String| {
        let cwd = scene.workspace.work();
        let shown = scene.manager.transcript(&Resume::Id(id), &cwd, 100);
        shown.unwrap().0
    };
    let copy = shown(&scene, scene.thread.id().to_string());
    assert_eq!(
        copy,
        [user("first"), said("one"), user("instead"), said("three")]
    );
    let old = shown(&scene, id.to_string());
    assert_eq!(
        old,
        [user("first"), said("one"), user("second"), said("two")]
    );
}
