//! `apply_patch` through the whole program, in both forms of the call.

use agent_test_support::{Item, Run, Step};
use serde_json::json;

use crate::support::{Scene, items};

/// The two forms that a patch comes in.
const FORMS: [fn(&str) -> Item; 2] = [custom, function];

fn custom(patch: &str) -> Item {
    Item::patch(patch)
}

fn function(patch: &str) -> Item {
    Item::function_call("apply_patch", json!({ "input": patch }))
}

/// One task with this call. The scene may be prepared before.
#[track_caller]
fn patched(call: Item, prepare: impl Fn(&Scene)) -> (Scene, Run) {
    let scene = Scene::new(vec![Step::items(vec![call]), Step::message("fin")]);
    prepare(&scene);
    let run = scene.completes(&["go"]);
    (scene, run)
}

fn status(run: &Run) -> String {
    let changes = items(run, "file_change");
    assert_eq!(changes.len(), 1, "{run:#?}");
    changes[0]["status"].as_str().unwrap().to_owned()
}

#[test]
fn ap_01_crlf_kept_on_replace() {
    let patch =
        "*** Begin Patch\n*** Update File: f.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n";
    for form in FORMS {
        let (scene, run) = patched(form(patch), |scene| {
            scene.workspace.write("f.txt", "one\r\ntwo\r\nthree\r\n");
        });
        assert_eq!(scene.workspace.read("f.txt"), "one\r\nTWO\r\nthree\r\n");
        assert_eq!(status(&run), "completed");
        let output = scene.output(0, 0);
        assert!(output.starts_with("Exit code: 0\nWall time: "), "{output}");
        assert!(
            output.contains("Success. Updated the following files:\nM f.txt"),
            "{output}"
        );
    }
}

#[test]
fn ap_09_an_added_file_overwrites_nothing() {
    let patch = "*** Begin Patch\n*** Add File: e.txt\n+new\n*** End Patch\n";
    for form in FORMS {
        let (scene, run) = patched(form(patch), |scene| {
            scene.workspace.write("e.txt", "keep me\n");
        });
        assert_eq!(scene.workspace.read("e.txt"), "keep me\n");
        assert_eq!(status(&run), "failed");
        let output = scene.output(0, 0);
        assert!(output.contains("exists"), "{output}");
        assert!(output.contains("Update File"), "{output}");
    }
}

#[test]
fn ap_11_a_move_to_the_same_path_is_an_update() {
    for target in ["n.md", "./n.md", "sub/../n.md"] {
        let patch = format!(
            "*** Begin Patch\n*** Update File: n.md\n*** Move to: {target}\n@@\n-old\n+new\n \
             rest\n*** End Patch\n"
        );
        for form in FORMS {
            let (scene, run) = patched(form(&patch), |scene| {
                scene.workspace.write("n.md", "old\nrest\n");
                scene.workspace.write("sub/x", "");
            });
            assert_eq!(scene.workspace.read("n.md"), "new\nrest\n");
            assert_eq!(status(&run), "completed");
        }
    }
}

#[test]
fn ap_25_a_patch_outside_is_declined_and_the_run_goes_on() {
    for form in FORMS {
        for is_update in [true, false] {
            let scene = Scene::new(Vec::new());
            let file = scene.outside("rc");
            std::fs::write(&file, "keep\n").unwrap();
            let target = if is_update {
                file.clone()
            } else {
                scene.outside("new")
            };
            let target = target.display();
            let change = if is_update {
                format!("*** Update File: {target}\n@@\n-keep\n+bad\n")
            } else {
                format!("*** Add File: {target}\n+bad\n")
            };
            let patch = format!("*** Begin Patch\n{change}*** End Patch\n");
            let (inner, run) = patched(form(&patch), |_| ());
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "keep\n");
            assert!(!scene.outside("new").exists());
            assert_eq!(status(&run), "declined");
            let output = inner.output(0, 0);
            assert!(output.contains("outside the writable roots"), "{output}");
        }
    }
}

#[test]
fn a_patch_is_applied_as_a_whole_or_not_at_all() {
    let patch = "*** Begin Patch\n*** Add File: one.txt\n+1\n*** Update File: two.txt\n@@\n-not \
                 there\n+x\n*** Delete File: three.txt\n*** End Patch\n";
    for form in FORMS {
        let (scene, run) = patched(form(patch), |scene| {
            scene.workspace.write("two.txt", "2\n");
            scene.workspace.write("three.txt", "3\n");
        });
        assert_eq!(status(&run), "failed");
        assert!(!scene.workspace.work().join("one.txt").exists());
        assert_eq!(scene.workspace.read("two.txt"), "2\n");
        assert_eq!(scene.workspace.read("three.txt"), "3\n");
        assert!(scene.output(0, 0).contains("not there"));
    }
}

#[test]
fn protected_places_are_refused_whatever_the_path_looks_like() {
    for path in [
        ".git/hooks/pre-commit",
        "sub/../.git/config",
        ".agent/config.toml",
        "link/hooks/x",
    ] {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+bad\n*** End Patch\n");
        let (scene, run) = patched(custom(&patch), |scene| {
            scene.workspace.write("sub/x", "");
            std::os::unix::fs::symlink(".git", scene.workspace.work().join("link")).unwrap();
        });
        assert_eq!(status(&run), "declined", "{path}: {}", scene.output(0, 0));
        assert!(scene.output(0, 0).starts_with("patch rejected: "));
        let work = scene.workspace.work();
        assert!(!work.join(".git/hooks/pre-commit").exists());
        assert!(!work.join(".git/hooks/x").exists());
        assert!(!work.join(".agent").exists());
        assert!(!scene.workspace.read(".git/config").contains("bad"));
    }
}

#[test]
fn a_read_only_sandbox_lets_no_patch_through() {
    for form in FORMS {
        let call = form("*** Begin Patch\n*** Add File: n.txt\n+n\n*** End Patch\n");
        let scene = Scene::new(vec![Step::items(vec![call]), Step::message("fin")]);
        let run = scene
            .agent(&["exec", "--json", "-s", "read-only", "go"])
            .run();
        run.assert_code(0);
        scene.server.assert_clean();
        assert_eq!(status(&run), "declined");
        assert!(!scene.workspace.work().join("n.txt").exists());
    }
}

#[test]
fn the_diff_is_shown_to_people() {
    let patch = "*** Begin Patch\n*** Update File: f.txt\n@@\n-old\n+new\n*** End Patch\n";
    let scene = Scene::new(vec![Step::items(vec![custom(patch)]), Step::message("fin")]);
    scene.workspace.write("f.txt", "old\n");
    let run = scene.human(&["go"]).run();
    run.assert_code(0);
    assert_eq!(run.stdout, "fin\n");
    assert!(run.stderr.contains("-old\n"), "{}", run.stderr);
    assert!(run.stderr.contains("+new\n"), "{}", run.stderr);
}

#[test]
fn ap_35_a_patch_that_never_fits_ends_the_turn() {
    let patch = "*** Begin Patch\n*** Update File: f.txt\n@@\n-not there\n+x\n*** End Patch\n";
    for form in FORMS {
        let steps = (0..20).map(|_| Step::items(vec![form(patch)])).collect();
        let scene = Scene::new(steps);
        scene.workspace.write("f.txt", "a\n");
        let run = scene.exec(&["go"]).run();
        run.assert_code(1);
        let failure = crate::support::failure(&run);
        assert!(
            failure.contains("repeated the same call 8 times"),
            "{failure}"
        );
        assert_eq!(scene.server.requests().len(), 8);
        assert!(!scene.output(1, 0).contains("This exact call"));
        assert!(
            scene
                .output(2, 0)
                .contains("This exact call was refused 3 times")
        );
    }
}

#[test]
fn ap_35_equal_commands_are_no_loop() {
    let mut steps: Vec<Step> = (0..12)
        .map(|_| Step::items(vec![Item::command("echo same; false")]))
        .collect();
    steps.push(Step::message("fin"));
    let scene = Scene::new(steps);
    scene.completes(&["go"]);
    assert_eq!(scene.server.requests().len(), 13);
}
