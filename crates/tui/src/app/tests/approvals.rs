//! What the user is asked, and what becomes of the answers.

use agent_protocol::{ApprovalChoice, ApprovalSubject, Op, RequestId};
use expect_test::expect;

use super::support::*;
use super::*;

const HOSTILE: &str = "echo fine; rm -r precious \u{1b}[2K\r echo harmless \u{202e}gnitset\n\u{8}x";

fn answer(choice: ApprovalChoice, note: Option<&str>) -> Vec<Effect> {
    vec![Effect::Submit(Op::Answer {
        request_id: RequestId(7),
        choice,
        note: note.map(str::to_owned),
    })]
}

#[track_caller]
fn check(
    columns: u16,
    subject: ApprovalSubject,
    reason: Option<&str>,
    expected: &expect_test::Expect,
) {
    let mut face = Face::bare(columns, 24);
    face.started();
    face.asks(subject, reason);
    face.check(expected);
}

#[test]
fn a_command_in_the_sandbox() {
    for (columns, expected) in [
        (
            40,
            expect![[r#"
                ----
                Would you like to run this command?
                  in the sandbox, in ~/work/parser

                  $ cargo test --workspace

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this
                     very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            80,
            expect![[r#"
                ----
                Would you like to run this command?
                  in the sandbox, in ~/work/parser

                  $ cargo test --workspace

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            120,
            expect![[r#"
                ----
                Would you like to run this command?
                  in the sandbox, in ~/work/parser

                  $ cargo test --workspace

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
    ] {
        check(
            columns,
            command("cargo test --workspace", true),
            None,
            &expected,
        );
    }
}

#[test]
fn a_command_outside_the_sandbox() {
    let reason = "it needs the network\r\u{1b}[2Kto fetch";
    for (columns, expected) in [
        (
            40,
            expect![[r#"
                ----
                Would you like to run this command
                outside the sandbox?
                  why: it needs the network\r\u{1b}[2Kto
                  fetch
                  with all your rights, in ~/work/parser

                  $ curl -O https://example.org/x

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this
                     very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            80,
            expect![[r#"
                ----
                Would you like to run this command outside the sandbox?
                  why: it needs the network\r\u{1b}[2Kto fetch
                  with all your rights, in ~/work/parser

                  $ curl -O https://example.org/x

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            120,
            expect![[r#"
                ----
                Would you like to run this command outside the sandbox?
                  why: it needs the network\r\u{1b}[2Kto fetch
                  with all your rights, in ~/work/parser

                  $ curl -O https://example.org/x

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
    ] {
        check(
            columns,
            command("curl -O https://example.org/x", false),
            Some(reason),
            &expected,
        );
    }
}

#[test]
fn a_hostile_command_hides_nothing() {
    for (columns, expected) in [
        (
            40,
            expect![[r#"
                ----
                Would you like to run this command
                outside the sandbox?
                  with all your rights, in ~/work/parser

                  $ echo fine; rm -r precious
                    \u{1b}[2K\r echo harmless
                    \u{202e}gnitset
                    \u{8}x

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this
                     very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            80,
            expect![[r#"
                ----
                Would you like to run this command outside the sandbox?
                  with all your rights, in ~/work/parser

                  $ echo fine; rm -r precious \u{1b}[2K\r echo harmless \u{202e}gnitset
                    \u{8}x

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            120,
            expect![[r#"
                ----
                Would you like to run this command outside the sandbox?
                  with all your rights, in ~/work/parser

                  $ echo fine; rm -r precious \u{1b}[2K\r echo harmless \u{202e}gnitset
                    \u{8}x

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  this very command is not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
    ] {
        check(columns, command(HOSTILE, false), None, &expected);
    }
}

#[test]
fn a_patch() {
    let diff =
        "--- /dev/null\n+++ b/etc/hosts\n@@ -0,0 +1,2 @@\n+127.0.0.1 a\u{1b}[8mb\n+::1\r hidden\n";
    let subject = || ApprovalSubject::Patch {
        paths: vec!["/etc/hosts".into()],
        diff: diff.to_owned(),
    };
    for (columns, expected) in [
        (
            40,
            expect![[r#"
                ----
                Would you like to allow this edit?
                  why: outside
                  files: /etc/hosts

                etc/hosts (+2 -0)
                1 +127.0.0.1 a\u{1b}[8mb
                2 +::1\r hidden

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  these
                     files are not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            80,
            expect![[r#"
                ----
                Would you like to allow this edit?
                  why: outside
                  files: /etc/hosts

                etc/hosts (+2 -0)
                1 +127.0.0.1 a\u{1b}[8mb
                2 +::1\r hidden

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  these files are not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
        (
            120,
            expect![[r#"
                ----
                Would you like to allow this edit?
                  why: outside
                  files: /etc/hosts

                etc/hosts (+2 -0)
                1 +127.0.0.1 a\u{1b}[8mb
                2 +::1\r hidden

                › 1. Yes, this time (y)
                  2. Yes, for this session (a)  these files are not asked again
                  3. No, go on without (n)
                  4. No, and tell the model (t)
                  5. Stop the turn (s)  esc
            "#]],
        ),
    ] {
        check(columns, subject(), Some("outside"), &expected);
    }
}

/// All that can be seen of a question by scrolling it to its end.
fn scrolled(subject: ApprovalSubject, reason: &str, columns: u16, rows: u16) -> String {
    let mut face = Face::bare(columns, rows);
    face.started();
    face.asks(subject, Some(reason));
    let mut seen = face.live();
    loop {
        face.answer(&["pagedown"]);
        let live = face.live();
        if seen.ends_with(&live) {
            return seen;
        }
        seen.push_str(&live);
    }
}

#[test]
fn of_three_hundred_lines_each_can_be_seen() {
    let lines: Vec<String> = (0..300).map(|n| format!("echo <{n}>")).collect();
    let reasons: Vec<String> = (0..50).map(|n| format!("reason ({n})")).collect();
    for (columns, rows) in [(80, 24), (40, 12), (30, 8), (120, 50)] {
        let subject = command(&lines.join("\n"), false);
        let seen = scrolled(subject, &reasons.join(" and "), columns, rows);
        for n in 0..300 {
            assert!(seen.contains(&format!("<{n}>")), "{n} at {columns}x{rows}");
        }
        for n in 0..50 {
            assert!(
                seen.contains(&format!("({n})")),
                "reason {n} at {columns}x{rows}"
            );
        }
        assert!(seen.contains("with all your rights"));
    }
}

#[test]
fn of_many_paths_each_can_be_seen() {
    let paths: Vec<PathBuf> = (0..100).map(|n| format!("/etc/<{n}>").into()).collect();
    let subject = ApprovalSubject::Patch {
        paths,
        diff: "+x\n".to_owned(),
    };
    let seen = scrolled(subject, "why", 80, 24);
    for n in 0..100 {
        assert!(seen.contains(&format!("<{n}>")), "{n}");
    }
}

#[test]
fn single_keys_answer() {
    for (key, choice) in [
        ("y", ApprovalChoice::Once),
        ("1", ApprovalChoice::Once),
        ("enter", ApprovalChoice::Once),
        ("a", ApprovalChoice::ForSession),
        ("2", ApprovalChoice::ForSession),
        ("n", ApprovalChoice::Decline),
        ("3", ApprovalChoice::Decline),
        ("s", ApprovalChoice::Stop),
        ("5", ApprovalChoice::Stop),
        ("esc", ApprovalChoice::Stop),
        ("ctrl-c", ApprovalChoice::Stop),
    ] {
        let mut face = Face::bare(80, 24);
        face.started();
        face.asks(command("ls", true), None);
        assert_eq!(face.answer(&[key]), answer(choice, None), "{key}");
        assert!(face.app.overlays.is_empty());
    }
}

#[test]
fn a_no_can_have_a_word_to_the_model() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.asks(command("npm i left-pad", false), None);
    assert_eq!(face.answer(&["t", "use pnpm", "tab"]), []);
    face.check(&expect![[r#"
        ----
        Would you like to run this command outside the sandbox?
          with all your rights, in ~/work/parser

          $ npm i left-pad

        What should the model know? enter sends, esc goes back
        › use pnpm▏
    "#]]);
    let expected = answer(ApprovalChoice::Decline, Some("use pnpm"));
    assert_eq!(face.keys(&["enter"]), expected);
}

#[test]
fn a_note_has_no_history_and_no_editor() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.asks(command("ls", true), None);
    assert_eq!(face.answer(&["t", "no", "ctrl-r", "ctrl-g", "t yet"]), []);
    let expected = answer(ApprovalChoice::Decline, Some("not yet"));
    assert_eq!(face.keys(&["enter"]), expected);
}

#[test]
fn a_note_can_be_left_again() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.asks(command("ls", true), None);
    assert_eq!(face.answer(&["t", "no", "esc"]), []);
    assert_eq!(face.keys(&["y"]), answer(ApprovalChoice::Once, None));
}

#[test]
fn an_answer_from_elsewhere_takes_the_question_away() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.asks(command("ls", true), None);
    face.thread(agent_protocol::Event::Approval(
        agent_protocol::ApprovalEvent::Resolved {
            request_id: RequestId(7),
        },
    ));
    assert_eq!(face.answer(&["y"]), []);
    assert_eq!(face.app.composer.text(), "y");
}

#[test]
fn questions_of_the_model() {
    for (columns, expected) in [
        (
            40,
            expect![[r#"
                ----
                COLOUR (1 of 2)
                Which colour\u{1b}[2J should it be?
                Think well.
                › 1. red  about red
                  2. blue  about blue
                  3. Something else  in your own words
                enter answers, esc does not
                ----
                WHY (2 of 2)
                Why?
                › ▏in your own words
                enter answers, esc does not
            "#]],
        ),
        (
            80,
            expect![[r#"
                ----
                COLOUR (1 of 2)
                Which colour\u{1b}[2J should it be?
                Think well.
                › 1. red  about red
                  2. blue  about blue
                  3. Something else  in your own words
                enter answers, esc does not
                ----
                WHY (2 of 2)
                Why?
                › ▏in your own words
                enter answers, esc does not
            "#]],
        ),
        (
            120,
            expect![[r#"
                ----
                COLOUR (1 of 2)
                Which colour\u{1b}[2J should it be?
                Think well.
                › 1. red  about red
                  2. blue  about blue
                  3. Something else  in your own words
                enter answers, esc does not
                ----
                WHY (2 of 2)
                Why?
                › ▏in your own words
                enter answers, esc does not
            "#]],
        ),
    ] {
        let mut face = Face::bare(columns, 24);
        face.started();
        let questions = vec![
            question(
                "colour",
                "Which colour\u{1b}[2J should it be?\nThink well.",
                &["red", "blue"],
            ),
            question("why", "Why?", &[]),
        ];
        face.thread(asked(questions));
        let mut shown = face.shown();
        assert_eq!(face.answer(&["2"]), []);
        shown.push_str(&face.shown());
        let effects = face.answer(&["I like it", "tab", "enter"]);
        let answers = [("colour", "blue"), ("why", "I like it")];
        let answers = answers.map(|(id, text)| (id.to_owned(), vec![text.to_owned()]));
        let reply = Op::Reply {
            request_id: RequestId(9),
            answers: Some(answers.into()),
        };
        assert_eq!(effects, [Effect::Submit(reply)]);
        expected.assert_eq(&shown);
    }
}

#[test]
fn of_a_long_question_each_word_can_be_seen() {
    let words: Vec<String> = (0..300).map(|n| format!("<{n}>")).collect();
    let mut face = Face::bare(40, 12);
    face.started();
    face.thread(asked(vec![question("long", &words.join(" "), &["a", "b"])]));
    let mut seen = face.live();
    for _ in 0..60 {
        face.answer(&["pagedown"]);
        seen.push_str(&face.live());
    }
    for word in words {
        assert!(seen.contains(&word), "{word}");
    }
}

#[test]
fn long_choices_are_wrapped_and_each_can_be_reached() {
    let words = "a choice that says at some length what it would mean to take it";
    let options = ["1", "2", "3", "4", "5"].map(|n| format!("<{n}> {words}"));
    let mut face = Face::bare(40, 12);
    face.started();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    face.thread(asked(vec![question("long", "Which?", &options)]));
    let mut seen = String::new();
    for _ in 0..5 {
        let live = face.live();
        let selected = live.lines().find(|line| line.starts_with('›'));
        seen.push_str(selected.unwrap());
        face.answer(&["down"]);
    }
    for n in 1..=5 {
        assert!(seen.contains(&format!("› {n}. <{n}> a choice")), "{seen}");
    }
    face.check(&expect![[r#"
        ----
        LONG (1 of 1)
        Which?
          4. <4> a choice that says at some
             length what it would mean to take
             it  about <4> a choice that says at
             some length what it would mean to…
          5. <5> a choice that says at some
             length what it would mean to take
             it  about <5> a choice that says at
             some length what it would mean to…
        › 6. Something else  in your own words
        enter answers, esc does not
    "#]]);
}

#[test]
fn empty_lines_do_not_push_a_part_of_a_command_away() {
    let mut face = Face::bare(80, 24);
    let script = format!("ls{}rm -rf precious", "\n \n".repeat(60));
    face.asks(command(&script, false), None);
    let shown = face.live();
    assert!(shown.contains("rm -rf precious"), "{shown}");
    assert!(shown.contains("empty lines"), "{shown}");
}

#[test]
fn a_question_stands_before_a_menu() {
    let mut face = Face::bare(80, 24);
    face.keys(&["/theme", "enter"]);
    face.asks(command("ls", false), None);
    let shown = face.live();
    assert!(shown.contains("Would you like"), "{shown}");
    face.answer(&["n"]);
    assert!(face.live().contains("Colours"), "the menu comes back");
}
