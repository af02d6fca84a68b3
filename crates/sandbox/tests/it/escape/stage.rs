//! The role outside: the agent of one level. Lays the world out, has everything tried inside, and
//! judges by what it finds afterwards, not by what it is told alone.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent_sandbox::{CommandSpec, Finding, FindingAction, LevelReport, SandboxPolicy};

use super::layout;
use super::levels;
use super::outsiders::Outsiders;
use super::survival;
use super::table::{self, Attempt, LEVELS, Outcome, Twin};
use crate::support::{World, block_on, contents, lives, start};

/// Plays the role for the level in the environment.
pub(crate) fn play() -> ExitCode {
    let level = std::env::var("TEST_LEVEL").unwrap();
    levels::remove_layers(&level);
    let world = World::new();
    layout::lay_out(&world);
    let before = look_at_all(&world.base);
    let tried = block_on(tried(&world));
    let expected = if level == "nested" {
        "no-namespaces"
    } else {
        &level
    };
    if tried.report.level.as_str() != expected {
        eprintln!(
            "SKIPPED: this machine grants `{}` here, not `{level}`",
            tried.report.level
        );
        return ExitCode::SUCCESS;
    }
    let after = look_at_all(&world.base);
    let differences = Differences::between(&world.base, &before, &after);
    let mut wrong = 0;
    for attempt in table::all() {
        match judge(attempt, &tried, &differences) {
            Err(reason) => eprintln!("SKIPPED at `{level}`: {}: {reason}", attempt.name),
            Ok(outcome) if outcome == expectation(attempt, &level) => {}
            Ok(outcome) => {
                wrong += 1;
                let said = tried.said.get(&("attempt".to_owned(), attempt.slug()));
                println!("{}: {outcome:?}, {said:?}", attempt.name);
                for path in differences.of(attempt) {
                    println!("    differs: {}", path.display());
                }
                for finding in findings(&tried.findings, &attempt.slug()) {
                    println!("    {finding}");
                }
            }
        }
        for problem in problems(attempt, &tried) {
            wrong += 1;
            println!("{}: {problem}", attempt.name);
        }
    }
    if !tried.finished {
        println!("not everything was tried: {}", tried.output);
    }
    ExitCode::from(u8::from(wrong > 0 || !tried.finished))
}

/// What came of all attempts.
struct Tried {
    report: LevelReport,
    said: HashMap<(String, String), (String, String)>,
    findings: Vec<Finding>,
    survivors: Vec<String>,
    finished: bool,
    output: String,
}

async fn tried(world: &World) -> Tried {
    let mut outsiders = Outsiders::begin(&world.base);
    let policy = policy(world);
    let holder = start(&policy).await;
    let report = holder.report().clone();
    outsiders.note_holder(u32::from(report.own_network));
    let output = tempfile::tempfile().unwrap();
    let spec = command(world, &outsiders, &output);
    let mut command = holder.spawn(spec).await.unwrap();
    drop(command.wait().await);
    // Those that were started last may still be on their way to their program.
    std::thread::sleep(std::time::Duration::from_millis(200));
    command.kill().await;
    let survivors = survivors(world);
    holder.shutdown().await;
    let output = contents(output);
    let mut said = HashMap::new();
    for line in output.lines() {
        let mut fields = line.split('\t').map(str::to_owned);
        if let (Some(kind), Some(slug), Some(word)) = (fields.next(), fields.next(), fields.next())
        {
            said.insert((kind, slug), (word, fields.next().unwrap_or_default()));
        }
    }
    Tried {
        report,
        said,
        findings: command.findings().to_vec(),
        survivors,
        finished: output.contains("all was tried"),
        output,
    }
}

fn survivors(world: &World) -> Vec<String> {
    let marks = table::all()
        .filter(|attempt| matches!(attempt.twin, Twin::Itself))
        .map(|attempt| (attempt.slug(), survival::mark(&attempt.scene(&world.base))));
    marks
        .filter(|(_, mark)| lives(mark))
        .map(|(slug, _)| slug)
        .collect()
}

fn policy(world: &World) -> SandboxPolicy {
    let mut policy = world.policy();
    policy.agent_home = world.base.join("A");
    policy.cache_roots.push(world.base.join("H/.cache"));
    policy.writable_roots = vec![world.base.join("R")];
    policy.denied_reads = vec![world.base.join("D/denied")];
    for number in 1..=5 {
        let name = layout::numbered("R/hidden", number);
        policy.denied_reads.push(world.base.join(name).join("s"));
    }
    let own = table::all().filter(|attempt| attempt.target.starts_with("P/"));
    policy
        .writable_roots
        .extend(own.map(|attempt| world.base.join("P").join(attempt.slug())));
    policy
}

fn command(world: &World, outsiders: &Outsiders, output: &fs::File) -> CommandSpec {
    let me = std::env::current_exe().unwrap();
    let reopened = layout::area(world, "O", "reopen the standard error for writing");
    let variable = |name: &str| (name.into(), std::env::var_os(name).unwrap_or_default());
    CommandSpec {
        argv: vec![me.into()],
        env: vec![
            variable("PATH"),
            variable("TEST_ONLY"),
            ("TEST_ROLE".into(), "escape-inside".into()),
            ("TEST_BASE".into(), world.base.clone().into()),
        ],
        cwd: world.workspace(),
        stdin: Some(outsiders.terminal()),
        stdout: OwnedFd::from(output.try_clone().unwrap()),
        stderr: OwnedFd::from(fs::File::open(reopened.join("file")).unwrap()),
    }
}

fn expectation(attempt: &Attempt, level: &str) -> Outcome {
    let mut columns = LEVELS.iter().zip(attempt.outcomes);
    match columns.find(|(name, _)| **name == level) {
        Some((_, outcome)) if attempt.whose.is_mine(level) => outcome,
        _ => Outcome::Denied,
    }
}

/// What came of an attempt, or why that cannot be told.
fn judge(attempt: &Attempt, tried: &Tried, differences: &Differences) -> Result<Outcome, String> {
    let slug = attempt.slug();
    let said = tried.said.get(&("attempt".to_owned(), slug.clone()));
    let Some((word, reason)) = said else {
        return Err("it was not tried".to_owned());
    };
    if word == "skipped" {
        return Err(reason.clone());
    }
    let changed = !differences.of(attempt).is_empty();
    let worked = match attempt.twin {
        Twin::Itself => tried.survivors.contains(&slug),
        // What is not refused outright reached the kernel.
        Twin::Outside => word == "worked" || !is_refusal(reason),
        Twin::Same(_) | Twin::Like(_) => word == "worked",
    };
    let undone = |finding: &Finding| match finding.action {
        FindingAction::PutAside { .. } | FindingAction::Restored => true,
        FindingAction::Reported | FindingAction::Kept { .. } => false,
    };
    let is_undone = findings(&tried.findings, &slug).any(undone);
    Ok(if changed || worked && !is_undone {
        Outcome::Gap
    } else if worked {
        Outcome::Restored
    } else {
        Outcome::Denied
    })
}

/// What was found in the repository of an attempt.
fn findings<'a>(all: &'a [Finding], slug: &'a str) -> impl Iterator<Item = &'a Finding> {
    let is_below = move |finding: &&Finding| {
        let mut parts = finding.path.components();
        parts.any(|part| part.as_os_str() == slug)
    };
    all.iter().filter(is_below)
}

fn is_refusal(reason: &str) -> bool {
    ["os error 1)", "os error 38)", "SIGSYS"]
        .iter()
        .any(|text| reason.contains(text))
}

/// What is wrong with the attempt itself.
fn problems(attempt: &Attempt, tried: &Tried) -> Vec<String> {
    let mut problems = Vec::new();
    let said = |kind: &str| tried.said.get(&(kind.to_owned(), attempt.slug()));
    let worked = |kind| said(kind).is_some_and(|(word, _)| word == "worked" || word == "skipped");
    match attempt.twin {
        Twin::Same(_) | Twin::Like(_) if !worked("twin") => {
            problems.push(format!("the twin came to nothing: {:?}", said("twin")));
        }
        Twin::Itself if !worked("attempt") => {
            problems.push(format!("it did not even begin: {:?}", said("attempt")));
        }
        Twin::Same(_) | Twin::Like(_) | Twin::Outside | Twin::Itself => {}
    }
    problems
}

/// What is different in the directories of the attempts.
struct Differences {
    base: PathBuf,
    changed: Vec<PathBuf>,
    new: Vec<PathBuf>,
}

impl Differences {
    fn between(base: &Path, before: &Nodes, after: &Nodes) -> Self {
        let changed = before
            .iter()
            .filter(|(path, node)| after.get(*path) != Some(node));
        let new = after.keys().filter(|path| !before.contains_key(*path));
        Self {
            base: base.to_owned(),
            changed: changed.map(|(path, _)| path.clone()).collect(),
            new: new.cloned().collect(),
        }
    }

    /// What is different that the attempt was not to change.
    fn of(&self, attempt: &Attempt) -> Vec<&PathBuf> {
        let slug = attempt.slug();
        let (changed, new) = (self.changed.iter(), self.new.iter());
        if !attempt.target.starts_with("P/") {
            let area = self.base.join("O").join(slug);
            return changed
                .chain(new)
                .filter(|path| path.starts_with(&area))
                .collect();
        }
        let target = self.base.join(attempt.target.replace('%', &slug));
        let area = self.base.join("P").join(slug);
        let is_free = |path: &Path| {
            let below = path.strip_prefix(&area).unwrap_or(path).to_string_lossy();
            below.starts_with("twin") || below.starts_with(".git/description")
        };
        let is_planted =
            |path: &Path| path.starts_with(&target) && !path.to_string_lossy().contains(".denied-");
        let lost = changed.filter(|path| path.starts_with(&area) && !is_free(path));
        lost.chain(new.filter(|path| is_planted(path))).collect()
    }
}

/// Each path with all that counts about it.
type Nodes = BTreeMap<PathBuf, String>;

fn look_at_all(base: &Path) -> Nodes {
    let mut nodes = Nodes::new();
    for name in ["O", "P"] {
        look(&base.join(name), &mut nodes);
    }
    nodes
}

fn look(path: &Path, nodes: &mut Nodes) {
    let Ok(metadata) = path.symlink_metadata() else {
        return;
    };
    let is_outside = path.components().any(|part| part.as_os_str() == "O");
    let mut node = vec![format!("{:?} {}", metadata.file_type(), metadata.uid())];
    if metadata.is_file() {
        let text = fs::read(path).unwrap_or_default();
        node.push(format!("{:o} {text:?}", metadata.mode()));
    } else if metadata.is_symlink() {
        node.push(format!("{:?}", fs::read_link(path)));
    }
    if is_outside {
        let (mode, blocks) = (metadata.mode(), metadata.blocks());
        node.push(format!("{mode:o} {} {blocks}", metadata.mtime_nsec()));
    }
    nodes.insert(path.to_owned(), node.join(" "));
    if metadata.is_dir() {
        if !is_outside && fs::read_dir(path).is_err() {
            // An attempt has closed it, which does not change what is in it.
            drop(fs::set_permissions(path, fs::Permissions::from_mode(0o700)));
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look(&entry.path(), nodes);
        }
    }
}
