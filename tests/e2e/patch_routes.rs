//! Every way a patch can arrive leads to the same rules and the same result.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use agent_test_support::{Item, Run, Step};
use serde_json::json;

use crate::support::{Scene, agent, items, tool};

/// A way for a patch to arrive. `{}` is the patch without its last line end.
struct Route {
    name: &'static str,
    script: &'static str,
    /// It is recognised as a patch before anything is run.
    is_seen: bool,
}

const fn seen(name: &'static str, script: &'static str) -> Route {
    Route {
        name,
        script,
        is_seen: true,
    }
}

const fn run_by_the_shell(name: &'static str, script: &'static str) -> Route {
    Route {
        name,
        script,
        is_seen: false,
    }
}

const ROUTES: [Route; 12] = [
    seen("heredoc", "apply_patch <<'EOF'\n{}\nEOF"),
    seen("misspelt", "applypatch <<EOF\n{}\nEOF\n"),
    seen("odd delimiter", "apply_patch <<'PATCH-1'\n{}\nPATCH-1\n"),
    seen("dash", "apply_patch <<-\"END\"\n{}\nEND\n"),
    seen("cat", "cat <<'EOF' | apply_patch\n{}\nEOF\n"),
    seen("argument", "apply_patch '{}'"),
    seen("nested shell", "bash -lc \"apply_patch '{}'\""),
    run_by_the_shell(
        "more after",
        "apply_patch <<'EOF' && echo ok-$((1+1))\n{}\nEOF\n",
    ),
    run_by_the_shell("more before", "set -e; apply_patch <<'EOF'\n{}\nEOF\n"),
    run_by_the_shell("pipe", "printf '%s\\n' '{}' | apply_patch"),
    run_by_the_shell("subshell", "(apply_patch <<'EOF'\n{}\nEOF\n)"),
    run_by_the_shell("background", "apply_patch '{}' & wait"),
];

impl Route {
    fn call(&self, patch: &str) -> Item {
        Item::command(&self.script.replace("{}", patch.trim_end()))
    }
}

fn update(path: &str) -> String {
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+new\n*** End Patch\n")
}

fn one_call(call: Item) -> Scene {
    let scene = Scene::new(vec![Step::items(vec![call]), Step::message("fin")]);
    scene.workspace.write("sub/t.txt", "old\n");
    scene
}

#[test]
fn ap_19_every_route_applies_a_patch() {
    for route in ROUTES {
        let scene = one_call(route.call(&update("sub/t.txt")));
        let run = scene.completes(&["go"]);
        let name = route.name;
        let output = scene.output(0, 0);
        assert_eq!(
            scene.workspace.read("sub/t.txt"),
            "new\n",
            "{name}: {output}"
        );
        assert!(
            output.contains("Success. Updated the following files:\nM sub/t.txt\n"),
            "{name}: {output}"
        );
        let (patches, commands) = (items(&run, "file_change"), items(&run, "command_execution"));
        let expected = if route.is_seen { (1, 0) } else { (0, 1) };
        assert_eq!((patches.len(), commands.len()), expected, "{name}");
    }
}

#[test]
fn what_is_said_after_a_patch_depends_on_it() {
    let route = &ROUTES[7];
    let fits = one_call(route.call(&update("sub/t.txt")));
    fits.completes(&["go"]);
    assert!(fits.output(0, 0).contains("ok-2"), "{}", fits.output(0, 0));
    let fits_not = one_call(route.call(&update("sub/t.txt").replace("-old", "-other")));
    fits_not.completes(&["go"]);
    let output = fits_not.output(0, 0);
    assert!(!output.contains("ok-2"), "{output}");
    assert!(output.contains("does not have these lines"), "{output}");
    assert_eq!(fits_not.workspace.read("sub/t.txt"), "old\n");
}

#[test]
fn a_patch_after_cd_is_relative_to_that_directory() {
    for script in [
        "cd sub && apply_patch <<'EOF'\n{}\nEOF\n",
        "cd sub; applypatch <<EOF\n{}\nEOF\n",
        "cd sub && apply_patch <<'EOF' && true\n{}\nEOF\n",
    ] {
        let patch = update("t.txt");
        let scene = one_call(Item::command(&script.replace("{}", patch.trim_end())));
        scene.completes(&["go"]);
        assert_eq!(scene.workspace.read("sub/t.txt"), "new\n", "{script}");
    }
    let in_workdir =
        json!({"cmd": format!("apply_patch <<'E'\n{}E\n", update("t.txt")), "workdir": "sub"});
    let scene = one_call(Item::command_with(in_workdir));
    let run = scene.completes(&["go"]);
    assert_eq!(scene.workspace.read("sub/t.txt"), "new\n");
    assert_eq!(
        items(&run, "file_change")[0]["changes"][0]["path"],
        "sub/t.txt"
    );
}

#[test]
fn an_empty_directory_is_the_workspace() {
    let heredoc = format!("apply_patch <<'E'\n{}E\n", update("sub/t.txt"));
    let in_empty = format!("cd '' && {heredoc}");
    for arguments in [
        json!({"cmd": heredoc, "workdir": ""}),
        json!({"cmd": in_empty}),
    ] {
        let scene = one_call(Item::command_with(arguments));
        scene.completes(&["go"]);
        let output = scene.output(0, 0);
        assert_eq!(scene.workspace.read("sub/t.txt"), "new\n", "{output}");
    }
}

/// A shell goes back to where a link is, not to the directory above its target.
#[test]
fn a_directory_above_a_link_is_where_the_shell_goes() {
    let heredoc = format!("apply_patch <<'E'\n{}E\n", update("t.txt"));
    let scene = one_call(Item::command(&format!("cd link/../sub && {heredoc}")));
    scene.workspace.write("far/sub/t.txt", "old\n");
    scene.workspace.write("far/away/x", "");
    std::os::unix::fs::symlink("far/away", scene.workspace.work().join("link")).unwrap();
    scene.completes(&["go"]);
    assert_eq!(scene.workspace.read("far/sub/t.txt"), "old\n");
    assert_eq!(scene.workspace.read("sub/t.txt"), "new\n");
}

#[test]
fn a_directory_that_is_not_there_is_not_made() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    let scene = one_call(Item::command(&format!(
        "cd missing && apply_patch <<'EOF'\n{patch}\nEOF\n"
    )));
    scene.completes(&["go"]);
    assert!(!scene.workspace.work().join("missing").exists());
    let output = scene.output(0, 0);
    assert!(output.contains("`missing` is no directory"), "{output}");
}

#[test]
fn ap_21_the_text_of_a_patch_is_no_command() {
    let patch = "*** Begin Patch\n*** Add File: q.txt\n+{\n+,\n*** End Patch";
    let scene = one_call(Item::command(patch));
    let run = scene.completes(&["go"]);
    let output = scene.output(0, 0);
    assert!(
        output.contains("send it with the `apply_patch` tool"),
        "{output}"
    );
    for name in ["q.txt", "{", ",", "Begin"] {
        assert!(!scene.workspace.work().join(name).exists(), "{name}");
    }
    assert!(items(&run, "command_execution").is_empty());
}

#[test]
fn what_is_denied_is_denied_by_every_route() {
    let elsewhere = one_call(Item::command("true"));
    let outside = elsewhere.outside("rc");
    std::fs::write(&outside, "old\n").unwrap();
    for route in ROUTES {
        let name = route.name;
        for path in [outside.to_str().unwrap(), ".git/config", "link/config"] {
            let patch = if path == outside.to_str().unwrap() {
                update(path)
            } else {
                format!(
                    "*** Begin Patch\n*** Update File: {path}\n@@\n [core]\n+\tx = y\n*** End Patch\n"
                )
            };
            let scene = one_call(route.call(&patch));
            std::os::unix::fs::symlink(".git", scene.workspace.work().join("link")).unwrap();
            let before = scene.workspace.read(".git/config");
            scene.completes(&["go"]);
            let output = scene.output(0, 0);
            assert_eq!(
                std::fs::read_to_string(&outside).unwrap(),
                "old\n",
                "{name}"
            );
            assert_eq!(scene.workspace.read(".git/config"), before, "{name} {path}");
            assert!(!output.contains("Success"), "{name} {path}: {output}");
        }
        let scene = one_call(route.call(&update("sub/t.txt")));
        let run = scene
            .agent(&["exec", "--json", "-s", "read-only", "go"])
            .run();
        run.assert_code(0);
        assert_eq!(
            scene.workspace.read("sub/t.txt"),
            "old\n",
            "{name}: read-only"
        );
    }
}

/// The binary under the name of the personality.
fn personality(
    scene: &Scene,
    name: &str,
    arguments: &[&str],
    input: &str,
) -> (i32, String, String) {
    let mut child = tool(agent().to_str().unwrap())
        .arg0(name)
        .args(arguments)
        .current_dir(scene.workspace.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end without reading.
    let _result = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_personality_says_what_the_tool_says() {
    let patches = [
        update("sub/t.txt"),
        update("sub/missing.txt"),
        update("sub/t.txt").replace("-old", "-other"),
        "*** Begin Patch\n*** Add File: sub/t.txt\n+x\n*** End Patch\n".to_owned(),
        "*** Begin Patch\n*** Update File: sub/t.txt\n*** End Patch\n".to_owned(),
        "*** Begin Patch\n*** Delete File: sub\n*** End Patch\n".to_owned(),
    ];
    for patch in patches {
        let by_tool = one_call(Item::patch(&patch));
        by_tool.completes(&["go"]);
        let output = by_tool.output(0, 0);
        for name in ["apply_patch", "/some/where/applypatch"] {
            for as_argument in [true, false] {
                let scene = one_call(Item::command("true"));
                let (code, stdout, stderr) = if as_argument {
                    personality(&scene, name, &[&patch], "")
                } else {
                    personality(&scene, name, &[], &patch)
                };
                if code == 0 {
                    assert!(output.ends_with(&stdout), "{output}\n{stdout}");
                    assert_eq!(stderr, "");
                } else {
                    assert_eq!((code, stdout.as_str()), (1, ""));
                    let said = output.trim_start_matches("apply_patch verification failed: ");
                    assert_eq!(said.trim_end(), stderr.trim_end());
                }
                assert_eq!(
                    scene.workspace.read("sub/t.txt"),
                    by_tool.workspace.read("sub/t.txt")
                );
            }
        }
    }
}

#[test]
fn the_personality_explains_itself_and_wrong_usage() {
    let scene = one_call(Item::command("true"));
    let (code, stdout, _) = personality(&scene, "apply_patch", &["--help"], "");
    assert_eq!(code, 0);
    assert!(stdout.contains("usage: apply_patch PATCH"), "{stdout}");
    for arguments in [&["a", "b"][..], &[], &[" \n"]] {
        let (code, stdout, stderr) = personality(&scene, "apply_patch", arguments, "");
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(stderr.contains("usage: apply_patch PATCH"), "{stderr}");
    }
}

#[test]
fn warnings_are_given_once() {
    let patch = "*** Begin Patch\n*** Update File: f.py\n@@\n-a\n+b\n*** End Patch\n";
    let run = |call: Item| -> (Scene, Run) {
        let scene = Scene::new(vec![Step::items(vec![call]), Step::message("fin")]);
        scene.workspace.write("f.py", "    a\n");
        let run = scene.completes(&["go"]);
        (scene, run)
    };
    for call in [Item::patch(patch), ROUTES[9].call(patch)] {
        let (scene, _) = run(call);
        assert_eq!(scene.workspace.read("f.py"), "    b\n");
        let output = scene.output(0, 0);
        assert_eq!(
            output.to_lowercase().matches("warning: ").count(),
            1,
            "{output}"
        );
    }
}
