use expect_test::{Expect, expect};

use super::*;
use crate::row::Row;
use crate::shown::styled;

/// The lines of a block in its colours.
#[track_caller]
fn check(info: &str, lines: &[&str], expected: &Expect) {
    let mut highlighter = Highlighter::for_info(info);
    let rows: Vec<Row> = lines
        .iter()
        .map(|line| {
            let pieces = highlighter.line(line, &Theme::ANSI);
            let span = |piece: Piece| ratatui_core::text::Span::styled(piece.text, piece.style);
            Row::new(pieces.into_iter().map(span).collect())
        })
        .collect();
    expected.assert_eq(&styled(&rows));
}

#[test]
fn rust() {
    let lines = [
        "pub fn f<'a>(x: &'a str) -> Option<u8> { // c",
        "    let s = r#\"a\"b\"#; '\\n'; 'x'; 0x1f + 1.5",
        "    /* a",
        "    b */ println!(\"\\\"{}\");",
    ];
    check(
        "rust,ignore",
        &lines,
        &expect![[r##"
        {magenta|pub} {magenta|fn} f<'a>(x: &'a str) -> {cyan|Option}<u8> { {dim|// c}
            {magenta|let} s = {green|r#"a"b"#}; {green|'\n'}; {green|'x'}; {yellow|0x1f} + {yellow|1.5}
            {dim|/* a}
        {dim|    b */} {blue|println}!({green|"\"{}"});
    "##]],
    );
}

#[test]
fn shell() {
    let lines = ["if [ $# -gt 0 ]; then # c", "echo 'a", "b\\' \"$x\" a#b"];
    check(
        "bash",
        &lines,
        &expect![[r#"
        {magenta|if} [ $# -gt {yellow|0} ]; {magenta|then} {dim|# c}
        echo {green|'a}
        {green|b\'} {green|"$x"} a#b
    "#]],
    );
}

#[test]
fn sql_has_keywords_in_any_case() {
    check(
        "sql",
        &["SELECT a from T -- c"],
        &expect![[r#"
        {magenta|SELECT} a {magenta|from} T {dim|-- c}
    "#]],
    );
}

#[test]
fn diff_is_coloured_by_line() {
    check(
        "diff",
        &["@@ -1 +1 @@", "-a", "+b", " c"],
        &expect![[r#"
        {blue|@@ -1 +1 @@}
        {red|-a}
        {green|+b}
         c
    "#]],
    );
}

#[test]
fn what_is_unknown_or_too_long_stays_plain() {
    check(
        "brainfuck",
        &["if \"x\""],
        &expect![[r#"
        if "x"
    "#]],
    );
    let long = format!("\"{}\"", "x".repeat(3000));
    let pieces = Highlighter::for_info("rust").line(&long, &Theme::ANSI);
    assert_eq!(pieces, [Piece::new(long, Style::new())]);
}
