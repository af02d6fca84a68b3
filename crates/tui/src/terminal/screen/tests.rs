//! The bytes of the alternate screen.

use expect_test::{Expect, expect};
use ratatui_core::text::Span;

use super::*;
use crate::row::Row;

fn frame(texts: &[&str]) -> Frame {
    let rows = texts
        .iter()
        .map(|text| Row::from(Span::raw((*text).to_owned())));
    Frame {
        rows: rows.collect(),
        cursor: None,
    }
}

/// What is written for a frame when others were shown before, each of its own size.
#[track_caller]
fn check(frames: &[(u16, &[&str])], expected: &Expect) {
    let mut screen = AlternateScreen::default();
    let mut out = String::new();
    for (rows, texts) in frames {
        let size = Size::of(9, *rows);
        let frame = frame(texts);
        out = screen.encode(size, &frame);
        screen.shown = Some(frame);
        screen.size = Some(size);
    }
    expected.assert_eq(&out.replace('\x1b', "␛"));
}

#[test]
fn the_first_frame_covers_every_row() {
    check(
        &[(3, &["a", "b"])],
        &expect!["␛[?2026h␛[?25l␛[1;1H␛[Ka␛[2;1H␛[Kb␛[3;1H␛[K␛[?2026l"],
    );
}

#[test]
fn only_rows_that_changed_are_written() {
    check(
        &[(3, &["a", "b", "c"]), (3, &["a", "x", "c"])],
        &expect!["␛[?2026h␛[?25l␛[2;1H␛[Kx␛[?2026l"],
    );
}

#[test]
fn rows_that_went_are_erased() {
    check(
        &[(3, &["a", "b", "c"]), (3, &["a"])],
        &expect!["␛[?2026h␛[?25l␛[2;1H␛[K␛[3;1H␛[K␛[?2026l"],
    );
}

#[test]
fn another_size_draws_all_anew() {
    check(
        &[(2, &["a", "b"]), (1, &["a"])],
        &expect!["␛[?2026h␛[?25l␛[1;1H␛[Ka␛[?2026l"],
    );
}

#[test]
fn a_cursor_is_shown_where_it_is() {
    let with_cursor = Frame {
        cursor: Some((3, 1)),
        ..frame(&["a", "bcd"])
    };
    let out = AlternateScreen::default().encode(Size::of(9, 2), &with_cursor);
    assert!(out.ends_with("\x1b[2;4H\x1b[?25h\x1b[?2026l"), "{out:?}");
}
