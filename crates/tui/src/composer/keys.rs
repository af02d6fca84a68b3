//! What the keys mean while text is being written.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::editor::Vertical;
use super::motion::Motion;

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Insert(char),
    Newline,
    Enter,
    Tab,
    Escape,
    Go(Motion),
    Row(Vertical),
    Delete(Motion),
    Kill(Motion),
    Yank,
    YankOlder,
    Undo,
    Redo,
    SearchHistory,
    OpenEditor,
}

/// The meaning of a key; `None` when the composer has no use for it.
pub(super) fn action(key: KeyEvent) -> Option<Action> {
    if let Some(character) = typed(key) {
        return Some(Action::Insert(character));
    }
    let modifiers = key.modifiers;
    let control = modifiers.contains(KeyModifiers::CONTROL);
    let alt = modifiers.contains(KeyModifiers::ALT);
    let shift = modifiers.contains(KeyModifiers::SHIFT);
    if let KeyCode::Char(character) = key.code {
        return if control {
            control_char(character, shift)
        } else {
            alt_char(character)
        };
    }
    named(key.code, control, alt, shift)
}

/// The character that a key types. Some terminals report `AltGr` as Control and Alt.
pub(super) fn typed(key: KeyEvent) -> Option<char> {
    let KeyCode::Char(character) = key.code else {
        return None;
    };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let other = KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META;
    (control == alt && !key.modifiers.intersects(other) && !character.is_control())
        .then_some(character)
}

fn control_char(character: char, shift: bool) -> Option<Action> {
    Some(match character.to_ascii_lowercase() {
        'a' => Action::Go(Motion::LineStart),
        'b' => Action::Go(Motion::Left),
        'd' => Action::Delete(Motion::Right),
        'e' => Action::Go(Motion::LineEnd),
        'f' => Action::Go(Motion::Right),
        'g' => Action::OpenEditor,
        'h' => Action::Delete(Motion::Left),
        // A line feed: terminals in raw mode report it as Control-J.
        'j' => Action::Newline,
        'k' => Action::Kill(Motion::LineEndOrBreak),
        'n' => Action::Row(Vertical::Down),
        'p' => Action::Row(Vertical::Up),
        'r' => Action::SearchHistory,
        'u' => Action::Kill(Motion::LineStartOrBreak),
        'w' => Action::Kill(Motion::BlankLeft),
        'y' => Action::Yank,
        '_' if shift => Action::Redo,
        // Control-_ and Control-/ send the byte 0x1F, which crossterm reports as Control-7.
        '_' | '/' | '7' => Action::Undo,
        _ => return None,
    })
}

fn alt_char(character: char) -> Option<Action> {
    Some(match character.to_ascii_lowercase() {
        'b' => Action::Go(Motion::WordLeft),
        'f' => Action::Go(Motion::WordRight),
        'd' => Action::Kill(Motion::WordRight),
        'y' => Action::YankOlder,
        '_' => Action::Redo,
        _ => return None,
    })
}

fn named(code: KeyCode, control: bool, alt: bool, shift: bool) -> Option<Action> {
    let by_word = control || alt;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the keys of crossterm; most have no meaning here"
    )]
    Some(match code {
        KeyCode::Enter if shift || alt => Action::Newline,
        KeyCode::Enter => Action::Enter,
        KeyCode::Tab if !by_word && !shift => Action::Tab,
        KeyCode::Esc => Action::Escape,
        KeyCode::Left if by_word => Action::Go(Motion::WordLeft),
        KeyCode::Right if by_word => Action::Go(Motion::WordRight),
        KeyCode::Left => Action::Go(Motion::Left),
        KeyCode::Right => Action::Go(Motion::Right),
        KeyCode::Up if !by_word => Action::Row(Vertical::Up),
        KeyCode::Down if !by_word => Action::Row(Vertical::Down),
        KeyCode::Home if control => Action::Go(Motion::TextStart),
        KeyCode::End if control => Action::Go(Motion::TextEnd),
        KeyCode::Home => Action::Go(Motion::LineStart),
        KeyCode::End => Action::Go(Motion::LineEnd),
        KeyCode::Backspace if by_word => Action::Kill(Motion::WordLeft),
        KeyCode::Backspace => Action::Delete(Motion::Left),
        KeyCode::Delete if by_word => Action::Kill(Motion::WordRight),
        KeyCode::Delete => Action::Delete(Motion::Right),
        _ => return None,
    })
}
