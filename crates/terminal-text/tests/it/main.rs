//! Foreign text that would like to do more than be read.
#![cfg(test)]

use agent_terminal_text::{plain_output, sanitize};
use proptest::prelude::*;

#[test]
fn sequences_leave_only_their_text() {
    let hostile = "\x1b]0;pwn\x07\x1b]52;c;QUJD\x07\x1b[2J\x1b[?1049h\x1b[31mred\x1b[0m";
    assert_eq!(sanitize(hostile), "red");
    assert_eq!(sanitize("a\x1bP+q544e\x1b\\b\x1b_x\x1b\\c"), "abc");
    // A sequence that never ends swallows nothing that a terminal would show.
    assert_eq!(sanitize("shown\x1b]0;title\nnext"), "shown\nnext");
}

#[test]
fn overwritten_lines_show_their_last_state() {
    assert_eq!(plain_output(b"10%\r50%\r100%\ndone\n"), "100%\ndone\n");
    assert_eq!(plain_output(b"one\r\ntwo\r\n"), "one\ntwo\n");
    assert_eq!(sanitize("rm -rf /\rls"), "ls");
    assert_eq!(plain_output(b"ab\x08c"), "ac");
}

#[test]
fn reordering_characters_are_shown_to_people() {
    assert_eq!(sanitize("a\u{202E}b\u{200D}"), "a\\u{202e}b\u{200D}");
    assert_eq!(plain_output("a\u{202E}b".as_bytes()), "a\u{202E}b");
}

#[test]
fn characters_that_show_nothing_are_shown_to_people() {
    for hidden in [
        "\u{ad}",
        "\u{34f}",
        "\u{115f}",
        "\u{3164}",
        "\u{ffa0}",
        "\u{e0100}",
    ] {
        let shown: String = hidden.chars().flat_map(char::escape_unicode).collect();
        assert_eq!(sanitize(&format!("a{hidden}b")), format!("a{shown}b"));
    }
    // Emoji are made of these.
    assert_eq!(
        sanitize("\u{2764}\u{fe0f}\u{200d}"),
        "\u{2764}\u{fe0f}\u{200d}"
    );
}

#[test]
fn bytes_that_are_no_text_are_repaired() {
    assert_eq!(plain_output(b"\xff\xfe\x00ok"), "\u{FFFD}\u{FFFD}\\0ok");
    assert_eq!(plain_output("é漢😀".as_bytes()), "é漢😀");
    assert_eq!(sanitize("a\u{7f}b\u{9b}31mc"), "ab31mc");
}

proptest! {
    #[test]
    fn nothing_but_plain_text_is_left(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = sanitize(&String::from_utf8_lossy(&bytes));
        prop_assert!(text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
        prop_assert_eq!(sanitize(&text), text.clone());
    }
}
