//! How a run ends, and the exit code that says so.

use agent_test_support::{AgentCommand, Item, Run, Step};
use serde_json::json;

use crate::support::{LONG, Scene, agent, failure, items, messages, prints_events, soon};

/// No second tries, so that a failure is one at once.
const ONCE: &str = "request_max_retries = 0\nstream_max_retries = 0\n";

fn error_body(message: &str, code: &str) -> serde_json::Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "code": code}})
}

/// One task against these steps without second tries.
fn run(steps: Vec<Step>, args: &[&str]) -> (Scene, Run) {
    let scene = Scene::with_provider(steps, ONCE);
    let run = scene.exec(args).run();
    scene.server.assert_clean();
    (scene, run)
}

#[test]
fn xm_05_success_is_0() {
    let (_, run) = run(vec![Step::message("fin")], &["go"]);
    run.assert_code(0);
    assert_eq!(run.events.last().unwrap()["type"], "turn.completed");
}

#[test]
fn xm_05_failures_of_the_model_are_1() {
    let refused = |status| Step::refusal(status, error_body("bad zebra", "x"));
    let rows = [
        ("401", refused(401), "401 Unauthorized: bad zebra"),
        ("400", refused(400), "400 Bad Request: bad zebra"),
        ("429", refused(429), "429 Too Many Requests"),
        ("500", refused(500), "500 Internal Server Error"),
        (
            "failed",
            Step::empty().failed("x", "bad zebra"),
            "bad zebra",
        ),
        ("cut", Step::empty().without_terminal(), "stream"),
        ("empty", Step::empty(), "the model gave an empty response"),
    ];
    for (name, step, part) in rows {
        let (_, run) = run(vec![step], &["go"]);
        run.assert_code(1);
        let message = failure(&run);
        assert!(message.contains(part), "{name}: {message}");
        assert!(run.stderr.contains(&format!("error: {message}")), "{name}");
    }
}

#[test]
fn xm_05_usage_and_configuration_errors_are_2() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let wrong: [(&[&str], &str); 3] = [
        (&["--no-such-flag", "go"], "'--no-such-flag'"),
        (&["-s", "nonsense", "go"], "workspace-write"),
        (&["a", "b", "c"], "'b'"),
    ];
    for (args, part) in wrong {
        let run = scene.agent(&["exec"]).args(args.iter().copied()).run();
        run.assert_code(2);
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    std::fs::write(scene.workspace.home().join("config.toml"), "model = [\n").unwrap();
    scene.is_refused(&["go"]);
}

#[test]
fn xm_05_declined_steps_are_3_where_that_is_asked_for() {
    let escalated = json!({"cmd": "id > id.txt", "sandbox_permissions": "require_escalated",
        "justification": "because"});
    let command = || vec![Item::command_with(escalated.clone())];
    let steps = || vec![Step::items(command()), Step::message("fin")];
    let (scene, strict) = run(steps(), &["-a", "on-request", "--fail-on-declined", "go"]);
    strict.assert_code(3);
    assert_eq!(strict.events.last().unwrap()["type"], "turn.completed");
    let declined = &items(&strict, "command_execution")[0];
    assert_eq!(declined["status"], "declined");
    let output = scene.output(0, 0);
    assert!(output.contains("nobody is there to be asked"), "{output}");
    assert!(!scene.workspace.work().join("id.txt").exists());

    for args in [&["-a", "on-request", "go"][..], &["-a", "never", "go"]] {
        let (scene, lenient) = run(steps(), args);
        lenient.assert_code(0);
        assert_eq!(
            items(&lenient, "command_execution")[0]["status"],
            "declined"
        );
        assert!(!scene.workspace.work().join("id.txt").exists());
    }
}

#[test]
fn xm_05_a_patch_outside_is_declined() {
    let scene = Scene::new(Vec::new());
    let outside = scene.outside("new");
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n",
        outside.display()
    );
    let steps = || {
        vec![
            Step::items(vec![Item::patch(patch.clone())]),
            Step::message("fin"),
        ]
    };
    for (args, code) in [(&["--fail-on-declined", "go"][..], 3), (&["go"], 0)] {
        let (_, run) = run(steps(), args);
        run.assert_code(code);
        assert_eq!(items(&run, "file_change")[0]["status"], "declined");
        assert!(!outside.exists());
    }
}

#[test]
fn xm_05_an_answer_that_does_not_fit_the_schema_is_4() {
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer"}},
        "required": ["n"], "additionalProperties": false}"#;
    let rows = [
        (r#"{"n": 7}"#, 0, ""),
        (r#"{"n": "seven"}"#, 4, "at `/n`"),
        ("seven", 4, "it is not JSON"),
    ];
    for (answer, code, part) in rows {
        let scene = Scene::new(vec![Step::message(answer)]);
        let file = scene.workspace.write("schema.json", schema);
        let run = scene
            .exec(&["--output-schema", file.to_str().unwrap(), "go"])
            .run();
        run.assert_code(code);
        let requests = scene.server.requests();
        assert_eq!(requests.len(), 1);
        let format = &requests[0].body["text"]["format"];
        assert_eq!(format["type"], "json_schema");
        assert_eq!(format["schema"]["required"], json!(["n"]));
        if code == 4 {
            let message = failure(&run);
            assert!(message.contains("does not satisfy the output schema"));
            assert!(message.contains(part), "{message}");
        }
    }
    let scene = Scene::new(vec![Step::message("fin")]);
    for (name, content) in [("broken.json", "{"), ("list.json", "[]")] {
        let file = scene.workspace.write(name, content);
        let run = scene.is_refused(&["--output-schema", file.to_str().unwrap(), "go"]);
        assert!(run.stderr.contains(name), "{}", run.stderr);
    }
}

#[test]
fn xm_05_budgets_are_5() {
    let again = Step::items(vec![Item::command("echo ran >> runs.txt")]).usage(100, 0, 50);
    let rows = [
        (
            &["--max-turns", "2", "go"][..],
            "requests",
            "--max-turns",
            2,
        ),
        (&["--max-tokens", "400", "go"], "tokens", "--max-tokens", 3),
    ];
    for (args, what, option, n_requests) in rows {
        let (scene, run) = run(vec![again.clone()], args);
        run.assert_code(5);
        let message = failure(&run);
        assert_eq!(
            message,
            format!("the limit on {what} of the turn was reached")
        );
        assert!(
            run.stderr
                .contains(&format!("hint: raise it with `{option} N`"))
        );
        assert_eq!(scene.server.requests().len(), n_requests);
        let ran = "ran\n".repeat(n_requests);
        assert_eq!(
            scene.workspace.read("runs.txt"),
            ran,
            "each call had its output"
        );
    }
    let (scene, run) = run(
        vec![Step::empty().hang_after_created()],
        &["--timeout", "1", "go"],
    );
    run.assert_code(5);
    assert!(failure(&run).contains("time"), "{}", failure(&run));
    assert_eq!(scene.server.requests().len(), 1);
}

#[test]
fn xm_05_the_time_limit_ends_a_running_command() {
    let sleep = crate::support::unique_sleep();
    let steps = vec![Step::items(vec![Item::command(&format!("sleep {sleep}"))])];
    let (scene, run) = run(steps, &["--timeout", "1", "go"]);
    run.assert_code(5);
    assert_eq!(scene.server.requests().len(), 1);
    let command = items(&run, "command_execution")[0];
    assert_eq!(command["status"], "failed");
    assert_eq!(command["exit_code"], serde_json::Value::Null);
    assert!(soon(|| crate::support::n_processes(&sleep) == 0));
}

#[test]
fn xm_05_signals_are_128_and_their_number() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let scene = Scene::new(vec![Step::empty().hang_after_created()]);
        let running = scene.exec(&["go"]).spawn();
        assert!(scene.server.wait_for_requests(1, LONG));
        running.signal(signal);
        let run = running.wait();
        run.assert_code(code);
        assert_eq!(failure(&run), "interrupted");
        scene.server.assert_clean();
    }
}

#[test]
fn xm_05_a_closed_standard_output_is_141() {
    let sleep = crate::support::unique_sleep();
    let scene = Scene::new(vec![
        Step::items(vec![Item::command("echo one")]),
        Step::items(vec![Item::command(&format!("echo two; sleep {sleep} &"))]),
        Step::message("fin"),
    ]);
    let run = AgentCommand::new("bash", &scene.workspace)
        .args(["-c", "\"$@\" | head -n 1; exit ${PIPESTATUS[0]}", "bash"])
        .arg(agent())
        .args(["exec", "--json", "-s", "workspace-write", "go"])
        .checked_by(prints_events)
        .run();
    run.assert_code(141);
    assert_eq!(run.stdout.lines().count(), 1);
    assert!(soon(|| crate::support::n_processes(&sleep) == 0));
}

#[test]
fn xm_07_an_interrupt_before_the_first_byte_and_in_the_stream_ends_the_turn() {
    let silent = Step::message("never").hang_before_headers();
    let half = Step::items(vec![Item::message("abc")]).hang_before_terminal();
    for step in [silent, half] {
        let scene = Scene::new(vec![step]);
        let running = scene.exec(&["go"]).spawn();
        assert!(scene.server.wait_for_requests(1, LONG));
        running.signal("INT");
        let run = running.wait();
        run.assert_code(130);
        assert_eq!(failure(&run), "interrupted");
        assert_eq!(scene.server.requests().len(), 1);
    }
}

#[test]
fn xm_07_a_second_interrupt_ends_a_stubborn_command_too() {
    let sleep = crate::support::unique_sleep();
    let stubborn = format!("trap '' INT TERM; touch begun; sleep {sleep}; sleep {sleep}");
    let scene = Scene::new(vec![Step::items(vec![Item::command(&stubborn)])]);
    let running = scene.exec(&["go"]).spawn();
    let begun = scene.workspace.work().join("begun");
    assert!(soon(|| begun.exists()));
    running.signal("INT");
    running.signal("INT");
    let run = running.wait();
    run.assert_code(130);
    failure(&run);
    assert!(soon(|| crate::support::n_processes(&sleep) == 0));
}

#[test]
fn xm_09_the_last_message_file_has_exactly_the_last_message() {
    let (scene, run) = run(
        vec![
            Step::items(vec![Item::message("first"), Item::command("true")]),
            Step::message("last words\nline 2"),
        ],
        &["-o", "out.txt", "go"],
    );
    run.assert_code(0);
    assert_eq!(scene.workspace.read("out.txt"), "last words\nline 2");
    assert_eq!(messages(&run), ["first", "last words\nline 2"]);
}

#[test]
fn xm_09_a_failed_run_leaves_no_stale_message() {
    let scene = Scene::with_provider(vec![Step::refusal(400, error_body("no", "x"))], ONCE);
    let file = scene.workspace.write("out.txt", "STALE");
    scene.exec(&["-o", "out.txt", "go"]).run().assert_code(1);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "");
}

#[test]
fn xm_09_a_missing_directory_for_the_last_message_is_an_error_at_the_start() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene.is_refused(&["-o", "no/such/out.txt", "go"]);
    assert!(
        run.stderr
            .contains("cannot write the last message to `no/such/out.txt`: No such file"),
        "{}",
        run.stderr
    );
}

#[test]
fn xm_11_nothing_is_asked_after_the_answer() {
    let (scene, run) = run(vec![Step::message("fin")], &["go"]);
    run.assert_code(0);
    let requests = scene.server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].method, "POST");
    assert_eq!(requests[0].path, "/v1/responses");
}

#[test]
fn without_a_terminal_the_chat_says_what_to_use() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene.agent(&[]).run();
    run.assert_code(2);
    assert_eq!(
        run.stderr,
        "error: standard output is no terminal\n\
         hint: to run one task without a terminal: agent exec \"explain this repository\"\n"
    );
    assert_eq!(run.stdout, "");
    let run = scene.agent(&["do something"]).run();
    run.assert_code(2);
    assert!(
        run.stderr.ends_with("agent exec \"do something\"\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_help_documents_the_exit_codes() {
    let scene = Scene::new(vec![Step::message("fin")]);
    let run = scene.agent(&["exec", "--help"]).run();
    run.assert_code(0);
    for line in [
        "  0    the turn completed",
        "  5    a budget was reached",
        "  129, 130, 141, 143",
    ] {
        assert!(run.stdout.contains(line), "{line} in {}", run.stdout);
    }
}
