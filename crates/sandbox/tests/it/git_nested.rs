//! Git beside the repository at the root: what the user's next git would run elsewhere.

use std::process::Command;

use agent_sandbox::FindingAction;

use crate::git::{USE, attack, checkout, git, submodule};
use crate::runner::Test;
use crate::support::{Outcome, World, available, mounts_hold};

pub(crate) const TESTS: &[Test] = &[
    ("a_submodule_stays_linked", a_submodule_stays_linked),
    ("other_worktrees_stay_linked", other_worktrees_stay_linked),
    (
        "a_worktree_in_the_workspace_stays_linked",
        a_worktree_in_the_workspace_stays_linked,
    ),
    (
        "nested_repositories_are_protected",
        nested_repositories_are_protected,
    ),
    (
        "a_separate_git_directory_is_protected",
        a_separate_git_directory_is_protected,
    ),
    (
        "configured_hooks_are_found_however_written",
        configured_hooks_are_found_however_written,
    ),
    (
        "the_users_own_configuration_counts",
        the_users_own_configuration_counts,
    ),
    (
        "planted_repositories_are_put_aside",
        planted_repositories_are_put_aside,
    ),
    ("plain_new_repositories_stay", plain_new_repositories_stay),
];

/// What the attacks make git run: it leaves a file in the world.
fn evil(world: &World) -> String {
    format!(
        "git init -q $1; git -C $1 config core.fsmonitor 'touch {}; false'",
        world.base.join("PWNED").display()
    )
}

/// Runs the user's git where the sandbox does not reach, and says whether planted code ran.
fn pwned(world: &World, directory: &str, words: &[&str]) -> bool {
    let output = Command::new("git")
        .current_dir(world.base.join(directory))
        .args(["-c", "user.name=T", "-c", "user.email=t@x"])
        .args(words)
        .env("HOME", world.base.join("H"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    drop(output);
    world.base.join("PWNED").exists()
}

fn hook(world: &World) -> String {
    format!(
        "printf '#!/bin/sh\\ntouch {}\\n' > $H/pre-commit; chmod +x $H/pre-commit",
        world.base.join("PWNED").display()
    )
}

fn is_put_aside(outcome: &Outcome) -> bool {
    outcome
        .findings
        .iter()
        .any(|finding| matches!(finding.action, FindingAction::PutAside { .. }))
}

const COMMIT: &[&str] = &["commit", "-q", "--allow-empty", "-m", "x"];

fn a_submodule_stays_linked() {
    if !available("git") {
        return;
    }
    for script in [
        "plant evil; rm lib/.git; echo 'gitdir: ../evil/.git' > lib/.git",
        "rm lib/.git; plant lib",
        "mv lib old; mkdir lib; plant lib",
    ] {
        let world = World::new();
        submodule(&world);
        let script = format!("plant() {{ {}; }}; {script}; cd lib && {USE}", evil(&world));
        let outcome = attack(&world, "O/main", &script);
        assert!(!pwned(&world, "O/main", &["status"]), "{}", outcome.output);
        assert!(outcome.output.contains("USED"), "{}", outcome.output);
    }
}

fn other_worktrees_stay_linked() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "W");
    git(&world.workspace(), &["worktree", "add", "-q", "../O/wt"]);
    let script = format!(
        "plant() {{ {}; }}; plant evil; git -C evil commit -q --allow-empty -m x; \
        echo $PWD/evil/.git > .git/worktrees/wt/commondir; echo x > .git/worktrees/wt/gitdir; \
        echo x > .git/worktrees/wt/config.worktree; \
        mv .git/worktrees .git/w; git worktree add -q new && cd new && {USE}",
        evil(&world)
    );
    let outcome = attack(&world, "W", &script);
    assert!(!pwned(&world, "O/wt", &["status"]), "{}", outcome.output);
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
    assert_eq!(world.read("W/.git/worktrees/wt/commondir"), "../..\n");
    let gitdir = world.read("W/.git/worktrees/wt/gitdir");
    assert!(gitdir.ends_with("O/wt/.git\n"), "{gitdir}");
    // Where no mount holds it, the command could move the old directory with the new link in it.
    assert!(world.base.join("W/new/.git").exists() || !mounts_hold());
    assert!(
        !world
            .base
            .join("W/.git/worktrees/wt/config.worktree")
            .exists()
    );
}

fn a_worktree_in_the_workspace_stays_linked() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "W");
    // Deeper than nested repositories are looked for.
    git(
        &world.workspace(),
        &["worktree", "add", "-q", "a/b/c/d/e/wt"],
    );
    let script = format!(
        "plant() {{ {}; }}; plant evil; cd a/b/c/d/e/wt; rm .git; \
        echo \"gitdir: $OLDPWD/evil/.git\" > .git; {USE}",
        evil(&world)
    );
    let outcome = attack(&world, "W", &script);
    assert!(
        !pwned(&world, "W/a/b/c/d/e/wt", &["status"]),
        "{}",
        outcome.output
    );
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
}

fn nested_repositories_are_protected() {
    if !available("git") {
        return;
    }
    for dir in ["W/sub", "W/a/b/sub"] {
        let world = World::new();
        checkout(&world, "W");
        checkout(&world, dir);
        let sub = dir.strip_prefix("W/").unwrap();
        let script = format!(
            "plant() {{ {}; }}; cd {sub}; plant .; H=.git/hooks; {}; echo x > .git/commondir; \
            {USE}",
            evil(&world),
            hook(&world)
        );
        let outcome = attack(&world, "W", &script);
        assert!(!pwned(&world, dir, &["status"]), "{}", outcome.output);
        assert!(!pwned(&world, dir, COMMIT), "{}", outcome.output);
        assert!(outcome.output.contains("USED"), "{}", outcome.output);
        assert!(!world.base.join(dir).join(".git/commondir").exists());
    }
}

fn a_separate_git_directory_is_protected() {
    if !available("git") {
        return;
    }
    let world = World::new();
    checkout(&world, "W");
    git(
        &world.workspace(),
        &["init", "-q", "--separate-git-dir", "gd"],
    );
    let script = format!(
        "plant() {{ {}; }}; plant .; H=gd/hooks; {}; echo x > .git; {USE}",
        evil(&world),
        hook(&world)
    );
    let outcome = attack(&world, "W", &script);
    assert!(!pwned(&world, "W", &["status"]), "{}", outcome.output);
    assert!(!pwned(&world, "W", COMMIT), "{}", outcome.output);
    assert!(world.read("W/.git").starts_with("gitdir: "));
}

fn configured_hooks_are_found_however_written() {
    if !available("git") {
        return;
    }
    for text in [
        "[core]\n\thooksPath = hk # husky\n",
        "[core]\n\thooksPath = h\\\nk\n",
        "[core] hooksPath = \"hk\" ; x\n",
        "[include]\n\tpath = ../inc\n",
        "[includeIf \"gitdir:**\"]\n\tpath = ../inc\n",
    ] {
        let world = World::new();
        checkout(&world, "W");
        world.write("W/hk/README", "text");
        world.write("W/inc", "[include]\n\tpath = inc2\n");
        world.write("W/inc2", "[core]\n\thooksPath = hk\n");
        let config = world.read("W/.git/config") + text;
        world.write("W/.git/config", &config);
        let script = format!("H=hk; {}; echo >> inc; echo >> inc2; ls hk", hook(&world));
        let outcome = attack(&world, "W", &script);
        assert!(!pwned(&world, "W", COMMIT), "{text}: {}", outcome.output);
    }
}

fn the_users_own_configuration_counts() {
    if !available("git") {
        return;
    }
    for (file, text) in [
        ("H/.gitconfig", "[core]\n\thooksPath = .githooks\n"),
        ("H/.config/git/config", "[core]\n\thooksPath = .githooks\n"),
        ("H/.gitconfig", "[include]\n\tpath = ../W/inc\n"),
    ] {
        let world = World::new();
        checkout(&world, "W");
        world.write("W/.githooks/README", "text");
        world.write("W/inc", "[user]\n");
        world.write(file, text);
        let script = format!(
            "H=.githooks; {}; git config -f inc core.hooksPath .githooks",
            hook(&world)
        );
        let outcome = attack(&world, "W", &script);
        assert!(!pwned(&world, "W", COMMIT), "{text}: {}", outcome.output);
    }
}

fn planted_repositories_are_put_aside() {
    if !available("git") {
        return;
    }
    for (script, directory) in [
        ("plant sub", "W/sub"),
        ("plant new/repository", "W/new/repository"),
        ("mkdir x; cd x; plant .; git add -f ../x", "W"),
        (
            "plant e; cd sub; mv ../e/.git/* .; git config -f config core.bare false; \
            git config -f config core.worktree .",
            "W/sub",
        ),
        (
            "cd sub; git init -q; H=.git/hooks; mkdir -p $H; hook",
            "W/sub",
        ),
    ] {
        let world = World::new();
        checkout(&world, "W");
        world.write("W/sub/file", "text");
        git(&world.workspace(), &["add", "-A"]);
        git(&world.workspace(), &["commit", "-qm", "sub"]);
        let script = format!(
            "plant() {{ {}; }}; hook() {{ {}; }}; {script}",
            evil(&world),
            hook(&world)
        );
        let outcome = attack(&world, "W", &script);
        // Whatever the command itself made git run, in the sandbox.
        drop(std::fs::remove_file(world.base.join("PWNED")));
        let directory = directory.to_owned();
        assert!(!pwned(&world, &directory, &["status"]), "{script}");
        assert!(!pwned(&world, &directory, COMMIT), "{script}");
        assert!(is_put_aside(&outcome), "{script}: {:?}", outcome.findings);
    }
}

fn plain_new_repositories_stay() {
    if !available("git") {
        return;
    }
    let world = World::new();
    submodule(&world);
    git(&world.base.join("O/main"), &["clone", "-q", ".", "../../W"]);
    git(&world.workspace(), &["submodule", "--quiet", "init"]);
    let script = format!(
        "G='git -c protocol.file.allow=always'; $G submodule --quiet update --init; \
        git clone -q . copy; git clone -q --bare . bare; git worktree add -q wt; git init -q new; \
        cd copy && {USE}",
    );
    let outcome = attack(&world, "W", &script);
    assert!(outcome.output.contains("USED"), "{}", outcome.output);
    assert!(!is_put_aside(&outcome), "{:?}", outcome.findings);
    for name in ["lib/.git", "copy/.git", "bare/HEAD", "wt/.git", "new/.git"] {
        assert!(
            world.base.join("W").join(name).exists(),
            "{name}: {} {:?}",
            outcome.output,
            outcome.findings
        );
    }
    // Tracked files are not for another repository to take over.
    let outcome = attack(&world, "W", "mkdir -p s && cd s && echo x > x && git add x");
    assert!(!is_put_aside(&outcome), "{}", outcome.output);
    let outcome = attack(&world, "W", "cd s && git init -q .");
    assert!(is_put_aside(&outcome), "{:?}", outcome.findings);
}
