//! The event lines of `exec --json`, and the requests beside them.

use agent_test_support::{Item, Run, Step};
use expect_test::expect;
use serde_json::Value;

use crate::support::{Scene, agent};

fn task() -> Vec<Step> {
    vec![
        Step::items(vec![
            Item::message("I look."),
            Item::command("echo hello; exit 3"),
        ])
        .usage(100, 40, 10),
        Step::items(vec![Item::patch(
            "*** Begin Patch\n*** Add File: new.txt\n+text\n*** End Patch\n",
        )])
        .usage(200, 100, 20),
        Step::message("done").usage(300, 200, 30),
    ]
}

/// The lines with what differs from run to run replaced.
fn lines(run: &Run) -> String {
    let mut text = String::new();
    for line in run.stdout.lines() {
        let mut event: Value = serde_json::from_str(line).expect("a line of JSON");
        if event["thread_id"].is_string() {
            event["thread_id"] = "ID".into();
        }
        text.push_str(&event.to_string());
        text.push('\n');
    }
    text
}

#[test]
fn a_command_a_patch_and_a_message_print_exactly_the_documented_events() {
    let scene = Scene::new(task());
    let run = scene.completes(&["--skip-git-repo-check", "go"]);
    expect![[r#"
        {"thread_id":"ID","type":"thread.started"}
        {"type":"turn.started"}
        {"item":{"id":"item_0","text":"I look.","type":"agent_message"},"type":"item.completed"}
        {"item":{"aggregated_output":"","command":"echo hello; exit 3","exit_code":null,"id":"item_1","status":"in_progress","type":"command_execution"},"type":"item.started"}
        {"item":{"aggregated_output":"hello\n","command":"echo hello; exit 3","exit_code":3,"id":"item_1","status":"failed","type":"command_execution"},"type":"item.completed"}
        {"item":{"changes":[{"kind":"add","path":"new.txt"}],"id":"item_2","status":"in_progress","type":"file_change"},"type":"item.started"}
        {"item":{"changes":[{"kind":"add","path":"new.txt"}],"id":"item_2","status":"completed","type":"file_change"},"type":"item.completed"}
        {"item":{"id":"item_3","text":"done","type":"agent_message"},"type":"item.completed"}
        {"type":"turn.completed","usage":{"cache_write_input_tokens":0,"cached_input_tokens":340,"input_tokens":600,"output_tokens":60,"reasoning_output_tokens":0}}
    "#]]
    .assert_eq(&lines(&run));
    assert_eq!(run.stderr, "");
    assert_eq!(scene.workspace.read("new.txt"), "text\n");
}

#[test]
fn each_request_extends_the_one_before() {
    let scene = Scene::new(task());
    scene.completes(&["go"]);
    let requests = scene.server.requests();
    assert_eq!(requests.len(), 3);
    for pair in requests.windows(2) {
        let (before, after) = (pair[0].input(), pair[1].input());
        assert_eq!(before, &after[..before.len()]);
        assert!(after.len() > before.len());
        assert_eq!(pair[0].body["tools"], pair[1].body["tools"]);
    }
    let body = &requests[0].body;
    assert_eq!(body["store"], false);
    assert_eq!(
        body["include"],
        serde_json::json!(["reasoning.encrypted_content"])
    );
    assert_eq!(requests[0].header("authorization"), Some("Bearer x"));
}

#[test]
fn every_line_satisfies_the_published_schema() {
    let scene = Scene::new(vec![
        Step::items(vec![
            Item::reasoning("thinking"),
            Item::command("true"),
            Item::function_call(
                "update_plan",
                serde_json::json!({"plan": [{"step": "a", "status": "in_progress"}]}),
            ),
            Item::patch("*** Begin Patch\n*** Update File: missing\n@@\n-a\n+b\n*** End Patch\n"),
        ]),
        Step::message("x").cut_after_bytes(150),
        Step::message("done"),
    ]);
    let run = scene.completes(&["go"]);
    let printed = agent_test_support::AgentCommand::new(agent(), &scene.workspace)
        .args(["debug", "events", "--schema"])
        .run();
    let schema: Value = serde_json::from_str(&printed.stdout).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let kinds: Vec<&str> = run
        .events
        .iter()
        .filter_map(|event| event["item"]["type"].as_str())
        .collect();
    for kind in [
        "reasoning",
        "command_execution",
        "todo_list",
        "file_change",
        "error",
    ] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    for event in &run.events {
        assert!(validator.is_valid(event), "{event}");
    }
    assert!(!validator.is_valid(&serde_json::json!({"type": "turn.completed"})));
}
