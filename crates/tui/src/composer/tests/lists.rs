use super::*;
use crate::mentions::Match;

fn names(composer: &Composer) -> Vec<&str> {
    if composer.completion.open().is_none() {
        return Vec::new();
    }
    let items = composer.completion.items().iter();
    items.map(|item| item.name.as_str()).collect()
}

#[track_caller]
fn check_names(text: &str, expected: &[&str]) {
    assert_eq!(names(&with(text)), expected, "{text:?}");
}

#[test]
fn commands_are_offered_by_name_and_summary() {
    check_names("/|", &["compact", "model", "permissions", "quit"]);
    check_names("/m|", &["model", "compact", "permissions"]);
    check_names("/MOD|", &["model"]);
    check_names("/prm|", &["permissions"]);
    check_names("/conversation|", &["compact"]);
    check_names("/nothing|", &[]);
    check_names("a /m|", &[]);
    check_names("/etc/m|", &[]);
    check_names("/model |", &[]);
}

#[test]
fn escape_closes_the_list_and_keeps_the_text() {
    let mut composer = with("/m|");
    assert_eq!(press(&mut composer, "Esc"), ComposerEffect::Changed);
    assert_eq!(
        (state(&composer).as_str(), names(&composer).len()),
        ("/m|", 0)
    );
    press(&mut composer, "o");
    assert_eq!(names(&composer).len(), 0);
    // Another word, another list.
    press(&mut composer, "C-u /");
    assert_eq!(names(&composer).len(), 4);
}

#[test]
fn skills_are_completed() {
    check_names("use $r|", &["release", "rust"]);
    check_names("a$r|", &[]);
    check_names("!echo $r|", &[]);
    check("use $ru|", "Tab", "use $rust |");
    check("$r|", "Down Enter", "$rust |");
    check("costs $5|", "Enter", "|");
    // The whole name was typed: Enter sends.
    let submission = submitted(press(&mut with("use |"), "$rust Enter"));
    assert_eq!(submission.text, "use $rust");
}

fn found(path: &str) -> Match {
    Match {
        path: path.to_owned(),
        matched: vec![0],
    }
}

#[test]
fn files_are_completed() {
    let mut composer = with("see @ma|");
    assert_eq!(composer.mention_query(), Some("ma"));
    composer.set_mention_results("ma", vec![found("src/main.rs"), found("my notes.md")]);
    press(&mut composer, "Tab");
    assert_eq!(state(&composer), "see src/main.rs |");
    assert_eq!(composer.mention_query(), None);
    press(&mut composer, "@no");
    composer.set_mention_results("no", vec![found("my notes.md")]);
    press(&mut composer, "Enter");
    assert_eq!(state(&composer), "see src/main.rs \"my notes.md\" |");
}

#[test]
fn an_answer_to_an_older_query_is_ignored() {
    let mut composer = with("@|");
    composer.set_mention_results("x", vec![found("x")]);
    assert!(names(&composer).is_empty());
    composer.set_mention_results("", vec![found("a"), found("b")]);
    press(&mut composer, "b");
    composer.set_mention_results("", vec![found("c")]);
    // The old list stays to be seen but not to be taken.
    assert_eq!(names(&composer), ["a", "b"]);
    assert_eq!(press(&mut composer, "Tab"), ComposerEffect::None);
    assert_eq!(state(&composer), "@b|");
    composer.set_mention_results("b", vec![]);
    let effect = press(&mut composer, "Tab");
    assert!(matches!(effect, ComposerEffect::Queue(s) if s.text == "@b"));
}

#[test]
fn a_selected_file_stays_selected_when_more_come() {
    let mut composer = with("@|");
    composer.set_mention_results("", vec![found("a"), found("b")]);
    press(&mut composer, "Down");
    composer.set_mention_results("", vec![found("0"), found("a"), found("b")]);
    press(&mut composer, "Tab");
    assert_eq!(state(&composer), "b |");
}

#[test]
fn an_address_is_no_mention() {
    assert_eq!(with("me@example|").mention_query(), None);
    assert_eq!(with("@a b|").mention_query(), None);
    assert_eq!(with("漢\u{3000}@a|").mention_query(), Some("a"));
}
