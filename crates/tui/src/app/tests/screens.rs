//! The pager, the list of sessions, and the interface where there are only lines.

use std::time::SystemTime;

use agent_core::SessionSummary;
use agent_protocol::NoticeEvent;
use expect_test::expect;

use super::support::*;
use super::*;

/// A face with a transcript of many rows.
fn long() -> Face {
    let mut face = Face::bare(40, 8);
    for n in 0..30 {
        face.app.transcript.push(
            crate::cell::Cell::User {
                text: format!("message {n} has some words"),
                n_images: 0,
            },
            &face.app.look.clone(),
        );
    }
    face.keys(&["ctrl-t"]);
    face.shown();
    face
}

#[test]
fn the_transcript_opens_at_its_end() {
    long().check(&expect![[r#"
        ----
        › message 26 has some words

        › message 27 has some words

        › message 28 has some words

        › message 29 has some words
        100%  arrows and pages scroll, / search…
    "#]]);
}

#[test]
fn a_search_goes_to_what_is_sought_and_on() {
    let mut face = long();
    face.keys(&["/", "Message 1", "enter"]);
    face.check(&expect![[r#"
        ----
        › message 1 has some words

        › message 2 has some words

        › message 3 has some words

        › message 4 has some words
        15%  arrows and pages scroll, / searche…
    "#]]);
    face.keys(&["n"]);
    let first = face.live();
    assert!(first.starts_with("› message 10"), "{first}");
    face.keys(&["N"]);
    assert!(face.live().starts_with("› message 1 "), "{}", face.live());
    face.keys(&["/", "abc", "ctrl-c"]);
    assert!(!face.live().contains("/abc"));
    face.keys(&["q"]);
    assert!(face.app.screen.is_none());
}

#[test]
fn the_pager_keeps_its_place_at_another_width() {
    let mut face = long();
    face.resize(12, 8);
    let end = face.live();
    assert!(end.contains("29"), "{end}");
    face.keys(&["home"]);
    face.resize(40, 8);
    assert!(face.live().starts_with("› message 0 "));
    for _ in 0..3 {
        face.keys(&["pagedown"]);
    }
    for columns in [12, 30, 9, 40] {
        face.resize(columns, 8);
        let shown = face.live();
        assert!(
            shown.contains('9') || shown.contains("10"),
            "{columns}: {shown}"
        );
    }
}

#[test]
fn the_whole_output_is_in_the_pager() {
    let mut face = Face::bare(80, 60);
    let output: Vec<String> = (0..40).map(|n| format!("line <{n}>")).collect();
    face.ends(0, ran("make", &output.join("\n")));
    let printed = face.shown();
    assert!(!printed.contains("<20>"), "{printed}");
    face.keys(&["ctrl-t"]);
    let shown = face.live();
    assert!(
        (0..40).all(|n| shown.contains(&format!("<{n}>"))),
        "{shown}"
    );
}

#[test]
fn reports_are_cut_in_a_narrower_pager() {
    let mut face = Face::bare(80, 24);
    face.keys(&["/status", "enter", "ctrl-t"]);
    face.resize(20, 24);
    let shown = face.live();
    assert!(shown.contains("  directory   /home…"), "{shown}");
}

#[test]
fn a_question_behind_the_pager_is_announced_and_not_answered() {
    let mut face = long();
    face.asks(command("ls", true), None);
    assert!(face.live().contains("a question waits"), "{}", face.live());
    assert_eq!(face.answer(&["n", "q", "y"]), []);
    assert_eq!(face.answer(&["y"]).len(), 1);
    assert!(!face.live().contains("a question waits"));
}

#[test]
fn a_diff_is_shown_in_the_pager() {
    let mut face = Face::bare(40, 8);
    face.notice(NoticeEvent::Diff {
        text: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\u{1b}[2J\n".to_owned(),
    });
    face.check(&expect![[r#"
        ----
        x (+1 -1)
        1 -a
        1 +b\u{1b}[2J




        100%  arrows and pages scroll, / search…
    "#]]);
    face.keys(&["esc"]);
    face.notice(NoticeEvent::Diff {
        text: "\n".to_owned(),
    });
    assert!(face.shown().contains("nothing differs"));
}

fn sessions(all: bool) -> AppEvent {
    let now = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365);
    let session = |n: u64, preview: &str, cwd: &str| SessionSummary {
        id: format!("00000000-0000-7000-8000-{n:012}").parse().unwrap(),
        path: "/s".into(),
        cwd: Some(cwd.into()),
        branch: Some("main".to_owned()),
        modified: now - Duration::from_secs(n * n * 1000),
        preview: preview.to_owned(),
    };
    AppEvent::Sessions {
        sessions: Ok(vec![
            session(0, "fix the parser\u{1b}[2J", "/home/kim/work/parser"),
            session(5, "write docs", "/home/kim/work/parser"),
            session(20, "", "/home/kim/other"),
        ]),
        all,
        now,
    }
}

#[test]
fn sessions_of_this_directory_and_of_all() {
    let mut shown = String::new();
    for (columns, all) in [(40, false), (80, false), (80, true)] {
        let mut face = Face::bare(columns, 12);
        face.event(sessions(all));
        shown.push_str(&face.shown());
    }
    expect![[r#"
        ----
        Sessions of this directory  search:
        ›      now  fix the parser
               6 h  write docs
            4 days  (nothing was said)




        /home/kim/work/parser on main
        00000000-0000-7000-8000-000000000000
        fix the parser
        enter goes on, type to search, tab show…
        ----
        Sessions of this directory  search:
        ›      now  fix the parser
               6 h  write docs
            4 days  (nothing was said)




        /home/kim/work/parser on main
        00000000-0000-7000-8000-000000000000
        fix the parser
        enter goes on, type to search, tab shows all directories, esc leaves
        ----
        Sessions of all directories  search:
        ›      now  parser  fix the parser
               6 h  parser  write docs
            4 days  other  (nothing was said)




        /home/kim/work/parser on main
        00000000-0000-7000-8000-000000000000
        fix the parser
        enter goes on, type to search, tab shows this directory, esc leaves
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_session_is_found_and_gone_on_with() {
    let mut face = Face::bare(80, 12);
    face.event(sessions(false));
    assert_eq!(face.keys(&["docs wri"]), []);
    assert!(!face.live().contains("fix the parser"));
    let id = "00000000-0000-7000-8000-000000000005".to_owned();
    assert_eq!(face.keys(&["enter"]), [Effect::Resume(Resume::Id(id))]);
    face.event(sessions(false));
    assert_eq!(face.keys(&["tab"]), [Effect::ListSessions { all: true }]);
    assert_eq!(face.keys(&["nothing like it", "enter"]), []);
    assert!(face.live().contains("there is none"));
    face.keys(&["esc", "esc"]);
    assert!(face.app.screen.is_none());
}

/// What is asked where there are only lines, and the prompt.
fn asked_plainly(face: &mut Face) -> String {
    let (rows, prompt) = face.app.plain_view();
    let mut shown: String = rows
        .iter()
        .map(|row| row.text().trim_end().to_owned() + "\n")
        .collect();
    shown.push_str(prompt.unwrap_or("(no prompt)\n"));
    shown
}

#[test]
fn questions_in_lines() {
    let mut face = Face::plain();
    let mut shown = asked_plainly(&mut face) + "\n";
    face.started();
    shown += &asked_plainly(&mut face);
    face.asks(command("make install", false), Some("needs root"));
    shown += &asked_plainly(&mut face);
    face.event(AppEvent::Line("4".to_owned()));
    shown += &(asked_plainly(&mut face) + "\n");
    let effects = face.event(AppEvent::Line("use sudo".to_owned()));
    assert_eq!(effects.len(), 1, "{effects:?}");
    face.completed();
    face.event(AppEvent::Line("/model".to_owned()));
    shown += &(asked_plainly(&mut face) + "\n");
    face.event(AppEvent::Line("never mind".to_owned()));
    face.event(sessions(false));
    shown += &asked_plainly(&mut face);
    expect![[r#"
        > 
        (no prompt)
        Would you like to run this command outside the sandbox?
          why: needs root
          with all your rights, in ~/work/parser

          $ make install

          1. Yes, this time (y)
          2. Yes, for this session (a)  this very command is not asked again
          3. No, go on without (n)
          4. No, and tell the model (t)
          5. Stop the turn (s)  esc
        answer> Would you like to run this command outside the sandbox?
          why: needs root
          with all your rights, in ~/work/parser

          $ make install

        What should the model know?
        answer> 
        How much big-model should think. Another model: /model NAME [EFFORT]
          1. default
          2. minimal
          3. low
          4. medium
          5. high
          6. xhigh
        a number chooses, anything else leaves
        answer> 
        Sessions; a number chooses, anything else leaves
        1. now  fix the parser
        2. 6 h  write docs
        3. 4 days  (nothing was said)
        number> "#]]
    .assert_eq(&shown);
    assert_eq!(face.event(AppEvent::Line("2".to_owned())).len(), 1);
    assert_eq!(face.event(AppEvent::Line("hello".to_owned())).len(), 2);
}

#[test]
fn a_long_list_is_chosen_from_by_numbers_of_two_digits() {
    let mut face = Face::plain();
    for n in 0..15 {
        face.event(AppEvent::Line(format!("message {n}")));
        face.started();
        face.completed();
    }
    face.event(AppEvent::Line("/back".to_owned()));
    let effects = face.event(AppEvent::Line("12".to_owned()));
    assert_eq!(effects, [Effect::ForkBefore(3)]);
}
