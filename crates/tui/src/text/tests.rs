use expect_test::{Expect, expect};
use proptest::prelude::*;
use ratatui_core::style::{Color, Style};

use super::*;

#[track_caller]
fn check(text: &str, width: u16, expected: &Expect) {
    let line = Line::from(vec![Span::raw(text.to_owned())]);
    let rows = wrap(&line, width, &[Span::raw("- ")], &[Span::raw("  ")]);
    let lines: Vec<String> = rows
        .iter()
        .map(|row| format!("{}|\n", row.text()))
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn words_wrap_behind_the_indent() {
    check(
        "one two  three four",
        10,
        &expect![[r#"
        - one two|
          three|
          four|
    "#]],
    );
}

#[test]
fn a_word_longer_than_a_row_is_split() {
    check(
        "see abcdefghijklmnopqrst end",
        10,
        &expect![[r#"
        - see|
          abcdefgh|
          ijklmnop|
          qrst end|
    "#]],
    );
}

#[test]
fn wide_characters_break_anywhere_but_before_closing_marks() {
    check(
        "中文字符，混合abc文本。",
        10,
        &expect![[r#"
            - 中文字|
              符，混合|
              abc文|
              本。|
        "#]],
    );
}

#[test]
fn joined_emoji_and_combining_marks_are_not_torn() {
    check(
        "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧x\u{301}x\u{301}",
        6,
        &expect![[r#"
            - 👩‍👩‍👧👩‍👩‍👧|
              👩‍👩‍👧x́x́|
        "#]],
    );
}

#[test]
fn line_feeds_end_rows_and_leading_spaces_stay() {
    check(
        "a\n  b\n\nc\td",
        20,
        &expect![[r#"
        - a|
            b|
        |
          c    d|
    "#]],
    );
}

#[test]
fn escape_sequences_and_hidden_characters_do_not_survive() {
    check(
        "\u{1b}[31mred\u{1b}[0m \u{202e}back\0 \u{9b}31m\u{7f}",
        40,
        &expect![[r#"
        - red \u{202e}back\0 31m|
    "#]],
    );
}

#[test]
fn clusters_wider_than_a_row_are_torn() {
    check(
        "글🏽글",
        5,
        &expect![[r#"
        - 글|
          🏽|
          글|
    "#]],
    );
}

#[test]
fn indents_that_leave_no_room_are_left_out() {
    check(
        "abcd",
        3,
        &expect![[r#"
        abc|
        d|
    "#]],
    );
}

#[test]
fn links_keep_their_columns_on_each_row() {
    let target: Arc<str> = "https://e.org".into();
    let link = Piece {
        text: "the link text".into(),
        style: Style::new().fg(Color::Blue),
        target: Some(target),
    };
    let pieces = [
        Piece::new("see ", Style::new()),
        link,
        Piece::new(".", Style::new()),
    ];
    let rows = flow(&pieces, Frame::bare(10), Break::Words);
    let links: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.text(),
                row.links
                    .iter()
                    .map(|l| l.columns.clone())
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    expect![[r#"
        [
            (
                "see the",
                [
                    4..7,
                ],
            ),
            (
                "link text.",
                [
                    0..9,
                ],
            ),
        ]
    "#]]
    .assert_debug_eq(&links);
}

#[test]
fn cut_text_ends_in_the_ellipsis() {
    assert_eq!(truncate("abcdef", 4, "…"), "abc…");
    assert_eq!(truncate("ab cdef", 4, "…"), "ab…");
    assert_eq!(truncate("abcd", 4, "…"), "abcd");
    assert_eq!(truncate("中文字", 4, "…"), "中…");
    assert_eq!(truncate("abcdef", 2, "..."), "ab");
    assert_eq!(truncate("a\nb\u{1b}[2J", 9, "…"), "a b");
    assert_eq!(truncate("abc", 0, "…"), "");
}

#[test]
fn a_row_is_cut_where_it_no_longer_fits() {
    let spans = ["• ", "Working", " on it"].map(Span::raw).to_vec();
    let cut = |width| truncate_row(&Row::new(spans.clone()), &crate::shown::look(width)).text();
    let cuts: Vec<String> = [20, 15, 14, 12, 9, 8, 2, 1].map(cut).into();
    let expected = [
        "• Working on it",
        "• Working on it",
        "• Working on…",
        "• Working o…",
        "• Workin…",
        "• Worki…",
        "•…",
        "…",
    ];
    assert_eq!(cuts, expected);
}

#[test]
fn what_must_not_hide_is_spelled_out() {
    let text = "a\rb\u{1b}[2K\u{8}\0\u{9b}c\td\ne";
    assert_eq!(
        spelled_out(text),
        "a\\rb\\u{1b}[2K\\u{8}\\u{0}\\u{9b}c\td\ne"
    );
    assert_eq!(spelled_out_line("a\nb\u{202e}c"), "a\\nb\\u{202e}c");
}

#[test]
fn what_looks_like_something_else_is_spelled_out() {
    let cases = [
        (
            "rm\u{a0}-rf\u{2003}x\u{2800}",
            "rm\\u{a0}-rf\\u{2003}x\\u{2800}",
        ),
        (
            "l\u{200d}s \u{200c}a\u{fe0f}",
            "l\\u{200d}s \\u{200c}a\\u{fe0f}",
        ),
        // A family, a heart, Persian, Japanese.
        ("👨\u{200d}👩 ❤\u{fe0f}", "👨\u{200d}👩 ❤\u{fe0f}"),
        ("می\u{200c}شود 漢\u{3000}字", "می\u{200c}شود 漢\u{3000}字"),
    ];
    for (text, expected) in cases {
        assert_eq!(spelled_out(text), expected);
    }
}

#[test]
fn a_line_of_a_megabyte_is_wrapped_whole() {
    for text in [
        "x".repeat(1 << 20),
        "é ".repeat(1 << 19),
        " ".repeat(1 << 20) + "x",
    ] {
        let rows = flow(
            &[Piece::new(text.clone(), Style::new())],
            Frame::bare(7),
            Break::Words,
        );
        let letters: usize = rows
            .iter()
            .map(|row| row.text().replace(' ', "").len())
            .sum();
        assert_eq!(letters, text.replace(' ', "").len());
    }
}

/// Text with what is hard about text in it.
pub(crate) fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        any::<String>(),
        "[a-z ]{0,30}",
        "[中文、。한글ก็👩🏽\u{200d}\u{fe0f}\u{301}\u{202e}\u{200b}\t\n\r\u{1b}\u{7}\\[31m ]{0,20}",
    ];
    proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

/// Clusters that take columns.
fn n_visible(text: &str) -> usize {
    let clusters = text.trim_matches(' ').graphemes(true);
    clusters.filter(|cluster| cluster.width() > 0).count()
}

/// No row is wider than it may be, and none can act on the terminal.
#[track_caller]
pub(crate) fn assert_sound(rows: &[Row], width: u16) {
    for row in rows {
        let text = row.text();
        assert!(!text.chars().any(char::is_control), "{text:?}");
        let fits = row.width() <= usize::from(width);
        assert!(fits || n_visible(&text) == 1, "{width}: {text:?}");
        for link in &row.links {
            assert!(link.columns.start < link.columns.end, "{:?}", link.columns);
            assert!(usize::from(link.columns.end) <= row.width().max(usize::from(width)));
            assert!(
                link.target.bytes().all(|b| b.is_ascii_graphic()),
                "{}",
                link.target
            );
        }
    }
}

proptest! {
    #[test]
    fn rows_are_sound(text in hostile(), width in 1u16..30, indent in 0usize..12) {
        let indent = [spaces(indent)];
        for breaking in [Break::Words, Break::Anywhere] {
            let frame = Frame { width, first: &indent, rest: &indent };
            assert_sound(&flow(&[Piece::new(text.clone(), Style::new())], frame, breaking), width);
        }
    }

    #[test]
    fn nothing_but_spaces_is_lost(text in "[a-z中é ]{0,80}", width in 2u16..20) {
        for breaking in [Break::Words, Break::Anywhere] {
            let pieces = [Piece::new(text.clone(), Style::new())];
            let rows = flow(&pieces, Frame::bare(width), breaking);
            let shown: String = rows.iter().map(Row::text).collect();
            prop_assert_eq!(shown.replace(' ', ""), text.replace(' ', ""));
        }
    }

    #[test]
    fn cut_text_fits(text in hostile(), width in 0usize..20) {
        let cut = truncate(&text, width, "…");
        prop_assert!(cut.width() <= width);
        prop_assert!(!cut.chars().any(char::is_control));
    }
}
