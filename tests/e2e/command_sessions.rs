//! Commands that outlive their call: polled, typed into, stopped, and gone with the run.

use agent_test_support::{Item, Step};
use serde_json::{Value, json};

use crate::support::{Scene, items, n_processes, soon, unique_sleep};

fn command(cmd: &str, more: &Value) -> Item {
    let mut arguments = json!({ "cmd": cmd });
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    Item::command_with(arguments)
}

fn write_stdin(arguments: Value) -> Item {
    Item::function_call("write_stdin", arguments)
}

/// One call a request, then the end.
fn scene(calls: Vec<Item>) -> Scene {
    let mut steps: Vec<Step> = calls
        .into_iter()
        .map(|call| Step::items(vec![call]))
        .collect();
    steps.push(Step::message("fin"));
    Scene::new(steps)
}

#[test]
fn a_slow_command_yields_and_is_polled_to_its_end() {
    let scene = scene(vec![
        command(
            "echo begin; sleep 3; echo end; exit 3",
            &json!({"yield_time_ms": 1500}),
        ),
        write_stdin(json!({"session_id": 1})),
        write_stdin(json!({"session_id": 1})),
    ]);
    let run = scene.completes(&["go"]);
    let first = scene.output(0, 0);
    assert!(
        first.contains("Process running with session ID 1\n"),
        "{first}"
    );
    assert_eq!(scene.printed(0, 0), "begin\n");
    let second = scene.output(1, 0);
    assert!(second.contains("Process exited with code 3\n"), "{second}");
    // Only what is new.
    assert_eq!(scene.printed(1, 0), "end\n");
    let third = scene.output(2, 0);
    assert!(third.contains("Unknown process id 1"), "{third}");
    let commands = items(&run, "command_execution");
    assert_eq!(commands.len(), 1, "{commands:?}");
    assert_eq!(commands[0]["exit_code"], 3);
    assert_eq!(commands[0]["aggregated_output"], "begin\nend\n");
}

#[test]
fn a_terminal_takes_input_and_control_characters() {
    let scene = scene(vec![
        command(
            "stty -echo; test -t 0 && test -t 1 && echo tty; test -e $(tty) && echo named; stty size; echo $TERM; read name; echo \"hi $name\"; cat",
            &json!({"tty": true, "yield_time_ms": 3000}),
        ),
        write_stdin(json!({"session_id": 1, "chars": "Ada\n", "yield_time_ms": 2000})),
        write_stdin(json!({"session_id": 1, "chars": "\u{3}", "yield_time_ms": 5000})),
    ]);
    let run = scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "tty\nnamed\n24 80\nxterm\n");
    assert_eq!(scene.printed(1, 0), "hi Ada\n");
    let end = scene.output(2, 0);
    assert!(end.contains("Process exited with code 130\n"), "{end}");
    assert_eq!(items(&run, "command_execution").len(), 1);
}

#[test]
fn a_program_may_close_its_terminal_and_open_it_again() {
    let script = "exec </dev/null >/dev/null 2>&1; sleep 0.2; echo back >/dev/tty; exit 4";
    let scene = scene(vec![command(script, &json!({"tty": true}))]);
    scene.completes(&["go"]);
    let end = scene.output(0, 0);
    assert!(end.contains("Process exited with code 4\n"), "{end}");
    assert_eq!(scene.printed(0, 0), "back\n");
}

#[test]
fn input_is_refused_while_it_is_not_read_and_taken_when_it_is() {
    // The kernel holds up to 68 KiB for a terminal that is not read, the agent 64 KiB.
    let text = "x".repeat(60_000);
    let typed = || write_stdin(json!({"session_id": 1, "chars": text, "yield_time_ms": 250}));
    // A terminal that is not raw throws away what is too long for a line.
    let script = "stty raw -echo; touch raw; while ! test -e go; do sleep 0.05; done; \
                  head -c 60000 >/dev/null; touch drained; head -c 60000 | wc -c";
    let until = |file: &str| format!("while ! test -e {file}; do sleep 0.05; done");
    let scene = scene(vec![
        command(script, &json!({"tty": true, "yield_time_ms": 250})),
        Item::command(&until("raw")),
        typed(),
        typed(),
        typed(),
        Item::command(&format!("touch go; {}", until("drained"))),
        typed(),
        write_stdin(json!({"session_id": 1})),
    ]);
    scene.completes(&["go"]);
    let full = scene.output(4, 0);
    assert!(full.contains("does not read what was written"), "{full}");
    // It echoes nothing; one of the two last looks saw its end.
    let end = format!("{}{}", scene.output(6, 0), scene.output(7, 0));
    assert!(end.contains("exited with code 0"), "{end}");
    assert!(end.contains("60000\n"), "{end}");
}

#[test]
fn without_a_terminal_there_is_nothing_to_type_into() {
    let sleep = unique_sleep();
    let scene = scene(vec![
        command("cat; echo read", &json!({})),
        command(&format!("sleep {sleep}"), &json!({"yield_time_ms": 250})),
        write_stdin(json!({"session_id": 2, "chars": "x\n"})),
        write_stdin(json!({"session_id": 2, "chars": "\u{3}"})),
        write_stdin(json!({"session_id": 2})),
        write_stdin(json!({"session_id": 77, "chars": "x"})),
    ]);
    scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "read\n");
    let refused = scene.output(2, 0);
    assert!(
        refused.contains("start the command with `tty: true`"),
        "{refused}"
    );
    let stopped = format!("{}{}", scene.output(3, 0), scene.output(4, 0));
    assert!(
        stopped.contains("interrupted by `write_stdin`"),
        "{stopped}"
    );
    assert!(scene.output(5, 0).contains("Unknown process id 77"));
    assert_eq!(n_processes(&sleep), 0);
}

#[test]
fn a_command_that_yields_does_not_hold_up_the_next_one() {
    let sleep = unique_sleep();
    let steps = vec![
        Step::items(vec![
            command(&format!("sleep {sleep}"), &json!({"yield_time_ms": 250})),
            Item::command("echo next"),
        ]),
        Step::message("fin"),
    ];
    let scene = Scene::new(steps);
    let run = scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 1), "next\n");
    // It is ended with the run, and its step says so before the turn ends.
    let commands = items(&run, "command_execution");
    let left = commands
        .iter()
        .find(|item| item["exit_code"].is_null())
        .unwrap();
    assert_eq!(left["status"], "failed");
    assert_eq!(run.events.last().unwrap()["type"], "turn.completed");
    assert!(soon(|| n_processes(&sleep) == 0));
}

#[test]
fn processes_that_a_shell_leaves_behind_are_a_session() {
    let scene = scene(vec![
        Item::command("(sleep 1; echo late) & echo early"),
        write_stdin(json!({"session_id": 1, "yield_time_ms": 5000})),
        write_stdin(json!({"session_id": 1, "yield_time_ms": 5000})),
    ]);
    scene.completes(&["go"]);
    let first = scene.output(0, 0);
    assert!(first.contains("Process exited with code 0\n"), "{first}");
    assert!(
        first.contains("still running in the background with session ID 1"),
        "{first}"
    );
    assert_eq!(scene.printed(0, 0), "early\n");
    let printed = format!("{}{}", scene.output(1, 0), scene.output(2, 0));
    assert!(printed.contains("late\n"), "{printed}");
}

#[test]
fn the_limit_ends_a_command_in_the_background_too() {
    let sleep = unique_sleep();
    let scene = scene(vec![
        command(
            &format!("setsid nohup sleep {sleep} & echo a; sleep {sleep}"),
            &json!({"yield_time_ms": 250, "timeout_ms": 1000}),
        ),
        write_stdin(json!({"session_id": 1})),
    ]);
    scene.completes(&["go"]);
    let end = scene.output(1, 0);
    assert!(end.contains("timed out after 1000 ms"), "{end}");
    assert_eq!(n_processes(&sleep), 0);
}

#[test]
fn the_limit_ends_what_a_shell_left_behind() {
    let sleep = unique_sleep();
    let scene = scene(vec![
        command(
            &format!("sleep {sleep} & echo a"),
            &json!({"timeout_ms": 1000}),
        ),
        write_stdin(json!({"session_id": 1})),
        write_stdin(json!({"session_id": 1})),
    ]);
    let run = scene.completes(&["go"]);
    assert!(scene.output(0, 0).contains("still running"));
    let second = scene.output(1, 0);
    assert!(!second.contains("still running"), "{second}");
    assert!(scene.output(2, 0).contains("Unknown process id 1"));
    assert_eq!(items(&run, "command_execution").len(), 1);
}

#[test]
fn characters_are_not_cut_between_two_looks() {
    let script = r"printf 'a\303'; sleep 3; printf '\251b'";
    let scene = scene(vec![
        command(script, &json!({"yield_time_ms": 1500})),
        write_stdin(json!({"session_id": 1})),
    ]);
    let run = scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "a");
    assert_eq!(scene.printed(1, 0), "éb");
    assert_eq!(
        items(&run, "command_execution")[0]["aggregated_output"],
        "aéb"
    );
}

#[test]
fn a_resumed_conversation_does_not_use_numbers_again() {
    let left = |name: &str| {
        command(
            &format!("echo {name}; cat"),
            &json!({"tty": true, "yield_time_ms": 250}),
        )
    };
    let mut scene = scene(vec![left("old")]);
    scene.completes(&["go"]);
    assert!(scene.output(0, 0).contains("session ID 1\n"));
    scene.answer_by(vec![
        Step::items(vec![left("new")]),
        Step::items(vec![write_stdin(
            json!({"session_id": 1, "chars": "yes\n"}),
        )]),
        Step::message("fin"),
    ]);
    scene.completes(&["resume", "--last", "again"]);
    let new = scene.output(0, 0);
    assert!(new.contains("running with session ID"), "{new}");
    let typed = scene.output(1, 0);
    assert!(typed.contains("Unknown process id 1 (running:"), "{typed}");
}

#[test]
fn the_configuration_limits_commands_and_waits() {
    let sleep = unique_sleep();
    let config = "command_timeout_ms = 1500\nbackground_terminal_max_timeout = 300";
    let calls = vec![
        command(&format!("sleep {sleep}"), &json!({"yield_time_ms": 250})),
        write_stdin(json!({"session_id": 1, "yield_time_ms": 60000})),
        command(&format!("sleep {sleep}"), &json!({})),
    ];
    let mut steps: Vec<Step> = calls
        .into_iter()
        .map(|call| Step::items(vec![call]))
        .collect();
    steps.push(Step::message("fin"));
    let scene = Scene::with_config(steps, config);
    scene.completes(&["go"]);
    let waited = scene.output(1, 0);
    assert!(waited.contains("running with session ID 1"), "{waited}");
    let limited = scene.output(2, 0);
    assert!(limited.contains("timed out after 1500 ms"), "{limited}");
    assert_eq!(n_processes(&sleep), 0);
}
