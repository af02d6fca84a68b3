//! How the levels are made on one machine: layers are really taken away before the stage begins.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::support::{World, available};

/// Plays the table at a level, as the superuser and as an ordinary user side by side.
pub(super) fn play(level: &str) {
    if std::env::var_os("TEST_OTHERS").is_some() {
        return; // The other conditions are those of these levels.
    }
    let world = World::new();
    let program = public_copy(&world);
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        eprintln!("SKIPPED: `{level}` as root, by an ordinary user");
    }
    let stages = [
        is_root.then_some(As::ItIs),
        Some(if is_root { As::Nobody } else { As::ItIs }),
    ];
    let started: Vec<_> = stages
        .into_iter()
        .flatten()
        .filter_map(|who| Some((who, words(&program, level, who)?)))
        .map(|(who, words)| (who, start(&words, level)))
        .collect();
    let mut wrong = String::new();
    for (who, child) in started {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        eprint!("{stderr}");
        if !output.status.success() {
            let stdout = String::from_utf8_lossy(&output.stdout);
            let _ = write!(wrong, "{level}, {who:?}:\n{stdout}{stderr}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Who plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    ItIs,
    Nobody,
}

fn start((first, rest): &(String, Vec<String>), level: &str) -> Child {
    let role = if level == "nested" {
        "oneshot"
    } else {
        "escape-stage"
    };
    // The outer sandbox of the nested level has its temporary directory as the workspace.
    Command::new(first)
        .args(rest)
        .env("TEST_LEVEL", level)
        .env("TEST_ROLE", role)
        .current_dir(std::env::temp_dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The words that start the stage.
fn words(program: &Path, level: &str, who: As) -> Option<(String, Vec<String>)> {
    let program = program.display().to_string();
    let mut words: Vec<String> = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    if level == "full-without-fresh-proc" {
        if !nix::unistd::geteuid().is_root() || !available("unshare") {
            eprintln!("SKIPPED: only the superuser can mask parts of /proc here");
            return None;
        }
        let script = "mount -t tmpfs none /proc/sys && exec \"$@\"";
        add(&["unshare", "-m", "sh", "-c", script, "sh"]);
    }
    if who == As::Nobody {
        if !available("setpriv") {
            return None;
        }
        add(&[
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]);
    }
    add(&[&program]);
    if level == "nested" {
        add(&["env", "TEST_ROLE=escape-stage", &program]);
    }
    let first = words.remove(0);
    Some((first, words))
}

/// This program where every user can execute it.
fn public_copy(world: &World) -> PathBuf {
    let copy = world.base.join("it");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    for path in [&world.base, &copy] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    copy
}

/// Takes away from this process what the level lacks.
pub(crate) fn remove_layers(level: &str) {
    match level {
        "no-namespaces" => forbid(namespace_calls(), libc::EPERM),
        "no-landlock" => {
            let calls = [
                libc::SYS_landlock_create_ruleset,
                libc::SYS_landlock_restrict_self,
            ];
            forbid(
                calls.map(|call| (call, Vec::new())).into(),
                libc::EOPNOTSUPP,
            );
        }
        _ => {}
    }
}

fn forbid(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) {
    let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

/// What containers usually forbid: namespaces and mounts.
fn namespace_calls() -> BTreeMap<i64, Vec<SeccompRule>> {
    let flags = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    let with_flags = || -> Vec<SeccompRule> {
        let rule = |flag: i32| {
            let flag = u64::from(flag.cast_unsigned());
            let operator = SeccompCmpOp::MaskedEq(flag);
            let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, flag);
            SeccompRule::new(vec![condition.unwrap()]).unwrap()
        };
        flags.map(rule).into()
    };
    let calls = [
        libc::SYS_mount,
        libc::SYS_setns,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
    ];
    let mut rules: BTreeMap<_, _> = calls.map(|call| (call, Vec::new())).into();
    rules.insert(libc::SYS_unshare, with_flags());
    rules.insert(libc::SYS_clone, with_flags());
    rules
}
