//! `agent demo`, which is what a newcomer runs first.

use std::process::Command;

use agent_test_support::{AgentCommand, Workspace};

use crate::support::agent;

#[test]
fn the_demonstration_fixes_a_test_that_then_really_passes() {
    let workspace = Workspace::new();
    let run = AgentCommand::new(agent(), &workspace).arg("demo").run();
    run.assert_code(0);
    let line = run
        .stdout
        .lines()
        .find(|line| line.contains("repository  "));
    let line = line.unwrap_or_else(|| panic!("no repository in {}", run.stdout));
    let repository = line.trim().trim_start_matches("repository").trim();
    assert!(repository.starts_with(workspace.tmp().to_str().unwrap()));
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is run by hand, as a person would"
    )]
    let test = Command::new("sh")
        .arg("test.sh")
        .current_dir(repository)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&test.stdout),
        "ok: the total is 12\n"
    );
    assert!(test.status.success());
    assert!(
        run.stderr.contains("should be 12, but it is -12"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("ok: the total is 12"), "{}", run.stderr);
    assert!(
        run.stdout.contains("+    total=$((total + price))"),
        "{}",
        run.stdout
    );
    let sessions = workspace.home().join("sessions");
    assert!(run.stdout.contains(sessions.to_str().unwrap()));
    assert!(sessions.is_dir());
}
