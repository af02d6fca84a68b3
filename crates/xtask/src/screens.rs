//! Pictures of the terminal interface, from real frames: the release binary in a
//! pseudo-terminal with a terminal emulator behind it, and a scripted model.

mod svg;

use std::fs;
use std::path::Path;
use std::time::Duration;

use agent_test_support::{Item, ModelServer, Step, Terminal, TerminalCommand, Workspace};
use anyhow::{Context as _, ensure};
use serde_json::json;

use svg::Palette;

/// Columns and rows of the pictures.
const SIZES: [(u16, u16); 2] = [(80, 42), (120, 36)];

/// How long nothing must change before a picture is taken.
const QUIET: Duration = Duration::from_millis(400);

/// Draws all pictures into `docs/screens`.
pub(crate) fn draw(root: &Path) -> anyhow::Result<()> {
    let binary = root.join("target/release/agent");
    ensure!(
        binary.is_file(),
        "there is no `target/release/agent`; build it with `cargo build --release`"
    );
    let directory = root.join("docs/screens");
    fs::create_dir_all(&directory)?;
    for (columns, rows) in SIZES {
        for palette in [Palette::DARK, Palette::LIGHT] {
            for (name, scene) in [("turn", turn as fn(&Terminal)), ("approval", approval)] {
                let terminal_size = (columns, rows);
                let picture = picture(&binary, terminal_size, &palette, scene);
                let file = directory.join(format!("{name}-{columns}-{}.svg", palette.name));
                fs::write(&file, picture)
                    .with_context(|| format!("cannot write `{}`", file.display()))?;
            }
        }
    }
    Ok(())
}

fn picture(binary: &Path, size: (u16, u16), palette: &Palette, scene: fn(&Terminal)) -> String {
    let workspace = Workspace::without_git();
    let project = workspace.root().join("parser");
    prepare(&workspace, &project);
    let server = ModelServer::builder(steps()).unchecked().start();
    let trusted = format!(
        "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        project.display()
    );
    let theme = format!("[tui]\ntheme = \"{}\"\n", palette.name);
    workspace.config(&server, &format!("{trusted}{theme}"));
    let terminal = TerminalCommand::new(binary, &workspace)
        .args(["-a", "on-request"])
        .env("HOME", workspace.root())
        .current_dir(&project)
        .size(size.0, size.1)
        .spawn();
    terminal.wait_for("shortcuts");
    scene(&terminal);
    terminal.settle(QUIET);
    svg::draw(&terminal.glyphs(), size, palette)
}

/// A small project with a failing test.
fn prepare(workspace: &Workspace, project: &Path) {
    fs::create_dir_all(project.join("src")).ok();
    workspace.git(&[
        "init",
        "--quiet",
        "--initial-branch=main",
        &project.to_string_lossy(),
    ]);
    workspace.write(
        project.join("src/parser.py"),
        "def number(text):\n    return int(text)\n",
    );
    workspace.write(
        project.join("test_parser.py"),
        "import sys\nfrom src.parser import number\n\nsys.tracebacklimit = 0\nassert number(\"1_000\") == 1000\nassert number(\"\") == 0\n",
    );
}

fn steps() -> Vec<Step> {
    let plan = |done: usize| {
        let steps = ["find the cause", "mend the parser", "run the test"];
        let steps = steps.iter().enumerate().map(|(index, step)| {
            let status = match index.cmp(&done) {
                std::cmp::Ordering::Less => "completed",
                std::cmp::Ordering::Equal => "in_progress",
                std::cmp::Ordering::Greater => "pending",
            };
            json!({"step": step, "status": status})
        });
        Item::function_call("update_plan", json!({"plan": steps.collect::<Vec<_>>()}))
    };
    let patch = "*** Begin Patch\n*** Update File: src/parser.py\n@@ def number(text):\n\
        -    return int(text)\n+    # An empty field counts as nothing.\n\
        +    return int(text) if text else 0\n*** End Patch\n";
    let answer = "The test failed on **empty fields**: `int(\"\")` raises.\n\n\
        ```python\nreturn int(text) if text else 0\n```\n\n\
        | input | before | now |\n|---|---|---|\n| `\"1_000\"` | 1000 | 1000 |\n\
        | `\"\"` | ValueError | 0 |\n\nThe test passes.";
    vec![
        Step::items(vec![
            Item::command("cat src/parser.py"),
            Item::command("grep -rn number ."),
            plan(0),
            Item::command("python3 test_parser.py"),
        ]),
        Step::items(vec![plan(1), Item::patch(patch), plan(2)]),
        Step::items(vec![
            Item::command("python3 test_parser.py && echo passed"),
            plan(3),
        ]),
        Step::message(answer).usage(18_230, 16_100, 640),
        Step::items(vec![Item::command_with(json!({
            "cmd": "git push origin main",
            "sandbox_permissions": "require_escalated",
            "justification": "pushing needs the network and your ssh key",
        }))]),
        Step::message("Not pushed."),
    ]
}

fn turn(terminal: &Terminal) {
    terminal.send("make the failing test pass");
    terminal.wait_for("make the failing test pass");
    terminal.settle(QUIET);
    terminal.send("\r");
    terminal.wait_for("670 out");
}

fn approval(terminal: &Terminal) {
    turn(terminal);
    terminal.send("push it");
    terminal.wait_for("push it");
    terminal.settle(QUIET);
    terminal.send("\r");
    terminal.wait_for("Would you like");
}
