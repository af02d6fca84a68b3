//! The agent's own directory when it cannot be used as such: the turn goes on, with one warning.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use agent_test_support::{Item, Step};

use crate::support::{Scene, is_root, messages, warnings};

/// A scene whose provider comes from the command line, because there is no configuration file.
fn scene() -> Scene {
    Scene::new(vec![
        Step::items(vec![Item::command("echo hi")]),
        Step::message("fin"),
    ])
}

fn provider(scene: &Scene) -> [String; 4] {
    let url = scene.server.base_url();
    [
        "-c".into(),
        format!("openai_base_url=\"{url}\""),
        "-m".into(),
        "m".into(),
    ]
}

#[test]
fn rr_11_a_home_that_is_a_file_gives_one_warning() {
    let scene = scene();
    let file = scene.workspace.root().join("file-home");
    std::fs::write(&file, "x").unwrap();
    let run = scene
        .exec(&["--ignore-user-config", "go"])
        .args(provider(&scene))
        .env("AGENT_HOME", &file)
        .env("AGENT_API_KEY", "k")
        .run();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(messages(&run), ["fin"]);
    assert_eq!(scene.printed(0, 0), "hi\n");
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(file.to_str().unwrap()), "{said:?}");
    assert!(said[0].contains("cannot be resumed"), "{said:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
}

#[test]
fn rr_11_a_home_that_cannot_be_written_gives_one_warning() {
    if is_root() {
        eprintln!("SKIPPED: nothing is closed to the superuser");
        return;
    }
    let scene = scene();
    let home = scene.workspace.home();
    std::fs::set_permissions(&home, Permissions::from_mode(0o555)).unwrap();
    let run = scene.exec(&["go"]).run();
    std::fs::set_permissions(&home, Permissions::from_mode(0o755)).unwrap();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(messages(&run), ["fin"]);
    let said = warnings(&run);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("cannot be resumed"), "{said:?}");
    assert_eq!(scene.rollouts(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn rr_11_an_ephemeral_run_needs_no_home() {
    let scene = scene();
    let file = scene.workspace.root().join("file-home");
    std::fs::write(&file, "x").unwrap();
    let run = scene
        .exec(&["--ignore-user-config", "--ephemeral", "go"])
        .args(provider(&scene))
        .env("AGENT_HOME", &file)
        .env("AGENT_API_KEY", "k")
        .run();
    run.assert_code(0);
    assert_eq!(warnings(&run), Vec::<String>::new());
}

#[test]
fn ap_33_a_home_behind_a_link_works() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n";
    let scene = Scene::new(vec![
        Step::items(vec![Item::patch(patch), Item::command("echo b > b.txt")]),
        Step::message("fin"),
    ]);
    let link = scene.workspace.root().join("link-home");
    symlink(scene.workspace.home(), &link).unwrap();
    let run = scene.exec(&["go"]).env("AGENT_HOME", &link).run();
    run.assert_code(0);
    scene.server.assert_clean();
    assert_eq!(scene.workspace.read("a.txt"), "a\n");
    assert_eq!(scene.workspace.read("b.txt"), "b\n");
    assert_eq!(warnings(&run), Vec::<String>::new());
    assert_eq!(scene.rollouts().len(), 1);
}

#[test]
fn a_home_that_is_not_there_is_made_for_the_user_alone() {
    let scene = scene();
    let home = scene.workspace.root().join("new/home");
    let run = scene
        .exec(&["go"])
        .args(provider(&scene))
        .env("AGENT_HOME", &home)
        .env("AGENT_API_KEY", "k")
        .run();
    run.assert_code(0);
    assert_eq!(warnings(&run), Vec::<String>::new());
    let mode = |path: &str| {
        let metadata = std::fs::metadata(home.join(path)).unwrap();
        metadata.permissions().mode() & 0o077
    };
    assert_eq!(mode("sessions"), 0);
}

#[test]
fn a_log_is_written_only_when_it_is_asked_for() {
    let scene = scene();
    scene.completes(&["go"]);
    assert!(!scene.workspace.home().join("log").exists());
    let scene = self::scene();
    let run = scene.exec(&["go"]).env("AGENT_LOG", "debug").run();
    run.assert_code(0);
    assert_eq!(run.stderr, "");
    assert!(
        !scene
            .workspace
            .read(scene.workspace.home().join("log/agent.log"))
            .is_empty()
    );
    let scene = self::scene();
    let run = scene.exec(&["go"]).env("AGENT_LOG", "no=such=filter").run();
    run.assert_code(0);
    assert!(
        warnings(&run)[0].contains("AGENT_LOG"),
        "{:?}",
        warnings(&run)
    );
}
