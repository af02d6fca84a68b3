//! Questions that appear while the user types.

use agent_protocol::{ApprovalChoice, Op};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::support::*;
use super::*;

fn answered(choice: ApprovalChoice) -> Vec<Effect> {
    vec![Effect::Submit(Op::Answer {
        request_id: agent_protocol::RequestId(7),
        choice,
        note: None,
    })]
}

#[test]
fn a_question_that_appears_while_the_user_types_takes_no_key() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.keys(&["please don"]);
    face.asks(command("rm -r precious", false), None);
    assert_eq!(face.keys(&["y", "enter", "a"]), []);
    assert!(face.live().contains("keys count again"), "{}", face.live());
    assert_eq!(face.app.composer.text(), "please don");
}

#[test]
fn it_takes_keys_after_a_rest_and_the_loop_is_woken() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.app.look.reduced_motion = true;
    face.keys(&["please don"]);
    face.asks(command("rm -r precious", false), None);
    face.keys(&["y"]);
    let deadline = face.app.deadline(face.now).unwrap();
    assert_eq!(deadline, face.now + Duration::from_millis(400));
    face.wait(399);
    assert!(face.live().contains("keys count again"));
    face.wait(1);
    assert!(!face.live().contains("keys count again"));
    assert_eq!(face.app.deadline(face.now), None);
    assert_eq!(face.keys(&["y"]), answered(ApprovalChoice::Once));
}

#[test]
fn keys_that_are_kept_away_prolong_the_rest() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.keys(&["x"]);
    face.asks(command("ls", true), None);
    // A hundred milliseconds between two keys.
    assert_eq!(face.keys(&["yyyyyyyyyyyyyyyyyyyy"]), []);
}

#[test]
fn leaving_works_at_once() {
    for key in ["esc", "ctrl-c"] {
        let mut face = Face::bare(80, 24);
        face.started();
        face.keys(&["x"]);
        face.asks(command("ls", true), None);
        assert_eq!(face.keys(&[key]), answered(ApprovalChoice::Stop));
    }
}

#[test]
fn a_question_that_appears_at_rest_takes_keys_at_once() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.keys(&["x"]);
    face.wait(400);
    face.asks(command("ls", true), None);
    assert!(!face.live().contains("keys count again"));
    assert_eq!(face.keys(&["y"]), answered(ApprovalChoice::Once));
}

#[test]
fn the_second_question_is_not_answered_by_a_double_press() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.asks(command("one", true), None);
    face.thread(asked(vec![question("colour", "Which?", &["red", "blue"])]));
    assert_eq!(face.keys(&["y"]).len(), 1);
    assert_eq!(face.keys(&["1"]), []);
    assert_eq!(face.answer(&["1"]).len(), 1);
}

#[test]
fn free_text_for_the_composer_does_not_land_in_a_question() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.keys(&["half a"]);
    face.thread(asked(vec![question("why", "Why?", &[])]));
    assert_eq!(face.keys(&[" word", "enter"]), []);
    face.event(AppEvent::Paste("pasted".to_owned()));
    assert_eq!(face.app.composer.text(), "half apasted");
    assert_eq!(face.answer(&["because", "enter"]).len(), 1);
}

#[test]
fn a_line_answers_only_as_a_whole() {
    let mut face = Face::plain();
    face.started();
    face.asks(command("rm -r precious", false), None);
    for line in ["and then add a test", "yes, but later", "", "0", "99"] {
        assert_eq!(face.event(AppEvent::Line(line.to_owned())), [], "{line}");
    }
    let effects = face.event(AppEvent::Line(" Y ".to_owned()));
    assert_eq!(effects, answered(ApprovalChoice::Once));
}

#[test]
fn words_that_begin_with_a_key_of_no_meaning_are_words() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.asks(command("rm -r precious", false), None);
    assert_eq!(face.keys(&["please say", "enter"]), []);
    assert_eq!(face.answer(&["a"]), answered(ApprovalChoice::ForSession));
}

#[test]
fn a_first_message_does_not_trust_the_directory() {
    let mut face = Face::bare(80, 24);
    face.app.ask_trust(&agent_core::Trust {
        directory: "/w".into(),
        trusted: None,
        files: Vec::new(),
    });
    assert_eq!(face.keys(&["fix the parser", "enter"]), []);
    assert!(face.live().contains("keys count again"));
    assert_eq!(face.answer(&["enter"]), [Effect::Trust(true)]);
}

#[test]
fn a_key_that_follows_esc_at_once_does_not_answer() {
    let mut face = Face::bare(80, 24);
    face.started();
    face.asks(command("rm -r precious", false), None);
    // Terminals send Esc and then y as they send y with Alt.
    for code in [KeyCode::Char('y'), KeyCode::Char('1'), KeyCode::Enter] {
        let key = KeyEvent::new(code, KeyModifiers::ALT);
        assert_eq!(face.event(AppEvent::Key(key)), []);
    }
}

#[test]
fn a_directory_is_trusted_by_its_real_name() {
    let mut face = Face::bare(80, 24);
    face.app.ask_trust(&agent_core::Trust {
        directory: "/w/evil\rgood\n\u{8}x\u{a0}".into(),
        trusted: None,
        files: vec!["/w/AGENTS\u{1b}[2K.md".into()],
    });
    let shown = face.live();
    assert!(shown.contains(r"/w/evil\rgood\n\u{8}x\u{a0}"), "{shown}");
    assert!(shown.contains(r"AGENTS\u{1b}[2K.md"), "{shown}");
}

#[test]
fn a_list_that_the_user_asked_for_takes_keys_at_once() {
    let mut face = Face::bare(80, 24);
    face.keys(&["/theme", "enter", "x"]);
    assert!(!face.live().contains("keys count again"));
    assert_eq!(face.keys(&["1"]).len(), 2);
}
