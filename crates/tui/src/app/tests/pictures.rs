//! What there is to see at 40, 80 and 120 columns.

use agent_protocol::{
    ChangeKind, Event, FileChange, ItemStatus, NoticeEvent, PathChange, TodoItem, TurnEvent,
    TurnItem,
};
use expect_test::expect;

use super::support::*;

/// What is seen at each of the three widths.
#[track_caller]
pub(super) fn at_widths(scene: fn(&mut Face), expected: [expect_test::Expect; 3]) {
    for (columns, expected) in [40, 80, 120].into_iter().zip(expected) {
        let mut face = Face::bare(columns, 24);
        scene(&mut face);
        expected.assert_eq(&face.shown());
    }
}

fn plan(done: usize) -> TurnItem {
    let steps = ["read the parser", "write a failing test", "fix it"];
    let items = steps.iter().enumerate().map(|(index, text)| TodoItem {
        text: (*text).to_owned(),
        completed: index < done,
        in_progress: index == done,
    });
    TurnItem::TodoList {
        items: items.collect(),
    }
}

fn patch() -> TurnItem {
    TurnItem::FileChange(FileChange {
        changes: vec![PathChange {
            path: "src/parser.rs".to_owned(),
            kind: ChangeKind::Update,
        }],
        status: ItemStatus::Completed,
        unified_diff: "--- a/src/parser.rs\n+++ b/src/parser.rs\n@@ -1,2 +1,2 @@\n fn parse() {\n\
            -    old();\n+    new();\n"
            .to_owned(),
        error: None,
    })
}

#[test]
fn the_start() {
    at_widths(
        |face| face.app.show_header("1.2.3"),
        [
            expect![[r#"
                • agent 1.2.3 · big-model high
                  ~/work/parser · main
                  sandbox workspace-write · approval
                  on-request
                ----

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
                • agent 1.2.3 · big-model high
                  ~/work/parser · main
                  sandbox workspace-write · approval on-request
                ----

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
            expect![[r#"
                • agent 1.2.3 · big-model high
                  ~/work/parser · main
                  sandbox workspace-write · approval on-request
                ----

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
        ],
    );
}

#[test]
fn whether_the_directory_is_trusted() {
    at_widths(
        |face| {
            face.app.show_header("1.2.3");
            face.app.ask_trust(&agent_core::Trust {
                directory: "/home/kim/work/parser".into(),
                trusted: None,
                files: vec!["AGENTS.md".into(), ".agent/config.toml".into()],
            });
        },
        [
            expect![[r#"
                • agent 1.2.3 · big-model high
                  ~/work/parser · main
                  sandbox workspace-write · approval
                  on-request
                ----

                Do you trust this directory?
                  /home/kim/work/parser
                  It tells the agent what to do in:
                  AGENTS.md, .agent/config.toml
                  In a trusted directory commands may
                  write without asking; elsewhere they
                  only read.
                › 1. Yes, I trust it  work here, in the
                     sandbox
                  2. No  only read, ask for everything
                     else
                enter or a digit chooses, esc leaves
            "#]],
            expect![[r#"
                • agent 1.2.3 · big-model high
                  ~/work/parser · main
                  sandbox workspace-write · approval on-request
                ----

                Do you trust this directory?
                  /home/kim/work/parser
                  It tells the agent what to do in: AGENTS.md, .agent/config.toml
                  In a trusted directory commands may write without asking; elsewhere they only
                  read.
                › 1. Yes, I trust it  work here, in the sandbox
                  2. No  only read, ask for everything else
                enter or a digit chooses, esc leaves
            "#]],
            expect![[r#"
                • agent 1.2.3 · big-model high
                  ~/work/parser · main
                  sandbox workspace-write · approval on-request
                ----

                Do you trust this directory?
                  /home/kim/work/parser
                  It tells the agent what to do in: AGENTS.md, .agent/config.toml
                  In a trusted directory commands may write without asking; elsewhere they only read.
                › 1. Yes, I trust it  work here, in the sandbox
                  2. No  only read, ask for everything else
                enter or a digit chooses, esc leaves
            "#]],
        ],
    );
}

fn turn(face: &mut Face) {
    face.keys(&["fix the parser", "enter"]);
    face.started();
    face.ends(0, ran("cat src/parser.rs", "fn parse() {}\n"));
    face.ends(1, ran("rg -n parse src", "src/parser.rs:1:fn parse() {}\n"));
    face.starts(2, plan(0));
    face.starts(3, message(""));
    face.says(3, "I found it. The **old** call is wrong.\n\nNow I ");
}

#[test]
fn a_turn_while_the_answer_streams() {
    at_widths(
        turn,
        [
            expect![[r#"
                › fix the parser

                • Explored
                  └ Read src/parser.rs
                    Search parse in src

                • I found it. The old call is wrong.
                ----

                  Now I

                • Plan
                  ▸ read the parser
                  □ write a failing test
                  □ fix it

                • Working (0s · esc to interrupt)

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
        › fix the parser

        • Explored
          └ Read src/parser.rs
            Search parse in src

        • I found it. The old call is wrong.
        ----

          Now I

        • Plan
          ▸ read the parser
          □ write a failing test
          □ fix it

        • Working (0s · esc to interrupt)

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
            expect![[r#"
        › fix the parser

        • Explored
          └ Read src/parser.rs
            Search parse in src

        • I found it. The old call is wrong.
        ----

          Now I

        • Plan
          ▸ read the parser
          □ write a failing test
          □ fix it

        • Working (0s · esc to interrupt)

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
        ],
    );
}

fn command_runs(face: &mut Face) {
    turn(face);
    face.says(3, "run the tests.");
    face.ends(
        3,
        message("I found it. The **old** call is wrong.\n\nNow I run the tests."),
    );
    face.starts(4, running("cargo test -p parser --all-targets"));
    face.prints(4, "running 2 tests\ntest one ... ok\n");
    face.item(2, agent_protocol::ItemEvent::Updated { item: plan(1) });
    face.wait(12_000);
}

#[test]
fn a_turn_while_a_command_runs() {
    at_widths(
        command_runs,
        [
            expect![[r#"
                › fix the parser

                • Explored
                  └ Read src/parser.rs
                    Search parse in src

                • I found it. The old call is wrong.

                  Now I run the tests.
                ----

                • Running cargo test -p parser
                  │ --all-targets · 12s
                  └ running 2 tests
                    test one ... ok

                • Plan
                  ✔ read the parser
                  ▸ write a failing test
                  □ fix it

                • Running carg… (12s · esc to interrupt)

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
        › fix the parser

        • Explored
          └ Read src/parser.rs
            Search parse in src

        • I found it. The old call is wrong.

          Now I run the tests.
        ----

        • Running cargo test -p parser --all-targets · 12s
          └ running 2 tests
            test one ... ok

        • Plan
          ✔ read the parser
          ▸ write a failing test
          □ fix it

        • Running cargo test -p parser --all-targets (12s · esc to interrupt)

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
            expect![[r#"
        › fix the parser

        • Explored
          └ Read src/parser.rs
            Search parse in src

        • I found it. The old call is wrong.

          Now I run the tests.
        ----

        • Running cargo test -p parser --all-targets · 12s
          └ running 2 tests
            test one ... ok

        • Plan
          ✔ read the parser
          ▸ write a failing test
          □ fix it

        • Running cargo test -p parser --all-targets (12s · esc to interrupt)

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
        ],
    );
}

fn turn_is_over(face: &mut Face) {
    command_runs(face);
    let output = "running 2 tests\nok\n";
    face.ends(4, ran("cargo test -p parser --all-targets", output));
    face.ends(5, patch());
    face.ends(2, plan(3));
    face.wait(53_000);
    face.completed();
}

#[test]
fn a_turn_that_is_over() {
    at_widths(
        turn_is_over,
        [
            expect![[r#"
                › fix the parser

                • Explored
                  └ Read src/parser.rs
                    Search parse in src

                • I found it. The old call is wrong.

                  Now I run the tests.

                • Ran cargo test -p parser --all-targets
                  │ · 1.2s
                  └ running 2 tests
                    ok

                • Edited src/parser.rs (+1 -1)
                    1  fn parse() {
                    2 -    old();
                    2 +    new();

                • Plan
                  ✔ read the parser
                  ✔ write a failing test
                  ✔ fix it

                1m 05s · 12,345 in (8,000 cached) · 678
                out
                ----

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
        › fix the parser

        • Explored
          └ Read src/parser.rs
            Search parse in src

        • I found it. The old call is wrong.

          Now I run the tests.

        • Ran cargo test -p parser --all-targets · 1.2s
          └ running 2 tests
            ok

        • Edited src/parser.rs (+1 -1)
            1  fn parse() {
            2 -    old();
            2 +    new();

        • Plan
          ✔ read the parser
          ✔ write a failing test
          ✔ fix it

        1m 05s · 12,345 in (8,000 cached) · 678 out
        ----

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
            expect![[r#"
        › fix the parser

        • Explored
          └ Read src/parser.rs
            Search parse in src

        • I found it. The old call is wrong.

          Now I run the tests.

        • Ran cargo test -p parser --all-targets · 1.2s
          └ running 2 tests
            ok

        • Edited src/parser.rs (+1 -1)
            1  fn parse() {
            2 -    old();
            2 +    new();

        • Plan
          ✔ read the parser
          ✔ write a failing test
          ✔ fix it

        1m 05s · 12,345 in (8,000 cached) · 678 out
        ----

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
        ],
    );
}

#[test]
fn a_request_that_is_made_again() {
    at_widths(
        |face| {
            face.keys(&["hi", "enter"]);
            face.started();
            face.notice(NoticeEvent::Retry {
                attempt: 2,
                limit: 5,
                delay_ms: 1500,
                reason: "the server is overloaded\u{1b}[2J".to_owned(),
            });
        },
        [
            expect![[r#"
                › hi
                ----

                • Try 2 follows… (0s · esc to interrupt)

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
                › hi
                ----

                • Try 2 follows in 2s: the server is overloaded (0s · esc to interrupt)

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
            expect![[r#"
                › hi
                ----

                • Try 2 follows in 2s: the server is overloaded (0s · esc to interrupt)

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
        ],
    );
}

#[test]
fn words_that_wait() {
    at_widths(
        |face| {
            face.keys(&["hi", "enter"]);
            face.started();
            face.keys(&[
                "not that file, the other one",
                "enter",
                "then write a test",
                "tab",
            ]);
        },
        [
            expect![[r#"
                › hi
                ----

                • Working (4s · esc to interrupt)
                  └ sent, not read yet: not that file,…
                  └ after this turn: then write a test
                    up to edit the last one

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
            › hi
            ----

            • Working (4s · esc to interrupt)
              └ sent, not read yet: not that file, the other one
              └ after this turn: then write a test
                up to edit the last one

            › ▏Ask anything, @ files, / commands, ? shortcuts
              big-model high · ~/work/parser · main · workspace-write · on-request
        "#]],
            expect![[r#"
            › hi
            ----

            • Working (4s · esc to interrupt)
              └ sent, not read yet: not that file, the other one
              └ after this turn: then write a test
                up to edit the last one

            › ▏Ask anything, @ files, / commands, ? shortcuts
              big-model high · ~/work/parser · main · workspace-write · on-request
        "#]],
        ],
    );
}

#[test]
fn an_interrupted_turn() {
    at_widths(
        |face| {
            face.keys(&["hi", "enter"]);
            face.started();
            face.starts(0, running("sleep 100"));
            face.keys(&["then this", "tab", "esc"]);
            face.thread(Event::Turn(TurnEvent::Interrupted));
        },
        [
            expect![[r#"
                › hi

                ✗ Stopped sleep 100

                ⚠ Interrupted.
                  └ Say what to do instead.
                ----

                › then this▏
                  big-model high
            "#]],
            expect![[r#"
                › hi

                ✗ Stopped sleep 100

                ⚠ Interrupted.
                  └ Say what to do instead.
                ----

                › then this▏
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
            expect![[r#"
                › hi

                ✗ Stopped sleep 100

                ⚠ Interrupted.
                  └ Say what to do instead.
                ----

                › then this▏
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
        ],
    );
}
