//! `agent doctor`: what this machine grants of the sandbox.

use serde_json::Value;

use crate::support::Scene;

#[test]
fn it_says_what_commands_get_here() {
    let scene = Scene::new(Vec::new());
    let run = scene.agent(&["doctor"]).args(["--json"]).run();
    let report: Value = serde_json::from_str(&run.stdout).expect(&run.stdout);
    let level = report["sandbox"]["level"].as_str().unwrap();
    // A command in the sandbox is told the same.
    let told = scene
        .agent(&[
            "sandbox",
            "-s",
            "workspace-write",
            "--",
            "sh",
            "-c",
            "echo $AGENT_SANDBOX",
        ])
        .run();
    assert_eq!(told.stdout.trim(), level);
    run.assert_code(if level == "none" { 6 } else { 0 });
    let human = scene.agent(&["doctor"]).run();
    assert!(
        human
            .stdout
            .contains(&format!("sandbox level    {level}\n")),
        "{}",
        human.stdout
    );
    assert!(
        human.stdout.contains("/proc/sys/kernel/osrelease = "),
        "{}",
        human.stdout
    );
    let missing = report["sandbox"]["missing"].as_array().unwrap();
    for layer in missing {
        let cost = layer["cost"].as_str().unwrap();
        assert!(human.stdout.contains(cost), "{}", human.stdout);
    }
}

#[test]
fn inside_a_sandbox_of_ours_it_says_so() {
    let scene = Scene::new(Vec::new());
    let agent = crate::support::agent();
    let run = scene
        .agent(&["sandbox", "-s", "workspace-write", "--"])
        .args([agent.to_str().unwrap(), "doctor", "--json"])
        .run();
    let report: Value = serde_json::from_str(&run.stdout).expect(&run.stdout);
    assert_eq!(
        report["sandbox"]["inside_another_sandbox"], true,
        "{report}"
    );
}
