//! tmux as a second opinion: another terminal emulator, with a scrollback of its own.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use agent_test_support::Step;

use super::support::{has_rows, rows};
use crate::support::{Scene, agent, soon, tool};

/// A server of tmux that ends with the test.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// The interface in a window of 80 columns and 24 rows.
    fn start(scene: &Scene) -> Self {
        // The path of a socket is short.
        let socket = std::env::temp_dir().join(format!("agent-tmux-{}", std::process::id()));
        let tmux = Self { socket };
        let config = scene.outside("tmux.conf");
        std::fs::write(&config, "set -g history-limit 20000\n").expect("a file");
        let started = tool("tmux")
            .arg("-f")
            .arg(&config)
            .arg("-S")
            .arg(&tmux.socket)
            .args(["new-session", "-d", "-x", "80", "-y", "24"])
            .arg("-c")
            .arg(scene.workspace.work())
            .arg(agent())
            .args(["-s", "workspace-write"])
            .env("HOME", scene.workspace.user_home())
            .env("AGENT_HOME", scene.workspace.home())
            .env("TMPDIR", scene.workspace.tmp())
            .env("MOCK_KEY", "x")
            .env("LANG", "C.UTF-8")
            .env_remove("TMUX")
            .output();
        assert!(
            started.is_ok_and(|output| output.status.success()),
            "tmux does not start"
        );
        tmux
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let socket: &Path = &self.socket;
        let output = tool("tmux").arg("-S").arg(socket).args(arguments).output();
        output.expect("tmux runs")
    }

    /// Scrollback and screen; wrapped lines are joined.
    fn text(&self) -> String {
        let output = self.run(&["capture-pane", "-p", "-J", "-S", "-"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn rows(&self) -> Vec<usize> {
        rows(&self.text())
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
        drop(std::fs::remove_file(&self.socket));
    }
}

#[test]
fn tu_11_the_scrollback_of_tmux_holds_every_line_once() {
    if tool("tmux").arg("-V").output().is_err() {
        eprintln!("SKIPPED: `tmux` is not there");
        return;
    }
    let list: Vec<String> = (0..500)
        .map(|row| format!("- row-{row:03}-end\n"))
        .collect();
    let step = Step::message(list.concat())
        .deltas(500)
        .delay_between_deltas(Duration::from_millis(4));
    let scene = Scene::new(vec![step]);
    let tmux = Tmux::start(&scene);
    assert!(soon(|| tmux.text().contains("› Ask")), "{}", tmux.text());
    tmux.run(&["send-keys", "-l", "go"]);
    assert!(soon(|| tmux.text().contains("› go")), "{}", tmux.text());
    tmux.run(&["send-keys", "Enter"]);
    let during = || {
        let rows = tmux.rows();
        rows.len() > 30 && rows.iter().copied().eq(0..rows.len())
    };
    assert!(soon(during), "{}", tmux.text());
    assert!(soon(|| tmux.text().contains("› Ask")), "{}", tmux.text());
    assert!(soon(|| tmux.rows().last() == Some(&499)), "{}", tmux.text());
    has_rows(&tmux.text(), 500);
    // Later than it gives its window another size, tmux tells the program.
    for (columns, n_rows) in [("50", "15"), ("90", "30"), ("20", "5"), ("80", "24")] {
        tmux.run(&["resize-window", "-x", columns, "-y", n_rows]);
        let told = tmux.run(&["display-message", "-p", "#{pane_width}"]);
        assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), columns);
    }
    assert!(
        soon(|| tmux.text().contains("› Ask anything, @ files")),
        "{}",
        tmux.text()
    );
    has_rows(&tmux.text(), 500);
}
