//! Whatever happens at whatever size, what is drawn fits.

use agent_protocol::{Event, NoticeEvent, Op, TurnEvent, TurnItem};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

use super::support::*;
use super::*;

const LONG: &str =
    "a 中文 word\u{1b}[2J\rand\u{202e} more 👩‍👩‍👧 of it that does not fit anywhere\n\tx";

/// A place, and how to get there.
type Scene = (&'static str, fn(&mut Face));

/// All places that the interface can be in.
fn scenes() -> Vec<Scene> {
    let mut scenes = turns();
    scenes.extend(overlays());
    scenes.extend(screens());
    scenes
}

fn turns() -> Vec<Scene> {
    vec![
        ("start", |face| face.app.show_header("1.2.3")),
        ("trust", |face| {
            face.app.ask_trust(&agent_core::Trust {
                directory: LONG.into(),
                trusted: None,
                files: vec![LONG.into(), "b".into()],
            });
        }),
        ("written", |face| face.app.composer.set_text(LONG)),
        ("completion", |face| {
            face.keys(&["/m"]);
        }),
        ("turn", |face| {
            face.keys(&["hi", "enter"]);
            face.started();
            face.ends(0, ran("cat x", LONG));
            face.starts(1, running(LONG));
            face.prints(1, &LONG.repeat(30));
            face.starts(2, message(""));
            face.says(2, LONG);
            face.keys(&["steer", "enter", "queue", "tab"]);
        }),
        ("retry", |face| {
            face.started();
            face.notice(NoticeEvent::Retry {
                attempt: 1,
                limit: 2,
                delay_ms: 1,
                reason: LONG.to_owned(),
            });
        }),
        ("armed", |face| {
            face.keys(&["ctrl-c"]);
        }),
    ]
}

fn overlays() -> Vec<Scene> {
    vec![
        ("command", |face| {
            face.asks(command(LONG, false), Some(LONG));
        }),
        ("kept away", |face| {
            face.keys(&["x"]);
            face.asks(command(&LONG.repeat(50), true), None);
        }),
        ("note", |face| {
            face.asks(command(LONG, false), Some(LONG));
            face.answer(&["t", "because of this and that and more"]);
        }),
        ("question", |face| {
            face.thread(asked(vec![question("long", LONG, &[LONG, "b"])]));
        }),
        ("own answer", |face| {
            face.thread(asked(vec![question("long", LONG, &[])]));
            face.answer(&["because of this and that and more"]);
        }),
        ("model", |face| {
            face.keys(&["/model", "enter"]);
        }),
        ("permissions", |face| {
            face.keys(&["/permissions", "enter"]);
        }),
        ("help", |face| {
            face.keys(&["?"]);
        }),
        ("status", |face| {
            face.keys(&["/status", "enter"]);
        }),
    ]
}

fn screens() -> Vec<Scene> {
    vec![
        ("transcript", |face| {
            face.ends(0, message(LONG));
            face.keys(&["ctrl-t", "/", "中"]);
        }),
        ("diff", |face| {
            face.notice(NoticeEvent::Diff {
                text: format!("+++ b/x\n@@ -1 +1 @@\n+{LONG}\n"),
            });
        }),
        ("sessions", |face| {
            face.event(AppEvent::Sessions {
                sessions: Ok(vec![agent_core::SessionSummary {
                    id: thread_id(),
                    path: LONG.into(),
                    cwd: Some(LONG.into()),
                    branch: Some(LONG.to_owned()),
                    modified: SystemTime::UNIX_EPOCH,
                    preview: LONG.to_owned(),
                }]),
                all: true,
                now: SystemTime::UNIX_EPOCH,
            });
        }),
    ]
}

#[test]
fn everything_fits_the_smallest_terminals() {
    for (_, scene) in scenes() {
        for columns in (1..=12).chain([20, 40, 80, 120]) {
            for rows in [1, 2, 3, 5, 8] {
                let mut face = Face::bare(columns, rows);
                scene(&mut face);
                face.frame();
            }
        }
    }
}

#[test]
fn everything_fits_after_the_terminal_became_smaller() {
    for (_, scene) in scenes() {
        let mut face = Face::bare(80, 24);
        scene(&mut face);
        for (columns, rows) in [(80, 24), (40, 5), (1, 1), (10, 3), (2, 8), (80, 24)] {
            face.resize(columns, rows);
            face.frame();
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    Wait(u64),
    Resize(u16, u16),
    Scene(usize),
    Ends(u64),
    TurnEnds(u8),
    Focus(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let code = prop_oneof![
        4 => "[a-z1-9/@!?$ ]".prop_map(|text| KeyCode::Char(text.chars().next().unwrap_or('x'))),
        2 => Just(KeyCode::Enter),
        1 => Just(KeyCode::Esc),
        1 => prop::sample::select(vec![
            KeyCode::Tab,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Left,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::End,
            KeyCode::Backspace,
        ]),
    ];
    let modifiers = prop_oneof![
        6 => Just(KeyModifiers::NONE),
        1 => Just(KeyModifiers::CONTROL),
        1 => Just(KeyModifiers::ALT),
    ];
    prop_oneof![
        12 => (code, modifiers).prop_map(|(code, modifiers)| Step::Key(code, modifiers)),
        1 => any::<String>().prop_map(Step::Paste),
        3 => (0..900_u64).prop_map(Step::Wait),
        2 => (1..90_u16, 1..30_u16).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        4 => (0..19_usize).prop_map(Step::Scene),
        1 => (0..4_u64).prop_map(Step::Ends),
        1 => (0..3_u8).prop_map(Step::TurnEnds),
        1 => any::<bool>().prop_map(Step::Focus),
    ]
}

fn take(face: &mut Face, step: Step) -> Vec<Effect> {
    match step {
        Step::Key(code, modifiers) => face.event(AppEvent::Key(KeyEvent::new(code, modifiers))),
        Step::Paste(text) => face.event(AppEvent::Paste(text)),
        Step::Wait(milliseconds) => face.wait(milliseconds),
        Step::Resize(columns, rows) => {
            face.resize(columns, rows);
            Vec::new()
        }
        Step::Scene(index) => {
            if let Some((_, scene)) = scenes().get(index) {
                scene(face);
            }
            Vec::new()
        }
        Step::Ends(id) => {
            face.ends(
                id,
                TurnItem::Error {
                    message: LONG.to_owned(),
                },
            );
            Vec::new()
        }
        Step::TurnEnds(0) => face.completed(),
        Step::TurnEnds(_) => face.thread(Event::Turn(TurnEvent::Interrupted)),
        Step::Focus(focused) => face.event(AppEvent::Focus(focused)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_panics_and_all_fits(steps in prop::collection::vec(step(), 1..40)) {
        let mut face = Face::bare(80, 24);
        for step in steps {
            let was_asking = face.app.question_in_front();
            for effect in take(&mut face, step) {
                if let Effect::Submit(Op::Answer { request_id, .. }) = effect {
                    prop_assert_eq!(Some(request_id), was_asking);
                }
            }
            face.frame();
        }
    }
}
