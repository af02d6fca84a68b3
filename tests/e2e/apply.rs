//! The diff of a turn: shown, kept with the session, applied to another checkout.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use agent_test_support::{AgentCommand, Item, Run, Step, Workspace};

use crate::support::{Scene, agent, tool};

const FILE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = tool("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@example.com"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A session that has changed several files by two patches, and a clone from before that.
fn changed() -> (Scene, Workspace, Run) {
    let patches = [
        "*** Begin Patch\n*** Update File: sub/f.txt\n@@\n-6\n+six\n*** Add File: new file.txt\n+x\n\
         *** Delete File: gone.txt\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: sub/f.txt\n@@\n-six\n+SIX\n*** Update File: a.txt\n\
         *** Move to: b.txt\n*** End Patch\n",
    ];
    let mut steps: Vec<Step> = patches
        .iter()
        .map(|patch| Step::items(vec![Item::patch(*patch)]))
        .collect();
    steps.push(Step::message("fin"));
    let scene = Scene::new(steps);
    let work = &scene.workspace.work();
    scene.workspace.write("sub/f.txt", FILE);
    scene.workspace.write("gone.txt", "g\n");
    scene.workspace.write("a.txt", "a\n");
    git(work, &["add", "-A"]);
    git(work, &["commit", "-qm", "before"]);
    let other = Workspace::without_git();
    git(&other.work(), &["clone", "-q", work.to_str().unwrap(), "."]);
    let run = scene.human(&["go"]).run();
    run.assert_code(0);
    (scene, other, run)
}

/// `agent apply` in the other checkout, with the home of the scene.
fn applied(scene: &Scene, other: &Workspace) -> Run {
    let id = scene.rollouts()[0].file_stem().unwrap().to_string_lossy()[28..].to_owned();
    AgentCommand::new(agent(), other)
        .env("AGENT_HOME", scene.workspace.home())
        .args(["apply", &id])
        .run()
}

#[test]
fn the_turns_diff_is_shown_once_at_its_end() {
    let (_, _, run) = changed();
    let (_, shown) = run.stderr.split_once("changes of this turn\n").unwrap();
    for line in [
        "  diff --git a/sub/f.txt b/sub/f.txt\n",
        "  -6\n  +SIX\n",
        "  rename from a.txt\n  rename to b.txt\n",
        "  new file mode 100644\n",
        "  deleted file mode 100644\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    assert!(!run.stderr.contains("six"), "{}", run.stderr);
}

#[test]
fn another_checkout_gets_the_changes() {
    let (scene, other, _) = changed();
    let run = applied(&scene, &other);
    run.assert_code(0);
    assert_eq!(other.read("sub/f.txt"), FILE.replace('6', "SIX"));
    assert_eq!(other.read("new file.txt"), "x\n");
    assert_eq!(other.read("b.txt"), "a\n");
    for gone in ["gone.txt", "a.txt"] {
        assert!(!other.work().join(gone).exists());
    }
    assert!(run.stdout.contains("sub/f.txt"), "{}", run.stdout);
}

#[test]
fn what_both_changed_is_merged() {
    let (scene, other, _) = changed();
    other.write("sub/f.txt", format!("0\n{FILE}"));
    git(&other.work(), &["commit", "-qam", "ours"]);
    applied(&scene, &other).assert_code(0);
    let expected = format!("0\n{FILE}").replace("\n6\n", "\nSIX\n");
    assert_eq!(other.read("sub/f.txt"), expected);
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let (scene, other, _) = changed();
    let is_refused = |because: &str| {
        let before = (
            git(&other.work(), &["status", "--porcelain"]),
            other.read("sub/f.txt"),
        );
        let run = applied(&scene, &other);
        run.assert_code(1);
        let after = (
            git(&other.work(), &["status", "--porcelain"]),
            other.read("sub/f.txt"),
        );
        assert_eq!(before, after);
        assert!(run.stderr.contains("nothing was changed"), "{}", run.stderr);
        assert!(run.stderr.contains(because), "{}", run.stderr);
    };
    // Not committed: it could not be told apart afterwards.
    other.write("sub/f.txt", format!("0\n{FILE}"));
    is_refused("does not match index");
    git(&other.work(), &["checkout", "-q", "."]);
    // Something is in the way of a new file.
    other.write("new file.txt", "mine\n");
    is_refused("error: new file.txt");
    std::fs::remove_file(other.work().join("new file.txt")).unwrap();
    // The same line was changed.
    other.write("sub/f.txt", FILE.replace('6', "seis"));
    git(&other.work(), &["commit", "-qam", "theirs"]);
    is_refused("conflicts");
}

/// They have other histories, and no checkout takes a diff of both.
#[test]
fn files_of_a_repository_beneath_are_left_out() {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-6\n+six\n*** Update File: mod/f\n@@\n-6\n\
                 +six\n*** Update File: g\n*** Move to: mod/g\n*** End Patch\n";
    let scene = Scene::new(vec![
        Step::items(vec![Item::patch(patch)]),
        Step::message("fin"),
    ]);
    let work = scene.workspace.work();
    for path in ["f", "g", "mod/f"] {
        scene.workspace.write(path, "6\n");
    }
    git(&work, &["init", "-q", "mod"]);
    git(&work, &["add", "f", "g"]);
    git(&work, &["commit", "-qm", "before"]);
    let other = Workspace::without_git();
    git(&other.work(), &["clone", "-q", work.to_str().unwrap(), "."]);
    scene.completes(&["go"]);
    let run = applied(&scene, &other);
    run.assert_code(0);
    let left_out = "`mod/f`: it is outside of the repository";
    assert!(run.stderr.contains(left_out), "{}", run.stderr);
    assert_eq!(other.read("f"), "six\n");
    assert!(!other.work().join("g").exists());
}

#[test]
fn a_diff_without_files_is_told_as_that() {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-6\n+six\n*** End Patch\n";
    let scene = Scene::new(vec![
        Step::items(vec![Item::patch(patch)]),
        Step::message("fin"),
    ]);
    scene.workspace.write("f", b"\xff\n6\n");
    scene.completes(&["go"]);
    let run = scene.agent(&["apply", "--last"]).run();
    run.assert_code(1);
    let said = run.stderr;
    assert!(
        said.contains("warning: not in the diff: `f`: it is no text"),
        "{said}"
    );
    assert!(said.contains("are left out of its diff"), "{said}");
}

/// Git finds out only while it writes.
#[test]
fn what_git_left_half_done_is_said() {
    let (scene, other, _) = changed();
    other.write("new file.txt/mine", "mine\n");
    let run = applied(&scene, &other);
    run.assert_code(1);
    assert!(
        !run.stderr.contains("nothing was changed"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("nothing is staged"), "{}", run.stderr);
    assert_eq!(git(&other.work(), &["diff", "--cached"]), "");
}

#[test]
fn a_checkout_may_have_any_name() {
    let (scene, other, _) = changed();
    for name in [&b"ends with a line\n"[..], b"caf\xe9"] {
        let checkout = other.work().join(OsStr::from_bytes(name));
        std::fs::create_dir(&checkout).unwrap();
        let work = scene.workspace.work();
        git(&checkout, &["clone", "-q", work.to_str().unwrap(), "."]);
        AgentCommand::new(agent(), &other)
            .env("AGENT_HOME", scene.workspace.home())
            .current_dir(&checkout)
            .args(["apply", "--last"])
            .run()
            .assert_code(0);
        let written = std::fs::read_to_string(checkout.join("b.txt")).unwrap();
        assert_eq!(written, "a\n");
    }
}

#[test]
fn there_must_be_a_session_a_diff_and_a_checkout() {
    let (scene, other, _) = changed();
    let fails = |arguments: &[&str], workspace: &Workspace, because: &str| {
        let run = AgentCommand::new(agent(), workspace)
            .env("AGENT_HOME", scene.workspace.home())
            .env("GIT_CEILING_DIRECTORIES", workspace.root())
            .args(arguments.iter().copied())
            .run();
        run.assert_code(2);
        assert!(run.stderr.contains(because), "{}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{}", run.stderr);
    };
    fails(&["apply", "nonsense"], &other, "no session `nonsense`");
    let bare = Workspace::without_git();
    fails(&["apply", "--last"], &bare, "is in no working tree of git");
    let without = Scene::new(vec![Step::message("fin")]);
    without.completes(&["go"]);
    let run = without.agent(&["apply", "--last"]).run();
    run.assert_code(2);
    assert!(
        run.stderr.contains("changed files by a patch"),
        "{}",
        run.stderr
    );
}
