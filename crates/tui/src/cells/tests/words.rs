//! Messages, plans, notices and what stands around a turn.

use agent_protocol::{TodoItem, TokenUsage};
use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::text::tests::{assert_sound, hostile};

const ANSWER: &str = "I found **two** things:\n\n1. the `parser` drops the last line of a file without a line feed\n2. a test\n\n```rust\nfn a() {}\n```\n";

#[test]
fn what_the_user_said() {
    let cell = |look: &Look| {
        user_message(
            "Please fix the parser, it drops the last line\n  - keep this\n",
            2,
            look,
        )
    };
    expect![[r#"
        40:
        › Please fix the parser, it drops the
          last line
            - keep this
          [2 images]
        80:
        › Please fix the parser, it drops the last line
            - keep this
          [2 images]
        120:
        › Please fix the parser, it drops the last line
            - keep this
          [2 images]
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        > Please fix the parser, it drops the last line
            - keep this
          [2 images]
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
    expect![[r#"
        › [1 image]
    "#]]
    .assert_eq(&plain(&user_message("", 1, &look(40)), 40));
}

#[test]
fn what_the_model_said() {
    let cell = |look: &Look| agent_message(ANSWER, look);
    expect![[r#"
        40:
        • I found two things:

          1. the parser drops the last line of a
             file without a line feed
          2. a test

            fn a() {}
        80:
        • I found two things:

          1. the parser drops the last line of a file without a line feed
          2. a test

            fn a() {}
        120:
        • I found two things:

          1. the parser drops the last line of a file without a line feed
          2. a test

            fn a() {}
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        - I found two things:

          1. the parser drops the last line of a file without a line feed
          2. a test

            fn a() {}
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
}

#[test]
fn a_message_that_arrives_is_the_same_message() {
    for width in [3, 10, 40, 80] {
        let look = look(width);
        let mut message = AgentMessage::new();
        let mut rows = Vec::new();
        for (at, letter) in ANSWER.char_indices() {
            message.push(&letter.to_string());
            rows.append(&mut message.take_finished(&look));
            let mut all = rows.clone();
            all.append(&mut message.tail(&look, 100));
            let so_far = &ANSWER[..at + letter.len_utf8()];
            assert_eq!(all, agent_message(so_far, &look), "{so_far}");
        }
        rows.append(&mut message.finish(&look));
        assert_eq!(rows, agent_message(ANSWER, &look));
    }
}

#[test]
fn links_of_a_message_stand_where_its_text_is() {
    let rows = agent_message("see [here](https://e.org)", &look(40));
    expect![[r#"
        {dim|• }see {blue underlined|here}
          6..10 -> https://e.org
    "#]]
    .assert_eq(&styled(&rows));
}

#[test]
fn what_the_model_thought() {
    let text = "**Reading the parser**\n\nIt splits at line feeds and *forgets* the rest.";
    expect![[r#"
        {dim|• }{bold dim|Reading the parser}

        {dim|  }{dim|It splits at line feeds and }{dim italic|forgets}
        {dim|  }{dim|the rest.}
    "#]]
    .assert_eq(&styled(&reasoning(text, Detail::Full, &look(40))));
    expect![[r#"
        {dim|• }{dim|Reading the parser}
    "#]]
    .assert_eq(&styled(&reasoning(text, Detail::Folded, &look(40))));
    let shown = plain(
        &reasoning(
            "a line that is too long to be shown here",
            Detail::Folded,
            &look(20),
        ),
        20,
    );
    assert_eq!(shown, "• a line that is to…\n");
}

#[test]
fn the_plan() {
    let item = |text: &str, completed, in_progress| TodoItem {
        text: text.to_owned(),
        completed,
        in_progress,
    };
    let items = [
        item("read the parser", true, false),
        item(
            "fix the line without a line feed at the end of the file",
            false,
            true,
        ),
        item("add a test", false, false),
    ];
    let cell = |look: &Look| plan(&items, look);
    expect![[r#"
        40:
        • Plan
          ✔ read the parser
          ▸ fix the line without a line feed at
            the end of the file
          □ add a test
        80:
        • Plan
          ✔ read the parser
          ▸ fix the line without a line feed at the end of the file
          □ add a test
        120:
        • Plan
          ✔ read the parser
          ▸ fix the line without a line feed at the end of the file
          □ add a test
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        - Plan
          [done] read the parser
          [doing] fix the line without a line feed at the end of the file
          [open] add a test
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
}

#[test]
fn notices() {
    let cell = |look: &Look| {
        let mut rows = notice(NoticeKind::Info, "cleared", None, look);
        let hint = Some("set `HTTPS_PROXY`");
        rows.append(&mut notice(
            NoticeKind::Warning,
            "the server is slow\nthe second try",
            None,
            look,
        ));
        rows.append(&mut notice(
            NoticeKind::Error,
            "cannot reach `api.example.org`",
            hint,
            look,
        ));
        rows.append(&mut interrupted(look));
        rows
    };
    expect![[r#"
        40:
        • cleared
        ⚠ the server is slow
          the second try
        ✗ cannot reach `api.example.org`
          └ set `HTTPS_PROXY`
        ⚠ Interrupted.
          └ Say what to do instead.
        80:
        • cleared
        ⚠ the server is slow
          the second try
        ✗ cannot reach `api.example.org`
          └ set `HTTPS_PROXY`
        ⚠ Interrupted.
          └ Say what to do instead.
        120:
        • cleared
        ⚠ the server is slow
          the second try
        ✗ cannot reach `api.example.org`
          └ set `HTTPS_PROXY`
        ⚠ Interrupted.
          └ Say what to do instead.
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        - cleared
        warning: the server is slow
                 the second try
        failed: cannot reach `api.example.org`
            set `HTTPS_PROXY`
        warning: Interrupted.
            Say what to do instead.
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
}

#[test]
fn around_a_turn() {
    let usage = TokenUsage {
        input_tokens: 1_003_410,
        cached_input_tokens: 2_900,
        output_tokens: 512,
        ..TokenUsage::default()
    };
    let footer = TurnFooter {
        elapsed: Duration::from_secs(12),
        usage,
    };
    let header = SessionHeader {
        version: "0.1.0",
        model: "some-model",
        effort: Some("high"),
        cwd: "/home/u/project",
        branch: Some("main"),
        sandbox: "workspace-write",
        approval: "on-request",
    };
    let cell = |look: &Look| {
        let mut rows = session_header(&header, look);
        rows.append(&mut turn_footer(&footer, look));
        rows
    };
    expect![[r#"
        40:
        • agent 0.1.0 · some-model high
          /home/u/project · main
          sandbox workspace-write · approval
          on-request
        12s · 1,003,410 in (2,900 cached) · 512
        out
        80:
        • agent 0.1.0 · some-model high
          /home/u/project · main
          sandbox workspace-write · approval on-request
        12s · 1,003,410 in (2,900 cached) · 512 out
        120:
        • agent 0.1.0 · some-model high
          /home/u/project · main
          sandbox workspace-write · approval on-request
        12s · 1,003,410 in (2,900 cached) · 512 out
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        - agent 0.1.0, some-model high
          /home/u/project, main
          sandbox workspace-write, approval on-request
        12s, 1,003,410 in (2,900 cached), 512 out
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
    let none = TurnFooter {
        usage: TokenUsage::default(),
        ..footer
    };
    assert_eq!(plain(&turn_footer(&none, &look(40)), 40), "12s\n");
}

proptest! {
    #[test]
    fn words_are_sound(text in hostile(), width in 1u16..40) {
        let look = look(width);
        assert_sound(&user_message(&text, 1, &look), width);
        assert_sound(&agent_message(&text, &look), width);
        assert_sound(&reasoning(&text, Detail::Folded, &look), width);
        assert_sound(&notice(NoticeKind::Error, &text, Some(&text), &look), width);
        let item = TodoItem { text, completed: false, in_progress: true };
        assert_sound(&plan(&[item], &look), width);
    }
}
