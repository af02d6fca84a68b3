use expect_test::{Expect, expect};

use super::*;
use crate::look::{Glyphs, Look, Theme};
use crate::mentions::Match;

pub(super) fn look(width: u16) -> Look {
    Look {
        width,
        theme: Theme::ANSI,
        glyphs: Glyphs::UNICODE,
        reduced_motion: false,
    }
}

/// The rows with a mark behind each, then the list, and the cursor.
fn screen(composer: &Composer, width: u16, max_rows: u16) -> String {
    let view = composer.view(&look(width), max_rows);
    let mut text = String::new();
    for row in &view.rows {
        text.push_str(&row.text());
        text.push_str("¶\n");
    }
    for row in &view.popup {
        text.push_str(row.text().trim_end());
        text.push('\n');
    }
    // Source text has to be in composed form.
    let text = text.replace('\u{301}', "<acute>");
    text + &format!("{:?} {:?}\n", view.cursor, view.mode)
}

fn check(composer: &Composer, width: u16, expected: &Expect) {
    expected.assert_eq(&screen(composer, width, 6));
}

#[test]
fn an_empty_composer_says_what_it_is_for() {
    check(
        &new(),
        40,
        &expect![[r#"
            › Ask, @ files, / commands, ? shortcuts¶
            Some((2, 0)) None
        "#]],
    );
    check(
        &new(),
        80,
        &expect![[r#"
        › Ask anything, @ files, / commands, ? shortcuts¶
        Some((2, 0)) None
    "#]],
    );
    check(
        &new(),
        120,
        &expect![[r#"
        › Ask anything, @ files, / commands, ? shortcuts¶
        Some((2, 0)) None
    "#]],
    );
}

#[test]
fn text_wraps_at_words() {
    let composer =
        with("The quick brown fox jumps over the lazy dog, then it\nrests| for a while.");
    check(
        &composer,
        40,
        &expect![[r#"
        › The quick brown fox jumps over the ¶
          lazy dog, then it¶
          rests for a while.¶
        Some((7, 2)) None
    "#]],
    );
    check(
        &composer,
        80,
        &expect![[r#"
        › The quick brown fox jumps over the lazy dog, then it¶
          rests for a while.¶
        Some((7, 1)) None
    "#]],
    );
    check(
        &composer,
        12,
        &expect![[r#"
            › jumps ¶
              over the ¶
              lazy dog, ¶
              then it¶
              rests for ¶
              a while.¶
            Some((7, 4)) None
        "#]],
    );
}

#[test]
fn wide_and_hostile_text_is_shown_as_it_is() {
    let text = "漢字漢字\te\u{301}👩\u{200d}💻\u{202e}txt.exe\u{200b}\u{9b}\n\u{301}|";
    check(
        &with(text),
        40,
        &expect![[r#"
            › 漢字漢字    ¶
              e<acute>👩‍💻\u{202e}txt.exe\u{200b}\u{9b}¶
              \u{301}¶
            Some((9, 2)) None
        "#]],
    );
    check(
        &with(text),
        10,
        &expect![[r#"
            › 漢字漢¶
              字    ¶
              e<acute>👩‍💻�txt¶
              .exe�¶
              \u{9b}¶
              \u{301}¶
            Some((9, 5)) None
        "#]],
    );
    check(
        &with("a\u{202f}b\u{301}\u{200d}c|"),
        40,
        &expect![[r#"
            › a b<acute>‍c¶
            Some((6, 0)) None
        "#]],
    );
}

#[test]
fn only_the_rows_around_the_cursor_are_shown() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n9";
    for cut in [0, 4, 10, 17] {
        let mut text = text.to_owned();
        text.insert(cut, '|');
        let view = with(&text).view(&look(40), 3);
        let (_, row) = view.cursor.unwrap();
        let shown = view.rows[usize::from(row)].text();
        let expected = &text.replace('|', "")[cut / 2 * 2..=cut / 2 * 2];
        assert!(shown.ends_with(expected), "{cut}: {shown:?}");
        assert_eq!(view.rows.len(), 3);
        assert!(view.rows[0].text().starts_with("› "));
    }
}

#[test]
fn elements_wrap_too() {
    let mut composer = with("see |");
    paste(&mut composer, &"x\n".repeat(30));
    composer.attach_image("/tmp/shot.png".into());
    check(
        &composer,
        40,
        &expect![[r#"
        › see [Pasted text #1 +30 lines][Image ¶
          #1 shot.png]¶
        Some((14, 1)) None
    "#]],
    );
    check(
        &composer,
        14,
        &expect![[r#"
            › see [Pasted ¶
              text #1 +30 ¶
              lines][Imag¶
              e #1 ¶
              shot.png]¶
            Some((11, 4)) None
        "#]],
    );
}

#[test]
fn commands_are_listed() {
    let mut composer = with("/|");
    press(&mut composer, "Down");
    check(
        &composer,
        40,
        &expect![[r#"
        › /¶
          /compact      summarise the conversat…
        • /model        choose the model
          /permissions  what runs without a que…
          /quit         leave
        Some((3, 0)) None
    "#]],
    );
    check(
        &composer,
        80,
        &expect![[r#"
        › /¶
          /compact      summarise the conversation
        • /model        choose the model
          /permissions  what runs without a question
          /quit         leave
        Some((3, 0)) None
    "#]],
    );
    check(
        &composer,
        120,
        &expect![[r#"
        › /¶
          /compact      summarise the conversation
        • /model        choose the model
          /permissions  what runs without a question
          /quit         leave
        Some((3, 0)) None
    "#]],
    );
}

#[test]
fn files_are_listed() {
    let mut composer = with("@li|");
    let file = |path: &str| Match {
        path: path.to_owned(),
        matched: vec![0, 1],
    };
    let long = "crates/very-long-name/src/and/deeper/lib.rs";
    composer.set_mention_results("li", vec![file("lib.rs"), file(long), file("li\u{202e}\n")]);
    check(
        &composer,
        30,
        &expect![[r#"
        › @li¶
        • lib.rs
          …-name/src/and/deeper/lib.rs
          li\u{202e}
        Some((5, 0)) None
    "#]],
    );
    check(
        &composer,
        80,
        &expect![[r#"
        › @li¶
        • lib.rs
          crates/very-long-name/src/and/deeper/lib.rs
          li\u{202e}
        Some((5, 0)) None
    "#]],
    );
}

#[test]
fn a_search_of_the_history_is_shown() {
    let mut composer = with("draft|");
    composer.set_history(vec![
        "cargo test\nmore".to_owned(),
        "cargo build".to_owned(),
    ]);
    press(&mut composer, "C-r car C-r");
    check(
        &composer,
        40,
        &expect![[r#"
        › draft¶
          history search: car
          cargo build
        • cargo test…
        Some((21, 1)) None
    "#]],
    );
    press(&mut composer, "x");
    check(
        &composer,
        80,
        &expect![[r#"
        › draft¶
          history search: carx
          no match
        Some((22, 1)) None
    "#]],
    );
}

#[test]
fn vim_mode_is_shown() {
    let mut composer = Composer::new(ComposerOptions {
        vim: true,
        ..options()
    });
    press(&mut composer, "!ls");
    check(
        &composer,
        40,
        &expect![[r#"
        › !ls¶
        Some((5, 0)) Some("INSERT")
    "#]],
    );
    press(&mut composer, "Esc");
    check(
        &composer,
        40,
        &expect![[r#"
        › !ls¶
        Some((4, 0)) Some("NORMAL")
    "#]],
    );
}

#[test]
fn plain_glyphs_are_ascii() {
    let look = Look {
        glyphs: Glyphs::PLAIN,
        ..look(40)
    };
    let view = with("/|").view(&look, 6);
    let text: String = view
        .rows
        .iter()
        .chain(&view.popup)
        .map(crate::row::Row::text)
        .collect();
    assert!(text.is_ascii() && text.starts_with("> /"), "{text:?}");
}
