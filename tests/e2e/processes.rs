//! Processes that commands leave behind, and how they end.

use agent_test_support::{Item, Step};
use serde_json::json;

use crate::support::{Scene, failure, items, messages, n_processes, soon, unique_sleep};

/// One task with this call.
fn scene(call: Item) -> Scene {
    Scene::new(vec![Step::items(vec![call]), Step::message("fin")])
}

#[track_caller]
fn assert_gone(sleep: &str) {
    assert!(soon(|| n_processes(sleep) == 0), "`sleep {sleep}` lives on");
}

/// A command that says that it has begun and waits for leave to end.
const HELD: &str = "touch second; until [ -e leave ]; do sleep 0.02; done";

/// One task with this call and then the held command, during which this looks around.
fn look_during_the_next_command(call: Item, look: impl Fn()) -> Scene {
    let scene = Scene::new(vec![
        Step::items(vec![call]),
        Step::items(vec![Item::command(HELD)]),
        Step::message("fin"),
    ]);
    let running = scene.exec(&["go"]).spawn();
    let begun = scene.workspace.work().join("second");
    assert!(soon(|| begun.exists()), "{}", running.stdout());
    look();
    scene.workspace.write("leave", "");
    running.wait().assert_code(0);
    scene.server.assert_clean();
    scene
}

#[test]
fn ex_01_a_grandchild_that_keeps_the_pipe_holds_nobody_up() {
    let sleep = unique_sleep();
    let command = format!("exec 1> >(cat > copy.txt; sleep {sleep}); echo done");
    let scene = scene(Item::command(&command));
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    let output = scene.output(0, 0);
    assert!(output.contains("Process exited with code 0\n"), "{output}");
    assert!(
        output.contains("still running in the background"),
        "{output}"
    );
    assert_eq!(scene.workspace.read("copy.txt"), "done\n");
    assert_gone(&sleep);
}

#[test]
fn ex_03_a_background_job_is_let_go_and_ends_with_the_session() {
    let sleep = unique_sleep();
    let call = Item::command(&format!("sleep {sleep} & echo started"));
    let scene = look_during_the_next_command(call, || assert_eq!(n_processes(&sleep), 1));
    let output = scene.output(0, 0);
    assert!(output.contains("Process exited with code 0\n"), "{output}");
    assert!(
        output.contains("still running in the background"),
        "{output}"
    );
    assert_eq!(scene.printed(0, 0), "started\n");
    assert_gone(&sleep);
}

#[test]
fn ex_05_a_time_limit_ends_the_whole_tree() {
    for template in [
        "sh -c 'sleep @ & sleep @'",
        "setsid sleep @ & sleep @",
        "nohup sleep @ & sleep @",
        "(setsid sh -c 'trap \"\" TERM HUP INT; sleep @; sleep @' &) ; sleep @",
    ] {
        let sleep = unique_sleep();
        let command = format!("echo begun; {}", template.replace('@', &sleep));
        let scene = scene(Item::command_with(
            json!({"cmd": command, "timeout_ms": 1000}),
        ));
        let run = scene.completes(&["go"]);
        let output = scene.output(0, 0);
        let line = "Command timed out after 1000 ms; it and all its processes were ended\n";
        assert!(output.contains(line), "{output}");
        assert_eq!(scene.printed(0, 0), "begun\n", "{output}");
        let item = items(&run, "command_execution")[0];
        assert_eq!(item["status"], "failed");
        assert_eq!(item["exit_code"], serde_json::Value::Null);
        assert_gone(&sleep);
    }
}

#[test]
fn ex_05_nothing_of_the_command_is_left_for_the_next_one() {
    let sleep = unique_sleep();
    let command = format!("setsid sleep {sleep} & nohup sleep {sleep} & sleep {sleep}");
    let call = Item::command_with(json!({"cmd": command, "timeout_ms": 500}));
    look_during_the_next_command(call, || assert_eq!(n_processes(&sleep), 0));
}

/// A command with children that try to get away; the file `begun` says that they are there.
fn stubborn(sleep: &str) -> String {
    format!(
        "setsid sleep {sleep} & nohup sleep {sleep} & (sleep {sleep} &) ; touch begun; sleep {sleep}"
    )
}

#[test]
fn ex_07_children_end_with_the_agent_however_it_ends() {
    for (signal, code) in [("TERM", Some(143)), ("HUP", Some(129)), ("KILL", None)] {
        let sleep = unique_sleep();
        let scene = scene(Item::command(&stubborn(&sleep)));
        let running = scene.exec(&["go"]).spawn();
        let begun = scene.workspace.work().join("begun");
        assert!(soon(|| begun.exists() && n_processes(&sleep) == 4));
        running.signal(signal);
        let run = running.wait();
        assert_eq!(run.code, code, "{signal}: {run:#?}");
        assert_gone(&sleep);
    }
}

#[test]
fn an_interrupt_ends_children_that_got_away_and_completes_the_call() {
    let sleep = unique_sleep();
    let mut scene = scene(Item::command(&stubborn(&sleep)));
    let running = scene.exec(&["go"]).spawn();
    let begun = scene.workspace.work().join("begun");
    assert!(soon(|| begun.exists() && n_processes(&sleep) == 4));
    running.signal("INT");
    let run = running.wait();
    run.assert_code(130);
    assert_eq!(failure(&run), "interrupted");
    let item = items(&run, "command_execution")[0];
    assert_eq!(item["status"], "failed");
    assert_eq!(item["exit_code"], serde_json::Value::Null);
    assert_gone(&sleep);

    scene.answer_by(vec![Step::message("went on")]);
    let run = scene.completes(&["resume", "--last", "again"]);
    assert_eq!(messages(&run), ["went on"]);
    let output = scene.output(0, 0);
    assert!(output.contains("aborted by user"), "{output}");
}

#[test]
fn full_access_leaves_no_process_behind_either() {
    let sleep = unique_sleep();
    let scene = scene(Item::command(&format!(
        "setsid sleep {sleep} & echo started"
    )));
    let run = scene.agent(&["exec", "--json", "--yolo", "go"]).run();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(scene.printed(0, 0), "started\n");
    assert_gone(&sleep);
}
