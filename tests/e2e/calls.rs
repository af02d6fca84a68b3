//! Calls that the model got wrong, and calls in a stream that breaks.

use agent_test_support::{Item, Run, Step};
use serde_json::{Value, json};

use crate::support::{Scene, items, messages, warnings};

/// One task with these calls, one an answer, and a last message.
#[track_caller]
fn run(calls: Vec<Item>) -> (Scene, Run) {
    let steps = calls.into_iter().map(|call| Step::items(vec![call]));
    let scene = Scene::new(steps.chain([Step::message("fin")]).collect());
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    (scene, run)
}

#[test]
fn st_11_arguments_that_are_no_json_are_answered_and_repaired() {
    let (scene, _) = run(vec![
        Item::function_call("exec_command", "{\"cmd\":\"echo hi"),
        Item::function_call("exec_command", ""),
        Item::function_call("apply_patch", "not json"),
    ]);
    for answer in 0..3 {
        let output = scene.output(answer, 0);
        assert!(output.contains("not valid JSON"), "{output}");
    }
    // What is sent back is JSON, whatever the model wrote.
    let requests = scene.server.requests();
    for item in requests.last().unwrap().input() {
        if item["type"] == "function_call" {
            let arguments = item["arguments"].as_str().unwrap();
            assert!(
                serde_json::from_str::<Value>(arguments).is_ok(),
                "{arguments}"
            );
        }
    }
}

#[test]
fn arguments_of_the_wrong_type_are_answered_with_the_fault() {
    let (scene, _) = run(vec![
        Item::function_call("exec_command", json!({"cmd": ["echo", "hi"]})),
        Item::function_call("exec_command", json!({"command": "echo hi"})),
        Item::function_call(
            "exec_command",
            json!({"cmd": "echo hi", "timeout_ms": "soon"}),
        ),
        Item::function_call(
            "update_plan",
            json!({"plan": [{"step": "a", "status": "later"}]}),
        ),
        Item::function_call("view_image", json!({})),
        Item::function_call("exec_command", json!([])),
    ]);
    let parts = [
        "expected a string",
        "missing field `cmd`",
        "expected u64",
        "unknown variant `later`",
        "missing field `path`",
        "struct",
    ];
    for (answer, part) in parts.into_iter().enumerate() {
        let output = scene.output(answer, 0);
        assert!(
            output.starts_with("failed to parse function arguments"),
            "{output}"
        );
        assert!(output.contains(part), "{part} in {output}");
    }
}

#[test]
fn st_13_an_unknown_tool_is_answered_with_the_known_ones() {
    let long = format!("read_{}", "x".repeat(10_000));
    let (scene, _) = run(vec![
        Item::function_call("read_file_x", json!({"path": "a"})),
        Item::function_call("mcp__gone__t", json!({})),
        Item::custom_call("no_such_custom", "text"),
        Item::function_call(long, json!({})),
    ]);
    for (answer, name) in ["read_file_x", "mcp__gone__t", "no_such_custom"]
        .into_iter()
        .enumerate()
    {
        let output = scene.output(answer, 0);
        assert_eq!(
            output,
            format!(
                "unsupported call: {name}. The available tools are: apply_patch, exec_command, \
                 update_plan, view_image, write_stdin."
            )
        );
    }
    assert!(scene.output(3, 0).len() < 500);
}

#[test]
fn a_stream_cut_after_a_finished_call_runs_and_sends_it_once() {
    let patch = "*** Begin Patch\n*** Add File: added.txt\n+a\n*** End Patch\n";
    let rows = [
        (Item::command("echo ran >> ran.txt"), "ran.txt", "ran\n"),
        (Item::patch(patch), "added.txt", "a\n"),
    ];
    for (call, file, content) in rows {
        let scene = Scene::new(vec![
            Step::items(vec![call]).without_terminal(),
            Step::message("fin"),
        ]);
        let run = scene.completes(&["go"]);
        assert_eq!(messages(&run), ["fin"]);
        assert_eq!(warnings(&run).len(), 1);
        let steps = items(&run, "command_execution").len() + items(&run, "file_change").len();
        assert_eq!(steps, 1);
        let requests = scene.server.requests();
        assert_eq!(requests.len(), 2);
        let count = |kind: &str| {
            let input = requests[1].input().iter();
            input
                .filter(|item| {
                    item["type"]
                        .as_str()
                        .is_some_and(|name| name.ends_with(kind))
                })
                .count()
        };
        assert_eq!((count("_call"), count("_call_output")), (1, 1));
        assert_eq!(scene.workspace.read(file), content);
    }
}

#[test]
fn the_plan_is_shown_as_it_moves() {
    let plan = |first: &str, second: &str| {
        Item::function_call(
            "update_plan",
            json!({"plan": [{"step": "look", "status": first},
                {"step": "mend", "status": second}]}),
        )
    };
    let (scene, run) = run(vec![
        plan("in_progress", "pending"),
        plan("completed", "in_progress"),
        plan("completed", "completed"),
    ]);
    assert_eq!(scene.output(0, 0), "Plan updated");
    let last = items(&run, "todo_list");
    assert_eq!(
        last.last().unwrap()["items"],
        json!([{"text": "look", "completed": true}, {"text": "mend", "completed": true}])
    );
}
