//! Commands: their output, their environment, and what order they run in.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use agent_test_support::{Item, Run, Step};
use serde_json::{Value, json};

use crate::support::{Scene, items, messages, soon, tool};

/// One task with these commands in one answer.
fn scene(commands: &[&str]) -> Scene {
    let calls = commands.iter().map(|command| Item::command(command));
    Scene::new(vec![Step::items(calls.collect()), Step::message("fin")])
}

#[track_caller]
fn run(command: &str) -> (Scene, Run) {
    let scene = scene(&[command]);
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    (scene, run)
}

#[test]
fn ex_09_a_few_very_long_lines_keep_the_tail() {
    let long = "head -c 50000 /dev/zero | tr '\\0' a";
    let (scene, run) = run(&format!(
        "{long}; echo; echo 'error: linker failed' >&2; exit 1"
    ));
    let output = scene.output(0, 0);
    assert!(output.contains("Process exited with code 1\n"), "{output}");
    assert!(output.ends_with("error: linker failed\n"));
    assert!(output.contains("tokens truncated"), "the cut is named");
    assert!(output.len() < 45_000, "{}", output.len());
    let item = items(&run, "command_execution")[0];
    assert_eq!(
        (&item["status"], &item["exit_code"]),
        (&json!("failed"), &json!(1))
    );
}

#[test]
fn ex_11_binary_output_and_invalid_utf_8_arrive_as_text() {
    let (scene, _) = run("head -c 3000 /dev/urandom; echo; printf '\\xff\\xfe\\x00ok-end'");
    assert!(
        scene.output(0, 0).ends_with("ok-end"),
        "{}",
        scene.output(0, 0)
    );
    let (scene, run) = self::run("printf 'a\\xff\\x00b\\n'");
    assert!(scene.printed(0, 0).starts_with("a\u{fffd}"));
    assert!(scene.printed(0, 0).ends_with("b\n"));
    let item = items(&run, "command_execution")[0];
    assert!(
        item["aggregated_output"]
            .as_str()
            .unwrap()
            .starts_with("a\u{fffd}")
    );
}

#[test]
fn ex_13_escape_sequences_reach_neither_stream_of_people() {
    let escapes = r"printf '\033]0;pwn\007\033]52;c;QUJD\007\033[2J\033[?1049h\033[31mred-text\n'";
    let scene = Scene::new(vec![
        Step::items(vec![
            Item::message("look \u{1b}]0;pwn\u{7}\u{1b}[2Jsaid-text"),
            Item::command(escapes),
            Item::command("printf x; # \u{1b}[2Jshown-command"),
            Item::patch(
                "*** Begin Patch\n*** Add File: n\u{1b}[2Jame.txt\n+a\u{1b}[31mb\n*** End Patch\n",
            ),
        ]),
        Step::message("done \u{1b}]52;c;QUJD\u{7}\u{1b}[?1049hanswer"),
    ]);
    let run = scene
        .human(&["--color", "never", "go \u{1b}[2J prompt"])
        .run();
    run.assert_code(0);
    scene.server.assert_clean();
    for stream in [&run.stdout, &run.stderr] {
        assert!(!stream.contains(['\u{1b}', '\u{7}']), "{stream:?}");
    }
    for text in ["said-text", "red-text", "shown-command"] {
        assert!(run.stderr.contains(text), "{text} in {}", run.stderr);
    }
    assert!(run.stdout.ends_with("answer\n"), "{:?}", run.stdout);
}

#[test]
fn ex_17_secrets_of_the_environment_reach_no_command() {
    let command = "env; tr '\\0' '\\n' < /proc/$PPID/environ; \
                   for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null; true";
    let scene = scene(&[command]);
    let run = scene
        .exec(&["go"])
        .env("MOCK_KEY", "prov-key-9f3a")
        .env("OPENAI_API_KEY", "k1-openai-77")
        .env("GITHUB_TOKEN", "k2-github-77")
        .env("MY_SECRET", "k3-secret-77")
        .env("PLAIN_VAR", "plain-77")
        .run();
    run.assert_code(0);
    scene.server.assert_clean();
    let output = scene.output(0, 0);
    assert!(output.contains("PLAIN_VAR=plain-77"), "{output}");
    assert!(output.contains("AGENT_SANDBOX="), "{output}");
    assert!(
        output.contains("AGENT_SANDBOX_NETWORK_DISABLED=1"),
        "{output}"
    );
    for secret in [
        "prov-key-9f3a",
        "k1-openai-77",
        "k2-github-77",
        "k3-secret-77",
    ] {
        assert!(!output.contains(secret), "{secret} in {output}");
        assert!(!run.stdout.contains(secret));
    }
}

#[test]
fn ex_17_withheld_variables_are_named_where_they_matter() {
    let scene = scene(&["echo \"token: $GITHUB_TOKEN\""]);
    let run = scene.exec(&["go"]).env("GITHUB_TOKEN", "k2").run();
    run.assert_code(0);
    let output = scene.output(0, 0);
    assert!(
        output.contains("withheld from commands: GITHUB_TOKEN\n"),
        "{output}"
    );
    assert_eq!(scene.printed(0, 0), "token: \n");
}

#[test]
fn ex_23_commands_inherit_no_descriptors() {
    let (scene, _) = run("ls -l /proc/self/fd; echo in-shell; ls -l /proc/$$/fd");
    let printed = scene.printed(0, 0);
    let links = printed.lines().filter_map(|line| line.split_once(" -> "));
    let mut n_links = 0;
    for (left, target) in links {
        n_links += 1;
        let number: u32 = left.rsplit(' ').next().unwrap().parse().unwrap();
        // ls itself has the directory open; bash keeps its script or terminal at 255.
        let own = target.starts_with("/proc/") || number == 255;
        assert!(number <= 2 || own, "{number} -> {target}\n{printed}");
    }
    assert!(n_links >= 6, "{printed}");
}

#[test]
fn standard_input_of_a_command_is_empty() {
    let scene = scene(&["cat; echo read"]);
    let run = scene.exec(&["go", "--stdin", "none"]).stdin_open().run();
    run.assert_code(0);
    assert_eq!(scene.printed(0, 0), "read\n");
}

/// Opens a pipe for writing, once somebody reads from it.
fn open_when_read(path: &Path) -> File {
    // O_NONBLOCK of open(2): without a reader it fails instead of waiting.
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(0o4000);
    let mut file = None;
    assert!(soon(|| {
        file = options.open(path).ok();
        file.is_some()
    }));
    file.unwrap()
}

#[test]
fn commands_that_only_read_run_side_by_side() {
    let scene = scene(&["cat one.pipe", "cat two.pipe"]);
    let work = scene.workspace.work();
    let pipes = ["one.pipe", "two.pipe"].map(|name| work.join(name));
    assert!(tool("mkfifo").args(&pipes).status().unwrap().success());
    let running = scene
        .agent(&["exec", "--json", "-s", "read-only", "go"])
        .spawn();
    // The second one is there while the first one cannot end, as it is not given its end.
    let mut writers = pipes.each_ref().map(|pipe| open_when_read(pipe));
    writers[1].write_all(b"second\n").unwrap();
    writers[0].write_all(b"first\n").unwrap();
    drop(writers);
    let run = running.wait();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(
        (scene.printed(0, 0), scene.printed(0, 1)),
        ("first\n".into(), "second\n".into())
    );
    let outputs = scene.server.requests()[1].input().to_owned();
    let outputs = outputs
        .iter()
        .filter(|item| item["type"] == "function_call_output");
    let ids: Vec<&Value> = outputs.map(|item| &item["call_id"]).collect();
    assert_eq!(ids, ["call_0_0", "call_0_1"]);
}

#[test]
fn commands_that_may_write_run_one_after_the_other() {
    let scene = scene(&[
        "test ! -e second; sleep 0.3; echo first >> order.txt",
        "touch second; echo second >> order.txt",
        "echo third >> order.txt; cat order.txt",
    ]);
    scene.completes(&["go"]);
    assert_eq!(scene.workspace.read("order.txt"), "first\nsecond\nthird\n");
    assert_eq!(scene.printed(0, 2), "first\nsecond\nthird\n");
}

#[test]
fn a_command_that_cannot_start_says_why() {
    let scene = Scene::new(vec![
        Step::items(vec![
            Item::command_with(json!({"cmd": "pwd", "workdir": "no/such"})),
            Item::command_with(json!({"cmd": "pwd", "shell": "/no/such/shell"})),
            Item::command("no_such_program_77"),
        ]),
        Step::message("fin"),
    ]);
    scene.completes(&["go"]);
    let output = scene.output(0, 0);
    assert!(
        output.starts_with("exec_command failed: cannot start in `"),
        "{output}"
    );
    assert!(output.contains("no/such`: it does not exist"), "{output}");
    let output = scene.output(0, 1);
    assert!(output.contains("cannot run `/no/such/shell`"), "{output}");
    let output = scene.output(0, 2);
    assert!(output.contains("Process exited with code 127"), "{output}");
}

#[test]
fn a_working_directory_that_vanishes_ends_no_session() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n";
    let scene = Scene::new(vec![
        Step::items(vec![Item::command("rmdir ../gone && echo removed")]),
        Step::items(vec![Item::command("echo here")]),
        Step::items(vec![Item::patch(patch)]),
        Step::message("fin"),
    ]);
    let gone = scene.workspace.work().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let args = ["exec", "--json", "--yolo", "go"];
    let run = scene.agent(&args).current_dir(&gone).run();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(messages(&run), ["fin"]);
    assert_eq!(scene.printed(0, 0), "removed\n");
    assert_eq!(
        scene.output(1, 0),
        format!(
            "exec_command failed: cannot start in `{}`: it does not exist",
            gone.display()
        )
    );
    // An edit makes the directories that it needs.
    assert_eq!(scene.workspace.read("gone/a.txt"), "a\n");
}

#[test]
fn a_directory_of_the_workspace_that_vanishes_is_named() {
    let at_sub = |cmd: &str| Item::command_with(json!({"cmd": cmd, "workdir": "sub"}));
    let scene = Scene::new(vec![
        Step::items(vec![at_sub("rmdir ../sub && echo removed"), at_sub("pwd")]),
        Step::items(vec![Item::command("echo here")]),
        Step::message("fin"),
    ]);
    std::fs::create_dir(scene.workspace.work().join("sub")).unwrap();
    scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "removed\n");
    let output = scene.output(0, 1);
    assert!(output.contains("/sub`: it does not exist"), "{output}");
    assert_eq!(scene.printed(1, 0), "here\n");
}

#[test]
fn ex_21_trivial_commands_end_at_once_however_many_they_are() {
    let commands = ["pwd", "true", "printf x"];
    let steps =
        (0..50).flat_map(|_| commands.map(|command| Step::items(vec![Item::command(command)])));
    let scene = Scene::new(steps.chain([Step::message("fin")]).collect());
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    for number in 0..150 {
        let output = scene.output(number, 0);
        assert!(output.contains("Process exited with code 0\n"), "{output}");
        assert!(!output.contains("session ID"), "{output}");
    }
}
