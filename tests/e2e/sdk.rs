//! The public SDK drives the binary unmodified. The package comes from the npm registry; where
//! npm or the registry is missing the test says so and checks nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use agent_test_support::{Item, Step};

use crate::support::{Scene, agent};

#[expect(
    clippy::disallowed_methods,
    reason = "node and npm are the test's own tools"
)]
fn tool(program: &str, directory: &Path, args: &[&str]) -> Option<Output> {
    Command::new(program)
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .ok()
}

/// The folder with the installed package, which is kept between runs, or why there is none.
fn installed() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk");
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sdk");
    for name in ["package.json", "drive.mjs"] {
        std::fs::copy(source.join(name), folder.join(name)).unwrap();
    }
    if folder.join("node_modules/@openai/codex-sdk").is_dir() {
        return Ok(folder);
    }
    let args = [
        "install",
        "--no-audit",
        "--no-fund",
        "--omit=optional",
        "--ignore-scripts",
    ];
    let installed = tool("npm", &folder, &args).ok_or("there is no npm")?;
    if installed.status.success() {
        Ok(folder)
    } else {
        Err(String::from_utf8_lossy(&installed.stderr).into_owned())
    }
}

#[test]
fn the_public_sdk_drives_the_binary() {
    let folder = match installed() {
        Ok(folder) => folder,
        Err(why) => {
            // Written past the test harness, which keeps what a passing test prints to itself.
            let mut loud = std::io::stderr();
            writeln!(
                loud,
                "SKIPPED: the SDK test needs npm and its registry: {why}"
            )
            .unwrap();
            return;
        }
    };
    let scene = Scene::new(vec![
        Step::message("hi there"),
        Step::message("and again"),
        Step::items(vec![Item::command("echo streamed")]),
        Step::message("streamed it"),
    ]);
    let place = &scene.workspace;
    let paths = [place.work(), place.home(), place.user_home()];
    let mut args = vec![
        "drive.mjs".to_owned(),
        agent().display().to_string(),
        scene.server.base_url(),
    ];
    args.extend(paths.iter().map(|path| path.display().to_string()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = tool("node", &folder, &args).expect("node beside npm");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaint}");
    assert_eq!(
        said,
        "first: hi there\nsecond: and again\nevents: thread.started turn.started item.started \
         item.completed item.completed turn.completed\nstreamed: streamed\n"
    );
    scene.server.assert_clean();
    let requests = scene.server.requests();
    assert_eq!(requests[0].header("originator"), Some("codex_sdk_ts"));
    assert_eq!(requests[0].header("authorization"), Some("Bearer sdk-key"));
    let first = requests[0].input();
    assert_eq!(
        first,
        &requests[1].input()[..first.len()],
        "the thread is resumed"
    );
}
