//! `agent sandbox -- CMD`: a command under the policy that commands of the model get.

use std::net::TcpListener;

use agent_test_support::Run;

use crate::support::{Scene, is_there};

fn sandbox(scene: &Scene, command: &[&str]) -> Run {
    scene
        .agent(&["sandbox", "-s", "workspace-write", "--"])
        .args(command.iter().copied())
        .run()
}

#[test]
fn three_denials_beside_a_permit() {
    let scene = Scene::new(Vec::new());
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let bashrc = scene.workspace.user_home().join(".bashrc");
    std::fs::write(&bashrc, "# mine\n").unwrap();
    let script = format!(
        "echo x > /etc/agent-e2e-p; echo etc=$?; echo x > ~/.bashrc; echo bashrc=$?; \
         exec 3<>/dev/tcp/127.0.0.1/{port}; echo connect=$?; echo y > inside.txt; echo inside=$?"
    );
    let run = sandbox(&scene, &["bash", "-c", &script]);
    run.assert_code(0);
    assert_eq!(
        run.stdout, "etc=1\nbashrc=1\nconnect=1\ninside=0\n",
        "{}",
        run.stderr
    );
    assert!(!std::path::Path::new("/etc/agent-e2e-p").exists());
    assert_eq!(std::fs::read_to_string(&bashrc).unwrap(), "# mine\n");
    assert_eq!(scene.workspace.read("inside.txt"), "y\n");
}

#[test]
fn full_access_is_no_limit_and_read_only_is_one() {
    let scene = Scene::new(Vec::new());
    let outside = scene.outside("p");
    let script = format!("echo x > {}", outside.display());
    let with_mode = |mode: &str, script: &str| {
        scene
            .agent(&["sandbox", "-s", mode, "--", "sh", "-c", script])
            .run()
    };
    assert_ne!(with_mode("read-only", "echo y > inside.txt").code, Some(0));
    assert!(!scene.workspace.work().join("inside.txt").exists());
    assert_ne!(with_mode("workspace-write", &script).code, Some(0));
    assert!(!outside.exists());
    with_mode("danger-full-access", &script).assert_code(0);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "x\n");
}

#[test]
fn the_exit_code_is_the_commands_own_or_says_that_it_did_not_run() {
    let scene = Scene::new(Vec::new());
    let plain = scene.workspace.write("not-executable", "#!/bin/sh\n");
    let rows: [(&[&str], i32); 7] = [
        (&["true"], 0),
        (&["sh", "-c", "exit 3"], 3),
        (&["sh", "-c", "exit 255"], 255),
        (&["sh", "-c", "kill -TERM $$"], 143),
        (&["sh", "-c", "kill -KILL $$"], 137),
        (&["no_such_program_77"], 127),
        (&[plain.to_str().unwrap()], 126),
    ];
    for (command, code) in rows {
        let run = sandbox(&scene, command);
        assert_eq!(run.code, Some(code), "{command:?}: {}", run.stderr);
        if code == 126 || code == 127 {
            assert!(run.stderr.contains(command[0]), "{}", run.stderr);
        }
    }
    let run = scene.agent(&["sandbox"]).run();
    run.assert_code(2);
}

#[test]
fn streams_arguments_and_directory_are_passed_on() {
    let scene = Scene::new(Vec::new());
    let run = scene
        .agent(&["sandbox", "-s", "workspace-write", "--", "sh", "-c"])
        .args([
            "cat; printf '<%s>' \"$@\"; pwd >&2",
            "sh",
            "a b",
            "--json",
            "",
        ])
        .stdin_bytes("from stdin\n")
        .run();
    run.assert_code(0);
    assert_eq!(run.stdout, "from stdin\n<a b><--json><>");
    let work = scene.workspace.work();
    let work = work.canonicalize().unwrap();
    assert_eq!(run.stderr, format!("{}\n", work.display()));
}

#[test]
fn the_key_of_the_provider_is_not_passed_on() {
    let scene = Scene::new(Vec::new());
    let run = scene
        .agent(&["sandbox", "-s", "workspace-write", "--", "env"])
        .env("MOCK_KEY", "prov-key-9f3a")
        .env("PLAIN_VAR", "plain-77")
        .run();
    run.assert_code(0);
    assert!(
        run.stdout.contains("PLAIN_VAR=plain-77\n"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("prov-key-9f3a"));
}

#[test]
fn python_programs_work_inside() {
    if !is_there("python3") {
        return;
    }
    let scene = Scene::new(Vec::new());
    let program = "import asyncio, multiprocessing, socket\n\
        async def main():\n    \
            p = await asyncio.create_subprocess_exec('echo', 'child', stdout=-1)\n    \
            out, _ = await p.communicate()\n    \
            print(out)\n\
        asyncio.run(main())\n\
        print(multiprocessing.Semaphore(1).acquire(timeout=10))\n\
        a, b = socket.socketpair()\n\
        a.send(b'x')\n\
        print(b.recv(1))\n";
    let program = scene.workspace.write("program.py", program);
    let run = sandbox(&scene, &["python3", program.to_str().unwrap()]);
    assert_eq!(run.stdout, "b'child\\n'\nTrue\nb'x'\n", "{}", run.stderr);
    run.assert_code(0);
}

/// What is said and what happens, for one path.
struct Probe {
    read: String,
    write: String,
    can_read: bool,
    can_write: bool,
}

fn probe(scene: &Scene, path: &str) -> Probe {
    let explained = scene
        .agent(&["sandbox", "-s", "workspace-write", "--explain", path])
        .run();
    explained.assert_code(0);
    let line = |what: &str| {
        let line = explained
            .stdout
            .lines()
            .find(|line| line.trim_start().starts_with(what));
        line.unwrap_or_else(|| panic!("{}", explained.stdout))
            .trim()
            .to_owned()
    };
    let runs = |script: &str| sandbox(scene, &["bash", "-c", script]).code == Some(0);
    Probe {
        read: line("read"),
        write: line("write"),
        can_read: runs(&format!(
            "if test -d {path}; then test -n \"$(ls -A {path})\"; else cat {path}; fi"
        )),
        can_write: runs(&format!(
            "if test -d {path}; then touch {path}/new-file; else echo x >> {path}; fi"
        )),
    }
}

/// What `--explain` says is what the kernel does.
#[test]
fn what_is_explained_is_what_happens() {
    let scene = Scene::new(Vec::new());
    let (work, home) = (scene.workspace.work(), scene.workspace.user_home());
    let outside = scene.outside("f");
    for (path, text) in [
        (work.join("src/a.rs"), "a"),
        (home.join(".ssh/id_ed25519"), "secret"),
        (home.join("plain"), "p"),
        (outside.clone(), "o"),
        (work.join(".agent/config.toml"), ""),
    ] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink(&outside, work.join("out")).unwrap();
    let _host = std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap();
    let paths = [
        "src/a.rs".to_owned(),
        "src".to_owned(),
        "./new.txt".to_owned(),
        ".git/config".to_owned(),
        ".git/hooks/pre-commit".to_owned(),
        ".git/index-of-mine".to_owned(),
        ".agent/config.toml".to_owned(),
        "out".to_owned(),
        "socket".to_owned(),
        "/dev/null".to_owned(),
        "/dev/full/x".to_owned(),
        "/dev/shm/agent-explain-probe".to_owned(),
        "/dev/agent-explain-probe".to_owned(),
        outside.display().to_string(),
        home.join(".ssh/id_ed25519").display().to_string(),
        home.join(".ssh").display().to_string(),
        home.join("plain").display().to_string(),
        scene
            .workspace
            .home()
            .join("config.toml")
            .display()
            .to_string(),
        "/etc/hostname".to_owned(),
        "/tmp/agent-explain-probe".to_owned(),
    ];
    for path in paths {
        let exists = work.join(&path).exists();
        let seen = probe(&scene, &path);
        if exists {
            assert_eq!(
                seen.can_read,
                seen.read.contains("allowed"),
                "{path}: {}",
                seen.read
            );
        }
        assert_eq!(
            seen.can_write,
            !seen.write.contains("denied"),
            "{path}: {}",
            seen.write
        );
    }
    std::fs::remove_file("/tmp/agent-explain-probe").ok();
}

#[test]
fn a_path_cannot_add_lines_to_its_explanation() {
    let scene = Scene::new(Vec::new());
    let path = "/etc/x\n  write  allowed: yes\n";
    let explained = scene.agent(&["sandbox", "--explain", path]).run();
    explained.assert_code(0);
    assert_eq!(explained.stdout.lines().count(), 4, "{}", explained.stdout);
}

#[test]
fn hosts_are_explained_too() {
    let scene = Scene::new(Vec::new());
    let explain = |more: &[&str]| {
        let run = scene
            .agent(&["sandbox", "-s", "workspace-write"])
            .args(more.iter().copied())
            .args(["--explain", "example.com"])
            .run();
        run.assert_code(0);
        run.stdout.clone()
    };
    assert!(explain(&[]).contains("denied: the network is off"));
    let on = explain(&["-c", "sandbox_workspace_write.network_access=true"]);
    assert!(on.contains("reached: the network is on"), "{on}");
}
