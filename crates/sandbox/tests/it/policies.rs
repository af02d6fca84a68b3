//! Random policies over random trees: what a holder explains is what the kernel does.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent_protocol::SandboxMode;
use agent_sandbox::{Answer, CommandSpec, Explanation, Holder, SandboxPolicy};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::escape::remove_layers;
use crate::runner::Test;
use crate::support::{World, again, block_on, contents, start};

pub(crate) const TESTS: &[Test] = &[
    ("explanations_are_true", || play("full")),
    ("explanations_are_true_without_namespaces", || {
        play("no-namespaces");
    }),
];

const N_POLICIES: u32 = 32;
/// Names of directories; the last ones mean something.
const NAMES: &[&str] = &["a", "b", "c", ".agent", ".codex", ".git"];

fn play(level: &str) {
    if std::env::var_os("TEST_OTHERS").is_some() {
        return;
    }
    let mut command = again("policies");
    let output = command.env("TEST_LEVEL", level).output().unwrap();
    let (stdout, stderr) = (output.stdout, output.stderr);
    let text = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
    assert!(output.status.success(), "{text}");
}

/// The role outside: always the same policies.
pub(crate) fn check_all() -> ExitCode {
    remove_layers(&std::env::var("TEST_LEVEL").unwrap());
    let config = Config {
        cases: N_POLICIES,
        failure_persistence: None,
        max_shrink_iters: 50,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    let checked = runner.run(&plans(), |plan| {
        check(&plan);
        Ok(())
    });
    checked.unwrap();
    ExitCode::SUCCESS
}

/// Numbers that choose; each is taken modulo what there is to choose from.
#[derive(Debug, Clone)]
struct Plan {
    /// A directory around it, and a name.
    directories: Vec<(usize, usize)>,
    files: Vec<usize>,
    /// Where it is, and what it leads to.
    links: Vec<(usize, usize)>,
    roots: Vec<usize>,
    temporary: usize,
    cache: usize,
    denied: Vec<usize>,
    agent_home: usize,
    is_read_only: bool,
}

fn plans() -> impl Strategy<Value = Plan> {
    let number = || any::<u16>().prop_map(usize::from);
    let tree = (
        vec((number(), number()), 3..10),
        vec(number(), 2..8),
        vec((number(), number()), 0..4),
    );
    let policy = (
        vec(number(), 1..4),
        number(),
        number(),
        vec(number(), 0..3),
        number(),
        proptest::bool::weighted(0.1),
    );
    (tree, policy).prop_map(|(tree, policy)| Plan {
        directories: tree.0,
        files: tree.1,
        links: tree.2,
        roots: policy.0,
        temporary: policy.1,
        cache: policy.2,
        denied: policy.3,
        agent_home: policy.4,
        is_read_only: policy.5,
    })
}

/// What is at a path before anything is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Missing,
}

/// The paths of a tree that was laid out.
struct Tree {
    directories: Vec<PathBuf>,
    entries: Vec<PathBuf>,
}

fn lay_out(base: &Path, plan: &Plan) -> Tree {
    let mut directories = vec![base.join("W")];
    let pick = |list: &[PathBuf], number: usize| list.get(number % list.len()).unwrap().clone();
    for (around, name) in &plan.directories {
        let name = NAMES.get(name % NAMES.len()).unwrap();
        let path = pick(&directories, *around).join(name);
        if fs::create_dir(&path).is_ok() {
            if *name == ".git" {
                fs::create_dir(path.join("hooks")).unwrap();
                fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
                fs::write(path.join("config"), "").unwrap();
            }
            directories.push(path);
        }
    }
    let mut entries = Vec::new();
    for (number, around) in plan.files.iter().enumerate() {
        let path = pick(&directories, *around).join(format!("file-{number}"));
        fs::write(&path, "text").unwrap();
        entries.push(path);
    }
    for (number, (around, to)) in plan.links.iter().enumerate() {
        let target = if to % 4 == 0 {
            pick(&directories, *around).join("nothing")
        } else if to % 4 == 1 {
            pick(&directories, to / 4)
        } else {
            pick(&entries, to / 4)
        };
        let path = pick(&directories, *around).join(format!("link-{number}"));
        symlink(target, &path).unwrap();
        entries.push(path);
    }
    entries.extend(directories.iter().cloned());
    Tree {
        directories,
        entries,
    }
}

fn policy(world: &World, plan: &Plan, tree: &Tree) -> SandboxPolicy {
    let mut policy = world.policy();
    let pick = |list: &[PathBuf], number: usize| list.get(number % list.len()).unwrap().clone();
    // Now and then there is none.
    let some = |number: usize| {
        number
            .is_multiple_of(3)
            .then(|| pick(&tree.directories, number / 3))
    };
    let mut roots = plan
        .roots
        .iter()
        .map(|number| pick(&tree.directories, *number));
    policy.workspace = roots.next().unwrap();
    policy.writable_roots = roots.collect();
    policy.temporary_roots = some(plan.temporary).into_iter().collect();
    policy.cache_roots = some(plan.cache).into_iter().collect();
    policy.denied_reads = plan
        .denied
        .iter()
        .map(|number| pick(&tree.entries, *number))
        .collect();
    policy.agent_home = some(plan.agent_home).unwrap_or_default();
    if plan.is_read_only {
        policy.mode = SandboxMode::ReadOnly;
    }
    policy
}

/// The existing paths, and some missing ones beside each of them.
fn questions(tree: &Tree) -> BTreeMap<PathBuf, Kind> {
    let mut questions = BTreeMap::new();
    for path in &tree.entries {
        let kind = match path.metadata() {
            Ok(metadata) if metadata.is_dir() => Kind::Directory,
            Ok(_) => Kind::File,
            Err(_) => Kind::Missing,
        };
        questions.insert(path.clone(), kind);
    }
    for directory in &tree.directories {
        questions.insert(directory.join("new"), Kind::Missing);
        questions.insert(directory.join("gone/new"), Kind::Missing);
        questions.insert(directory.join(".agents"), Kind::Missing);
        if directory.ends_with(".git") {
            questions.insert(directory.join("config"), Kind::File);
            questions.insert(directory.join("hooks"), Kind::Directory);
            questions.insert(directory.join("hooks/new"), Kind::Missing);
            questions.insert(directory.join("commondir"), Kind::Missing);
        }
    }
    questions
}

fn check(plan: &Plan) {
    let world = World::new();
    let tree = lay_out(&world.base, plan);
    let policy = policy(&world, plan, &tree);
    let mut questions = questions(&tree);
    let (explained, done) = block_on(async {
        let holder = start(&policy).await;
        let mut explained = Vec::new();
        // An explanation is about where a link leads; the way there may be closed as well.
        for path in tree.entries.iter().filter(|path| path.is_symlink()) {
            let beside = path.with_file_name("new");
            if holder.explain(&beside).await.unwrap().read.answer == Answer::Denied {
                questions.remove(path);
            }
        }
        for path in questions.keys() {
            explained.push(holder.explain(path).await.unwrap());
        }
        let done = probe(&holder, &questions).await;
        holder.shutdown().await;
        (explained, done)
    });
    let lines: Vec<&str> = done.lines().collect();
    assert_eq!(lines.len(), questions.len(), "{done}");
    for (((path, kind), explanation), line) in questions.iter().zip(&explained).zip(lines) {
        let wrong = disagreement(explanation, line);
        assert!(
            wrong.is_empty(),
            "{} ({kind:?}): {wrong}; the kernel: `{line}`; {explanation:#?}\n{policy:#?}\n{:#?}",
            path.display(),
            tree.entries
        );
    }
}

/// Which of the verdicts is not what was done: a line is `+`, `-` or `?` for reading and writing.
fn disagreement(explanation: &Explanation, line: &str) -> &'static str {
    let mut marks = line.chars();
    let (read, write) = (marks.next().unwrap(), marks.next().unwrap());
    let mark = |answer| if answer == Answer::Denied { '-' } else { '+' };
    if read != '?' && read != mark(explanation.read.answer) {
        "reading"
    } else if write != mark(explanation.write.answer) {
        "writing"
    } else {
        ""
    }
}

async fn probe(holder: &Holder, questions: &BTreeMap<PathBuf, Kind>) -> String {
    let output = tempfile::tempfile().unwrap();
    let mut argv = vec![std::env::current_exe().unwrap().into_os_string()];
    for (path, kind) in questions {
        argv.push(format!("{kind:?}").into());
        argv.push(path.into());
    }
    let fd = || OwnedFd::from(output.try_clone().unwrap());
    let spec = CommandSpec {
        argv,
        env: vec![("TEST_ROLE".into(), "probe".into())],
        cwd: "/".into(),
        stdin: None,
        stdout: fd(),
        stderr: fd(),
    };
    let mut command = holder.spawn(spec).await.unwrap();
    command.wait().await.unwrap();
    command.kill().await;
    contents(output)
}

/// The role inside: tries each path and leaves everything as it was.
pub(crate) fn try_paths() -> ExitCode {
    let mark = |worked| if worked { '+' } else { '-' };
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    for words in words.chunks(2) {
        let [kind, path] = words else {
            return ExitCode::FAILURE;
        };
        let path = Path::new(path);
        let (read, write) = match kind.to_str().unwrap() {
            "File" => {
                let write = OpenOptions::new().append(true).open(path).is_ok();
                (mark(fs::read(path).is_ok()), mark(write))
            }
            "Directory" => {
                let inner = path.join("probe");
                let mut options = OpenOptions::new();
                let made = options.write(true).create_new(true).open(&inner).is_ok();
                drop(fs::remove_file(inner));
                ('?', mark(made))
            }
            _ => make(path),
        };
        println!("{read}{write}");
    }
    ExitCode::SUCCESS
}

/// Makes a file that is missing, reads it and removes it again.
fn make(path: &Path) -> (char, char) {
    let around = path.parent().unwrap();
    let is_made = fs::create_dir(around).is_ok();
    let outcome = match OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
    {
        Ok(_) => {
            let read = if fs::read(path).is_ok() { '+' } else { '-' };
            // Of a link the target was made.
            drop(fs::remove_file(fs::canonicalize(path).unwrap_or_default()));
            (read, '+')
        }
        Err(_) => ('?', '-'),
    };
    if is_made {
        drop(fs::remove_dir(around));
    }
    outcome
}
