use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::target::link_target;
use super::*;
use crate::shown::{look, plain, styled};
use crate::text::tests::{assert_sound, hostile};

/// A message with everything in it.
const SAMPLE: &str = "\
# The *title*

A paragraph with **bold**, *italic*, ~~struck~~ and `code`,
a [link](https://example.org/a?b=c) and an ![image of a cat](cat.png).

Setext heading
--------------

- one
- two, which is long enough to need a second row at most widths that matter
  - nested
    1. deep
    2. deeper

  A second paragraph of item two.
- [x] done
- [ ] open

9. nine
10. ten

    ```rust
    let x = 1;
    ```

> quoted *text*
> > twice
>
> - item

```rust
fn main() { // hi
    println!(\"{}\", 'a');

}
```

| Name | Value | Long words |
|:-----|------:|:----------:|
| a    | 1     | some `code` and text that wraps |
| bb   | 22    | x |

***

<details>
raw &amp; html
</details>

    indented code

A footnote[^1], and src/main.rs:10 stays.

[^1]: The note.
";

#[track_caller]
fn check(text: &str, width: u16, expected: &Expect) {
    expected.assert_eq(&plain(&render(text, &look(width)), width));
}

/// All rows of a message that arrives in the given parts.
fn streamed<'a>(parts: impl IntoIterator<Item = &'a str>, width: u16) -> Vec<Row> {
    let look = look(width);
    let mut stream = MarkdownStream::new();
    let mut rows = Vec::new();
    for part in parts {
        stream.push(part);
        rows.append(&mut stream.take_finished(&look));
    }
    rows.append(&mut stream.finish(&look));
    rows
}

/// Parts of about `length` bytes.
fn parts(text: &str, length: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.ceil_char_boundary(length.min(rest.len())));
        parts.push(part);
        rest = after;
    }
    parts
}

#[test]
fn everything_at_80_columns() {
    check(
        SAMPLE,
        80,
        &expect![[r#"
        The title

        A paragraph with bold, italic, struck and code,
        a link and an image of a cat.

        Setext heading

        - one
        - two, which is long enough to need a second row at most widths that matter
          - nested
            1. deep
            2. deeper

          A second paragraph of item two.
        ✔ done
        □ open

        9. nine
        10. ten

              let x = 1;

        │ quoted text
        │
        │ │ twice
        │
        │ - item

          fn main() { // hi
              println!("{}", 'a');

          }

        Name │ Value │          Long words
        ────────────────────────────────────────────
        a    │     1 │ some code and text that wraps
        bb   │    22 │               x

        ────────────────────────────────────────────────────────────────────────────────

        <details>
        raw &amp; html
        </details>

          indented code

        A footnote[^1], and src/main.rs:10 stays.

        [^1]: The note.
    "#]],
    );
}

#[test]
fn everything_at_40_columns() {
    check(
        SAMPLE,
        40,
        &expect![[r#"
        The title

        A paragraph with bold, italic, struck
        and code,
        a link and an image of a cat.

        Setext heading

        - one
        - two, which is long enough to need a
          second row at most widths that matter
          - nested
            1. deep
            2. deeper

          A second paragraph of item two.
        ✔ done
        □ open

        9. nine
        10. ten

              let x = 1;

        │ quoted text
        │
        │ │ twice
        │
        │ - item

          fn main() { // hi
              println!("{}", 'a');

          }

        Name │ Value │        Long words
        ────────────────────────────────────────
        a    │     1 │  some code and text that
             │       │           wraps
        bb   │    22 │             x

        ────────────────────────────────────────

        <details>
        raw &amp; html
        </details>

          indented code

        A footnote[^1], and src/main.rs:10
        stays.

        [^1]: The note.
    "#]],
    );
}

#[test]
fn everything_at_120_columns() {
    check(
        SAMPLE,
        120,
        &expect![[r#"
        The title

        A paragraph with bold, italic, struck and code,
        a link and an image of a cat.

        Setext heading

        - one
        - two, which is long enough to need a second row at most widths that matter
          - nested
            1. deep
            2. deeper

          A second paragraph of item two.
        ✔ done
        □ open

        9. nine
        10. ten

              let x = 1;

        │ quoted text
        │
        │ │ twice
        │
        │ - item

          fn main() { // hi
              println!("{}", 'a');

          }

        Name │ Value │          Long words
        ────────────────────────────────────────────
        a    │     1 │ some code and text that wraps
        bb   │    22 │               x

        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

        <details>
        raw &amp; html
        </details>

          indented code

        A footnote[^1], and src/main.rs:10 stays.

        [^1]: The note.
    "#]],
    );
}

#[test]
fn tables_become_lines_where_there_is_no_room() {
    let table = "| Name | Value | Note |\n|-|-|-|\n| one | 1 | long text |\n| two | 2 | |\n";
    check(
        table,
        14,
        &expect![[r#"
        Name: one
        Value: 1
        Note: long
          text
        ────
        Name: two
        Value: 2
        Note:
    "#]],
    );
}

#[test]
fn styles_and_links_are_kept() {
    let text = "# T\n*i **b*** ~~s~~ `c` [l **x**](https://e.org/ü) [bad](javascript:x)\n> q\n\n```rs\nlet s = \"a\"; // c\nfoo(1, Vec::new());\n```\n";
    expect![[r#"
        {bold underlined|T}

        {italic|i }{bold italic|b} {crossed_out|s} {cyan|c} {blue underlined|l }{blue bold underlined|x} {blue underlined|bad}
          8..11 -> https://e.org/%C3%BC

        {dim|│ }{italic|q}

          {magenta|let} s = {green|"a"}; {dim|// c}
          {blue|foo}({yellow|1}, {cyan|Vec}::{blue|new}());
    "#]].assert_eq(&styled(&render(text, &look(80))));
}

#[test]
fn strings_and_comments_go_on_in_the_next_line() {
    let text = "Code:\n```py\nx = \"\"\"a\nb\"\"\" # c\n```\n\n```c\n/* a\nb */ int x;\n```\n";
    expect![[r#"
        Code:

          x = {green|"""a}
          {green|b"""} {dim|# c}

          {dim|/* a}
          {dim|b */} {magenta|int} x;
    "#]]
    .assert_eq(&styled(&render(text, &look(80))));
}

#[test]
fn a_stream_shows_what_the_whole_message_shows() {
    for width in [1, 2, 7, 14, 40, 80, 120] {
        let whole = render(SAMPLE, &look(width));
        for length in [1, 2, 3, 7, 50, 1000, 10_000] {
            let rows = streamed(parts(SAMPLE, length), width);
            assert_eq!(
                plain(&rows, width),
                plain(&whole, width),
                "{width} {length}"
            );
            assert_eq!(rows, whole);
        }
    }
}

#[test]
fn what_may_not_end_a_paragraph_does_not() {
    for text in [
        "a\n2. b\n\nc",
        "a\n-\nb",
        "a\n1. b\n2. c",
        "a\n    b",
        "- a\n2) b\n- c",
        "a\n***\nb",
    ] {
        let text = format!("{text}\n\nend");
        assert_eq!(
            streamed(parts(&text, 4), 20),
            render(&text, &look(20)),
            "{text}"
        );
    }
}

#[test]
fn finished_blocks_are_given_out_before_the_message_ends() {
    let look = look(40);
    let mut stream = MarkdownStream::new();
    let mut shown = String::new();
    let text = "para\n\n- a\n- b\n\n```\ncode\nmore\n```\n| a | b |\n|-|-|\n| 1 | 2 |\nlast";
    for line in text.split_inclusive('\n') {
        stream.push(line);
        let _ = writeln!(shown, "> {line:?}");
        shown.push_str(&plain(&stream.take_finished(&look), 40));
    }
    shown.push_str("tail:\n");
    shown.push_str(&plain(&stream.tail(&look, 2), 40));
    expect![[r#"
        > "para\n"
        > "\n"
        para
        > "- a\n"
        > "- b\n"

        - a
        > "\n"
        > "```\n"
        - b
        > "code\n"

          code
        > "more\n"
          more
        > "```\n"
        > "| a | b |\n"
        > "|-|-|\n"
        > "| 1 | 2 |\n"
        > "last"
        tail:
        1    │ 2
        last │
    "#]]
    .assert_eq(&shown);
}

#[test]
fn the_tail_shows_what_is_open_and_no_more_than_asked() {
    let look = look(40);
    let mut stream = MarkdownStream::new();
    stream.push("one\n\ntwo *it");
    assert_eq!(plain(&stream.take_finished(&look), 40), "one\n");
    assert_eq!(plain(&stream.tail(&look, 10), 40), "\ntwo *it\n");
    assert_eq!(plain(&stream.tail(&look, 1), 40), "two *it\n");
    assert_eq!(plain(&stream.tail(&look, 0), 40), "");
    stream.push("alic*\n");
    assert_eq!(plain(&stream.finish(&look), 40), "\ntwo italic\n");
    assert_eq!(stream.finish(&look), Vec::new());
}

#[test]
fn long_tables_are_shown_before_they_end() {
    let mut text = "| key | value |\n|-|-|\n".to_owned();
    for row in 0..500 {
        let _ = writeln!(text, "| k{row} | some value |");
    }
    for width in [10, 40] {
        let whole = render(&text, &look(width));
        assert_eq!(streamed(parts(&text, 11), width), whole);
    }
    let mut stream = MarkdownStream::new();
    stream.push(&text);
    assert_eq!(stream.take_finished(&look(40)).len(), 502);
}

#[test]
fn a_line_without_end_is_shown_in_parts() {
    for text in [
        "word ".repeat(200_000),
        "x".repeat(1 << 20),
        "é".repeat(1 << 19),
    ] {
        let rows = streamed(parts(&text, 1000), 80);
        assert_sound(&rows, 80);
        let shown: usize = rows
            .iter()
            .map(|row| row.text().replace(' ', "").len())
            .sum();
        assert_eq!(shown, text.replace(' ', "").len());
        let mut stream = MarkdownStream::new();
        stream.push(&text);
        assert!(!stream.take_finished(&look(80)).is_empty());
        assert!(stream.tail(&look(80), 1000).len() <= 2 * MAX_OPEN / 80);
    }
}

#[test]
fn deep_nesting_is_flat_beyond_a_depth() {
    for text in [
        ">".repeat(3000) + "x",
        "- ".repeat(3000) + "x",
        "*a ".repeat(3000),
    ] {
        assert_sound(&render(&text, &look(20)), 20);
        assert_sound(&streamed(parts(&text, 100), 20), 20);
    }
}

#[test]
fn only_addresses_that_may_be_followed_are_kept() {
    assert_eq!(
        link_target("https://e.org/ä b").as_deref(),
        Some("https://e.org/%C3%A4%20b")
    );
    assert_eq!(link_target("MAILTO:a@b").as_deref(), Some("MAILTO:a@b"));
    assert_eq!(
        link_target("file:///a\u{1b}]8").as_deref(),
        Some("file:///a%1B]8")
    );
    assert_eq!(link_target("javascript:alert(1)"), None);
    assert_eq!(link_target("src/a.rs"), None);
    assert_eq!(link_target(&format!("https://{}", "a".repeat(3000))), None);
}

#[test]
fn web_addresses_in_text_are_links() {
    let text = "See https://e.org/a_b?c=d&e=f, (http://e.org/x_(y)) or *https://e.org/q*. xhttps://no, https:// `https://e.org/code` [https://e.org/t](https://other.org)";
    expect![[r#"
        See {blue underlined|https://e.org/a_b?c=d&e=f}, ({blue underlined|http://e.org/x_(y)}) or {blue italic underlined|https://e.org/q}. xhttps://no, https:// {blue underlined|https://e.org/code} {blue underlined|https://e.org/t}
          4..29 -> https://e.org/a_b?c=d&e=f
          32..50 -> http://e.org/x_(y)
          55..70 -> https://e.org/q
          94..112 -> https://e.org/code
          113..128 -> https://other.org
    "#]].assert_eq(&styled(&render(text, &look(200))));
}

#[test]
fn many_addresses_cost_no_more_than_other_text() {
    // Quadratic work would take minutes here.
    for part in ["http://a ", "https://", "http://a)))).", "http"] {
        let text = part.repeat((1 << 20) / part.len());
        assert_sound(&render(&text, &look(80)), 80);
    }
}

#[test]
fn escape_sequences_do_not_survive_however_they_are_written() {
    let text = "a\u{1b}[31mb &#27;[31mc `\u{9b}d` <b\u{7}>\n\n```\u{1b}]0;x\u{7}\n\u{1b}[2Jcode\n```\n| \u{1b}[1mh |\n|-|\n| &#155;1m |\n";
    check(
        text,
        40,
        &expect![[r#"
        ab c d <b>

          code

        h
        ──
        1m
    "#]],
    );
    assert_eq!(streamed(parts(text, 3), 40), render(text, &look(40)));
}

/// Blocks that end for certain, to be put together in any order.
fn blocks() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        "[a-z *`_]{1,30}",
        "[a-z]{1,9}\n[a-z ]{1,30}",
        "#{1,6} [a-z]{1,20}",
        "- [a-z]{1,9}\n- [a-z]{1,9}\n  - [a-z]{1,9}\n\n  [a-z]{1,9}\n- [a-z]{1,9}",
        "[1-9]\\. [a-z]{1,9}\n[1-9]\\. [a-z]{1,9}\n\n[1-9]\\. [a-z]{1,40}",
        "> [a-z]{1,9}\n> - [a-z]{1,9}\n> - [a-z]{1,9}",
        "```[a-z]{0,3}\n[a-z(\"' \n]{0,30}\n```",
        "~~~~\n```\n[a-z]{0,9}\n~~~~",
        "\\| [a-z]{1,9} \\| [a-z]{1,9} \\|\n\\|-\\|:-:\\|\n\\| [a-z ]{1,40} \\| [a-z]{1,9} \\|",
        "---",
        "<!-- [a-z]{1,9}\n\n[a-z]{1,9} -->",
    ];
    proptest::collection::vec(block, 1..8).prop_map(|blocks| blocks.join("\n\n"))
}

proptest! {
    #[test]
    fn rows_are_sound_for_any_text(text in hostile(), width in 1u16..30) {
        let whole = render(&text, &look(width));
        assert_sound(&whole, width);
        assert_sound(&streamed(parts(&text, 5), width), width);
    }

    #[test]
    fn any_text_streams_alike_however_it_is_cut(text in hostile(), length in 1usize..9) {
        prop_assert_eq!(streamed(parts(&text, length), 20), streamed([text.as_str()], 20));
    }

    #[test]
    fn blocks_stream_as_they_are_rendered(text in blocks(), length in 1usize..40, width in 1u16..60) {
        let whole = render(&text, &look(width));
        prop_assert_eq!(streamed(parts(&text, length), width), whole);
    }
}
