use std::fmt::Write as _;

use super::*;

#[test]
fn text_goes_in_anywhere() {
    check("|", "hello", "hello|");
    check("he|o", "ll", "hell|o");
    check("a|", "S-B M-Enter c C-j d", "aB\nc\nd|");
    check("a|", "S-Enter b", "a\nb|");
    check(r"a\|", "Enter b", "a\nb|");
}

#[test]
fn alt_gr_types() {
    check("|", "C-M-@ C-M-€", "@€|");
}

#[test]
fn movement_is_by_grapheme() {
    check("e\u{301}x|", "Left Left", "|e\u{301}x");
    check("|e\u{301}x", "C-f", "e\u{301}|x");
    let family = "👨\u{200d}👩\u{200d}👧";
    check(&format!("a{family}|b"), "C-b", &format!("a|{family}b"));
    check(&format!("a{family}|b"), "BS", "a|b");
    check(&format!("a|{family}b"), "Del", "a|b");
    check(
        "a\u{202f}b\u{301}\u{200d}c|",
        "Left Left",
        "a\u{202f}|b\u{301}\u{200d}c",
    );
    check("|", "Left BS Del C-h", "|");
}

#[test]
fn movement_is_by_word_and_line() {
    check("one two-three 漢字|", "M-b", "one two-three 漢|字");
    check("one two|-three", "M-f", "one two-three|");
    check("one two|", "C-Left C-Left", "|one two");
    check("|one two", "C-Right", "one| two");
    check("ab\ncd|\nef", "Home", "ab\n|cd\nef");
    check("ab\n|cd\nef", "C-e", "ab\ncd|\nef");
    check("ab\nc|d\nef", "C-Home", "|ab\ncd\nef");
    check("ab\nc|d\nef", "C-End", "ab\ncd\nef|");
    check("ab|", "C-a", "|ab");
}

#[test]
fn rows_keep_the_preferred_column() {
    check(
        "long line\nab\nlong line|",
        "Up Up",
        "long line|\nab\nlong line",
    );
    check(
        "long l|ine\nab\nlong line",
        "Down C-n",
        "long line\nab\nlong l|ine",
    );
    check("long li|ne\nab\nx", "Down Left Down", "long line\nab\nx|");
}

#[test]
fn rows_are_those_of_the_screen() {
    let mut composer = with("aaaa bbbb cccc|");
    // Prompt, five columns, cursor.
    composer.set_columns(8);
    press(&mut composer, "Up");
    assert_eq!(state(&composer), "aaaa bbbb| cccc");
    press(&mut composer, "Up");
    assert_eq!(state(&composer), "aaaa| bbbb cccc");
}

#[test]
fn cut_text_comes_back() {
    check("one two|", "C-w", "one |");
    check("one two|", "C-w C-w C-y", "one two|");
    check("a/b c-d|", "M-BS", "a/b c-|");
    check("|one two", "M-d M-d C-y C-y", "one twoone two|");
    check("one| two", "C-u C-k C-y", "one two|");
    check("ab\n|cd", "C-u", "ab|cd");
    check("ab|\ncd", "C-k", "ab|cd");
    check("one two|", "C-w Left Right C-w C-y M-y", "two|");
    // Without a text that was just put there is nothing to exchange.
    check("one two|", "C-w M-y", "one |");
}

#[test]
fn undo_takes_back_words() {
    check("|", "one Space two C-7", "one |");
    check("|", "one Space two C-7 C-/", "|");
    check("|", "one Space two C-_ C-_ M-_", "one |");
    check("|", "one Space two C-_ C-_ M-_ C-S-_ M-_", "one two|");
    check("a b|", "C-w C-_", "a b|");
    check("ab|", "BS BS C-_", "a|");
    // A new edit ends what could be done again.
    check("|", "one C-_ x M-_", "x|");
}

#[test]
fn earlier_messages_are_walked_through() {
    let mut composer = with("draft|");
    composer.set_history(vec!["first".to_owned(), "second\nline".to_owned()]);
    let mut steps = String::new();
    for key in ["Up", "Up", "Up", "Down", "Down", "Down"] {
        press(&mut composer, key);
        writeln!(steps, "{key}: {}", state(&composer)).unwrap();
    }
    expect_test::expect![[r"
        Up: second|
        line
        Up: first|
        Up: first|
        Down: second
        line|
        Down: draft|
        Down: draft|
    "]]
    .assert_eq(&steps);
}

#[test]
fn what_was_made_of_an_earlier_message_is_kept_on_the_walk() {
    let mut composer = with("draft|");
    composer.set_history(vec!["first".to_owned(), "second".to_owned()]);
    press(&mut composer, "Up ! Up Down");
    assert_eq!(state(&composer), "second!|");
    press(&mut composer, "Down");
    assert_eq!(state(&composer), "draft|");
}

#[test]
fn an_earlier_command_opens_no_list() {
    let mut composer = new();
    composer.set_history(vec!["old".to_owned(), "/model".to_owned()]);
    press(&mut composer, "Up Up");
    assert_eq!(state(&composer), "old|");
}

#[test]
fn the_history_is_searched() {
    let mut composer = with("draft|");
    let entries = ["Cargo test", "cargo build", "ls", "cargo build"];
    composer.set_history(entries.map(str::to_owned).to_vec());
    press(&mut composer, "C-r cargo");
    assert_eq!(state(&composer), "draft|");
    press(&mut composer, "C-r Enter");
    assert_eq!(state(&composer), "Cargo test|");
    // The draft is not lost.
    press(&mut composer, "C-7");
    assert_eq!(state(&composer), "draft|");
    press(&mut composer, "C-r ls Esc");
    assert_eq!(state(&composer), "draft|");
    press(&mut composer, "C-r none Enter x");
    assert_eq!(state(&composer), "draftx|");
}

#[test]
fn the_editor_gets_and_gives_the_text() {
    let mut composer = new();
    composer.attach_image("/tmp/a.png".into());
    paste(&mut composer, &"x".repeat(2_000));
    let effect = press(&mut composer, "C-g");
    let text = format!("[Image #1 a.png]{}", "x".repeat(2_000));
    assert_eq!(effect, ComposerEffect::OpenEditor(text));
    composer.set_text("see [Image #1 a.png]\r\nhere");
    assert_eq!(state(&composer), "see [Image #1 a.png]\nhere|");
    let submission = submitted(press(&mut composer, "Enter"));
    assert_eq!(submission.images, [Path::new("/tmp/a.png")]);
    composer.attach_image("/tmp/a.png".into());
    composer.set_text("gone");
    assert_eq!(submitted(press(&mut composer, "Enter")).images.len(), 0);
}
