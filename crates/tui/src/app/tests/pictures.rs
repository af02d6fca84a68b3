//! What there is to see at 40, 80 and 120 columns.

use agent_protocol::{
    ChangeKind, Event, FileChange, ItemStatus, NoticeEvent, PathChange, TodoItem, TurnEvent,
    TurnItem,
};
use expect_test::expect;

use super::support::*;

/// What is seen at each of the three widths.
#[track_caller]
fn at_widths(scene: fn(&mut Face), expected: [expect_test::Expect; 3]) {
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
                › 1. Yes, I trust it  work here, in the…
                  2. No  only read, ask for everything…
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

#[test]
#[expect(clippy::too_many_lines, reason = "a picture at three widths")]
fn a_turn_that_is_over() {
    at_widths(
        |face| {
            command_runs(face);
            face.ends(
                4,
                ran(
                    "cargo test -p parser --all-targets",
                    "running 2 tests\nok\n",
                ),
            );
            face.ends(5, patch());
            face.ends(2, plan(3));
            face.wait(53_000);
            face.completed();
        },
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

                • Waiting: the… (0s · esc to interrupt)

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
                › hi
                ----

                • Waiting: the server is overloaded; attempt 2 follows… (0s · esc to interrupt)

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
            expect![[r#"
            › hi
            ----

            • Waiting: the server is overloaded; attempt 2 follows in 2 s (0s · esc to interrupt)

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

#[test]
fn lists_to_choose_from() {
    let menu = |command: &'static str| {
        let mut face = Face::bare(80, 24);
        face.keys(&[command, "enter"]);
        face.shown()
    };
    expect![[r#"
        ----
        How much big-model should think. Another model: /model NAME [EFFORT]
          1. default
          2. minimal
          3. low
          4. medium
        › 5. high
          6. xhigh
        enter or a digit chooses, esc leaves
        ----
        Permissions. Now: workspace-write, on-request
          1. read only  only reads; asks before it changes anything
        › 2. workspace  writes in this workspace; asks to go beyond it
          3. workspace, ask for each command  as before; asks before all but reads
          4. full access  no sandbox, no questions; only on isolated machines
        enter or a digit chooses, esc leaves
        ----
        Colours
        › 1. ansi
          2. monochrome
          3. dark
          4. light
          5. high-contrast
        enter or a digit chooses, esc leaves
    "#]]
    .assert_eq(&["/model", "/permissions", "/theme"].map(menu).concat());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a picture at three widths")]
fn help() {
    at_widths(
        |face| {
            face.resize(face.app.look.width, 60);
            face.keys(&["?"]);
        },
        [
            expect![[r#"
                ----
                Keys
                  enter
                      send; while a turn runs, steer it
                  tab
                      send when the turn is over
                  shift-enter, alt-enter, ctrl-j
                      new line
                  esc
                      stop the turn; twice: go back to
                      an earlier message
                  ctrl-c
                      clear the line, stop the turn;
                      twice: quit
                  ctrl-d
                      quit, when the line is empty
                  ctrl-t
                      the whole transcript
                  ctrl-r
                      search what you sent before
                  up, down
                      move, and walk through what you
                      sent before
                  ctrl-g
                      write in your editor
                  ctrl-v
                      the image on the clipboard
                  @
                      a file
                  /
                      a command
                  !
                      run a command yourself; the model
                      sees it
                  ctrl-a ctrl-e ctrl-w ctrl-u ctrl-k
                  ctrl-y
                      as in readline
                  ctrl-_, alt-_
                      undo, redo
                  ctrl-l
                      draw anew
                  ctrl-z
                      suspend

                Commands
                  /model
                      choose the model and how much it
                      thinks
                  /permissions
                      choose what commands may touch and
                      when you are asked
                  /new
                      begin a new conversation
                  /resume
                      go on with an earlier conversation
                  /fork
                      go on in a copy; the conversation
                      so far stays as it is
                  /back
                      go back to an earlier message and
                up and down scroll, any other key leaves
            "#]],
            expect![[r#"
                ----
                Keys
                  enter                          send; while a turn runs, steer it
                  tab                            send when the turn is over
                  shift-enter, alt-enter, ctrl-j new line
                  esc                            stop the turn; twice: go back to an earlier
                                                 message
                  ctrl-c                         clear the line, stop the turn; twice: quit
                  ctrl-d                         quit, when the line is empty
                  ctrl-t                         the whole transcript
                  ctrl-r                         search what you sent before
                  up, down                       move, and walk through what you sent before
                  ctrl-g                         write in your editor
                  ctrl-v                         the image on the clipboard
                  @                              a file
                  /                              a command
                  !                              run a command yourself; the model sees it
                  ctrl-a ctrl-e ctrl-w ctrl-u ctrl-k ctrl-y
                                                 as in readline
                  ctrl-_, alt-_                  undo, redo
                  ctrl-l                         draw anew
                  ctrl-z                         suspend

                Commands
                  /model                         choose the model and how much it thinks
                  /permissions                   choose what commands may touch and when you are
                                                 asked
                  /new                           begin a new conversation
                  /resume                        go on with an earlier conversation
                  /fork                          go on in a copy; the conversation so far stays
                                                 as it is
                  /back                          go back to an earlier message and edit it
                  /context                       show where the context window goes
                  /status                        show model, place, limits and tokens
                  /diff                          show what differs from the last commit
                  /init                          write an AGENTS.md for this repository
                  /copy                          copy the last answer
                  /export                        write the transcript to a file
                  /theme                         choose the colours
                  /vim                           switch Vim keys on or off
                  /keymap                        show the keys
                  /settings                      switch what moves, calls and is kept
                  /trust                         say whether this directory is trusted
                  /stop                          stop what runs
                  /help                          show commands and keys
                  /quit                          end
                any key leaves
            "#]],
            expect![[r#"
                ----
                Keys
                  enter                          send; while a turn runs, steer it
                  tab                            send when the turn is over
                  shift-enter, alt-enter, ctrl-j new line
                  esc                            stop the turn; twice: go back to an earlier message
                  ctrl-c                         clear the line, stop the turn; twice: quit
                  ctrl-d                         quit, when the line is empty
                  ctrl-t                         the whole transcript
                  ctrl-r                         search what you sent before
                  up, down                       move, and walk through what you sent before
                  ctrl-g                         write in your editor
                  ctrl-v                         the image on the clipboard
                  @                              a file
                  /                              a command
                  !                              run a command yourself; the model sees it
                  ctrl-a ctrl-e ctrl-w ctrl-u ctrl-k ctrl-y
                                                 as in readline
                  ctrl-_, alt-_                  undo, redo
                  ctrl-l                         draw anew
                  ctrl-z                         suspend

                Commands
                  /model                         choose the model and how much it thinks
                  /permissions                   choose what commands may touch and when you are asked
                  /new                           begin a new conversation
                  /resume                        go on with an earlier conversation
                  /fork                          go on in a copy; the conversation so far stays as it is
                  /back                          go back to an earlier message and edit it
                  /context                       show where the context window goes
                  /status                        show model, place, limits and tokens
                  /diff                          show what differs from the last commit
                  /init                          write an AGENTS.md for this repository
                  /copy                          copy the last answer
                  /export                        write the transcript to a file
                  /theme                         choose the colours
                  /vim                           switch Vim keys on or off
                  /keymap                        show the keys
                  /settings                      switch what moves, calls and is kept
                  /trust                         say whether this directory is trusted
                  /stop                          stop what runs
                  /help                          show commands and keys
                  /quit                          end
                any key leaves
            "#]],
        ],
    );
}

#[test]
fn where_the_context_goes() {
    at_widths(
        |face| {
            let part = |name: &str, tokens, items| agent_protocol::ContextPart {
                name: name.to_owned(),
                tokens,
                items,
            };
            face.notice(NoticeEvent::Context(agent_protocol::ContextReport {
                parts: vec![part("instructions", 3000, 1), part("outputs", 61_000, 14)],
                window: Some(200_000),
                last_request_tokens: Some(64_100),
            }));
        },
        [
            expect![[r#"
                Context, about 64.0k tokens of 200.0k;
                the last request had 64.1k
                  instructions      3.0k  █
                  outputs          61.0k  ████
                  free            136.0k  ███████
                ----

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
            Context, about 64.0k tokens of 200.0k; the last request had 64.1k
              instructions                    3.0k  █
              outputs                        61.0k  ████████                 14 items
              free                          136.0k  █████████████████
            ----

            › ▏Ask anything, @ files, / commands, ? shortcuts
              big-model high · ~/work/parser · main · workspace-write · on-request
        "#]],
            expect![[r#"
            Context, about 64.0k tokens of 200.0k; the last request had 64.1k
              instructions                    3.0k  █
              outputs                        61.0k  ████████                 14 items
              free                          136.0k  █████████████████
            ----

            › ▏Ask anything, @ files, / commands, ? shortcuts
              big-model high · ~/work/parser · main · workspace-write · on-request
        "#]],
        ],
    );
}

#[test]
fn the_status() {
    at_widths(
        |face| {
            face.keys(&["/status", "enter"]);
        },
        [
            expect![[r#"
                Status
                  model         big-model (local),
                                effort high
                  directory     /home/kim/work/parser
                  branch        main
                  sandbox       workspace-write
                  approvals     on-request
                  theme         ansi
                  session       not on disk yet
                ----

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
                Status
                  model         big-model (local), effort high
                  directory     /home/kim/work/parser
                  branch        main
                  sandbox       workspace-write
                  approvals     on-request
                  theme         ansi
                  session       not on disk yet
                ----

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
            expect![[r#"
                Status
                  model         big-model (local), effort high
                  directory     /home/kim/work/parser
                  branch        main
                  sandbox       workspace-write
                  approvals     on-request
                  theme         ansi
                  session       not on disk yet
                ----

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
        ],
    );
}
