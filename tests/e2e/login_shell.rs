//! What the login profile of the user's shell sets: read once, the same for every command, kept
//! for the next session, and never in the way.

use std::fs;
use std::path::{Path, PathBuf};

use agent_test_support::{Item, Run, Step};

use crate::support::{Scene, n_processes, soon, unique_sleep, warnings};

/// One answer a command, and an end.
fn commands(scripts: &[&str]) -> Vec<Step> {
    let steps = scripts.iter();
    let steps = steps.map(|script| Step::items(vec![Item::command(script)]));
    steps.chain([Step::message("fin")]).collect()
}

/// A scene with a login profile, which notes in `count` that it was read.
fn scene(profile: &str, scripts: &[&str]) -> Scene {
    let scene = Scene::new(commands(scripts));
    write_profile(&scene, ".bash_profile", profile);
    scene
}

fn write_profile(scene: &Scene, name: &str, profile: &str) {
    let count = scene.workspace.work().join("count");
    let text = format!("echo read >> '{}'\n{profile}\n", count.display());
    fs::write(scene.workspace.user_home().join(name), text).unwrap();
}

/// How often the profile was read.
fn n_reads(scene: &Scene) -> usize {
    scene.workspace.read("count").lines().count()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn cache(scene: &Scene) -> Vec<PathBuf> {
    entries(&scene.workspace.home().join("cache/shell"))
}

#[track_caller]
fn again(scene: &mut Scene, scripts: &[&str]) -> Run {
    scene.answer_by(commands(scripts));
    scene.completes(&["go"])
}

#[test]
fn a_profile_is_read_once_and_kept_until_it_changes() {
    let probe = "echo $FROM_PROFILE; greet; ls count; env | grep -e AGENT_SHELL -e BASH_ENV";
    let profile = "export FROM_PROFILE=one; greet() { echo hello; }; echo noise; cd /";
    let mut scene = scene(profile, &[probe, probe, probe]);
    let run = scene.completes(&["go"]);
    for call in 0..3 {
        assert_eq!(scene.printed(call, 0), "one\nhello\ncount\n");
    }
    assert_eq!(warnings(&run), Vec::<String>::new());
    assert_eq!(n_reads(&scene), 1);

    again(&mut scene, &[probe]);
    assert_eq!(scene.printed(0, 0), "one\nhello\ncount\n");
    assert_eq!(n_reads(&scene), 1);

    write_profile(
        &scene,
        ".bash_profile",
        "export FROM_PROFILE=two; greet() { :; }",
    );
    again(&mut scene, &[probe]);
    assert_eq!(scene.printed(0, 0), "two\ncount\n");
    assert_eq!(n_reads(&scene), 2);
}

#[test]
fn zsh_has_what_its_profiles_set() {
    if !Path::new("/bin/zsh").exists() {
        eprintln!("SKIPPED: /bin/zsh is not there");
        return;
    }
    let probe = "echo $FROM_PROFILE; greet; env | grep -e AGENT_SHELL -e ZDOTDIR";
    let scene = Scene::new(commands(&[probe, probe]));
    let profile = "export FROM_PROFILE=one; alias greet='print hello'";
    write_profile(&scene, ".zprofile", profile);
    let run = scene.exec(&["go"]).env("SHELL", "/bin/zsh").run();
    run.assert_code(0);
    for call in 0..2 {
        assert_eq!(scene.printed(call, 0), "one\nhello\n");
    }
    assert_eq!(n_reads(&scene), 1);
}

/// Such a profile would end each command before it begins.
#[test]
fn commands_run_without_a_profile_that_ends_the_shell() {
    let scene = scene("exit 3", &["echo one", "echo two"]);
    let run = scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "one\n");
    assert_eq!(scene.printed(1, 0), "two\n");
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("ends it with status 3"), "{said:?}");
    assert_eq!(n_reads(&scene), 1);
}

#[test]
fn a_profile_that_hangs_is_told_once_and_ended() {
    let sleep = unique_sleep();
    let scene = scene(&format!("sleep {sleep}"), &["echo one", "echo two"]);
    let run = scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "one\n");
    assert_eq!(scene.printed(1, 0), "two\n");
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("more than 2 s"), "{said:?}");
    assert!(soon(|| n_processes(&sleep) == 0));
}

#[test]
fn what_a_profile_complains_about_is_told_once() {
    let profile = "no-such-program-in-profile; export FROM_PROFILE=one";
    let scene = scene(profile, &["echo $FROM_PROFILE", "echo $FROM_PROFILE"]);
    let run = scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "one\n");
    assert_eq!(scene.printed(1, 0), "one\n");
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("no-such-program-in-profile"), "{said:?}");
}

#[test]
fn a_profile_that_cannot_be_handed_on_is_read_by_each_command() {
    let scene = scene(
        "trap 'echo bye' EXIT",
        &["echo one; true", "echo two; true"],
    );
    let run = scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "one\nbye\n");
    assert_eq!(scene.printed(1, 0), "two\nbye\n");
    assert_eq!(n_reads(&scene), 3);
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("sets traps"), "{said:?}");
}

#[test]
fn what_a_profile_starts_does_not_stay() {
    let sleep = unique_sleep();
    let script = format!("n=$(ps -eo args | grep -c '[s]leep {sleep}'); echo $n $FROM_PROFILE");
    let profile = format!("(setsid sleep {sleep} &) ; export FROM_PROFILE=one");
    let scene = scene(&profile, &[&script]);
    scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "0 one\n");
    assert!(soon(|| n_processes(&sleep) == 0));
}

/// Neither for the session nor for the next one.
#[test]
fn commands_cannot_change_what_later_ones_get() {
    let mut scene = scene("export FROM_PROFILE=one", &[]);
    let home = scene.workspace.home();
    let home = home.display();
    let attack = format!(
        "for f in {home}/shims/shell/bash {home}/cache/shell/*.json; do echo 'echo bad' > $f; done \
         2>/dev/null; mkdir {home}/cache/shell 2>/dev/null; ls {home}/cache 2>/dev/null; \
         export FROM_PROFILE=bad; echo \"BASH_ENV=$BASH_ENV\""
    );
    let probe = "echo $FROM_PROFILE";
    for _ in 0..2 {
        again(&mut scene, &[probe, &attack, probe]);
        assert_eq!(scene.printed(0, 0), "one\n");
        assert_eq!(scene.printed(1, 0), "BASH_ENV=\n");
        assert_eq!(scene.printed(2, 0), "one\n");
    }
    assert_eq!(n_reads(&scene), 1);
    assert_eq!(cache(&scene).len(), 1);
}

/// A profile may ask a password manager.
#[test]
fn secrets_of_a_profile_reach_commands_and_not_the_disk() {
    let profile = "export SERVICE_API_KEY=s3cr3t-value";
    let mut scene = scene(profile, &["echo $SERVICE_API_KEY"]);
    scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "s3cr3t-value\n");
    assert_eq!(cache(&scene), Vec::<PathBuf>::new());
    again(&mut scene, &["echo $SERVICE_API_KEY"]);
    assert_eq!(scene.printed(0, 0), "s3cr3t-value\n");
    assert_eq!(n_reads(&scene), 2);
}

#[test]
fn a_plain_shell_and_another_shell_are_as_they_were() {
    let mut scene = scene("export FROM_PROFILE=one", &[]);
    let call = |shell: &str, login: bool| {
        let cmd = "echo \"<$FROM_PROFILE>\"";
        let arguments = serde_json::json!({ "cmd": cmd, "shell": shell, "login": login });
        Step::items(vec![Item::command_with(arguments)])
    };
    fs::write(
        scene.workspace.user_home().join(".profile"),
        "FROM_PROFILE=sh",
    )
    .unwrap();
    let calls = [
        call("/bin/bash", false),
        call("/bin/sh", true),
        call("/bin/bash", true),
    ];
    scene.answer_by(calls.into_iter().chain([Step::message("fin")]).collect());
    scene.completes(&["go"]);
    assert_eq!(scene.printed(0, 0), "<>\n");
    assert_eq!(scene.printed(1, 0), "<sh>\n");
    assert_eq!(scene.printed(2, 0), "<one>\n");
}
