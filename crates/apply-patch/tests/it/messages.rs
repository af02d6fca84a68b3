//! What the model is told when a patch does not fit, and several changes of one file.

use expect_test::expect;

use crate::support::{Files, apply, check, check_text};

fn files(list: &[(&str, &str)]) -> Files {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
    list.iter().map(owned).collect()
}

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

#[test]
fn the_nearest_lines_are_shown() {
    check(
        "fn main() {\n\tlet count = 1;\n\tprint(count);  \n}\n",
        "@@\n fn main() {\n-    let counter = 1;\n+    let counter = 2;\n     print(count);\n",
        &expect![[r#"
            error: cannot apply the chunk at patch line 3 to `f`: the file does not have these lines:
                fn main() {
                ····let counter = 1;
                ····print(count);
            The nearest lines of the file are (· is a space, → a tab):
                 1  fn main() {
            !    2  →let count = 1;
                 3  →print(count);··
            Lines with ! differ. Copy them as the file has them.
        "#]],
    );
}

#[test]
fn nothing_near_and_empty_files() {
    check(
        "a\n",
        "@@\n-zzzz yyyy\n",
        &expect![[r#"
            error: cannot apply the chunk at patch line 3 to `f`: the file does not have these lines:
                zzzz yyyy
            Nothing in the file is like them; read the file again.
        "#]],
    );
    check(
        "",
        "@@\n-x\n+y\n",
        &expect![[r#"
            error: cannot apply the chunk at patch line 3 to `f`: the file does not have these lines:
                x
            The file is empty; write only `+` lines.
        "#]],
    );
}

#[test]
fn an_unknown_header_is_named() {
    check(
        "def first(x):\n    pass\n",
        "@@ def first():\n-    pass\n",
        &expect![[r#"
            error: cannot apply the chunk at patch line 3 to `f`: no line equals its `@@` text `def first():`; write a whole line of the file, or a bare `@@`
            The nearest line is 1: `def first(x):`
        "#]],
    );
}

#[test]
fn missing_and_existing_files() {
    let one = files(&[("a", "x\n"), ("b", "y\n")]);
    check_text(
        &one,
        &patch("*** Add File: a\n+x\n"),
        &expect![[r#"
        error: `a` already exists; use `*** Update File: a` to change it, or put `*** Delete File: a` before the `*** Add File` section to replace it
    "#]],
    );
    check_text(
        &one,
        &patch("*** Update File: c\n-x\n"),
        &expect![[r#"
        error: `c` does not exist; use `*** Add File: c` to create it
    "#]],
    );
    check_text(
        &one,
        &patch("*** Delete File: c\n"),
        &expect![[r#"
        error: `c` does not exist, so it cannot be deleted
    "#]],
    );
    check_text(
        &one,
        &patch("*** Update File: a\n*** Move to: b\n-x\n+z\n"),
        &expect![[r#"
        error: cannot move `a` to `b`: `b` already exists; delete it first in the same patch if it is to be replaced
    "#]],
    );
    check_text(
        &one,
        &patch("*** Update File: a\n*** Move to: c\n*** Update File: a\n-x\n"),
        &expect![[r#"
        error: `a` was moved to `c` earlier in this patch; use `c`, or send a second patch
    "#]],
    );
}

#[test]
fn several_sections_for_one_file() {
    let one = files(&[("a", "x\ny\n")]);
    check_text(
        &one,
        &patch("*** Update File: a\n-x\n+X\n*** Update File: ./a\n X\n-y\n+Y\n"),
        &expect![[r#"
        --- a
        X
        Y

    "#]],
    );
    let text = patch("*** Delete File: a\n*** Add File: a\n+new\n");
    let (after, said) = apply(&one, &text).unwrap();
    assert_eq!(after, files(&[("a", "new\n")]));
    assert_eq!(said, "Success. Updated the following files:\nM a\n");
    let text = patch(
        "*** Update File: a\n*** Move to: b\n-x\n+X\n*** Update File: b\n*** Move to: c\n-y\n+Y\n",
    );
    let (after, said) = apply(&one, &text).unwrap();
    assert_eq!(after, files(&[("c", "X\nY\n")]));
    assert_eq!(said, "Success. Updated the following files:\nM c\n");
    let text = patch(
        "*** Add File: n\n+1\n*** Update File: n\n-1\n+2\n*** Add File: t\n*** Delete File: t\n",
    );
    let (after, _) = apply(&one, &text).unwrap();
    assert_eq!(after, files(&[("a", "x\ny\n"), ("n", "2\n")]));
}

#[test]
fn moves_of_new_files_and_onto_deleted_ones() {
    let two = files(&[("a", "x\n"), ("b", "y\n")]);
    let text = patch("*** Delete File: b\n*** Update File: a\n*** Move to: b\n-x\n+X\n");
    let (after, _) = apply(&two, &text).unwrap();
    assert_eq!(after, files(&[("b", "X\n")]));
    let text = patch("*** Add File: n\n+1\n*** Update File: n\n*** Move to: m\n-1\n+2\n");
    let (after, said) = apply(&two, &text).unwrap();
    assert_eq!(after.get("m").unwrap(), b"2\n");
    assert!(!after.contains_key("n"));
    assert_eq!(said, "Success. Updated the following files:\nA m\n");
    let text = patch("*** Update File: a\n*** Move to: new/a\n");
    let (after, _) = apply(&two, &text).unwrap();
    assert_eq!(after, files(&[("b", "y\n"), ("new/a", "x\n")]));
}

#[test]
fn the_summary_groups_by_kind() {
    let before = files(&[("u", "x\n"), ("d", ""), ("m", "x\n")]);
    let text = patch(
        "*** Delete File: d\n*** Update File: u\n-x\n+y\n*** Add File: z\n*** Update File: m\n*** Move to: q\n-x\n+y\n*** Add File: a\n",
    );
    let (_, said) = apply(&before, &text).unwrap();
    assert_eq!(
        said,
        "Success. Updated the following files:\nA z\nA a\nM u\nM q\nD d\n"
    );
}

#[test]
fn an_update_that_changes_nothing_says_so() {
    check(
        "a\nb\n",
        "@@\n a\n b\n",
        &expect![[r#"
        --- f
        a
        b

        warning: `f` already has this content; nothing changed
    "#]],
    );
}
