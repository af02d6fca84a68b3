//! What a real terminal shows of what is written: an emulator that wraps lines anew when its
//! width changes, and a simple one that cuts them.

mod cutting;
mod emulator;
mod properties;

use expect_test::{Expect, expect};

use super::*;
use emulator::Emulator;

/// A terminal of ours and the emulator that it writes on.
pub(super) struct Pair {
    ours: InlineTerminal,
    screen: Emulator,
}

impl Pair {
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        let size = Size { columns, rows };
        Self {
            ours: InlineTerminal::new(size, Reflow::Wraps),
            screen: Emulator::new(size),
        }
    }

    /// Draws, and gives the bytes.
    pub(super) fn draw(&mut self, finished: &[&str], live: &[&str], cursor: (u16, u16)) -> String {
        let rows = rows(finished);
        let frame = frame(live, Some(cursor));
        let bytes = self.ours.encode(&rows, frame).unwrap_or_default();
        assert_sound(&bytes);
        self.screen.write(&bytes);
        bytes
    }

    pub(super) fn resize(&mut self, columns: u16, rows: u16) {
        let size = Size { columns, rows };
        self.ours.resize(size);
        self.screen.resize(size);
    }

    #[track_caller]
    fn check(&self, expected: &Expect) {
        expected.assert_eq(&self.screen.shown());
    }
}

pub(super) fn rows(texts: &[&str]) -> Vec<Row> {
    let spans = texts
        .iter()
        .map(|text| ratatui_core::text::Span::raw((*text).to_owned()));
    spans.map(Row::from).collect()
}

pub(super) fn frame(texts: &[&str], cursor: Option<(u16, u16)>) -> Frame {
    Frame {
        rows: rows(texts),
        cursor,
    }
}

/// What no frame may hold, and what each one must.
#[track_caller]
pub(super) fn assert_sound(bytes: &str) {
    assert!(!bytes.contains("\x1b[2K"), "{bytes:?}");
    assert!(!bytes.contains("\x1b[K\r"), "{bytes:?}");
    assert!(!bytes.contains("\x1b[2J"), "{bytes:?}");
    if bytes.is_empty() {
        return;
    }
    assert!(bytes.starts_with("\x1b[?2026h"), "{bytes:?}");
    assert!(bytes.ends_with("\x1b[?2026l"), "{bytes:?}");
    assert_eq!(bytes.matches("\x1b[?2026").count(), 2, "{bytes:?}");
}

#[test]
fn finished_rows_scroll_away_above_the_live_ones() {
    let mut pair = Pair::new(10, 4);
    pair.draw(&[], &["> ", "status"], (2, 0));
    pair.draw(&["one", "", "two"], &["> ", "status"], (2, 0));
    pair.draw(&["three"], &["> a", "status"], (3, 0));
    pair.check(&expect![[r#"
        one

        ----
        two
        three
        > a▏
        status
    "#]]);
}

#[test]
fn live_rows_that_are_fewer_now_leave_nothing() {
    let mut pair = Pair::new(10, 5);
    pair.draw(&["one"], &["a", "b", "c", "> "], (2, 3));
    pair.draw(&[], &["> "], (2, 0));
    pair.check(&expect![[r#"
        ----
        one
        > ▏



    "#]]);
    pair.draw(&["two"], &["> x"], (3, 0));
    pair.check(&expect![[r#"
        ----
        one
        two
        > x▏


    "#]]);
}

#[test]
fn a_full_row_neither_wraps_nor_loses_its_end() {
    let mut pair = Pair::new(5, 4);
    pair.draw(&["12345", "abcde"], &["vwxyz", "> "], (2, 1));
    pair.draw(&[], &["VWXYZ", "> "], (2, 1));
    pair.check(&expect![[r#"
        ----
        12345
        abcde
        VWXYZ
        > ▏
    "#]]);
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let mut pair = Pair::new(10, 4);
    pair.draw(&[], &["> ", "status"], (2, 0));
    assert_eq!(pair.draw(&[], &["> ", "status"], (2, 0)), "");
}

#[test]
fn one_changed_row_is_all_that_is_written() {
    let mut pair = Pair::new(10, 4);
    pair.draw(&[], &["working", "> ", "status"], (2, 1));
    let bytes = pair.draw(&[], &["working", "> a", "status"], (3, 1));
    expect![[r#""\u{1b}[?2026h\u{1b}[?25l\r\u{1b}[K> a\r\u{1b}[3C\u{1b}[?25h\u{1b}[?2026l""#]]
        .assert_eq(&format!("{bytes:?}"));
}

#[test]
fn live_rows_that_the_terminal_wrapped_are_found_again() {
    let mut pair = Pair::new(20, 6);
    pair.draw(
        &["done"],
        &["0123456789abcdef", "> hello", "status line here"],
        (7, 1),
    );
    pair.resize(10, 6);
    pair.draw(&[], &["0123456789", "> hello", "status li…"], (7, 1));
    pair.check(&expect![[r#"
        done
        0123456789
        ----
        0123456789
        > hello▏
        status li…



    "#]]);
}

#[test]
fn on_a_full_screen_wrapped_live_rows_leave_nothing() {
    let mut pair = Pair::new(20, 6);
    let live = [
        "0123456789abcdef",
        "> some longer words",
        "status line here",
    ];
    pair.draw(&["one", "two", "three"], &live, (15, 1));
    pair.resize(10, 6);
    pair.draw(&["four"], &["live", "> words", "status"], (7, 1));
    pair.check(&expect![[r#"
        one
        two
        three
        ----
        four
        live
        > words▏
        status


    "#]]);
}

#[test]
fn a_cursor_that_is_stuck_costs_no_finished_row() {
    let mut pair = Pair::new(20, 8);
    pair.draw(&["one", "two"], &["live"], (0, 0));
    pair.resize(28, 1);
    pair.draw(&[], &["live..................."], (12, 0));
    pair.resize(13, 2);
    pair.resize(8, 4);
    pair.draw(&[], &["live"], (0, 0));
    pair.check(&expect![[r#"
        one
        ----
        two
        ▏live


    "#]]);
}

#[test]
fn sizes_that_are_never_drawn_for_do_not_matter() {
    let mut pair = Pair::new(20, 6);
    pair.draw(
        &["done"],
        &["0123456789abcdef", "> hello", "status"],
        (7, 1),
    );
    for columns in [10, 5, 8, 30] {
        pair.resize(columns, 6);
    }
    pair.draw(&[], &["live", "> hello", "status"], (7, 1));
    pair.check(&expect![[r#"
        ----
        done
        live
        > hello▏
        status


    "#]]);
}

#[test]
fn a_hidden_cursor_is_found_again_as_well() {
    let mut pair = Pair::new(20, 6);
    pair.draw(&["done"], &["> ", "status"], (2, 0));
    let list = frame(&["a list of things", "0123456789abcdef"], None);
    let bytes = pair.ours.encode(&[], list).unwrap_or_default();
    pair.screen.write(&bytes);
    pair.resize(10, 6);
    pair.draw(&["more"], &["> ", "status"], (2, 0));
    pair.check(&expect![[r#"
        done
        a list of
        ----
        more
        > ▏
        status



    "#]]);
}

#[test]
fn the_end_leaves_the_cursor_on_a_line_of_its_own() {
    let mut pair = Pair::new(20, 5);
    pair.draw(&["done"], &["live", "> text", "status"], (6, 1));
    pair.ours.disturbed = true;
    let bytes = pair.ours.encode(&rows(&["last", "bye"]), Frame::default());
    pair.screen.write(&bytes.unwrap_or_default());
    pair.check(&expect![[r#"
        ----
        done
        last
        bye
        ▏

    "#]]);
}

#[test]
fn live_rows_that_all_go_leave_an_empty_line() {
    let mut pair = Pair::new(20, 4);
    pair.draw(&["done"], &["live", "> text", "status"], (6, 1));
    let bytes = pair.ours.encode(&rows(&["more"]), Frame::default());
    pair.screen.write(&bytes.unwrap_or_default());
    pair.check(&expect![[r#"
        ----
        done
        more
        ▏

    "#]]);
    let bytes = pair.ours.encode(&[], frame(&["> "], Some((2, 0))));
    pair.screen.write(&bytes.unwrap_or_default());
    pair.check(&expect![[r#"
        ----
        done
        more
        > ▏

    "#]]);
}
