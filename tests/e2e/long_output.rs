//! Output that is too long for the model: kept whole where its next commands find it.

use std::fs;
use std::path::PathBuf;

use agent_test_support::{Item, Step};
use serde_json::json;

use crate::support::Scene;

/// The outputs of all sessions.
fn kept(scene: &Scene) -> Vec<PathBuf> {
    let outputs = scene.workspace.home().join("outputs");
    let threads = fs::read_dir(outputs).into_iter().flatten().flatten();
    let files = threads.flat_map(|thread| fs::read_dir(thread.path()).into_iter().flatten());
    files.flatten().map(|file| file.path()).collect()
}

/// One command after the other.
fn scene(commands: impl IntoIterator<Item = String>) -> Scene {
    let steps = commands
        .into_iter()
        .map(|command| Step::items(vec![Item::command(&command)]));
    Scene::new(steps.chain([Step::message("fin")]).collect())
}

#[test]
fn the_model_pages_through_what_it_was_not_shown() {
    let scene = scene([
        "seq 600000".to_owned(),
        "cd \"$AGENT_HOME_OF_TEST\"; ls; cat oth*/*; cd *-*; wc -c 1.txt; sed -n 345678p 1.txt; \
         echo x > 1.txt; echo x > 2.txt; ls"
            .to_owned(),
    ]);
    let outputs = scene.workspace.home().join("outputs");
    fs::create_dir_all(outputs.join("other")).unwrap();
    fs::write(outputs.join("other/1.txt"), "PRIVATE").unwrap();
    let setting = format!(
        "shell_environment_policy.set={{AGENT_HOME_OF_TEST={:?}}}",
        outputs.to_str().unwrap()
    );
    scene.completes(&["-c", &setting, "go"]);
    let [file] = &kept(&scene)
        .into_iter()
        .filter(|path| !path.starts_with(outputs.join("other")))
        .collect::<Vec<_>>()[..]
    else {
        panic!("{:?}", kept(&scene));
    };
    let first = scene.output(0, 0);
    let line = format!(
        "Full output: {} (4088895 bytes; look into it with grep -n, sed -n or tail)\n",
        file.display()
    );
    assert!(first.contains(&line), "{}", &first[..400]);
    assert!(first.ends_with("\n599999\n600000\n"));
    let second = scene.printed(1, 0);
    assert!(!second.contains("PRIVATE") && !second.contains("other"));
    assert!(second.contains("4088895 1.txt\n345678\n"), "{second}");
    assert!(second.ends_with("\n1.txt\n"), "{second}");
    assert_eq!(fs::read(file).unwrap().len(), 4_088_895);
}

#[test]
fn a_cut_by_the_call_can_be_looked_up_as_well() {
    let call = json!({"cmd": "seq 2000", "max_output_tokens": 20});
    let scene = Scene::new(vec![
        Step::items(vec![Item::command_with(call)]),
        Step::items(vec![Item::command("seq 3")]),
        Step::message("fin"),
    ]);
    scene.completes(&["go"]);
    assert!(scene.output(0, 0).contains("\nFull output: "));
    assert!(!scene.output(1, 0).contains("Full output"));
    let [file] = &kept(&scene)[..] else {
        panic!("only what was cut is kept: {:?}", kept(&scene));
    };
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 2000);
}

#[test]
fn nothing_is_left_of_short_outputs_and_of_ephemeral_sessions() {
    let scene = scene(["seq 3".to_owned()]);
    scene.completes(&["go"]);
    let outputs = scene.workspace.home().join("outputs");
    assert_eq!(fs::read_dir(&outputs).unwrap().count(), 0);
    let scene = self::scene(["seq 600000".to_owned()]);
    scene.completes(&["--ephemeral", "go"]);
    assert!(scene.output(0, 0).contains("\nFull output: "));
    assert!(!scene.workspace.home().join("outputs").exists());
}

#[test]
fn an_output_that_cannot_be_kept_is_no_failure() {
    let scene = scene(["seq 600000".to_owned()]);
    fs::write(scene.workspace.home().join("outputs"), "").unwrap();
    scene.completes(&["go"]);
    let output = scene.output(0, 0);
    assert!(output.contains("Process exited with code 0\n"), "{output}");
    let said = "Full output: it could not be kept: Not a directory";
    assert!(output.contains(said), "{output}");
    assert!(output.ends_with("\n600000\n"));
}

#[test]
fn a_command_that_locks_the_directory_holds_nobody_up() {
    let lock = json!({
        "cmd": "exec 9<$(echo \"$AGENT_HOME\"/outputs/*); flock -n -x 9 && echo locked; sleep 300",
        "yield_time_ms": 1000,
    });
    let scene = Scene::new(vec![
        Step::items(vec![Item::command_with(lock)]),
        Step::items(vec![Item::command("seq 600000")]),
        Step::message("fin"),
    ]);
    scene.completes(&["-c", "allow_login_shell=false", "go"]);
    assert!(
        scene.printed(0, 0).contains("locked"),
        "{}",
        scene.output(0, 0)
    );
    assert!(scene.output(1, 0).contains("\nFull output: "));
}
