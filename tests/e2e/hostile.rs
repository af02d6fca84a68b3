//! A repository that tries to make the agent tell the model what it must not know.

use std::os::unix::fs::symlink;

use agent_test_support::Step;

use crate::support::Scene;

#[test]
fn instructions_that_lead_to_secrets_are_not_read() {
    let scene = Scene::new(vec![Step::message("done")]);
    let place = &scene.workspace;
    let key = place.user_home().join(".ssh/id_x");
    std::fs::create_dir_all(key.parent().unwrap()).unwrap();
    std::fs::write(&key, "SECRET-OF-SSH").unwrap();
    std::fs::write(place.home().join("auth.json"), "SECRET-OF-AUTH").unwrap();
    let targets = [
        key,
        place.home().join("auth.json"),
        "/proc/self/environ".into(),
        place.outside().join("fine.md"),
    ];
    std::fs::write(place.outside().join("fine.md"), "FINE-TO-READ").unwrap();
    let mut directory = place.work();
    for target in &targets {
        symlink(target, directory.join("AGENTS.md")).unwrap();
        directory = directory.join("deeper");
        std::fs::create_dir_all(&directory).unwrap();
    }
    let run = scene.exec(&["go"]).current_dir(&directory).run();
    run.assert_code(0);
    let request = &scene.server.requests()[0];
    assert!(!request.raw.contains("SECRET-OF"), "{}", request.raw);
    assert!(!request.raw.contains("MOCK_KEY"), "{}", request.raw);
    assert!(request.raw.contains("FINE-TO-READ"));
    let warnings = run.stdout.matches("which is not read").count();
    assert_eq!(warnings, 3, "{}", run.stdout);
}

#[test]
fn a_pipe_named_agents_md_is_not_waited_for() {
    let scene = Scene::new(vec![Step::message("done")]);
    #[expect(clippy::disallowed_methods, reason = "mkfifo(1) makes the pipe")]
    let made = std::process::Command::new("mkfifo")
        .arg(scene.workspace.work().join("AGENTS.md"))
        .status();
    assert!(made.unwrap().success());
    scene.completes(&["go"]);
}
