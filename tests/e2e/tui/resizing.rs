//! Whatever its size becomes, the terminal keeps every line once.

use std::time::Duration;

use agent_test_support::Step;

use super::support::{EMPTY, ask, command, composed, has_rows, ready, rows, submit};
use crate::support::Scene;

/// A scene whose model says a list of this many rows.
fn list(n_rows: usize, pause: Duration) -> Scene {
    let rows: Vec<String> = (0..n_rows)
        .map(|row| {
            format!(
                "- {}
",
                name(row)
            )
        })
        .collect();
    // Several rows at once, so that there is time between frames.
    let step = Step::message(rows.concat())
        .deltas(n_rows.div_ceil(5))
        .delay_between_deltas(pause);
    Scene::new(vec![step, Step::message("second-answer")])
}

fn name(row: usize) -> String {
    format!("row-{row:03}-end")
}

/// Sizes as if at random, the same in each run.
fn sizes(n: usize) -> impl Iterator<Item = (u16, u16)> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u16::try_from(state % bound).unwrap_or(0)
    };
    (0..n).map(move |index| match index % 10 {
        9 => (1, 1),
        _ => (1 + next(140), 1 + next(50)),
    })
}

#[test]
fn a_long_list_is_in_the_scrollback_once() {
    let scene = list(500, Duration::from_millis(1));
    let terminal = ready(command(&scene));
    ask(&terminal, "go", &name(499));
    has_rows(&terminal.history().join("\n"), 500);
}

/// A storm while a list of 500 rows streams; what the scrollback holds in the end.
fn storm(sizes: impl Iterator<Item = (u16, u16)>) -> String {
    let scene = list(500, Duration::from_millis(30));
    let terminal = ready(command(&scene));
    submit(&terminal, "go");
    terminal.wait_for_line(&name(3));
    for (columns, n_rows) in sizes {
        terminal.resize_between_frames(columns, n_rows);
    }
    terminal.resize_between_frames(80, 24);
    terminal.wait_for_line(&name(499));
    composed(&terminal, EMPTY);
    terminal.settle(Duration::from_millis(300));
    let text = terminal.history().join("\n");
    ask(&terminal, "more", "second-answer");
    text
}

#[test]
fn a_storm_of_sizes_keeps_every_line_once() {
    let roomy = |(columns, n_rows): (u16, u16)| (columns.max(30), n_rows.max(16));
    has_rows(&storm(sizes(40).map(roomy)), 500);
}

/// Where not even what still changes fits, the terminal pushes some of it into its scrollback,
/// where it stays. What is finished is neither lost nor out of order.
#[test]
fn a_storm_of_sizes_down_to_one_cell_loses_no_line() {
    let text = storm(sizes(40));
    let mut found = rows(&text);
    found.dedup();
    assert!(found.iter().copied().eq(0..500), "{found:?} in\n{text}");
}

#[test]
fn a_storm_of_heights_keeps_every_line_once_where_lines_are_cut() {
    let scene = list(300, Duration::from_millis(30));
    let terminal = ready(command(&scene).env("TERM", "xterm-256color"));
    submit(&terminal, "go");
    terminal.wait_for_line(&name(3));
    for (_, n_rows) in sizes(25) {
        terminal.resize_between_frames(80, n_rows);
    }
    terminal.resize_between_frames(80, 24);
    terminal.wait_for_line(&name(299));
    composed(&terminal, EMPTY);
    terminal.settle(Duration::from_millis(300));
    has_rows(&terminal.history().join("\n"), 300);
}

#[test]
fn a_terminal_that_begins_tiny_grows() {
    let scene = list(20, Duration::ZERO);
    let terminal = command(&scene).size(1, 1).spawn();
    terminal.wait_for_raw(0, "a frame", |raw| raw.ends_with(b"\x1b[?2026l"));
    terminal.resize(80, 24);
    composed(&terminal, EMPTY);
    ask(&terminal, "go", &name(19));
    has_rows(&terminal.history().join("\n"), 20);
}
