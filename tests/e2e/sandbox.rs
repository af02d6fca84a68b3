//! The sandbox as a turn meets it: what is denied, what still works, and what is said about it.

use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;

use agent_test_support::{AgentCommand, Item, Run, Step};
use serde_json::json;

use crate::support::{
    Scene, agent, failure, is_there, items, messages, n_processes, prints_events, soon, tool,
    unique_sleep,
};

/// One task with this command, with files made before.
#[track_caller]
fn run(command: &str, prepare: impl Fn(&Scene)) -> Scene {
    let scene = Scene::new(vec![
        Step::items(vec![Item::command(command)]),
        Step::message("fin"),
    ]);
    prepare(&scene);
    scene.completes(&["go"]);
    scene
}

#[test]
fn sb_01_a_write_outside_is_denied_and_explained() {
    let scene = Scene::new(Vec::new());
    let outside = scene.outside("p");
    let command = format!(
        "echo x > {}; echo rc=$?; echo y > inside.txt; exit 1",
        outside.display()
    );
    let inner = run(&command, |_| ());
    assert!(!outside.exists());
    assert_eq!(inner.workspace.read("inside.txt"), "y\n");
    let output = inner.output(0, 0);
    assert!(output.contains("rc=1"), "{output}");
    assert!(output.contains("\nSandbox: "), "{output}");
}

#[test]
fn sb_03_a_linked_worktree_takes_commits_and_no_hooks() {
    for with_root in [false, true] {
        let scene = Scene::new(vec![
            Step::items(vec![
                Item::command("echo n > n.txt; git add -A && git commit -qm t; echo commit=$?"),
                Item::command(
                    "d=$(git rev-parse --git-common-dir); echo '#!/bin/sh' > $d/hooks/pre-commit; \
                     echo hook=$?; git config core.fsmonitor /tmp/x; echo config=$?",
                ),
            ]),
            Step::message("fin"),
        ]);
        let place = &scene.workspace;
        place.write("a.txt", "a");
        place.git(&["add", "-A"]);
        place.git(&["commit", "-qm", "base"]);
        place.git(&["worktree", "add", "-q", "../wt"]);
        let git_dir = place.work().join(".git");
        let mut command = scene.exec(&["go"]).current_dir(place.work().join("../wt"));
        if with_root {
            command = command.args(["--add-dir".into(), git_dir.clone().into_os_string()]);
        }
        command.run().assert_code(0);
        scene.server.assert_clean();
        assert_eq!(scene.printed(0, 0), "commit=0\n", "{}", scene.output(0, 0));
        let output = scene.output(0, 1);
        assert!(
            !output.contains("hook=0") && !output.contains("config=0"),
            "{output}"
        );
        assert!(output.contains("\nSandbox: "), "{output}");
        assert!(!git_dir.join("hooks/pre-commit").exists());
        assert!(!place.read(".git/config").contains("fsmonitor"));
        let log = place.git(&["log", "-1", "--format=%s", "wt"]);
        assert_eq!(log, "t\n");
    }
}

/// A command that runs another one where no user namespace can be made and no capability is
/// left. None where this machine cannot arrange that; the test says so.
fn without_namespaces(scene: &Scene) -> Option<AgentCommand> {
    let arranged = [
        "-Ur",
        "sh",
        "-c",
        "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"",
        "sh",
        "setpriv",
        "--bounding-set",
        "-all",
        "--inh-caps",
        "-all",
    ];
    if !is_there("unshare") || !is_there("setpriv") {
        return None;
    }
    let probe = tool("unshare")
        .args(arranged)
        .args(["unshare", "-Ur", "true"])
        .output()
        .unwrap();
    if !String::from_utf8_lossy(&probe.stderr).contains("unshare failed") {
        eprintln!("SKIPPED: user namespaces cannot be switched off here: {probe:?}");
        return None;
    }
    Some(
        AgentCommand::new("unshare", &scene.workspace)
            .args(arranged)
            .arg(agent()),
    )
}

/// Runs one task with this command without user namespaces.
fn run_without_namespaces(command: &str, more: &str) -> Option<(Scene, Run)> {
    let steps = vec![
        Step::items(vec![Item::command(command)]),
        Step::message("fin"),
    ];
    let scene = Scene::with_config(steps, more);
    let command = without_namespaces(&scene)?;
    let run = command
        .args(["exec", "--json", "-s", "workspace-write", "go"])
        .checked_by(prints_events)
        .run();
    scene.server.assert_clean();
    Some((scene, run))
}

#[test]
fn sb_05_without_user_namespaces_landlock_stands_in_or_the_run_says_6() {
    let elsewhere = Scene::new(Vec::new());
    let outside = elsewhere.outside("p");
    let command = format!(
        "echo hi > a.txt; echo x > {}; echo rc=$?",
        outside.display()
    );
    let Some((scene, run)) = run_without_namespaces(&command, "") else {
        return;
    };
    assert!(!outside.exists());
    if run.code == Some(0) {
        assert_eq!(scene.workspace.read("a.txt"), "hi\n");
        assert!(
            scene.output(0, 0).contains("rc=1"),
            "{}",
            scene.output(0, 0)
        );
        assert_eq!(messages(&run), ["fin"]);
    } else {
        // A kernel without Landlock.
        run.assert_code(6);
        assert!(failure(&run).contains("no usable sandbox"), "{run:#?}");
        assert!(!scene.workspace.work().join("a.txt").exists());
    }
}

#[test]
fn xm_05_no_usable_sandbox_is_6() {
    let strict = "sandbox_strict = true";
    let Some((scene, run)) = run_without_namespaces("echo hi > a.txt", strict) else {
        return;
    };
    run.assert_code(6);
    assert!(failure(&run).contains("no usable sandbox"), "{run:#?}");
    assert!(run.stderr.contains("hint: "), "{}", run.stderr);
    assert!(!scene.workspace.work().join("a.txt").exists());
    assert_eq!(items(&run, "command_execution")[0]["status"], "failed");
}

#[test]
fn a_list_of_hosts_is_refused_as_a_whole_without_namespaces() {
    let list = "network = [\"x.example\"]";
    let Some((scene, run)) = run_without_namespaces("echo hi > a.txt", list) else {
        return;
    };
    run.assert_code(6);
    let said = failure(&run);
    assert!(
        said.contains("`network` lists hosts, which needs namespaces"),
        "{said}"
    );
    assert!(!scene.workspace.work().join("a.txt").exists());
    for words in [["sandbox", "--", "true"].as_slice(), &["doctor"]] {
        let run = without_namespaces(&scene)
            .unwrap()
            .args(words.iter().copied())
            .run();
        run.assert_code(6);
        let said = run.stdout.clone() + &run.stderr;
        assert!(
            said.contains("`network` lists hosts, which needs namespaces"),
            "{said}"
        );
    }
}

#[test]
fn sb_07_a_link_leads_nobody_out() {
    let scene = Scene::new(Vec::new());
    let outside = scene.workspace.outside();
    let inner = run("echo x > out/p; echo rc=$?; echo y > inside.txt", |inner| {
        symlink(&outside, inner.workspace.work().join("out")).unwrap();
    });
    assert!(!outside.join("p").exists());
    assert_eq!(inner.workspace.read("inside.txt"), "y\n");
    assert_eq!(inner.printed(0, 0).lines().last(), Some("rc=1"));

    let race = format!(
        "( for i in $(seq 150); do mkdir d; unlink d/p; rmdir d; ln -s {} d; unlink d; done \
         2>/dev/null; touch stop ) & n=0; while [ ! -e stop ]; do echo x > d/p; n=$((n+1)); done \
         2>/dev/null; wait; echo tries=$n",
        outside.display()
    );
    let inner = run(&race, |_| ());
    assert!(!outside.join("p").exists());
    let printed = inner.printed(0, 0);
    let tries: u32 = printed
        .trim()
        .rsplit('=')
        .next()
        .unwrap()
        .parse()
        .expect(&printed);
    assert!(tries > 50, "the race did not run: {printed}");
}

/// Runs a Python program in the sandbox and returns what it printed; None without Python.
fn python(program: &str) -> Option<String> {
    if !is_there("python3") {
        return None;
    }
    let scene = run("timeout 20 python3 program.py; echo rc=$?", |scene| {
        scene.workspace.write("program.py", program);
    });
    Some(scene.printed(0, 0))
}

#[test]
fn sb_09_an_event_loop_is_woken_up() {
    let program = "import asyncio,threading\n\
        l=asyncio.new_event_loop()\n\
        t=threading.Thread(target=l.run_forever)\n\
        t.start()\n\
        e=threading.Event()\n\
        l.call_soon_threadsafe(e.set)\n\
        print('woken', e.wait(10))\n\
        l.call_soon_threadsafe(l.stop)\n";
    if let Some(printed) = python(program) {
        assert_eq!(printed, "woken True\nrc=0\n");
    }
}

#[test]
fn sb_11_socket_pairs_semaphores_and_signals_work() {
    let program = "import socket,os,signal,multiprocessing\n\
        a,b=socket.socketpair()\n\
        a.send(b'x')\n\
        print(b.recv(1))\n\
        signal.signal(10, lambda *a: print('got signal'))\n\
        os.kill(os.getpid(),10)\n\
        s=multiprocessing.Semaphore(1)\n\
        print(s.acquire(timeout=10))\n";
    if let Some(printed) = python(program) {
        assert_eq!(printed, "b'x'\ngot signal\nTrue\nrc=0\n");
    }
}

#[test]
fn sb_13_an_agent_inside_the_sandbox_keeps_its_limits() {
    let elsewhere = Scene::new(Vec::new());
    let outside = elsewhere.outside("p");
    let inner_command = format!("echo inner-ran; echo x > {}; echo wr=$?", outside.display());
    let inner = agent_test_support::ModelServer::start(vec![
        Step::items(vec![Item::command(&inner_command)]),
        Step::message("inner-final"),
    ]);
    let outer = format!(
        "AGENT_HOME=$PWD/home2 MOCK_KEY=x {} exec -s workspace-write inner </dev/null",
        agent().display()
    );
    let scene = Scene::new(vec![
        Step::items(vec![Item::command(&outer)]),
        Step::message("fin"),
    ]);
    scene.workspace.config(&inner, "");
    let config = scene
        .workspace
        .read(scene.workspace.home().join("config.toml"));
    scene.workspace.write("home2/config.toml", config);
    let network = "sandbox_workspace_write.network_access = true";
    scene.workspace.config(&scene.server, network);
    let run = scene.completes(&["go"]);
    assert_eq!(messages(&run), ["fin"]);
    assert!(!outside.exists());
    let said = scene.output(0, 0);
    assert_eq!(inner.requests().len(), 2, "{said}");
    let output = inner.requests()[1].output_of("call_0_0").unwrap();
    assert!(output.contains("inner-ran\n"), "{output}");
    assert!(output.contains("wr=1"), "{output}");
    assert!(said.contains("inner-final"), "{said}");
}

#[test]
fn a_listening_port_of_the_machine_is_out_of_reach_unless_the_network_is_on() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected; true");
    let scene = run(&connect, |_| ());
    assert!(
        !scene.printed(0, 0).contains("connected\n"),
        "{}",
        scene.output(0, 0)
    );
    let scene = run(&connect, |scene| {
        let on = "sandbox_workspace_write.network_access = true";
        scene.workspace.config(&scene.server, on);
    });
    assert_eq!(scene.printed(0, 0), "connected\n");
}

#[test]
fn sb_15_a_denied_file_is_closed_to_every_way_of_reading_it() {
    let scene = Scene::with_config(
        vec![
            Step::items(vec![Item::command(
                "cat ~/.ssh/id_x lnk ~/private/key; grep -rs SECRET ~ .; cp ~/.ssh/id_x copy; \
                 cat $AGENT_HOME/sessions/*/*/*/*; echo read-done",
            )]),
            Step::message("fin"),
        ],
        "deny_read = [\"~/private\"]",
    );
    let home = scene.workspace.user_home();
    scene
        .workspace
        .write(home.join(".ssh/id_x"), "SSHSECRET-771\n");
    scene
        .workspace
        .write(home.join("private/key"), "OWNSECRET-772\n");
    scene
        .workspace
        .write(home.join("open.txt"), "open to SECRET search\n");
    symlink(home.join(".ssh/id_x"), scene.workspace.work().join("lnk")).unwrap();
    scene.completes(&["go"]);
    let printed = scene.printed(0, 0);
    assert!(printed.ends_with("read-done\n"), "{printed}");
    assert!(printed.contains("open to SECRET search"), "{printed}");
    for secret in ["SSHSECRET-771", "OWNSECRET-772", "session_meta"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
    assert!(!Path::new(&scene.workspace.work().join("copy")).exists());
}

#[test]
fn sb_15_what_the_ignore_file_names_is_read_by_no_tool() {
    let reads = "cat .env sub/lnk hard; cat /proc/self/root$PWD/.env; grep -rs SECRET .; \
         ln .env sub/hard; mv .env moved; mv secrets gone; cat gone/* moved; cat secrets/*; \
         cp -r . ../copy; grep -rs SECRET ../copy; echo > .agentignore; cat .agentignore .env";
    let patch = "*** Begin Patch\n*** Update File: .env\n@@\n-TOKEN=SECRET-881\n+x\n*** End Patch";
    let off = "*** Begin Patch\n*** Update File: .agentignore\n@@\n-.env\n+x\n*** End Patch";
    let scene = Scene::new(vec![
        Step::items(vec![
            Item::command(reads),
            Item::patch(patch),
            Item::patch(off),
            Item::function_call("view_image", json!({"path": "secrets/p.png"})),
        ]),
        Step::message("fin"),
    ]);
    let place = &scene.workspace;
    place.write(".agentignore", ".env\n/secrets/\n");
    place.write(".env", "TOKEN=SECRET-881\n");
    place.write("secrets/p.png", "SECRET-882");
    place.write("sub/open.txt", "open to SECRET search\n");
    symlink("../.env", place.work().join("sub/lnk")).unwrap();
    scene.completes(&["-c", "approval_policy=\"never\"", "go"]);
    let printed = scene.printed(0, 0);
    assert!(printed.contains("open to SECRET search"), "{printed}");
    assert!(printed.ends_with("\n.env\n/secrets/\n") || printed.contains("/secrets/\n"));
    for call in 0..4 {
        let output = scene.output(0, call);
        assert!(!output.contains("SECRET-88"), "{call}: {output}");
    }
    assert!(
        scene.output(0, 1).contains("denied by"),
        "{}",
        scene.output(0, 1)
    );
    assert_eq!(place.read(".env"), "TOKEN=SECRET-881\n");
    assert_eq!(place.read(".agentignore"), ".env\n/secrets/\n");
    assert_eq!(place.read("secrets/p.png"), "SECRET-882");
}

#[test]
fn an_ignore_file_can_be_made_and_a_broken_one_stops_the_run() {
    let scene = run("echo '*.key' > .agentignore; cat .agentignore", |_| ());
    assert_eq!(scene.printed(0, 0), "*.key\n");
    assert_eq!(scene.workspace.read(".agentignore"), "*.key\n");
    let scene = Scene::new(Vec::new());
    scene.workspace.write(".agentignore", "ok\n{a\n");
    let run = scene.is_refused(&["go"]);
    assert!(run.stderr.contains(".agentignore:2`"), "{}", run.stderr);
}

#[test]
fn sb_17_proc_leads_neither_out_nor_to_the_agent() {
    let outside = Scene::new(Vec::new()).outside("p");
    let command = format!(
        "echo x > /proc/1/root{path}; echo x > /proc/self/root{path}; \
         cat /proc/*/environ | tr '\\0' '\\n'; kill -0 $(cat pid) && echo reached",
        path = outside.display()
    );
    let scene = run(&command, |scene| {
        // The process that started everything.
        scene.workspace.write("pid", std::process::id().to_string());
    });
    assert!(!outside.exists());
    let printed = scene.printed(0, 0);
    assert!(printed.contains("PATH="), "{printed}");
    for word in ["reached", "MOCK_KEY"] {
        assert!(!printed.contains(word), "{word} in {printed}");
    }
}

#[test]
fn sb_19_toolchains_build_with_their_caches() {
    // Not the one that looks for its toolchains in the home directory.
    let cargo = Path::new(env!("CARGO"));
    if !is_there(env!("CARGO")) {
        return;
    }
    let command = format!(
        "export PATH={}:$PATH; cargo build --offline 2>&1; \
         cargo test --offline 2>&1 | grep 'test result'; test -x target/debug/one && echo built; \
         touch ~/.cargo/registry/x && echo cached; touch ~/.cargo/bin/x ~/.bashrc || echo closed",
        cargo.parent().unwrap().display()
    );
    let scene = run(&command, |scene| {
        let place = &scene.workspace;
        place.write(
            "Cargo.toml",
            "[package]\nname = \"one\"\nedition = \"2021\"\n[workspace]\n",
        );
        place.write("src/main.rs", "fn main() {}\n#[test]\nfn ok() {}\n");
        let home = place.user_home();
        place.write(home.join(".cargo/registry/there"), "");
        place.write(home.join(".cargo/bin/there"), "");
        place.write(home.join(".bashrc"), "");
    });
    let printed = scene.printed(0, 0);
    for expected in [
        "test result: ok. 1 passed",
        "built\n",
        "cached\n",
        "closed\n",
    ] {
        assert!(printed.contains(expected), "{expected} in {printed}");
    }
}

/// The processes whose parent is `parent`.
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // proc_pid_stat(5): the parent is the second field behind the name.
        let behind = stat.rsplit(") ").next().unwrap_or_default();
        behind.split(' ').nth(1) == Some(&parent.to_string())
    })
    .collect()
}

#[test]
fn a_sandbox_that_is_gone_is_no_failed_command_and_comes_back() {
    let sleep = unique_sleep();
    let scene = Scene::new(vec![
        Step::items(vec![Item::command(&format!("sleep {sleep}"))]),
        Step::items(vec![Item::command("echo again")]),
        Step::items(vec![Item::command("echo third")]),
        Step::message("fin"),
    ]);
    let running = scene.exec(&["-c", "allow_login_shell=false", "go"]).spawn();
    assert!(soon(|| n_processes(&sleep) > 0));
    for child in children(running.pid()) {
        let killed = tool("kill").args(["-9", &child.to_string()]).status();
        assert!(killed.unwrap().success());
    }
    let run = running.wait();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(messages(&run), ["fin"]);
    let outputs = [scene.output(0, 0), scene.output(1, 0), scene.output(2, 0)];
    assert!(!outputs[0].contains("exited with code 0"), "{outputs:?}");
    let failed = outputs
        .iter()
        .filter(|output| output.contains("sandbox_error: "));
    assert!(failed.count() >= 1, "{outputs:?}");
    assert!(
        outputs[2].contains("code 0\n") && outputs[2].ends_with("third\n"),
        "{outputs:?}"
    );
    assert_eq!(n_processes(&sleep), 0);
}
