//! What this program does when a test starts it again: an agent that is killed, a one-shot
//! command, the same tests under other conditions, and a stop-watch.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use agent_protocol::SandboxMode;
use agent_sandbox::{HostList, NetworkAccess, OneShot, SandboxPolicy, run_command_in_sandbox};

use crate::support::{World, block_on, confined, sh, shell, start};

fn words() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

fn mode() -> SandboxMode {
    let mode = std::env::var("TEST_MODE")
        .ok()
        .and_then(|mode| mode.parse().ok());
    mode.unwrap_or(SandboxMode::WorkspaceWrite)
}

pub(crate) fn play(role: &str) -> ExitCode {
    match role {
        "oneshot" => one_shot(),
        "agent" => agent(),
        "report" => report(),
        "measure" => measure(),
        "escape-stage" => crate::escape::stage::play(),
        "escape-inside" => crate::escape::inside::play(),
        "escape-outside" => crate::escape::inside::play_outside(),
        "policies" => crate::policies::check_all(),
        "probe" => crate::policies::try_paths(),
        _ => ExitCode::from(99),
    }
}

fn here() -> SandboxPolicy {
    let mut policy = SandboxPolicy::new(mode(), std::env::current_dir().unwrap());
    if let Ok(host) = std::env::var("TEST_HOSTS") {
        policy.network = NetworkAccess::Hosts(HostList::parse(&[host]).unwrap());
    }
    policy
}

fn one_shot() -> ExitCode {
    let command = OneShot {
        argv: words(),
        env: std::env::vars_os()
            .filter(|(name, _)| name != "TEST_ROLE")
            .collect(),
        cwd: std::env::current_dir().unwrap(),
    };
    if std::env::var("TEST_THREADS").is_ok_and(|threads| !threads.is_empty()) {
        std::thread::spawn(|| std::thread::sleep(Duration::MAX));
    }
    match run_command_in_sandbox(&here(), &command) {
        Ok(end) => {
            for denial in &end.refused_hosts {
                eprintln!("REFUSED {denial}");
            }
            ExitCode::from(u8::try_from(end.end.shell_code()).unwrap())
        }
        Err(error) => {
            eprintln!("{error}: {:?}", std::error::Error::source(&error));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Starts a shell command and waits until somebody kills this process.
fn agent() -> ExitCode {
    let script = std::env::var("TEST_SCRIPT").unwrap();
    block_on(async {
        let holder = start(&here()).await;
        let output = tempfile::tempfile().unwrap();
        let cwd = PathBuf::from(".").canonicalize().unwrap();
        let _command = holder.spawn(shell(&script, &cwd, &output)).await.unwrap();
        std::future::pending::<()>().await;
    });
    ExitCode::SUCCESS
}

fn report() -> ExitCode {
    let report = confined(&here());
    println!("{} inherited={}", report.level, report.inherited);
    ExitCode::SUCCESS
}

fn measure() -> ExitCode {
    let world = World::new();
    let mut policy = world.policy();
    policy.mode = mode();
    policy.temporary_roots.push("/tmp".into());
    policy.home = std::env::var_os("HOME").unwrap_or_default().into();
    policy.workspace = std::env::current_dir().unwrap();
    let cwd = policy.workspace.clone();
    block_on(async {
        for _ in 0..5 {
            let begin = Instant::now();
            let holder = start(&policy).await;
            let started = begin.elapsed();
            let begin = Instant::now();
            for _ in 0..100 {
                sh(&holder, ":", &cwd).await;
            }
            let commands = begin.elapsed();
            let begin = Instant::now();
            let output = tempfile::tempfile().unwrap();
            for _ in 0..100 {
                let mut spec = shell(":", &cwd, &output);
                spec.argv = vec!["/bin/true".into()];
                holder.spawn(spec).await.unwrap().wait().await.unwrap();
            }
            let waits = begin.elapsed();
            let level = holder.level();
            let begin = Instant::now();
            holder.shutdown().await;
            println!(
                "{level}: start {started:?}, 100 shells with kill {commands:?}, 100 true {waits:?}, shutdown {:?}",
                begin.elapsed()
            );
        }
    });
    ExitCode::SUCCESS
}
