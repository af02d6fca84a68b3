//! Commands and explorations.

use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::text::tests::{assert_sound, hostile};

fn shown(execution: &CommandExecution, view: &CommandView<'_>) -> String {
    plain(&command(execution, view, &look(60)), 60)
}

fn numbered(word: &str, n_lines: usize) -> String {
    let lines: Vec<String> = (1..=n_lines).map(|n| format!("{word} {n}\n")).collect();
    lines.concat()
}

#[test]
fn a_command_and_the_ends_of_its_output() {
    let output = numbered("line", 20);
    let execution = ran(
        "cargo test -p agent-tui --all-targets -- --nocapture",
        &output,
        0,
    );
    let cell = |look: &Look| command(&execution, &CommandView::default(), look);
    expect![[r#"
        40:
        • Ran cargo test -p agent-tui
          │ --all-targets -- --nocapture · 2.3s
          └ line 1
            line 2
            … +15 lines
            line 18
            line 19
            line 20
        80:
        • Ran cargo test -p agent-tui --all-targets -- --nocapture · 2.3s
          └ line 1
            line 2
            … +15 lines
            line 18
            line 19
            line 20
        120:
        • Ran cargo test -p agent-tui --all-targets -- --nocapture · 2.3s
          └ line 1
            line 2
            … +15 lines
            line 18
            line 19
            line 20
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        - Ran cargo test -p agent-tui --all-targets -- --nocapture, 2.3s
            line 1
            line 2
            ... +15 lines
            line 18
            line 19
            line 20
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
}

#[test]
fn how_a_command_ended_is_said_in_words() {
    let view = CommandView::default();
    let failed = ran("false", "", 1);
    let mut stopped = ran("sleep 100", "", 1);
    stopped.exit_code = None;
    let mut declined = ran("rm -rf /", "the user said no", 1);
    (declined.exit_code, declined.status) = (None, ItemStatus::Declined);
    let mut completed = ran("grep x y", "", 0);
    completed.exit_code = Some(2);
    let mut text = String::new();
    for execution in [&ran("ls", "", 0), &failed, &stopped, &declined, &completed] {
        text.push_str(&shown(execution, &view));
        let by_user = CommandExecution {
            source: CommandSource::User,
            ..execution.clone()
        };
        text.push_str(&shown(&by_user, &view));
    }
    expect![[r#"
        • Ran ls · 2.3s
        • You ran ls · 2.3s
        ✗ Ran false · exit 1 · 2.3s
        ✗ You ran false · exit 1 · 2.3s
        ✗ Stopped sleep 100 · 2.3s
        ✗ Stopped sleep 100 · 2.3s
        ✗ Declined rm -rf /
          └ the user said no
        ✗ Declined rm -rf /
          └ the user said no
        ✗ Ran grep x y · exit 2 · 2.3s
        ✗ You ran grep x y · exit 2 · 2.3s
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_running_command_shows_what_it_has_printed() {
    let mut execution = ran("make", "", 0);
    (execution.exit_code, execution.status, execution.duration_ms) =
        (None, ItemStatus::InProgress, None);
    let view = CommandView {
        live_output: "one\ntwo\nthree\nfour\n",
        elapsed: Some(Duration::from_secs(65)),
        max_output_rows: 3,
        ..CommandView::default()
    };
    expect![[r#"
        • Running make · 1m 05s
          └ one
            … +1 line
            three
            four
    "#]]
    .assert_eq(&shown(&execution, &view));
    let none = CommandView {
        live_output: "",
        max_output_rows: 0,
        ..view
    };
    expect![[r#"
        • Running make · 1m 05s
    "#]]
    .assert_eq(&shown(&execution, &none));
}

#[test]
fn a_script_of_many_lines_is_shown_up_to_a_cap() {
    let script = numbered("echo", 12);
    let view = CommandView {
        max_script_rows: 3,
        ..CommandView::default()
    };
    expect![[r#"
        ✗ Ran echo 1
          │ echo 2
          │ echo 3
          │ … +9 lines · exit 3 · 2.3s
          └ x
    "#]]
    .assert_eq(&shown(&ran(&script, "x", 3), &view));
    expect![[r#"
        • Ran if a; then
          │   b
          │ fi · 2.3s
    "#]]
    .assert_eq(&shown(&ran("if a; then\n  b\nfi", "", 0), &view));
}

#[test]
fn no_part_of_a_command_can_hide() {
    let script =
        "echo ok\u{202e}\r; rm -rf ~ \u{1b}[2K\u{1b}[8mhidden\u{1b}[0m\u{200b} \u{8}\n\n\n\nlast";
    expect![[r#"
        • Ran echo ok\u{202e}\r; rm -rf ~
          │ \u{1b}[2K\u{1b}[8mhidden\u{1b}[0m\u{200b} \u{8}
          │
          │
          │
          │ last · 2.3s
    "#]]
    .assert_eq(&shown(&ran(script, "", 0), &CommandView::default()));
}

#[test]
fn long_lines_of_output_are_cut_in_the_middle() {
    let execution = ran("cat data", &"x".repeat(1 << 20), 0);
    expect![[r#"
        • Ran cat data · 2.3s
          └ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            … +18720 lines
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    "#]]
    .assert_eq(&shown(&execution, &CommandView::default()));
    let output = format!("start\n{}\nend", "y".repeat(300));
    expect![[r#"
        • Ran cat data · 2.3s
          └ start
            yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
            … +3 lines
            yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
            yyyyyyyyyyyyyyyyyyyy
            end
    "#]]
    .assert_eq(&shown(
        &ran("cat data", &output, 0),
        &CommandView::default(),
    ));
}

#[test]
fn the_styles_of_a_command() {
    let rows = command(&ran("ls", "a", 1), &CommandView::default(), &look(40));
    expect![[r#"
        {red|✗ }{bold|Ran }ls{dim| · exit 1 · 2.3s}
        {dim|  └ }{dim|a}
    "#]]
    .assert_eq(&styled(&rows));
}

#[test]
fn explorations_are_grouped() {
    let scripts = [
        "cat src/a.rs",
        "sed -n '1,5p' src/b.rs",
        "cat src/a.rs",
        "rg -n foo src",
        "ls -la",
        "git diff --stat",
        "cat c && cat d",
        "cargo build; rm -rf x",
    ];
    let commands = scripts.map(|script| ran(script, "", 0));
    let cell = |look: &Look| explored(&commands, look);
    expect![[r#"
        40:
        • Explored
          └ Read src/a.rs, src/b.rs
            Search foo in src
            List .
            Show git diff --stat
            Read c, d
            Run cargo build; rm -rf x
        80:
        • Explored
          └ Read src/a.rs, src/b.rs
            Search foo in src
            List .
            Show git diff --stat
            Read c, d
            Run cargo build; rm -rf x
        120:
        • Explored
          └ Read src/a.rs, src/b.rs
            Search foo in src
            List .
            Show git diff --stat
            Read c, d
            Run cargo build; rm -rf x
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        - Explored
            Read src/a.rs, src/b.rs
            Search foo in src
            List .
            Show git diff --stat
            Read c, d
            Run cargo build; rm -rf x
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
}

proptest! {
    #[test]
    fn commands_are_sound(script in hostile(), output in hostile(), width in 1u16..40, max in 0usize..9) {
        let view = CommandView { max_output_rows: max, max_script_rows: max, ..CommandView::default() };
        let execution = ran(&script, &output, 1);
        let rows = command(&execution, &view, &look(width));
        assert_sound(&rows, width);
        assert_sound(&explored(&[execution], &look(width)), width);
    }

    #[test]
    fn an_output_is_no_longer_than_asked(output in "[a-z\n ]{0,200}", max in 0usize..9) {
        let view = CommandView { max_output_rows: max, ..CommandView::default() };
        let rows = command(&ran("x", &output, 0), &view, &look(20));
        prop_assert!(rows.len() <= max + 2, "{:?}", rows);
    }
}
