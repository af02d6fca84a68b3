//! The text of a field is the same however its object is cut.

use serde_json::json;

use super::StringField;

/// The field `input` of an object that comes in pieces.
fn text(pieces: &[&str]) -> String {
    let mut field = StringField::new("input");
    let mut text = String::new();
    for piece in pieces {
        field.push(piece, &mut |more| text.push_str(more));
    }
    text
}

/// Checks a text with all pairs of cuts.
fn check(object: &str, expected: &str) {
    let ends: Vec<usize> = object.char_indices().map(|(at, _)| at).collect();
    for first in &ends {
        for second in ends.iter().filter(|second| *second >= first) {
            let pieces = [
                &object[..*first],
                &object[*first..*second],
                &object[*second..],
            ];
            assert_eq!(text(&pieces), expected, "{pieces:?}");
        }
    }
}

#[test]
fn any_string_is_read_wherever_it_is_cut() {
    let said = "*** Begin\n\ta \"b\" \\ c/é漢😀\r\u{8}\u{c}\u{1}";
    check(&json!({ "input": said }).to_string(), said);
    let escaped = r#" { "input" : "\u00e9\uD83D\ude00\/\n" } "#;
    check(escaped, "é😀/\n");
}

#[test]
fn only_the_field_of_the_object_itself_counts() {
    let object = json!({
        "a": {"input": "no"}, "b": ["input", "x"], "c": "input", "input ": "no", "inpu": 1,
        "input": "yes", "z": "no",
    });
    check(&object.to_string(), "yes");
    check(r#"{"input":["no"],"x":"input"}"#, "");
    check(r#"["input"]"#, "");
    check(r#""input""#, "");
}

#[test]
fn half_characters_and_wrong_escapes_lose_nothing_else() {
    check(r#"{"input":"a\ud83db"}"#, "a\u{fffd}b");
    check(r#"{"input":"a\ud83d"}"#, "a\u{fffd}");
    check(
        r#"{"input":"\ude00\ud83d\ud83d\ude00"}"#,
        "\u{fffd}\u{fffd}😀",
    );
    check(r#"{"input":"\u12"}"#, "");
    check(r#"{"input":"a\u12zb\q"}"#, "azbq");
}
