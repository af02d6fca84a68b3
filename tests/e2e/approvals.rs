//! Approval policies where nobody can be asked: what runs, what is declined, and what the model
//! is told.

use agent_test_support::{Item, Step};
use serde_json::json;

use crate::support::{Scene, items};

fn escalated(command: &str) -> Item {
    Item::command_with(
        json!({"cmd": command, "sandbox_permissions": "require_escalated",
        "justification": "to see it"}),
    )
}

/// One task with these calls in one answer under this policy; the states of the commands.
fn states(policy: &str, calls: Vec<Item>) -> (Scene, Vec<String>) {
    let scene = Scene::with_config(
        vec![Step::items(calls), Step::message("fin")],
        &format!("approval_policy = {policy}"),
    );
    let run = scene.completes(&["go"]);
    let commands = items(&run, "command_execution").into_iter();
    let states = commands.map(|item| item["status"].as_str().unwrap().to_owned());
    let states = states.collect();
    (scene, states)
}

#[test]
fn under_never_nothing_is_asked_and_what_stays_inside_runs() {
    let calls = vec![Item::command("touch a"), escalated("touch b")];
    let (scene, states) = states("\"never\"", calls);
    assert_eq!(states, ["completed", "declined"]);
    let output = scene.output(0, 1);
    assert!(
        output.contains("the approval policy is `never`"),
        "{output}"
    );
    assert!(scene.workspace.work().join("a").exists());
    assert!(!scene.workspace.work().join("b").exists());
}

#[test]
fn under_on_request_only_what_asks_is_declined() {
    let calls = vec![Item::command("touch a"), escalated("touch b")];
    let (scene, states) = states("\"on-request\"", calls);
    assert_eq!(states, ["completed", "declined"]);
    let output = scene.output(0, 1);
    assert!(
        output.contains("`touch b` outside the sandbox (to see it)"),
        "{output}"
    );
    assert!(output.contains("nobody is there to be asked"), "{output}");
    assert!(!scene.workspace.work().join("b").exists());
}

#[test]
fn under_untrusted_only_what_surely_reads_runs() {
    let calls = vec![
        Item::command("ls"),
        Item::command("touch a"),
        Item::command("ls; touch b"),
        Item::command("ls > c"),
        Item::command("find . -delete"),
    ];
    let (scene, mut states) = states("\"untrusted\"", calls);
    states.sort();
    assert_eq!(
        states,
        ["completed", "declined", "declined", "declined", "declined"]
    );
    assert!(scene.output(0, 0).contains("Process exited with code 0"));
    for call in 1..5 {
        assert!(scene.output(0, call).starts_with("declined: "));
    }
    let entries = std::fs::read_dir(scene.workspace.work()).unwrap();
    assert_eq!(entries.count(), 1, "only .git is there");
}

#[test]
fn granular_policies_say_which_questions_there_are() {
    for (allowed, part) in [
        ("true", "nobody is there to be asked"),
        ("false", "running outside the sandbox is not available"),
    ] {
        let policy = format!("{{ granular = {{ sandbox_approval = {allowed} }} }}");
        let (scene, states) = states(&policy, vec![escalated("touch b")]);
        assert_eq!(states, ["declined"]);
        let output = scene.output(0, 0);
        assert!(output.contains(part), "{output}");
        assert!(!scene.workspace.work().join("b").exists());
    }
}

#[test]
fn full_access_needs_no_escalation() {
    let scene = Scene::new(Vec::new());
    let outside = scene.outside("p");
    let command = format!("echo x > {}", outside.display());
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+y\n*** End Patch\n",
        scene.outside("q").display()
    );
    let inner = Scene::new(vec![
        Step::items(vec![escalated(&command), Item::patch(patch)]),
        Step::message("fin"),
    ]);
    let run = inner
        .agent(&["exec", "--json", "--yolo", "--fail-on-declined", "go"])
        .run();
    run.assert_code(0);
    inner.server.assert_clean();
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "x\n");
    assert_eq!(std::fs::read_to_string(scene.outside("q")).unwrap(), "y\n");
}

#[test]
fn a_program_in_the_place_of_the_shell_is_named_and_never_safe() {
    let posing = |escalates: bool| {
        let mut call = json!({"cmd": "git status", "shell": "/w/posing as git"});
        if escalates {
            call["sandbox_permissions"] = json!("require_escalated");
        }
        Item::command_with(call)
    };
    for (policy, escalates) in [("\"untrusted\"", false), ("\"on-request\"", true)] {
        let (scene, states) = states(policy, vec![posing(escalates)]);
        assert_eq!(states, ["declined"], "{policy}");
        let output = scene.output(0, 0);
        let named = "`'/w/posing as git' -c 'git status'`";
        assert!(output.contains(named), "{output}");
    }
}
