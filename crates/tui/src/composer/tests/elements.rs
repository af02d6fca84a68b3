use super::*;

fn long(mark: char) -> String {
    format!("{mark}\n").repeat(23)
}

#[test]
fn a_long_paste_is_one_unit() {
    let mut composer = with("a |b");
    paste(&mut composer, &long('x'));
    assert_eq!(state(&composer), "a [Pasted text #1 +23 lines]|b");
    press(&mut composer, "Left");
    assert_eq!(state(&composer), "a |[Pasted text #1 +23 lines]b");
    press(&mut composer, "Right Left Del");
    assert_eq!(state(&composer), "a |b");
    press(&mut composer, "C-7 C-e BS BS");
    assert_eq!(state(&composer), "a |");
    paste(&mut composer, &"y".repeat(1_001));
    assert_eq!(state(&composer), "a [Pasted text #2 1001 characters]|");
    press(&mut composer, "M-b");
    assert_eq!(state(&composer), "a |[Pasted text #2 1001 characters]");
}

#[test]
fn a_short_paste_is_text() {
    let mut composer = new();
    paste(&mut composer, &"x".repeat(1_000));
    assert_eq!(composer.editor.text().len(), 1_000);
    composer.clear();
    paste(
        &mut composer,
        "1\r\n2\r3\n4\n5\n6\n7\n8\n9\n\u{1b}\u{0}\u{7f}\t10",
    );
    assert_eq!(state(&composer), "1\n2\n3\n4\n5\n6\n7\n8\n9\n\t10|");
}

#[test]
fn pastes_survive_the_editing_around_them() {
    let mut composer = new();
    paste(&mut composer, &long('x'));
    press(&mut composer, "Space");
    paste(&mut composer, &long('x'));
    press(&mut composer, "C-a head Space C-e tail C-w C-y");
    assert_eq!(
        state(&composer),
        "head [Pasted text #1 +23 lines] [Pasted text #2 +23 lines]tail|"
    );
    let submission = submitted(press(&mut composer, "Enter"));
    assert_eq!(
        submission.text,
        format!("head {} {}tail", long('x'), long('x'))
    );
    assert_eq!(
        submission.shown,
        "head [Pasted text #1 +23 lines] [Pasted text #2 +23 lines]tail"
    );
}

#[test]
fn a_label_that_was_typed_or_pasted_is_text() {
    let label = "[Pasted text #1 +23 lines]";
    let folded = format!("{label}\n").repeat(23);
    let mut composer = new();
    paste(&mut composer, label);
    paste(&mut composer, &folded);
    paste(&mut composer, label);
    let submission = submitted(press(&mut composer, "Enter"));
    assert_eq!(submission.text, format!("{label}{folded}{label}"));
}

#[test]
fn a_kill_takes_elements_along() {
    let mut composer = new();
    paste(&mut composer, &long('x'));
    press(&mut composer, "C-u a C-y");
    let submission = submitted(press(&mut composer, "Enter"));
    assert_eq!(submission.text, format!("a{}", long('x')));
}

#[test]
fn a_draft_gives_all_back() {
    let mut composer = with("a|b");
    paste(&mut composer, &long('x'));
    composer.attach_image("/tmp/shot 1.png".into());
    press(&mut composer, "Left");
    let json = serde_json::to_string(&composer.draft()).unwrap();
    let draft: super::super::Draft = serde_json::from_str(&json).unwrap();
    assert_eq!(
        draft.text(),
        format!("a{}[Image #1 shot 1.png]b", long('x'))
    );
    let mut other = new();
    other.restore(&draft);
    assert_eq!(state(&other), state(&composer));
    assert_eq!(other.draft(), composer.draft());
    paste(&mut other, &long('x'));
    assert!(state(&other).contains("[Pasted text #2 +23 lines]|"));
}

#[test]
fn an_unknown_version_of_a_draft_is_refused() {
    let json = serde_json::to_string(&with("a|").draft()).unwrap();
    let newer = json.replace("\"version\":1", "\"version\":2");
    assert_ne!(newer, json);
    let error = serde_json::from_str::<super::super::Draft>(&newer).unwrap_err();
    assert!(error.to_string().contains("version 2"), "{error}");
}

#[test]
fn a_submission_can_be_edited_again() {
    let mut composer = new();
    paste(&mut composer, &long('x'));
    composer.attach_image("/tmp/a.png".into());
    let first = submitted(press(&mut composer, "Enter"));
    assert!(composer.is_empty());
    composer.restore(&first.draft);
    assert_eq!(submitted(press(&mut composer, "Enter")), first);
}
