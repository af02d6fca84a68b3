//! What keys do, as far as the loop has to do it.

use agent_protocol::{Event, Op, SettingsChange, ThreadEvent, TurnEvent, UserInput};

use super::support::*;
use super::*;

fn said(text: &str) -> Effect {
    let text = text.to_owned();
    Effect::Submit(Op::UserTurn {
        input: vec![UserInput::Text { text }],
        output_schema: None,
    })
}

fn remembered(text: &str) -> Effect {
    Effect::Remember(text.to_owned())
}

fn busy() -> Face {
    let mut face = Face::bare(80, 24);
    face.keys(&["first", "enter"]);
    face.started();
    face
}

#[test]
fn enter_sends_and_steers() {
    let mut face = Face::bare(80, 24);
    assert_eq!(
        face.keys(&["hello", "enter"]),
        [said("hello"), remembered("hello")]
    );
    face.started();
    assert_eq!(
        face.keys(&["wait", "enter"]),
        [said("wait"), remembered("wait")]
    );
    let input = vec![UserInput::Text {
        text: "wait".to_owned(),
    }];
    assert!(face.live().contains("sent, not read yet: wait"));
    face.thread(Event::Turn(TurnEvent::Steered { input }));
    let shown = face.shown();
    assert!(!shown.contains("not read yet"), "{shown}");
    assert_eq!(shown.matches("wait").count(), 1, "{shown}");
}

#[test]
fn tab_sends_at_rest_and_queues_while_a_turn_runs() {
    let mut face = Face::bare(80, 24);
    assert_eq!(
        face.keys(&["hello", "tab"]),
        [said("hello"), remembered("hello")]
    );
    face.started();
    assert_eq!(
        face.keys(&["one", "tab", "two", "tab"]),
        [remembered("one"), remembered("two")]
    );
    assert_eq!(face.completed(), [said("one")]);
    face.started();
    assert_eq!(face.completed(), [said("two")]);
    face.started();
    assert_eq!(face.completed(), []);
}

#[test]
fn up_takes_the_last_queued_message_back() {
    let mut face = busy();
    face.keys(&["one", "tab", "two", "tab", "up"]);
    assert_eq!(face.app.composer.text(), "two");
    assert_eq!(face.completed(), [said("one")]);
}

#[test]
fn esc_stops_a_turn() {
    let mut face = busy();
    assert_eq!(face.keys(&["esc"]), [Effect::Submit(Op::Interrupt)]);
    assert!(face.live().contains("Stopping"));
}

#[test]
fn words_that_nobody_read_come_back_before_the_draft() {
    let mut face = busy();
    face.keys(&["steer", "enter", "draft"]);
    let input = vec![UserInput::Text {
        text: "steer".to_owned(),
    }];
    face.thread(Event::Thread(ThreadEvent::InputReturned { input }));
    face.thread(Event::Turn(TurnEvent::Interrupted));
    assert_eq!(face.app.composer.text(), "steer\ndraft");
}

#[test]
fn esc_twice_at_rest_goes_back() {
    let mut face = busy();
    face.completed();
    assert_eq!(face.keys(&["esc"]), []);
    assert!(face.live().contains("press esc again"));
    assert_eq!(face.keys(&["esc", "enter"]), [Effect::ForkBefore(0)]);
    assert_eq!(face.app.composer.text(), "first");
}

#[test]
fn what_waits_is_not_sent_after_a_turn_that_failed() {
    let mut face = busy();
    face.keys(&["one", "tab", "two", "tab"]);
    let failure = agent_protocol::TurnFailure {
        kind: agent_protocol::FailureKind::Model,
        message: "no route to the server".to_owned(),
        hint: None,
    };
    let effects = face.thread(Event::Turn(TurnEvent::Failed(failure)));
    assert_eq!(effects, []);
    assert_eq!(face.app.composer.text(), "one", "it is the user's again");
    assert!(
        face.live().contains("after the next turn: two"),
        "{}",
        face.live()
    );
}

#[test]
fn the_second_esc_must_come_soon() {
    let mut face = busy();
    face.completed();
    face.keys(&["esc"]);
    face.wait(2000);
    assert!(!face.live().contains("press esc again"));
    face.keys(&["esc"]);
    assert!(face.app.overlays.is_empty());
}

#[test]
fn ctrl_c_clears_then_stops_then_quits() {
    let mut face = Face::bare(80, 24);
    assert_eq!(face.keys(&["words", "ctrl-c"]), []);
    assert!(face.app.composer.is_empty());
    assert!(face.live().contains("press it again to quit"));
    assert_eq!(face.keys(&["ctrl-c"]), [Effect::Quit]);

    let mut face = busy();
    assert_eq!(face.keys(&["words", "ctrl-c"]), [], "it only clears");
    assert_eq!(face.keys(&["ctrl-c"]), [Effect::Submit(Op::Interrupt)]);
    assert_eq!(face.keys(&["ctrl-c"]), [Effect::Quit]);

    let mut face = Face::bare(80, 24);
    face.keys(&["ctrl-c", "x"]);
    assert_eq!(face.keys(&["ctrl-c"]), [], "another key in between");
}

#[test]
fn ctrl_d_quits_when_nothing_is_written() {
    let mut face = Face::bare(80, 24);
    assert_eq!(face.keys(&["x", "ctrl-d"]), []);
    assert_eq!(face.keys(&["backspace", "ctrl-d"]), [Effect::Quit]);
}

#[test]
fn a_command_of_the_user() {
    let mut face = Face::bare(80, 24);
    let command = "git status".to_owned();
    let expected = [
        Effect::Submit(Op::UserCommand { command }),
        remembered("!git status"),
    ];
    assert_eq!(face.keys(&["!git status", "enter"]), expected);
}

#[test]
fn keys_that_mean_the_same_everywhere() {
    let mut face = busy();
    assert_eq!(face.keys(&["ctrl-z"]), [Effect::Suspend]);
    assert_eq!(face.keys(&["ctrl-l"]), [Effect::Redraw]);
    assert_eq!(
        face.keys(&["draft", "ctrl-g"]),
        [Effect::OpenEditor("draft".to_owned())]
    );
    face.event(AppEvent::Edited(Ok("edited".to_owned())));
    assert_eq!(face.app.composer.text(), "edited");
}

#[test]
fn a_mention_asks_for_files_once() {
    let mut face = Face::bare(80, 24);
    let search = |text: &str| Effect::Search(text.to_owned());
    assert_eq!(
        face.keys(&["see @pa"]),
        [search(""), search("p"), search("pa")]
    );
    assert_eq!(face.wait(1000), []);
}

fn change(change: SettingsChange) -> Vec<Effect> {
    vec![Effect::Configure(change)]
}

#[test]
fn slash_commands() {
    use agent_protocol::{ApprovalPolicy, SandboxMode};
    let model = SettingsChange {
        model: Some("small".to_owned()),
        ..SettingsChange::default()
    };
    let both = SettingsChange {
        reasoning_effort: Some(Some("low".to_owned())),
        ..model.clone()
    };
    let effort = |effort: Option<&str>| SettingsChange {
        reasoning_effort: Some(effort.map(str::to_owned)),
        ..SettingsChange::default()
    };
    let permissions = SettingsChange {
        approval_policy: Some(ApprovalPolicy::OnRequest),
        sandbox_mode: Some(SandboxMode::ReadOnly),
        ..SettingsChange::default()
    };
    let theme = || {
        vec![
            Effect::StoreText("theme", "dark".to_owned()),
            Effect::Redraw,
        ]
    };
    let cases: Vec<(&str, &[&str], Vec<Effect>)> = vec![
        ("/model small", &[], change(model)),
        ("/model small low", &[], change(both)),
        ("/model", &["down", "enter"], change(effort(Some("xhigh")))),
        ("/model", &["1"], change(effort(None))),
        ("/permissions", &["1"], change(permissions)),
        ("/permissions", &["esc"], vec![]),
        ("/new", &[], vec![Effect::NewThread]),
        ("/resume", &[], vec![Effect::ListSessions { all: false }]),
        ("/back", &[], vec![]),
        ("/context", &[], vec![Effect::Submit(Op::ReportContext)]),
        ("/status", &[], vec![]),
        ("/diff", &[], vec![Effect::Submit(Op::ShowDiff)]),
        ("/copy", &[], vec![]),
        ("/export", &[], vec![Effect::Export(None)]),
        (
            "/export a b.md",
            &[],
            vec![Effect::Export(Some("a b.md".into()))],
        ),
        ("/theme dark", &[], theme()),
        ("/theme nothing", &[], vec![]),
        ("/theme", &["3"], theme()),
        (
            "/vim",
            &[],
            vec![Effect::StoreSwitch("vim_mode_default", true)],
        ),
        ("/keymap", &["x"], vec![]),
        ("/help", &["x"], vec![]),
        ("/trust", &[], vec![Effect::AskTrust]),
        ("/ps", &[], vec![Effect::Submit(Op::ListCommands)]),
        (
            "/stop",
            &[],
            vec![
                Effect::Submit(Op::StopCommands),
                Effect::Submit(Op::ListCommands),
            ],
        ),
        ("/quit", &[], vec![Effect::Quit]),
    ];
    for (line, keys, mut expected) in cases {
        let mut face = Face::bare(80, 24);
        let mut effects = face.keys(&[line, "enter"]);
        // The line itself is remembered after what it does at once.
        let remember = effects
            .iter()
            .position(|effect| *effect == remembered(line));
        assert!(remember.is_some(), "{line}: {effects:?}");
        effects.retain(|effect| *effect != remembered(line));
        effects.extend(face.answer(keys));
        assert_eq!(effects, std::mem::take(&mut expected), "{line}");
        assert!(face.app.overlays.is_empty(), "{line}");
        assert!(face.app.composer.is_empty(), "{line}");
    }
}

#[test]
fn stop_stops_what_runs() {
    let mut face = busy();
    let effects = face.keys(&["/stop", "enter"]);
    assert!(
        effects.contains(&Effect::Submit(Op::Interrupt)),
        "{effects:?}"
    );
}

#[test]
fn up_takes_the_last_waiting_message_back() {
    let mut face = busy();
    face.keys(&["one", "tab", "two", "tab", "up"]);
    assert_eq!(face.app.composer.text(), "two");
    face.keys(&["!", "tab"]);
    let shown = face.live();
    assert!(shown.contains("after this turn: two!"), "{shown}");
    assert_eq!(
        shown.matches("two").count(),
        1,
        "it is not there twice: {shown}"
    );
}

#[test]
fn a_command_of_the_user_waits_in_sight() {
    let mut face = busy();
    face.keys(&["!make", "enter"]);
    assert!(face.live().contains("then runs: make"), "{}", face.live());
}

#[test]
fn full_access_is_asked_for_twice() {
    let mut face = Face::bare(80, 24);
    face.keys(&["/permissions", "enter"]);
    assert_eq!(face.answer(&["4"]), []);
    assert!(face.live().contains("Are you sure?"), "{}", face.live());
    assert_eq!(face.answer(&["1"]), [], "the first answer changes nothing");
    face.keys(&["/permissions", "enter"]);
    let effects = face.answer(&["4", "2"]);
    assert!(
        matches!(effects.as_slice(), [Effect::Configure(_)]),
        "{effects:?}"
    );
}

#[test]
fn every_command_does_something() {
    for (name, _, _) in crate::command_table::COMMANDS {
        let mut face = Face::bare(80, 24);
        face.keys(&[&format!("/{name}"), "enter"]);
        assert!(!face.shown().contains("there is no command"), "{name}");
    }
}

#[test]
fn the_last_answer_is_copied_and_init_asks_the_model() {
    let mut face = busy();
    face.ends(0, message("the *answer*"));
    face.completed();
    let effects = face.keys(&["/copy", "enter"]);
    assert_eq!(
        effects.first(),
        Some(&Effect::Copy("the *answer*".to_owned()))
    );
    let effects = face.keys(&["/init", "enter"]);
    assert!(
        matches!(effects.first(), Some(Effect::Submit(Op::UserTurn { .. }))),
        "{effects:?}"
    );
}

#[test]
fn trust_is_answered() {
    for (key, expected) in [
        ("1", vec![Effect::Trust(true)]),
        ("2", vec![Effect::Trust(false)]),
        ("esc", vec![]),
    ] {
        let mut face = Face::bare(80, 24);
        face.app.ask_trust(&agent_core::Trust {
            directory: "/w".into(),
            trusted: None,
            files: Vec::new(),
        });
        assert_eq!(face.keys(&[key]), expected);
    }
}

#[test]
fn attention_is_called_for_only_where_it_is_needed() {
    let mut face = busy();
    face.completed();
    assert_eq!(face.app.take_attention(), None);
    face.started();
    face.event(AppEvent::Focus(false));
    face.asks(command("ls", true), None);
    assert_eq!(
        face.app.take_attention().as_deref(),
        Some("approval needed")
    );
    assert_eq!(face.app.take_attention(), None);
}

#[test]
fn nothing_wakes_the_loop_at_rest() {
    let mut face = busy();
    assert!(face.app.deadline(face.now).is_some());
    face.completed();
    assert_eq!(face.app.deadline(face.now), None);
}
