//! Other machines: nested, without user namespaces, as an ordinary user.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::runner::Test;
use crate::support::{World, available, run, with_level};

pub(crate) const TESTS: &[Test] = &[
    ("inside_our_own_sandbox", inside_our_own_sandbox),
    ("as_an_ordinary_user", as_an_ordinary_user),
    ("without_user_namespaces", without_user_namespaces),
    (
        "a_superuser_without_user_namespaces",
        a_superuser_without_user_namespaces,
    ),
    ("in_a_user_namespace", in_a_user_namespace),
    ("with_a_masked_proc", with_a_masked_proc),
    ("a_strict_policy_refuses_less", a_strict_policy_refuses_less),
];

fn inside_our_own_sandbox() {
    let world = World::new();
    std::fs::copy(std::env::current_exe().unwrap(), world.base.join("W/it")).unwrap();
    let script = "TEST_ROLE=report ./it; \
        TEST_ROLE=oneshot ./it sh -c 'echo $AGENT_SANDBOX; echo x > in; echo x > ../O/out'";
    let outcome = run(&world, &world.policy(), script);
    let start = "no-namespaces inherited=true\nno-namespaces\n";
    assert!(outcome.output.starts_with(start), "{}", outcome.output);
    assert_eq!(world.read("W/in"), "x\n");
    assert!(!world.base.join("O/out").exists());
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

/// Runs all other tests under the given words and a level.
fn all_others(words: &[&str], level: &str) {
    if std::env::var_os("TEST_OTHERS").is_some() {
        return;
    }
    if !nix_is_root() {
        eprintln!("SKIPPED: only the superuser can become somebody else");
        return;
    }
    let (Some((first, rest)), true) = (words.split_first(), available("setpriv")) else {
        return;
    };
    let world = World::new();
    let output = Command::new(first)
        .args(rest)
        .arg(public_copy(&world))
        .env("TEST_OTHERS", level)
        .current_dir("/")
        .output()
        .unwrap();
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    let text = String::from_utf8_lossy(stdout) + String::from_utf8_lossy(stderr);
    assert!(output.status.success(), "{text}");
}

fn nix_is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn as_an_ordinary_user() {
    all_others(
        &[
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ],
        "full",
    );
}

fn without_user_namespaces() {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && \
        exec setpriv --bounding-set -all --inh-caps -all \"$0\"";
    all_others(&["unshare", "-Ur", "sh", "-c", script], "no-namespaces");
}

fn a_superuser_without_user_namespaces() {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\"";
    all_others(&["unshare", "-Ur", "sh", "-c", script], "full");
}

fn in_a_user_namespace() {
    all_others(&["unshare", "-Ur"], "full");
}

fn with_a_masked_proc() {
    let script = "mount -t tmpfs none /proc/sys && exec \"$0\"";
    all_others(
        &["unshare", "-m", "sh", "-c", script],
        "full-without-fresh-proc",
    );
}

fn a_strict_policy_refuses_less() {
    let world = World::new();
    let mut policy = world.policy();
    policy.strict = true;
    with_level(&policy, |outcome| match outcome {
        Ok(report) => assert!(report.has(agent_sandbox::Layer::Namespaces)),
        Err(error) => {
            let unavailable = matches!(error, agent_sandbox::SandboxError::Unavailable { .. });
            assert!(unavailable, "{error}");
        }
    });
}
