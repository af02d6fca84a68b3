//! Rows as bytes.

use std::ops::Range;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use ratatui_core::text::{Line, Span};

use super::*;

#[track_caller]
fn check(row: &Row, expected: &Expect) {
    expected.assert_eq(&encoded(row).replace('\x1b', "␛"));
}

fn encoded(row: &Row) -> String {
    let mut out = String::new();
    super::row(&mut out, row);
    out
}

fn linked(text: &str, links: &[(Range<u16>, &str)]) -> Row {
    let mut row = Row::from(Span::raw(text.to_owned()));
    row.links = links
        .iter()
        .map(|(columns, target)| Link {
            columns: columns.clone(),
            target: (*target).to_owned(),
        })
        .collect();
    row
}

#[test]
fn text_without_style_is_itself() {
    check(&Row::from(Span::raw("a 中 b")), &expect!["a 中 b"]);
}

#[test]
fn each_style_begins_and_ends() {
    let style = Style::new();
    let all = style
        .bold()
        .dim()
        .italic()
        .underlined()
        .reversed()
        .crossed_out();
    let row = Row::new(vec![
        Span::styled("a", style.fg(Color::Red)),
        Span::styled("b", style.fg(Color::LightBlue).bg(Color::Black)),
        Span::raw("c"),
        Span::styled("d", style.fg(Color::Rgb(1, 2, 3)).bg(Color::Indexed(200))),
        Span::styled("e", all),
        Span::styled("f", style.fg(Color::Reset)),
    ]);
    check(
        &row,
        &expect!["␛[31ma␛[0m␛[94;40mb␛[0mc␛[38;2;1;2;3;48;5;200md␛[0m␛[1;2;3;4;7;9me␛[0mf"],
    );
}

#[test]
fn the_style_of_the_line_is_below_those_of_its_spans() {
    let line = Line::from(vec![
        Span::raw("a"),
        Span::styled("b", Style::new().fg(Color::Green)),
    ]);
    let row = Row::from(line.style(Style::new().reversed().fg(Color::Red)));
    check(&row, &expect!["␛[7;31ma␛[0m␛[7;32mb␛[0m"]);
}

#[test]
fn a_link_covers_its_columns() {
    let row = linked("see here now", &[(4..8, "https://a.b")]);
    check(&row, &expect!["see ␛]8;;https://a.b␛\\here␛]8;;␛\\ now"]);
}

#[test]
fn a_link_over_wide_characters_covers_whole_ones() {
    let row = linked("中中文文x", &[(2..6, "u")]);
    check(&row, &expect!["中␛]8;;u␛\\中文␛]8;;␛\\文x"]);
}

#[test]
fn links_side_by_side_stay_apart() {
    let row = linked("abcd", &[(0..2, "one"), (2..4, "two")]);
    check(&row, &expect!["␛]8;;one␛\\ab␛]8;;␛\\␛]8;;two␛\\cd␛]8;;␛\\"]);
}

#[test]
fn a_link_at_the_end_is_closed() {
    check(
        &linked("ab", &[(1..2, "u")]),
        &expect!["a␛]8;;u␛\\b␛]8;;␛\\"],
    );
}

#[test]
fn a_link_goes_over_spans_of_several_styles() {
    let mut row = linked("ab", &[(0..3, "u")]);
    row.line.spans.push(Span::styled("cd", Style::new().bold()));
    check(&row, &expect!["␛]8;;u␛\\ab␛[1mc␛]8;;␛\\d␛[0m"]);
}

#[test]
fn an_address_cannot_end_its_sequence() {
    let row = linked("ab", &[(0..2, "u\x1b\\\u{7}\u{9c} é")]);
    check(&row, &expect!["␛]8;;u\\␛\\ab␛]8;;␛\\"]);
}

/// What is left when the sequences that rows may have are taken out.
fn without_sequences(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        left.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = if let Some(body) = rest.strip_prefix('[') {
            let is_style = |c: char| c.is_ascii_digit() || c == ';';
            let length = body.find(|c| !is_style(c)).unwrap();
            assert!(body[length..].starts_with('m'), "{rest:?}");
            length + 2
        } else {
            assert!(rest.starts_with("]8;;"), "{rest:?}");
            rest.find("\x1b\\").unwrap() + 2
        };
        rest = &rest[end..];
    }
    left + rest
}

proptest! {
    #[test]
    fn no_control_character_gets_through(
        texts in prop::collection::vec("[a中\u{0}-\u{1f}\u{7f}-\u{9f}é]{0,12}", 0..4),
        target in any::<String>(),
        start in 0..10_u16,
        length in 1..10_u16,
        bold in any::<bool>(),
    ) {
        let style = if bold { Style::new().bold() } else { Style::new() };
        let mut row = Row::new(texts.iter().map(|text| Span::styled(text.clone(), style)).collect());
        let target = format!("u{target}");
        row.links.push(Link { columns: start..start + length, target });
        let bytes = encoded(&row);
        let shown = without_sequences(&bytes);
        let expected: String = texts.concat().chars().filter(|c| !c.is_control()).collect();
        prop_assert_eq!(shown, expected);
        prop_assert_eq!(bytes.matches("\x1b]8;;\x1b\\").count() * 2, bytes.matches("\x1b]8;;").count());
    }
}
