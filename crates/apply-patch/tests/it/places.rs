//! Where a chunk goes, and when it is refused because it could go elsewhere.

use expect_test::expect;

use crate::support::{check, check_bytes, edit};

const TWO: &str = "def a():\n    return 1\n\ndef b():\n    return 1\n";

#[test]
fn ap_13_a_pure_addition_goes_after_its_header() {
    check_bytes(
        b"def a():\n    pass\n\ndef b():\n    pass\n",
        "@@ def a():\n+    # note\n",
        b"def a():\n    # note\n    pass\n\ndef b():\n    pass\n",
    );
}

#[test]
fn ap_15_two_matches_are_refused() {
    let block = "start\nvalue = 1\nend\n";
    let before = format!("{block}middle\n{block}");
    check(
        &before,
        "@@\n start\n-value = 1\n+value = 2\n end\n",
        &expect![[r#"
            error: cannot apply the chunk at patch line 3 to `f`: 2 matches, at lines 1, 5; add an `@@` line with the enclosing definition or more context lines, so that only one place fits
        "#]],
    );
}

#[test]
fn two_identical_chunks_for_two_places_fit() {
    let chunk = "@@\n-    return 1\n+    return 2\n";
    check_bytes(
        TWO.as_bytes(),
        &format!("{chunk}{chunk}"),
        TWO.replace('1', "2").as_bytes(),
    );
}

#[test]
fn a_header_means_its_block() {
    let edited = |name: &str| {
        edit(
            TWO.as_bytes(),
            &format!("@@ def {name}():\n-    return 1\n+    return 2\n"),
        )
        .unwrap()
    };
    let (first, last) = TWO.split_at(TWO.find("def b").unwrap());
    assert_eq!(
        edited("a"),
        format!("{}{last}", first.replace('1', "2")).as_bytes()
    );
    assert_eq!(
        edited("b"),
        format!("{first}{}", last.replace('1', "2")).as_bytes()
    );
}

#[test]
fn a_header_means_its_section() {
    let before = b"[a]\ny = 0\nx = 1\n[b]\ny = 0\nx = 1\n";
    check_bytes(
        before,
        "@@ [a]\n-x = 1\n+x = 2\n",
        b"[a]\ny = 0\nx = 2\n[b]\ny = 0\nx = 1\n",
    );
    check_bytes(
        before,
        "@@ [b]\n-x = 1\n+x = 2\n",
        b"[a]\ny = 0\nx = 1\n[b]\ny = 0\nx = 2\n",
    );
}

#[test]
fn headers_nest() {
    let class = |name: &str, value: u8| {
        format!(
            "class {name}:\n    def f(self):\n        return {value}\n\n    def g(self):\n        return {value}\n"
        )
    };
    let before = format!("{}\n{}", class("A", 1), class("B", 1));
    let body = "@@ class B:\n@@     def f(self):\n-        return 1\n+        return 2\n";
    let b = class("B", 1).replacen('1', "2", 1);
    check_bytes(
        before.as_bytes(),
        body,
        format!("{}\n{b}", class("A", 1)).as_bytes(),
    );
    let err = edit(before.as_bytes(), &body.replace("@@ class B:\n", "")).unwrap_err();
    assert!(err.contains("2 matches, at lines 3, 10"), "{err}");
}

#[test]
fn a_header_may_be_repeated_for_the_next_chunk() {
    check_bytes(
        b"fn f() {\n    a\n    b\n    c\n}\n",
        "@@ fn f() {\n-    a\n+    A\n@@ fn f() {\n-    c\n+    C\n",
        b"fn f() {\n    A\n    b\n    C\n}\n",
    );
}

#[test]
fn a_header_may_be_the_first_line_of_its_chunk() {
    check_bytes(b"a\nb\nx\nb\n", "@@ a\n a\n-b\n+B\n", b"a\nB\nx\nb\n");
}

#[test]
fn a_diff_header_with_line_numbers_is_no_text() {
    check_bytes(b"a\nb\n", "@@ -1,2 +1,2 @@ fn a\n-b\n+B\n", b"a\nB\n");
}

#[test]
fn the_end_of_file_mark_pins_to_the_end() {
    check_bytes(b"x\ny\nx\n", "@@\n-x\n+X\n*** End of File\n", b"x\ny\nX\n");
    check_bytes(b"x\n", "@@\n+y\n*** End of File\n", b"x\ny\n");
    let err = edit(b"x\ny\n", "@@\n-x\n+X\n*** End of File\n").unwrap_err();
    assert!(
        err.contains("at line 1, not at the end of the file"),
        "{err}"
    );
}

#[test]
fn a_pure_addition_needs_a_place() {
    check(
        "a\n",
        "@@\n+b\n",
        &expect![[r#"
            error: cannot apply the chunk at patch line 3 to `f`: it only adds lines and nothing says where; add an `@@` line with the line to add after, context lines around, or `*** End of File`
        "#]],
    );
    let err = edit(b"h\nh\n", "@@ h\n+b\n").unwrap_err();
    assert!(err.contains("2 matches, at lines 2, 3"), "{err}");
}

#[test]
fn order_matters() {
    check(
        "a\nb\n",
        "@@\n-b\n+B\n@@\n-a\n+A\n",
        &expect![[r#"
            error: cannot apply the chunk at patch line 6 to `f`: its lines are at line 1, but there they come before the chunk above or overlap with it; put chunks in the order of the file and join those that share lines
        "#]],
    );
}

#[test]
fn an_exact_match_beats_a_lenient_one() {
    check_bytes(b"  x\nx\n", "@@\n-x\n+y\n", b"  x\ny\n");
}

#[test]
fn a_blank_line_at_the_end_of_a_chunk_may_be_layout() {
    check_bytes(b"a\nb\n", "@@\n-a\n+A\n\n", b"A\nb\n");
    check_bytes(b"a\n\na\n", "@@\n-a\n+A\n\n", b"A\n\na\n");
    check_bytes(b"", "@@\n+a\n\n", b"a\n");
    let err = edit(b"x\n\ny\n", "@@\n+a\n\n").unwrap_err();
    assert!(err.contains("nothing says where"), "{err}");
}

#[test]
fn added_lines_follow_one_same_indentation() {
    check(
        "fn f() {\n        a();\n        b();\n}\n",
        "@@\n     a();\n-    b();\n+    if x {\n+        b();\n+    }\n+\n",
        &expect![[r#"
            --- f
            fn f() {
                    a();
                    if x {
                        b();
                    }

            }

            warning: the chunk at patch line 3 fits `f` line 2 only without regard to indentation; added lines were indented by `····` more
        "#]],
    );
    check(
        "\ta();\n\tb();\n",
        "@@\n \t\ta();\n-\t\tb();\n+\t\tc();\n",
        &expect![[r#"
            --- f
            	a();
            	c();

            warning: the chunk at patch line 3 fits `f` line 1 only without regard to indentation; added lines were indented by `→` less
        "#]],
    );
}

#[test]
fn added_lines_stay_verbatim_if_indentation_differs_variously() {
    check(
        "a\n  b\n",
        "@@\n a\n-    b\n+    c\n",
        &expect![[r#"
            --- f
            a
                c

            warning: the chunk at patch line 3 fits `f` line 1 only without regard to indentation
        "#]],
    );
}

#[test]
fn a_block_has_its_closing_brackets_and_long_signatures() {
    let function = |name: &str, value: u8| {
        format!(
            "fn {name}(\n    x: u8,\n) -> u8\n{{\n    if x {{\n        y\n    }} else {{\n        {value}\n    }}\n}}\n"
        )
    };
    let before = format!("{}\n{}", function("a", 1), function("b", 1));
    let after = format!("{}\n{}", function("a", 2), function("b", 1));
    check_bytes(
        before.as_bytes(),
        "@@ fn a(\n-        1\n+        2\n",
        after.as_bytes(),
    );
    check_bytes(
        before.as_bytes(),
        "@@ fn a(\n     } else {\n-        1\n+        2\n     }\n }\n",
        after.as_bytes(),
    );
}

#[test]
fn a_header_that_opens_no_block_does_not_choose_among_matches() {
    let err = edit(b"one\ntwo\nx\nthree\nx\n", "@@ one\n-x\n+y\n").unwrap_err();
    assert!(err.contains("2 matches, at lines 3, 5"), "{err}");
}

#[test]
fn a_section_ends_at_the_next_heading() {
    check_bytes(
        b"# A\n\ntext\n\n# B\n\ntext\n",
        "@@ # A\n-text\n+TEXT\n",
        b"# A\n\nTEXT\n\n# B\n\ntext\n",
    );
}
