//! Nothing survives: not a kill, not the end of the holder, not the death of the agent.

use std::os::unix::process::ExitStatusExt;

use agent_protocol::SandboxMode;
use agent_sandbox::{CommandEnd, SandboxPolicy, SpawnError};

use crate::runner::Test;
use crate::support::{World, again, block_on, eventually, lives, sh, shell, start};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_killed_holder_leaves_nothing",
        a_killed_holder_leaves_nothing,
    ),
    ("a_storm_of_forks_ends", a_storm_of_forks_ends),
    ("kill_ends_all_descendants", kill_ends_all_descendants),
    ("terminate_reaches_all", terminate_reaches_all),
    (
        "the_end_of_the_holder_ends_all",
        the_end_of_the_holder_ends_all,
    ),
    ("dropping_a_command_ends_it", dropping_a_command_ends_it),
    (
        "a_killed_agent_leaves_nothing",
        a_killed_agent_leaves_nothing,
    ),
    (
        "a_killed_agent_leaves_no_protected_paths",
        a_killed_agent_leaves_no_protected_paths,
    ),
    ("start_errors_are_told_apart", start_errors_are_told_apart),
    ("one_shot_exit_codes", one_shot_exit_codes),
    ("one_shot_ends_on_a_signal", one_shot_ends_on_a_signal),
];

/// A duration that no other process sleeps for.
fn mark() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("{}.{:04}", 100_000 + std::process::id(), next)
}

fn daemons(mark: &str) -> String {
    format!(
        "setsid sleep {mark} & nohup sleep {mark} >/dev/null 2>&1 & (setsid sh -c '(sleep {mark} &)' &) ; \
        setsid setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' & sleep 0.05; "
    )
}

fn both(test: impl Fn(&SandboxPolicy, &World)) {
    for mode in [SandboxMode::WorkspaceWrite, SandboxMode::DangerFullAccess] {
        let world = World::new();
        let mut policy = world.policy();
        policy.mode = mode;
        test(&policy, &world);
    }
}

fn kill_ends_all_descendants() {
    both(|policy, world| {
        block_on(async {
            let holder = start(policy).await;
            let mark = mark();
            let output = tempfile::tempfile().unwrap();
            let script = format!("{} exit 3", daemons(&mark));
            let spec = shell(&script, &world.workspace(), &output);
            let mut command = holder.spawn(spec).await.unwrap();
            assert_eq!(command.wait().await.unwrap(), CommandEnd::Exited(3));
            assert!(command.has_leftovers());
            assert!(lives(&mark));
            command.kill().await;
            assert!(!lives(&mark));
            assert!(!command.has_leftovers());
            let outcome = sh(&holder, "echo next", &world.workspace()).await;
            assert_eq!(outcome.output, "next\n");
            holder.shutdown().await;
        });
    });
}

fn terminate_reaches_all() {
    both(|policy, world| {
        block_on(async {
            let holder = start(policy).await;
            let mark = mark();
            let output = tempfile::tempfile().unwrap();
            let script = format!("setsid sleep {mark} & echo ready > ready; exec sleep {mark}");
            let spec = shell(&script, &world.workspace(), &output);
            let mut command = holder.spawn(spec).await.unwrap();
            eventually("ready", || {
                world.base.join("W/ready").exists() && lives(&mark)
            });
            std::thread::sleep(std::time::Duration::from_millis(50));
            command.terminate();
            assert_eq!(
                command.wait().await.unwrap(),
                CommandEnd::Signaled(libc::SIGTERM)
            );
            command.gone().await;
            assert!(!lives(&mark));
            assert!(!command.has_leftovers());
            holder.shutdown().await;
        });
    });
}

fn the_end_of_the_holder_ends_all() {
    both(|policy, world| {
        block_on(async {
            let holder = start(policy).await;
            let mark = mark();
            let output = tempfile::tempfile().unwrap();
            let script = format!("{} sleep {mark}", daemons(&mark));
            let spec = shell(&script, &world.workspace(), &output);
            let mut command = holder.spawn(spec).await.unwrap();
            eventually("start", || lives(&mark));
            holder.shutdown().await;
            assert!(!lives(&mark));
            assert!(command.wait().await.is_ok());
        });
    });
}

fn dropping_a_command_ends_it() {
    both(|policy, world| {
        block_on(async {
            let holder = start(policy).await;
            let mark = mark();
            let output = tempfile::tempfile().unwrap();
            let script = format!("{} sleep {mark}", daemons(&mark));
            let spec = shell(&script, &world.workspace(), &output);
            let command = holder.spawn(spec).await.unwrap();
            eventually("start", || lives(&mark));
            drop(command);
            eventually("end", || !lives(&mark));
            holder.shutdown().await;
        });
    });
}

/// Another process with a holder and one shell command.
struct Agent(std::process::Child);

impl Agent {
    fn start(world: &World, mode: &str, script: &str) -> Self {
        let mut command = again("agent");
        command.env("TEST_SCRIPT", script).env("TEST_MODE", mode);
        Self(command.current_dir(world.workspace()).spawn().unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.kill();
    }
}

fn a_killed_agent_leaves_nothing() {
    for mode in ["workspace-write", "danger-full-access"] {
        let world = World::new();
        let mark = mark();
        let script = format!("{} touch ready; sleep {mark}", daemons(&mark));
        let mut agent = Agent::start(&world, mode, &script);
        eventually("ready", || world.base.join("W/ready").exists());
        agent.kill();
        eventually("the end of all", || !lives(&mark));
    }
}

fn a_killed_agent_leaves_no_protected_paths() {
    let world = World::new();
    std::fs::create_dir_all(world.base.join("W/.git/hooks")).unwrap();
    world.write("W/.git/HEAD", "ref: refs/heads/main\n");
    let script = "mkdir .agent; echo evil > .git/commondir; touch ready; sleep 60";
    let mut agent = Agent::start(&world, "workspace-write", script);
    eventually("ready", || world.base.join("W/ready").exists());
    assert!(world.base.join("W/.git/commondir").exists());
    agent.kill();
    eventually("all is put aside", || {
        !world.base.join("W/.git/commondir").exists() && !world.base.join("W/.agent").exists()
    });
    assert_eq!(world.read("W/.git/commondir.denied-1"), "evil\n");
}

fn a_storm_of_forks_ends() {
    both(|policy, world| {
        block_on(async {
            let holder = start(policy).await;
            let mark = mark();
            let output = tempfile::tempfile().unwrap();
            // Each generation starts the next one and ends, so that none can be caught by its id.
            let script = format!(
                "echo 'sleep 0.002; setsid sh ./next {mark} & exit' > next; \
                for i in 1 2 3 4 5 6 7 8; do setsid sh ./next {mark} & done; sleep 0.2"
            );
            let spec = shell(&script, &world.workspace(), &output);
            let mut command = holder.spawn(spec).await.unwrap();
            command.wait().await.unwrap();
            assert!(command.has_leftovers());
            command.kill().await;
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!lives(&mark));
            holder.shutdown().await;
        });
    });
}

/// Kills the holder's outer process, as the kernel does when memory is short.
fn a_killed_holder_leaves_nothing() {
    for mode in ["workspace-write", "danger-full-access"] {
        let world = World::new();
        let mark = mark();
        let script = format!("{} touch ready; sleep {mark}", daemons(&mark));
        let agent = Agent::start(&world, mode, &script);
        eventually("ready", || world.base.join("W/ready").exists());
        let id = agent.0.id();
        let list = format!("/proc/{id}/task/{id}/children");
        let Ok(holder) = std::fs::read_to_string(list) else {
            eprintln!("SKIPPED: this kernel does not list children");
            continue;
        };
        std::process::Command::new("kill")
            .args(["-9", holder.trim()])
            .status()
            .unwrap();
        eventually("the end of all", || !lives(&mark));
    }
}

fn start_errors_are_told_apart() {
    both(|policy, world| {
        world.write("W/plain", "text");
        block_on(async {
            let holder = start(policy).await;
            let output = tempfile::tempfile().unwrap();
            let spawn = async |argv: &[&str], cwd: &str| {
                let mut spec = shell("", &world.base.join(cwd), &output);
                spec.argv = argv.iter().map(Into::into).collect();
                holder.spawn(spec).await.map(drop)
            };
            let directory = spawn(&["true"], "missing").await;
            assert!(matches!(directory, Err(SpawnError::Directory { .. })));
            let missing = spawn(&["no-such-program"], "W").await;
            assert!(matches!(missing, Err(SpawnError::NotFound { .. })));
            let plain = spawn(&["./plain"], "W").await;
            assert!(matches!(plain, Err(SpawnError::NotExecutable { .. })));
            let large = "x".repeat(9 << 20);
            assert!(matches!(
                spawn(&["true", &large], "W").await,
                Err(SpawnError::TooLarge)
            ));
            let large = "x".repeat(1 << 20);
            assert!(matches!(
                spawn(&["true", &large], "W").await,
                Err(SpawnError::TooLarge)
            ));
            let medium = "x".repeat(100 << 10);
            assert!(spawn(&["true", &medium, &medium], "W").await.is_ok());
            assert!(matches!(
                spawn(&["a\0b"], "W").await,
                Err(SpawnError::InteriorNul)
            ));
            holder.shutdown().await;
        });
    });
}

fn one_shot_exit_codes() {
    for mode in ["workspace-write", "danger-full-access"] {
        let world = World::new();
        world.write("W/plain", "text");
        let code = |words: &[&str]| {
            let mut command = again("oneshot");
            command
                .args(words)
                .env("TEST_MODE", mode)
                .current_dir(world.workspace());
            command.output().unwrap().status.code().unwrap()
        };
        assert_eq!(code(&["true"]), 0);
        assert_eq!(code(&["sh", "-c", "exit 7"]), 7);
        assert_eq!(code(&["sh", "-c", "kill -9 $$"]), 137);
        assert_eq!(code(&["no-such-program"]), 127);
        assert_eq!(code(&["./plain"]), 126);
        let mark = mark();
        let script = format!("{} exit 0", daemons(&mark));
        assert_eq!(code(&["sh", "-c", &script]), 0);
        assert!(!lives(&mark));
    }
}

fn one_shot_ends_on_a_signal() {
    for mode in ["workspace-write", "danger-full-access"] {
        let world = World::new();
        let mark = mark();
        let script = format!("{} touch ready; sleep {mark}", daemons(&mark));
        let mut child = again("oneshot")
            .args(["sh", "-c", &script])
            .env("TEST_MODE", mode)
            .current_dir(world.workspace())
            .spawn()
            .unwrap();
        eventually("ready", || world.base.join("W/ready").exists());
        std::process::Command::new("kill")
            .arg(child.id().to_string())
            .status()
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(143), None));
        assert!(!lives(&mark));
    }
}
