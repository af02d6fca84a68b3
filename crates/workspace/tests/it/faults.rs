//! Every system call of a commit fails once, or is the last before a kill. Needs `strace`.

use std::collections::BTreeMap;
use std::path::Path;

use agent_workspace::{ChangeKind, FileChange};

use crate::support::{Place, workspace};

const CHILD: &str = "AGENT_WORKSPACE_TEST_FAULTS";
const CALLS: [&str; 6] = [
    "renameat2",
    "unlinkat",
    "mkdirat",
    "fchmod",
    "linkat",
    "renameat",
];
/// More calls of one kind than a commit makes.
const MAX_CALLS: usize = 20;

type Tree = BTreeMap<String, String>;

fn before() -> Tree {
    let files = ["a", "b", "d", "m"].map(|name| (name.to_owned(), name.repeat(100)));
    files.into_iter().collect()
}

fn after() -> Tree {
    let files = [("a", "A"), ("b", "B"), ("sub/m", "M"), ("new/n", "N")];
    let files = files.map(|(name, text)| (name.to_owned(), text.repeat(100)));
    files.into_iter().collect()
}

/// What the child does: one commit of every kind of change.
fn commit_once(root: &Path) {
    let workspace = workspace(root);
    let change = |name: &str, kind| FileChange {
        target: workspace.resolve(name).unwrap(),
        kind,
    };
    let update = |name: &str, text: &str, move_to: Option<&str>| ChangeKind::Update {
        before: name.repeat(100).into(),
        after: text.repeat(100).into(),
        move_to: move_to.map(|path| workspace.resolve(path).unwrap()),
    };
    let (created, deleted) = ("N".repeat(100).into(), "d".repeat(100).into());
    let changes = vec![
        change("a", update("a", "A", None)),
        change("m", update("m", "M", Some("sub/m"))),
        change("d", ChangeKind::Delete { before: deleted }),
        change("new/n", ChangeKind::Create { after: created }),
        change("b", update("b", "B", None)),
    ];
    workspace.commit(changes).unwrap();
}

/// Runs the child with the fault; whether the fault happened and whether the commit succeeded.
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself in another process"
)]
fn run(root: &Path, fault: &str) -> Option<(bool, bool)> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = std::process::Command::new("strace")
        .args(["-f", "-o"])
        .arg(log.path())
        .args(["-e", &format!("inject={fault}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "faults::all_or_nothing"])
        .env(CHILD, root)
        .output()
        .ok()?;
    let log = std::fs::read_to_string(log.path()).unwrap();
    if log.is_empty() {
        return None;
    }
    let happened = log.contains("(INJECTED)") || log.contains("killed by SIGKILL");
    Some((happened, output.status.success()))
}

#[test]
fn all_or_nothing() {
    if let Some(root) = std::env::var_os(CHILD) {
        return commit_once(Path::new(&root));
    }
    let mut n_faults = 0;
    for call in CALLS {
        for kind in ["error=EIO", "signal=KILL"] {
            for when in 1..MAX_CALLS {
                let place = Place::new();
                for (name, text) in before() {
                    place.write(&name, text);
                }
                let fault = format!("{call}:{kind}:when={when}");
                let Some((happened, succeeded)) = run(&place.inside(""), &fault) else {
                    eprintln!("SKIPPED: strace cannot trace here");
                    return;
                };
                if !happened {
                    break;
                }
                n_faults += 1;
                check(&place, &fault, succeeded);
            }
        }
    }
    assert!(n_faults > 20, "{n_faults}");
}

fn check(place: &Place, fault: &str, succeeded: bool) {
    let tree: Tree = place.tree().into_iter().collect();
    let (old, new) = (before(), after());
    let is_temporary = |name: &str| name.contains(".agent-tmp-");
    let files = tree.iter().filter(|(name, _)| !name.ends_with('/'));
    let seen: Tree = files
        .filter(|(name, _)| !is_temporary(name))
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect();
    if fault.contains("KILL") {
        for (name, text) in &seen {
            let whole = [old.get(name), new.get(name)].contains(&Some(text));
            assert!(whole, "{fault}: {name} is torn");
        }
        assert!(
            seen.contains_key("m") || seen.contains_key("sub/m"),
            "{fault}"
        );
        return;
    }
    assert_eq!(seen, if succeeded { new } else { old }, "{fault}");
    if !fault.starts_with("unlinkat") {
        assert!(
            !tree.keys().any(|name| is_temporary(name)),
            "{fault}: {tree:?}"
        );
        assert_eq!(
            tree.len(),
            if succeeded { 6 } else { 4 },
            "{fault}: {tree:?}"
        );
    }
}
