//! Writing, reading, links, processes and the network.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use agent_protocol::SandboxMode;
use agent_sandbox::{CommandEnd, NetworkAccess};

use crate::runner::Test;
use crate::support::{
    World, available, block_on, confined, eventually, mounts_hold, run, sh, start,
};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_workspace_inside_the_agent_home",
        a_workspace_inside_the_agent_home,
    ),
    ("the_expected_level", the_expected_level),
    ("writes_end_at_the_roots", writes_end_at_the_roots),
    ("read_only_writes_nothing", read_only_writes_nothing),
    ("links_lead_nowhere", links_lead_nowhere),
    (
        "a_race_of_links_leads_nowhere",
        a_race_of_links_leads_nowhere,
    ),
    ("secrets_are_unreadable", secrets_are_unreadable),
    ("the_agent_home_is_closed", the_agent_home_is_closed),
    (
        "hidden_paths_in_a_root_keep_their_name",
        hidden_paths_in_a_root_keep_their_name,
    ),
    (
        "a_policy_may_hide_thousands_of_paths",
        a_policy_may_hide_thousands_of_paths,
    ),
    (
        "records_that_are_named_can_be_read_and_no_others",
        records_that_are_named_can_be_read_and_no_others,
    ),
    (
        "a_replaced_secret_stays_closed",
        a_replaced_secret_stays_closed,
    ),
    (
        "a_socket_that_was_left_behind_can_be_made_anew",
        a_socket_that_was_left_behind_can_be_made_anew,
    ),
    (
        "sockets_of_the_host_are_closed",
        sockets_of_the_host_are_closed,
    ),
    ("a_root_need_not_be_utf_8", a_root_need_not_be_utf_8),
    ("proc_leads_nowhere", proc_leads_nowhere),
    ("signals_stay_inside", signals_stay_inside),
    ("the_network_is_off", the_network_is_off),
    ("refused_system_calls", refused_system_calls),
    ("environment_and_descriptors", environment_and_descriptors),
    (
        "inherited_descriptors_are_closed",
        inherited_descriptors_are_closed,
    ),
    ("full_access_confines_nothing", full_access_confines_nothing),
];

fn the_expected_level() {
    let Some(expected) = std::env::var_os("TEST_OTHERS") else {
        return; // Any: it depends on the machine.
    };
    let level = confined(&World::new().policy()).level;
    assert_eq!(level.as_str(), expected.to_str().unwrap());
}

fn writes_end_at_the_roots() {
    let world = World::new();
    let script = "echo in > in; echo tmp > ../T/t; echo out > ../O/out; mkdir ../O/dir; \
        mv in moved; cp moved ../T/; echo shm > /dev/shm/x && cat /dev/shm/x; echo null > /dev/null";
    let outcome = run(&world, &world.policy(), script);
    assert_eq!(world.read("W/moved"), "in\n", "{}", outcome.output);
    assert_eq!(world.read("T/moved"), "in\n");
    assert_eq!(world.read("T/t"), "tmp\n");
    assert!(!world.base.join("O/out").exists());
    assert!(!world.base.join("O/dir").exists());
    assert_eq!(outcome.end, CommandEnd::Exited(0), "{}", outcome.output);
}

fn read_only_writes_nothing() {
    let world = World::new();
    world.write("W/file", "text");
    let mut policy = world.policy();
    policy.mode = SandboxMode::ReadOnly;
    let outcome = run(
        &world,
        &policy,
        "cat file; echo x > new; echo x > ../T/new; echo x > file",
    );
    assert!(outcome.output.starts_with("text"), "{}", outcome.output);
    assert_eq!(world.read("W/file"), "text");
    assert!(!world.base.join("W/new").exists());
    assert!(!world.base.join("T/new").exists());
}

fn links_lead_nowhere() {
    let world = World::new();
    symlink(world.base.join("O"), world.base.join("W/out")).unwrap();
    let script = "echo x > out/p; ln -s ../O/q q; echo x > q; ln ../O hard; ls -d out/; ls out/";
    let outcome = run(&world, &world.policy(), script);
    assert!(!world.base.join("O/p").exists(), "{}", outcome.output);
    assert!(!world.base.join("O/q").exists());
    assert!(outcome.output.contains("out/"));
}

fn a_race_of_links_leads_nowhere() {
    let world = World::new();
    let script = "mkdir a; ln -s ../O b; (i=0; while [ $i -lt 300 ]; do i=$((i+1)); mv -T a d; \
        mv -T d a; cp -d b d; rm d; done) & i=0; while [ $i -lt 2000 ]; do i=$((i+1)); \
        echo x > d/p; done 2>/dev/null; wait; echo done";
    let outcome = run(&world, &world.policy(), script);
    assert!(outcome.output.contains("done"), "{}", outcome.output);
    assert!(!world.base.join("O/p").exists());
}

fn secrets_are_unreadable() {
    let world = World::new();
    world.write("H/.ssh/id_x", "PRIVATE");
    world.write("H/.aws/credentials", "PRIVATE");
    world.write("H/.netrc", "PRIVATE");
    world.write("H/.cargo/credentials.toml", "PRIVATE");
    world.write("H/.cargo/config.toml", "PUBLIC");
    world.write("H/extra/token", "PRIVATE");
    symlink(world.base.join("H/.netrc"), world.base.join("W/link")).unwrap();
    let mut policy = world.policy();
    policy.denied_reads.push(world.base.join("H/extra"));
    let script = "cat link ../H/.ssh/* ../H/.netrc; grep -r PRIVATE ../H; cp -r ../H/.ssh .; \
        cat .ssh/*; cat ../H/.cargo/*";
    let outcome = run(&world, &policy, script);
    assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
    assert!(outcome.output.contains("PUBLIC"), "{}", outcome.output);
}

fn the_agent_home_is_closed() {
    let world = World::new();
    world.write("H/.agent/auth.json", "PRIVATE");
    world.write("H/.agent/sessions/2026/rollout.jsonl", "PRIVATE");
    world.write("H/.agent/config.toml", "PRIVATE");
    world.write("H/.agent/AGENTS.md", "PUBLIC");
    world.write("H/.agent/surprise/x", "PRIVATE");
    world.write("H/.agent/skills/s/SKILL.md", "PUBLIC");
    let mut policy = world.policy();
    policy.workspace = world.base.join("H");
    policy.agent_home = world.base.join("H/.agent");
    let script = "cd ../H; cat .agent/AGENTS.md .agent/skills/s/SKILL.md; cat .agent/auth.json; \
        grep -r PRIVATE .agent; echo x > .agent/new; echo x >> .agent/config.toml; \
        echo x > .agent/skills/s/new; mv .agent gone; rm -rf .agent; echo ok > ok";
    let outcome = run(&world, &policy, script);
    assert!(
        outcome.output.starts_with("PUBLICPUBLIC"),
        "{}",
        outcome.output
    );
    assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
    assert_eq!(world.read("H/.agent/auth.json"), "PRIVATE");
    assert_eq!(world.read("H/.agent/config.toml"), "PRIVATE");
    assert!(!world.base.join("H/.agent/new").exists());
    assert!(!world.base.join("H/.agent/skills/s/new").exists());
    assert!(world.base.join("H/ok").exists() || !mounts_hold());
}

fn records_that_are_named_can_be_read_and_no_others() {
    let world = World::new();
    world.write("H/.agent/outputs/mine/1.txt", "FIRST");
    world.write("H/.agent/outputs/other/1.txt", "PRIVATE");
    let mine = world.base.join("H/.agent/outputs/mine");
    let mut policy = world.policy();
    policy.agent_home = world.base.join("H/.agent");
    policy.readable_records.push(mine);
    block_on(async {
        let holder = start(&policy).await;
        world.write("H/.agent/outputs/mine/2.txt", "SECOND");
        let script = "cd ../H/.agent/outputs; cat mine/1.txt mine/2.txt; cat other/1.txt; \
            grep -r PRIVATE .; echo x > mine/3.txt; echo x >> mine/1.txt; rm -r mine";
        let outcome = sh(&holder, script, &world.workspace()).await;
        let output = outcome.output;
        assert!(output.starts_with("FIRSTSECOND"), "{output}");
        assert!(!output.contains("PRIVATE"), "{output}");
        assert_eq!(world.read("H/.agent/outputs/mine/1.txt"), "FIRST");
        assert!(!world.base.join("H/.agent/outputs/mine/3.txt").exists());
        holder.shutdown().await;
    });
}

/// Under another name a later session would not hide it.
fn hidden_paths_in_a_root_keep_their_name() {
    let world = World::new();
    world.write("W/.codex/a.key", "PRIVATE");
    world.write("W/.codex/config.toml", "PUBLIC");
    world.write("W/secret.txt", "PRIVATE");
    world.write("W/priv/x", "PRIVATE");
    let mut policy = world.policy();
    for path in ["W/.codex/a.key", "W/secret.txt", "W/priv"] {
        policy.denied_reads.push(world.base.join(path));
    }
    let held = mounts_hold();
    block_on(async {
        let holder = start(&policy).await;
        let cwd = world.workspace();
        let script = "mv secret.txt m; mv priv pub; mv .codex/a.key .codex/b; rm -rf .codex; true";
        sh(&holder, script, &cwd).await;
        // What was put back beside a hidden path is no new change.
        for _ in 0..3 {
            let outcome = sh(&holder, "cat m pub/x secret.txt .codex/*", &cwd).await;
            assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
            assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
        }
        let outcome = sh(&holder, "ln secret.txt h", &cwd).await;
        assert!(outcome.findings.len() == 1 || held);
        std::fs::remove_file(world.base.join("W/h")).ok();
        holder.shutdown().await;
    });
    assert_eq!(world.read("W/secret.txt"), "PRIVATE");
    assert_eq!(world.read("W/priv/x"), "PRIVATE");
    assert_eq!(world.read("W/.codex/config.toml"), "PUBLIC");
    let outcome = run(
        &world,
        &policy,
        "cat m pub/x; cat .codex/*; grep -rs PRIVATE .",
    );
    assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
}

fn a_policy_may_hide_thousands_of_paths() {
    let world = World::new();
    let mut policy = world.policy();
    for number in 0..1200 {
        let path = format!("W/d/{number:0150}");
        world.write(&path, "PRIVATE");
        policy.denied_reads.push(world.base.join(path));
    }
    let outcome = run(&world, &policy, "cat d/*1 | grep -c PRIVATE; ls d | wc -l");
    assert!(outcome.output.ends_with("0\n1200\n"), "{}", outcome.output);
}

fn a_replaced_secret_stays_closed() {
    let world = World::new();
    world.write("H/.netrc", "PRIVATE");
    block_on(async {
        let holder = start(&world.policy()).await;
        let look = "cat ../H/.netrc ../H/.npmrc";
        let outcome = sh(&holder, look, &world.workspace()).await;
        assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
        // As a program does that rewrites its configuration, and one that writes it anew.
        world.write("H/new", "PRIVATE");
        std::fs::rename(world.base.join("H/new"), world.base.join("H/.netrc")).unwrap();
        world.write("H/.npmrc", "PRIVATE");
        let outcome = sh(&holder, look, &world.workspace()).await;
        assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
        holder.shutdown().await;
    });
}

fn a_socket_that_was_left_behind_can_be_made_anew() {
    if !available("python3") {
        return;
    }
    let world = World::new();
    if !mounts_hold() {
        return;
    }
    drop(UnixListener::bind(world.base.join("T/s")).unwrap());
    let script = "rm ../T/s; exec python3 -c \"import socket\nl = socket.socket(socket.AF_UNIX)\n\
        l.bind('../T/s'); l.listen()\n\
        c = socket.socket(socket.AF_UNIX); c.connect('../T/s'); print('reached')\"";
    let outcome = run(&world, &world.policy(), script);
    assert_eq!(outcome.output, "reached\n");
}

fn sockets_of_the_host_are_closed() {
    if !available("python3") {
        return;
    }
    let world = World::new();
    std::fs::create_dir(world.base.join("T/tmux-0")).unwrap();
    let path = world.base.join("T/tmux-0/default");
    let _listener = UnixListener::bind(&path).unwrap();
    let name = format!("agent-sandbox-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    std::fs::create_dir_all(world.base.join("T/a/b/c")).unwrap();
    let _others = ["T/a/b/c/s", "W/s", "W/a/s"].map(|path| {
        std::fs::create_dir_all(world.base.join("W/a")).unwrap();
        UnixListener::bind(world.base.join(path)).unwrap()
    });
    let script = format!(
        "import socket\n\
        for name in ['{}', '../T/a/b/c/s', 's', 'a/s', '\\0{name}']:\n  \
          try: socket.socket(socket.AF_UNIX).connect(name); print('reached', name)\n  \
          except OSError as error: print(error)\n\
        print('tried')",
        path.display()
    );
    world.write("W/s.py", &script);
    for network in [NetworkAccess::Off, NetworkAccess::On] {
        let mut policy = world.policy();
        policy.network = network;
        let outcome = run(&world, &policy, "python3 s.py");
        assert!(!outcome.output.contains("reached"), "{}", outcome.output);
        assert!(outcome.output.contains("tried"), "{}", outcome.output);
    }
}

fn a_root_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let mut policy = world.policy();
    policy.workspace = world.base.join(std::ffi::OsStr::from_bytes(b"W/\xff\xfe"));
    std::fs::create_dir(&policy.workspace).unwrap();
    block_on(async {
        let holder = start(&policy).await;
        let outcome = sh(&holder, "umask 027; echo x > in; ls", &policy.workspace).await;
        assert_eq!(outcome.output, "in\n");
        holder.shutdown().await;
    });
}

fn a_workspace_inside_the_agent_home() {
    let world = World::new();
    world.write("H/.agent/auth.json", "PRIVATE");
    world.write("H/.agent/worktrees/w/file", "text");
    let mut policy = world.policy();
    policy.agent_home = world.base.join("H/.agent");
    policy.workspace = policy.agent_home.join("worktrees/w");
    block_on(async {
        let holder = start(&policy).await;
        let script = "cat file; echo x > new; echo x > ../new; cat ../../auth.json";
        let outcome = sh(&holder, script, &policy.workspace).await;
        assert!(outcome.output.starts_with("text"), "{}", outcome.output);
        assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
        holder.shutdown().await;
    });
    let mut read_only = policy.clone();
    read_only.mode = SandboxMode::ReadOnly;
    world.write("H/.agent/worktrees/other/file", "PRIVATE");
    block_on(async {
        let holder = start(&read_only).await;
        let script = "cat file; cat ../other/file ../../auth.json; echo x > file";
        let outcome = sh(&holder, script, &policy.workspace).await;
        assert!(outcome.output.starts_with("text"), "{}", outcome.output);
        assert!(!outcome.output.contains("PRIVATE"), "{}", outcome.output);
        holder.shutdown().await;
    });
    assert_eq!(world.read("H/.agent/worktrees/w/file"), "text");
    assert_eq!(world.read("H/.agent/worktrees/w/new"), "x\n");
    assert!(!world.base.join("H/.agent/worktrees/new").exists());
}

fn proc_leads_nowhere() {
    let world = World::new();
    let base = world.base.display();
    let script = format!(
        "for p in /proc/[0-9]*; do echo x > $p/root{base}/O/p; cat $p/environ; done; \
        cat /proc/{}/environ; echo 1 > /proc/sys/vm/swappiness; cat /proc/self/comm",
        std::process::id()
    );
    let before = std::fs::read_to_string("/proc/sys/vm/swappiness").unwrap_or_default();
    let outcome = run(&world, &world.policy(), &script);
    assert!(!world.base.join("O/p").exists(), "{}", outcome.output);
    assert!(!outcome.output.contains("CARGO"), "{}", outcome.output);
    assert!(!outcome.output.contains("LOGNAME"), "{}", outcome.output);
    assert!(outcome.output.contains("cat\n"), "{}", outcome.output);
    assert_eq!(
        std::fs::read_to_string("/proc/sys/vm/swappiness").unwrap_or_default(),
        before
    );
}

fn signals_stay_inside() {
    let world = World::new();
    let script = format!(
        "kill -0 {} && echo reached; sleep 5 & kill -9 $! && echo own; kill -9 1; kill -9 -1",
        std::process::id()
    );
    let outcome = run(&world, &world.policy(), &script);
    assert!(!outcome.output.contains("reached"), "{}", outcome.output);
    assert!(outcome.output.contains("own"), "{}", outcome.output);
}

fn the_network_is_off() {
    let world = World::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 2>&1; bash -c 'echo > /dev/tcp/127.0.0.1/{port}' && echo reached");
    let outcome = run(&world, &world.policy(), &script);
    assert!(!outcome.output.contains("reached"), "{}", outcome.output);
    let mut policy = world.policy();
    policy.network = agent_sandbox::NetworkAccess::On;
    let outcome = run(&world, &policy, &script);
    assert!(outcome.output.contains("reached"), "{}", outcome.output);
}

fn refused_system_calls() {
    let world = World::new();
    let script = "unshare -Ur true && echo reached; mount -t tmpfs none . && echo reached; \
        strace -o /dev/null true && echo reached; chroot / true && echo reached; \
        hostname other && echo reached; echo fine";
    let outcome = run(&world, &world.policy(), script);
    assert!(!outcome.output.contains("reached"), "{}", outcome.output);
    assert!(outcome.output.contains("fine"), "{}", outcome.output);
}

fn environment_and_descriptors() {
    let world = World::new();
    let script = "env | grep ^AGENT | sort; ulimit -c; cat; grep SigIgn /proc/self/status; \
        (: < /dev/tty) 2> /dev/null && echo terminal; ls /proc/self/fd | tr '\\n' ' '";
    let outcome = run(&world, &world.policy(), script);
    let level = confined(&world.policy()).level;
    let expected = format!(
        "AGENT_SANDBOX={level}\nAGENT_SANDBOX_NETWORK_DISABLED=1\n0\n\
        SigIgn:\t0000000000000000\n0 1 2 3 "
    );
    assert_eq!(outcome.output, expected);
}

fn inherited_descriptors_are_closed() {
    let world = World::new();
    let me = std::env::current_exe().unwrap();
    for (role, words) in [("oneshot", "sh -c \"$TEST_SCRIPT\""), ("agent", "")] {
        let open = format!("exec 7</etc/passwd 8<.; exec {} {words}", me.display());
        let mut agent = std::process::Command::new("sh")
            .args(["-c", &open])
            .env("TEST_ROLE", role)
            .env("TEST_SCRIPT", "ls /proc/self/fd > new; mv new fds")
            .current_dir(world.workspace())
            .spawn()
            .unwrap();
        let fds = world.base.join("W/fds");
        eventually("the list", || fds.exists());
        agent.kill().unwrap();
        agent.wait().unwrap();
        // The last is the directory that is being listed.
        assert_eq!(world.read("W/fds"), "0\n1\n2\n3\n");
        std::fs::remove_file(fds).unwrap();
    }
}

fn full_access_confines_nothing() {
    let world = World::new();
    let mut policy = world.policy();
    policy.mode = SandboxMode::DangerFullAccess;
    let outcome = run(
        &world,
        &policy,
        "echo x > ../O/p; env | grep ^AGENT; grep NoNew /proc/self/status",
    );
    assert_eq!(world.read("O/p"), "x\n");
    assert_eq!(outcome.output, "AGENT_SANDBOX=none\nNoNewPrivs:\t0\n");
}
