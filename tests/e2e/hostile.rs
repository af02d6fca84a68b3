//! A repository that tries to make the agent tell the model what it must not know.

use std::os::unix::fs::symlink;
use std::path::Path;

use agent_test_support::{Item, Step};
use serde_json::json;

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

fn make_pipe(path: &Path) {
    #[expect(clippy::disallowed_methods, reason = "mkfifo(1) makes the pipe")]
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn pipes_are_not_waited_for() {
    let scene = Scene::new(vec![Step::message("done")]);
    let pipe = |name: &str| {
        let path = scene.workspace.work().join(name);
        make_pipe(&path);
        path.display().to_string()
    };
    pipe("AGENTS.md");
    scene.completes(&["go"]);
    let (image, schema, answer) = (pipe("i.png"), pipe("schema.json"), pipe("answer"));
    for (args, said) in [
        (["-i", &image], "no regular file"),
        (["-i", "/dev/zero"], "no regular file"),
        (["--output-schema", &schema], "no regular file"),
        (["-o", &answer], "cannot write the last message"),
    ] {
        let run = scene.exec(&[args[0], args[1], "go"]).run();
        run.assert_code(2);
        assert!(run.stderr.contains(said), "{args:?}: {}", run.stderr);
    }
    assert_eq!(scene.server.requests().len(), 1);
}

#[test]
fn calls_that_are_not_quite_calls_get_an_output() {
    let call = |item: serde_json::Value| Step::items(vec![Item::raw(item)]);
    let scene = Scene::new(vec![
        call(
            json!({"type": "function_call", "call_id": "a", "name": "exec_command",
            "arguments": {"cmd": "echo as-object"}}),
        ),
        call(json!({"type": "function_call", "name": "exec_command", "arguments": null})),
        call(json!({"type": "function_call", "call_id": "b", "arguments": "{}"})),
        Step::items(vec![Item::function_call(
            "exec_command",
            json!({"cmd": ["echo"]}),
        )]),
        Step::message("done"),
    ]);
    scene.completes(&["go"]);
    let last = scene.server.requests().pop().unwrap();
    assert!(last.output_of("a").unwrap().contains("as-object"));
    let missing = last.output_of("call-2").unwrap();
    assert!(missing.contains("missing field `cmd`"), "{missing}");
    let unnamed = last.output_of("b").unwrap();
    assert!(unnamed.contains("unsupported call"), "{unnamed}");
    let typed = last.output_of("call_3_0").unwrap();
    assert!(typed.contains("`cmd`: invalid type: sequence"), "{typed}");
}

#[test]
fn a_sequence_that_never_ends_hides_no_later_line() {
    let scene = Scene::new(vec![
        Step::items(vec![Item::command(
            "printf 'a\\033]b\\nimportant error\\n'",
        )]),
        Step::message("done"),
    ]);
    scene.completes(&["go"]);
    assert!(
        scene
            .output(0, 0)
            .ends_with("Output:\na\nimportant error\n")
    );
}

#[test]
fn a_provider_with_an_unusable_address_is_told_before_anything_is_sent() {
    for url in ["ftp://x", "", "http://[::1"] {
        let scene = Scene::new(vec![Step::message("done")]);
        let setting = format!("model_providers.mock.base_url={url:?}");
        let run = scene.exec(&["-c", &setting, "go"]).run();
        run.assert_code(2);
        assert!(run.stderr.contains("unusable base_url"), "{}", run.stderr);
        assert!(!scene.workspace.home().join("sessions").exists());
    }
}
