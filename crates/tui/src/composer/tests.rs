use std::path::Path;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{CommandInfo, Composer, ComposerEffect, ComposerOptions, SkillInfo, Submission};

mod editing;
mod elements;
mod lists;
mod pastes;
mod properties;
mod sending;
mod views;
mod vim;

fn options() -> ComposerOptions {
    let command = |name: &str, summary: &str, takes_argument| CommandInfo {
        name: name.to_owned(),
        summary: summary.to_owned(),
        takes_argument,
    };
    let skill = |name: &str, summary: &str| SkillInfo {
        name: name.to_owned(),
        summary: summary.to_owned(),
    };
    ComposerOptions {
        vim: false,
        commands: vec![
            command("compact", "summarise the conversation", false),
            command("model", "choose the model", true),
            command("permissions", "what runs without a question", false),
            command("quit", "leave", false),
        ],
        skills: vec![skill("release", "cut a release"), skill("rust", "idioms")],
    }
}

fn new() -> Composer {
    Composer::new(options())
}

/// A composer with a text; `|` is the cursor.
fn with(text: &str) -> Composer {
    let mut composer = new();
    put(&mut composer, text);
    composer
}

fn put(composer: &mut Composer, text: &str) {
    let at = text.find('|').unwrap();
    let plain = text.replacen('|', "", 1);
    composer
        .editor
        .reset(super::rich_text::RichText::plain(plain), at);
    composer.refresh();
}

/// The text with a `|` at the cursor.
fn state(composer: &Composer) -> String {
    let mut text = composer.editor.text().as_str().to_owned();
    text.insert(composer.editor.cursor(), '|');
    text
}

/// Keys by name, with spaces between: `C-w`, `M-b`, `S-Enter`; other words are typed.
fn parse(keys: &str) -> Vec<KeyEvent> {
    keys.split(' ')
        .filter(|word| !word.is_empty())
        .flat_map(parse_word)
        .collect()
}

fn parse_word(word: &str) -> Vec<KeyEvent> {
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = word;
    while let Some((mark, behind)) = rest.split_at_checked(2).filter(|(_, b)| !b.is_empty()) {
        modifiers |= match mark {
            "C-" => KeyModifiers::CONTROL,
            "M-" => KeyModifiers::ALT,
            "S-" => KeyModifiers::SHIFT,
            _ => break,
        };
        rest = behind;
    }
    let code = match rest {
        "Enter" => KeyCode::Enter,
        "Tab" => KeyCode::Tab,
        "Esc" => KeyCode::Esc,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "BS" => KeyCode::Backspace,
        "Del" => KeyCode::Delete,
        "PageUp" => KeyCode::PageUp,
        "Space" => KeyCode::Char(' '),
        typed => {
            let key = |c| KeyEvent::new(KeyCode::Char(c), modifiers);
            return typed.chars().map(key).collect();
        }
    };
    vec![KeyEvent::new(code, modifiers)]
}

/// Presses keys at the pace of a typist; the effect of the last one.
fn press(composer: &mut Composer, keys: &str) -> ComposerEffect {
    let mut now = Instant::now();
    let mut effect = ComposerEffect::None;
    for key in parse(keys) {
        now += Duration::from_millis(40);
        effect = composer.key(key, now);
        assert_eq!(composer.deadline(), None, "typing is no paste");
    }
    effect
}

#[track_caller]
fn check(before: &str, keys: &str, after: &str) {
    let mut composer = with(before);
    press(&mut composer, keys);
    assert_eq!(state(&composer), after, "{before:?} {keys}");
}

fn paste(composer: &mut Composer, text: &str) {
    composer.paste(text, &|_: &Path| false);
}

#[track_caller]
fn submitted(effect: ComposerEffect) -> Submission {
    match effect {
        ComposerEffect::Submit(submission) => submission,
        ComposerEffect::None
        | ComposerEffect::Changed
        | ComposerEffect::Queue(_)
        | ComposerEffect::Command { .. }
        | ComposerEffect::UnknownCommand(_)
        | ComposerEffect::Shell(_)
        | ComposerEffect::OpenEditor(_)
        | ComposerEffect::Unhandled(_) => panic!("not submitted: {effect:?}"),
    }
}

#[test]
fn keys_without_a_use_come_back() {
    for keys in [
        "C-c", "C-t", "C-z", "C-d", "PageUp", "Esc", "?", "Tab", "C-l",
    ] {
        let key = parse(keys)[0];
        let effect = new().key(key, Instant::now());
        assert_eq!(effect, ComposerEffect::Unhandled(key), "{keys}");
    }
    check("a|", "?", "a?|");
    check("|a", "C-d", "|");
}

#[test]
fn a_released_key_does_nothing() {
    let mut key = parse("a")[0];
    key.kind = KeyEventKind::Release;
    let mut composer = new();
    assert_eq!(composer.key(key, Instant::now()), ComposerEffect::None);
    assert!(composer.is_empty());
}
