//! Every system call of a commit fails once, and is the last before a kill. Needs `strace`.
//!
//! Which calls a commit makes is not written down here: a run without a fault is traced, and what
//! stands between two marks in the trace is the list.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_workspace::{ChangeKind, Durability, FileChange};

use crate::support::{Place, workspace};

const CHILD: &str = "AGENT_WORKSPACE_TEST_FAULTS";
const MARKS: [&str; 2] = ["/agent-test-begin", "/agent-test-end"];
/// Calls whose failure says nothing about files, and whose number may vary.
const NOT_OF_FILES: [&str; 12] = [
    "brk",
    "futex",
    "getrandom",
    "gettid",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "rt_sigaction",
    "rt_sigprocmask",
    "sched_yield",
];
/// Calls that need space on the disk.
const OF_SPACE: [&str; 10] = [
    "copy_file_range",
    "fsetxattr",
    "fsync",
    "ftruncate",
    "linkat",
    "mkdirat",
    "openat",
    "renameat",
    "renameat2",
    "write",
];

/// What the file system is like, and what the commit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// All calls work.
    Plain,
    /// The commit waits for the disk; only the waiting fails.
    Synced,
    /// Names cannot be exchanged.
    NoExchange,
    /// Neither that, nor can a file have two names.
    NoLinks,
    /// Files cannot be given what the old ones have, so that updates are written in place.
    NoAttributes,
    /// Files turn out not to be replaceable, so that they are written in place. Updates only.
    InPlace,
}

impl Mode {
    const ALL: [Self; 6] = [
        Self::Plain,
        Self::Synced,
        Self::NoExchange,
        Self::NoLinks,
        Self::NoAttributes,
        Self::InPlace,
    ];

    /// The calls that always fail.
    fn always(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Plain | Self::Synced => &[],
            Self::NoExchange => &[("renameat2", "EINVAL")],
            Self::NoLinks => &[("renameat2", "EINVAL"), ("linkat", "EPERM")],
            Self::NoAttributes => &[("fchmod", "EPERM")],
            Self::InPlace => &[("renameat2", "EBUSY")],
        }
    }
}

type Tree = BTreeMap<String, String>;

fn before() -> Tree {
    let files = ["a", "b", "d", "m"].map(|name| (name.to_owned(), name.repeat(100)));
    files.into_iter().collect()
}

fn after(mode: Mode) -> Tree {
    if mode == Mode::InPlace {
        let mut files = before();
        files.insert("a".to_owned(), "A".repeat(40));
        files.insert("b".to_owned(), "B".repeat(300));
        return files;
    }
    let files = [("a", "A"), ("b", "B"), ("sub/m", "M"), ("new/n", "N")];
    let files = files.map(|(name, text)| (name.to_owned(), text.repeat(100)));
    files.into_iter().collect()
}

/// What the child does: one commit of every kind of change, between two marks.
fn commit_once(root: &Path, mode: &str) {
    let mode = Mode::ALL
        .into_iter()
        .find(|known| format!("{known:?}") == mode);
    let mode = mode.unwrap();
    let durability = match mode {
        Mode::Synced => Durability::Synced,
        Mode::Plain | Mode::NoExchange | Mode::NoLinks | Mode::NoAttributes | Mode::InPlace => {
            Durability::Cached
        }
    };
    let workspace = workspace(root).with_durability(durability);
    let (old, new) = (before(), after(mode));
    let change = |name: &str, kind| FileChange {
        target: workspace.resolve(name).unwrap(),
        kind,
    };
    let update = |name: &str, move_to: Option<&str>| {
        let after = new[move_to.unwrap_or(name)].clone();
        let kind = ChangeKind::Update {
            before: old[name].clone().into(),
            after: after.into(),
            move_to: move_to.map(|path| workspace.resolve(path).unwrap()),
        };
        change(name, kind)
    };
    let changes = if mode == Mode::InPlace {
        vec![update("a", None), update("b", None)]
    } else {
        let created = new["new/n"].clone().into();
        let deleted = old["d"].clone().into();
        vec![
            update("a", None),
            update("m", Some("sub/m")),
            change("d", ChangeKind::Delete { before: deleted }),
            change("new/n", ChangeKind::Create { after: created }),
            update("b", None),
        ]
    };
    // strace counts the calls of each thread for itself.
    let committed = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let [begin, end] = MARKS;
            drop(std::fs::metadata(begin));
            let committed = workspace.commit(changes);
            drop(std::fs::metadata(end));
            committed
        });
        thread.join().unwrap()
    });
    committed.unwrap();
}

/// Runs the child under strace; the trace, and whether the commit succeeded.
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself in another process"
)]
fn trace(root: &Path, mode: Mode, calls: &str, fault: Option<&str>) -> Option<(String, bool)> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let always = mode.always().iter();
    let always = always.map(|(call, error)| format!("inject={call}:error={error}"));
    let faults = always.chain(fault.map(|fault| format!("inject={fault}")));
    let output = std::process::Command::new("strace")
        .args(["-f", "-o"])
        .arg(log.path())
        .args(["-e", &format!("trace={calls}")])
        .args(faults.flat_map(|fault| ["-e".to_owned(), fault]))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "faults::all_or_nothing"])
        .env(CHILD, root)
        // A backtrace takes longer than all the rest.
        .env("RUST_BACKTRACE", "0")
        .env(format!("{CHILD}_MODE"), format!("{mode:?}"))
        .output()
        .ok()?;
    let log = std::fs::read_to_string(log.path()).unwrap();
    (!log.is_empty()).then(|| (log, output.status.success()))
}

/// The calls between the marks: the name, and the how manieth of that name in its thread it is.
fn calls_of_commit(log: &str) -> Vec<(String, usize)> {
    let lines = log.lines().filter_map(|line| line.split_once(' '));
    let lines: Vec<_> = lines.map(|(thread, rest)| (thread, rest.trim())).collect();
    let [begin, end] = MARKS.map(|mark| {
        let is_mark = |(_, rest): &(&str, &str)| rest.contains(&format!("\"{mark}\""));
        lines
            .iter()
            .position(is_mark)
            .expect("the commit is marked")
    });
    let thread = lines[begin].0;
    let mut counts = HashMap::<&str, usize>::new();
    let mut calls = Vec::new();
    for (at, (_, rest)) in lines.iter().enumerate().filter(|(_, (t, _))| *t == thread) {
        let Some((name, _)) = rest.split_once('(').filter(|_| !rest.starts_with('<')) else {
            continue;
        };
        let count = counts.entry(name).or_default();
        *count += 1;
        if begin < at && at < end {
            calls.push((name.to_owned(), *count));
        }
    }
    calls
}

/// A place with the files as they are before the commit.
fn prepared() -> Place {
    let place = Place::new();
    for (name, text) in before() {
        place.write(&name, text);
    }
    place
}

/// All faults to inject, or none if nothing can be traced here.
fn faults(mode: Mode) -> Option<Vec<(String, String)>> {
    let place = prepared();
    let (log, succeeded) = trace(&place.inside(""), mode, "all", None)?;
    assert!(succeeded, "{mode:?}: {log}");
    assert_eq!(files(&place), after(mode), "{mode:?}");
    let mut faults = Vec::new();
    let calls = calls_of_commit(&log);
    // Until the first of them the commit is as if all calls worked.
    let fails = |(call, _): &(String, usize)| mode.always().iter().any(|(name, _)| name == call);
    let first = calls.iter().position(fails).unwrap_or(0);
    for (call, count) in calls.into_iter().skip(first) {
        if mode.always().iter().any(|(always, _)| *always == call) {
            continue;
        }
        if mode == Mode::Synced && call != "fsync" {
            continue;
        }
        let mut kinds = vec!["signal=KILL"];
        if !NOT_OF_FILES.contains(&call.as_str()) {
            kinds.push("error=EIO");
        }
        if OF_SPACE.contains(&call.as_str()) {
            kinds.push("error=ENOSPC");
        }
        for kind in kinds {
            faults.push((call.clone(), format!("{call}:{kind}:when={count}")));
        }
    }
    Some(faults)
}

#[test]
fn all_or_nothing() {
    if let Some(root) = std::env::var_os(CHILD) {
        let mode = std::env::var(format!("{CHILD}_MODE")).unwrap();
        return commit_once(Path::new(&root), &mode);
    }
    let mut all = Vec::new();
    for mode in Mode::ALL {
        let Some(faults) = faults(mode) else {
            eprintln!("SKIPPED: strace cannot trace here");
            return;
        };
        all.extend(faults.into_iter().map(|fault| (mode, fault)));
    }
    let n_kinds = |kind: &str| {
        all.iter()
            .filter(|(_, (_, fault))| fault.contains(kind))
            .count()
    };
    assert!(n_kinds("KILL") > 100 && n_kinds("EIO") > 100, "{all:?}");
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((mode, (call, fault))) =
                    all.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    inject(*mode, call, fault);
                }
            });
        }
    });
}

fn inject(mode: Mode, call: &str, fault: &str) {
    let place = prepared();
    let always = mode.always().iter().map(|(call, _)| *call);
    let calls: Vec<_> = always.chain([call]).collect();
    let traced = trace(&place.inside(""), mode, &calls.join(","), Some(fault));
    let (log, succeeded) = traced.unwrap();
    let what = format!("{mode:?} {fault}");
    if fault.contains("KILL") {
        let killed = log.contains("killed by SIGKILL");
        assert!(killed || NOT_OF_FILES.contains(&call), "{what}: {log}");
        return check_killed(&place, mode, &what);
    }
    assert!(log.contains("(INJECTED)"), "{what}: {log}");
    let expected = if succeeded { after(mode) } else { before() };
    assert_eq!(files(&place), expected, "{what}");
    // What could not be removed stays, under a name that tells what it is.
    if call != "unlinkat" {
        let n_directories = if succeeded && mode != Mode::InPlace {
            2
        } else {
            0
        };
        let tree = place.tree();
        assert_eq!(
            tree.len(),
            expected.len() + n_directories,
            "{what}: {tree:?}"
        );
    }
}

/// However the process ends, each file is wholly old or wholly new, and none is lost. Only of
/// those written in place the one that was being written may be torn.
fn check_killed(place: &Place, mode: Mode, what: &str) {
    let (old, new) = (before(), after(mode));
    let seen = files(place);
    let is_torn =
        |(name, text): &(&String, &String)| ![old.get(*name), new.get(*name)].contains(&Some(text));
    let n_torn = seen.iter().filter(is_torn).count();
    let may_be_torn = usize::from(matches!(mode, Mode::NoAttributes | Mode::InPlace));
    assert!(n_torn <= may_be_torn, "{what}: {seen:?}");
    for name in ["a", "b"] {
        assert!(seen.contains_key(name), "{what}: `{name}` is lost");
    }
    let moved = seen.contains_key("m") || seen.contains_key("sub/m");
    assert!(moved, "{what}: `m` is lost");
}

/// The files but temporary ones.
fn files(place: &Place) -> Tree {
    let is_file =
        |(name, _): &(String, String)| !name.ends_with('/') && !name.contains(".agent-tmp-");
    place.tree().into_iter().filter(is_file).collect()
}
