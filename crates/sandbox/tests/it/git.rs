//! What later runs as part of git, in each shape that a work tree has.

use std::path::Path;
use std::process::Command;

use agent_sandbox::{Finding, FindingAction};

use crate::runner::Test;
use crate::support::{Outcome, World, available, block_on, mounts_hold, run, sh, shell, start};

pub(crate) const TESTS: &[Test] = &[
    ("hooks_inside_the_work_tree", hooks_inside_the_work_tree),
    (
        "what_the_agent_makes_itself_stays",
        what_the_agent_makes_itself_stays,
    ),
    ("git_in_a_plain_checkout", git_in_a_plain_checkout),
    ("git_in_a_part_of_a_checkout", git_in_a_part_of_a_checkout),
    ("git_in_a_linked_worktree", git_in_a_linked_worktree),
    ("git_in_a_submodule", git_in_a_submodule),
    ("git_modules_are_protected", git_modules_are_protected),
    (
        "a_foreign_git_file_opens_nothing",
        a_foreign_git_file_opens_nothing,
    ),
    ("a_new_repository_works", a_new_repository_works),
    (
        "agent_directories_are_protected",
        agent_directories_are_protected,
    ),
];

pub(crate) fn git(directory: &Path, words: &[&str]) {
    let output = Command::new("git")
        .current_dir(directory)
        .args([
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(["-c", "protocol.file.allow=always"])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

const SETUP: &str = "export GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@x GIT_COMMITTER_NAME=T \
    GIT_COMMITTER_EMAIL=t@x GIT_CONFIG_GLOBAL=/dev/null; ";

pub(crate) fn attack(world: &World, dir: &str, script: &str) -> Outcome {
    let mut policy = world.policy();
    policy.workspace = world.base.join(dir);
    let path = policy.workspace.display();
    run(world, &policy, &format!("cd {path} && {SETUP} {script}"))
}

pub(crate) const USE: &str = "echo new > new && git add -A && git commit -qm t && git status --short && \
    git log --oneline | wc -l && git stash list && git branch b && git gc -q && echo USED; ";

pub(crate) fn checkout(world: &World, dir: &str) {
    let path = world.base.join(dir);
    std::fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "-q"]);
    world.write(&format!("{dir}/file"), "text");
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-qm", "first"]);
}

fn git_in_a_part_of_a_checkout() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "W");
    world.write("W/part/file", "text");
    let config = world.read("W/.git/config");
    let outcome = attack(
        &world,
        "W/part",
        "echo new > new && git add -A . && git commit -qm t && echo USED; \
         echo x > ../outside; echo x > ../.git/hooks/pre-commit; echo x >> ../.git/config; \
         mv ../.git/hooks ../.git/h; git config core.fsmonitor evil; true",
    );
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
    assert_eq!(world.read("W/.git/config"), config);
    assert!(!world.base.join("W/.git/hooks/pre-commit").exists());
    assert!(world.base.join("W/.git/hooks").is_dir());
    assert!(!world.base.join("W/outside").exists());
}

fn git_in_a_plain_checkout() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "W");
    let config = world.read("W/.git/config");
    let outcome = attack(
        &world,
        "W",
        &format!(
            "{USE} echo x > .git/hooks/pre-commit; mv .git/hooks .git/h; rm -rf .git/hooks; \
        git config core.fsmonitor evil; echo x >> .git/config; mv .git gone; mv .git/info .git/i; \
        echo x > .git/commondir; echo x > .git/config.worktree; echo '* filter=x' > .git/info/attributes; \
        cp .git/config .git/c; mv .git/c .git/config; ln -f .git/c .git/config"
        ),
    );
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
    assert!(
        !world.base.join("W/.git/hooks/pre-commit").exists(),
        "{}",
        outcome.output
    );
    assert!(world.base.join("W/.git/hooks").is_dir());
    assert!(!world.base.join("W/gone").exists());
    assert_eq!(world.read("W/.git/config"), config);
    for name in ["commondir", "config.worktree", "info/attributes"] {
        let path = world.base.join("W/.git").join(name);
        assert!(!path.exists(), "{name}");
        if !mounts_hold() {
            continue; // The command could rename the whole directory before it got there.
        }
        let found = outcome
            .findings
            .iter()
            .find(|finding| finding.path == path)
            .unwrap();
        assert!(matches!(found.action, FindingAction::PutAside { .. }));
    }
}

fn hooks_inside_the_work_tree() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "W");
    world.write("W/tools/hooks/pre-push", "true");
    world.write("W/tools/gitconfig", "[core]\n");
    let workspace = world.workspace();
    git(&workspace, &["config", "core.hooksPath", "tools/hooks"]);
    git(
        &workspace,
        &["config", "include.path", "../tools/gitconfig"],
    );
    let outcome = attack(
        &world,
        "W",
        "echo x > tools/hooks/pre-push; echo x > tools/hooks/new; \
        echo x > tools/gitconfig; mv tools t; mkdir -p tools/hooks; echo x > tools/hooks/pre-commit; \
        echo x > tools/other",
    );
    assert_eq!(
        world.read("W/tools/hooks/pre-push"),
        "true",
        "{}",
        outcome.output
    );
    assert_eq!(world.read("W/tools/gitconfig"), "[core]\n");
    for name in ["new", "pre-commit"] {
        assert!(
            !world.base.join("W/tools/hooks").join(name).exists(),
            "{}",
            outcome.output
        );
    }
    assert!(world.base.join("W/tools/other").exists() || !mounts_hold());
}

fn git_in_a_linked_worktree() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "O/main");
    git(
        &world.base.join("O/main"),
        &["worktree", "add", "-q", "../../W/wt"],
    );
    let config = world.read("O/main/.git/config");
    let outcome = attack(
        &world,
        "W/wt",
        &format!(
            "{USE} G=../../O/main/.git; echo x > $G/hooks/pre-commit; echo x >> $G/config; \
        echo x > $G/worktrees/wt/commondir; echo x > .git; mv .git g; mv $G ../x; echo x > ../../O/main/file; \
        mv $G/worktrees/wt $G/worktrees/v; mv $G/hooks $G/h"
        ),
    );
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
    assert!(!world.base.join("O/main/.git/hooks/pre-commit").exists());
    assert!(world.base.join("O/main/.git/hooks").exists());
    assert_eq!(world.read("O/main/.git/config"), config);
    assert_eq!(world.read("O/main/.git/worktrees/wt/commondir"), "../..\n");
    assert_eq!(world.read("O/main/file"), "text");
    assert!(world.read("W/wt/.git").starts_with("gitdir: "));
}

pub(crate) fn submodule(world: &World) {
    checkout(world, "O/lib");
    checkout(world, "O/main");
    let main = world.base.join("O/main");
    git(&main, &["submodule", "--quiet", "add", "../lib", "lib"]);
    git(&main, &["commit", "-qm", "lib"]);
}

fn git_in_a_submodule() {
    if !available("git") {
        return;
    }
    let world = World::new();
    submodule(&world);
    let config = world.read("O/main/.git/modules/lib/config");
    let outcome = attack(
        &world,
        "O/main/lib",
        &format!(
            "{USE} G=../.git/modules/lib; echo x > $G/hooks/pre-commit; echo x >> $G/config; \
        echo x > ../.git/hooks/pre-commit; echo x > ../file; mv $G ../.git/modules/x"
        ),
    );
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
    assert!(
        !world
            .base
            .join("O/main/.git/modules/lib/hooks/pre-commit")
            .exists()
    );
    assert!(!world.base.join("O/main/.git/hooks/pre-commit").exists());
    assert_eq!(world.read("O/main/.git/modules/lib/config"), config);
    assert_eq!(world.read("O/main/file"), "text");
}

fn git_modules_are_protected() {
    if !available("git") {
        return;
    }
    let world = World::new();
    submodule(&world);
    let config = world.read("O/main/.git/modules/lib/config");
    let outcome = attack(
        &world,
        "O/main",
        &format!(
            "{USE} G=.git/modules/lib; echo x > $G/hooks/pre-commit; echo x >> $G/config; \
        mv $G .git/modules/x; mv .git/modules .git/m; (cd lib && {USE})"
        ),
    );
    let n_used = outcome.output.matches("USED").count();
    assert!(n_used == 2 || !mounts_hold(), "{}", outcome.output);
    assert!(
        !world
            .base
            .join("O/main/.git/modules/lib/hooks/pre-commit")
            .exists()
    );
    assert_eq!(world.read("O/main/.git/modules/lib/config"), config);
}

fn a_foreign_git_file_opens_nothing() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "O/main");
    world.write(
        "W/.git",
        &format!("gitdir: {}\n", world.base.join("O/main/.git").display()),
    );
    let outcome = attack(&world, "W", "echo x > ../O/main/.git/x; touch fine");
    assert!(world.base.join("W/fine").exists(), "{}", outcome.output);
    assert!(!world.base.join("O/main/.git/x").exists());
}

fn a_new_repository_works() {
    if !available("git") {
        return;
    }
    let world = World::new();
    let outcome = attack(
        &world,
        "W",
        &format!("git init -q && {USE} git clean -ndx; ls -A"),
    );
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
    assert!(
        outcome.output.ends_with(".git\nnew\n"),
        "{}",
        outcome.output
    );
    let path = world.base.join("W/.git");
    let action = FindingAction::Reported;
    assert_eq!(outcome.findings, [Finding { path, action }]);
}

fn what_the_agent_makes_itself_stays() {
    let world = World::new();
    block_on(async {
        let holder = start(&world.policy()).await;
        let output = tempfile::tempfile().unwrap();
        let spec = shell("sleep 60", &world.workspace(), &output);
        let mut command = holder.spawn(spec).await.unwrap();
        holder
            .expect_change(&world.base.join("W/.agents/skills/s"))
            .await
            .unwrap();
        // The answer to a later request tells that the earlier one was read.
        sh(&holder, ":", &world.workspace()).await;
        world.write("W/.agents/skills/s/SKILL.md", "text");
        command.kill().await;
        assert_eq!(command.findings(), []);
        holder.shutdown().await;
    });
    assert_eq!(world.read("W/.agents/skills/s/SKILL.md"), "text");
}

fn agent_directories_are_protected() {
    let world = World::new();
    world.write("W/.agents/skills/s/SKILL.md", "text");
    std::os::unix::fs::symlink("x", world.base.join("W/.codex")).unwrap();
    world.write("W/x/config.toml", "text");
    let script = "echo x > .agents/skills/s/SKILL.md; mv .agents a; rm -rf .agents; mkdir .agent; \
        echo x > .agent/config.toml; rm .codex; mkdir .codex; echo x > .codex/config.toml; \
        echo x > x/config.toml; ls -A";
    let outcome = run(&world, &world.policy(), script);
    assert_eq!(
        world.read("W/.agents/skills/s/SKILL.md"),
        "text",
        "{}",
        outcome.output
    );
    assert!(!world.base.join("W/.agent").exists());
    assert_eq!(world.read("W/.agent.denied-1/config.toml"), "x\n");
    assert_eq!(world.read("W/.codex/config.toml"), "text");
    assert!(outcome.findings.len() == 3 || !mounts_hold());
}
