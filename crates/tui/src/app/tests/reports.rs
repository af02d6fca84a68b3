//! Menus, help and reports.

use agent_protocol::NoticeEvent;
use expect_test::expect;

use super::pictures::at_widths;
use super::support::*;

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

fn help_at(columns: u16, rows: u16) -> String {
    let mut face = Face::bare(columns, rows);
    face.keys(&["?"]);
    face.shown()
}

#[test]
fn help() {
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
          /model                         choose how much the model thinks, or name
                                         another one
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
          /ps                            show the commands that run in the background
          /stop                          stop what runs, also the commands in the
                                         background
          /help                          show commands and keys
          /quit                          end
        any key leaves
    "#]]
    .assert_eq(&help_at(80, 50));
}

#[test]
fn help_on_a_narrow_terminal_scrolls() {
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
        up and down scroll, any other key leaves
    "#]]
    .assert_eq(&help_at(40, 16));
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
                  model       big-model (local), effort
                              high
                  directory   /home/kim/work/parser
                  branch      main
                  sandbox     workspace-write
                  approvals   on-request
                  theme       ansi
                  session     not on disk yet
                ----

                › ▏Ask, @ files, / commands, ? shortcuts
                  big-model high
            "#]],
            expect![[r#"
                Status
                  model       big-model (local), effort high
                  directory   /home/kim/work/parser
                  branch      main
                  sandbox     workspace-write
                  approvals   on-request
                  theme       ansi
                  session     not on disk yet
                ----

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
            expect![[r#"
                Status
                  model       big-model (local), effort high
                  directory   /home/kim/work/parser
                  branch      main
                  sandbox     workspace-write
                  approvals   on-request
                  theme       ansi
                  session     not on disk yet
                ----

                › ▏Ask anything, @ files, / commands, ? shortcuts
                  big-model high · ~/work/parser · main · workspace-write · on-request
            "#]],
        ],
    );
}
