//! Edits and diffs.

use agent_protocol::{ChangeKind, FileChange, PathChange};
use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::text::tests::{assert_sound, hostile};

const DIFF: &str = "\
--- a/src/a.rs
+++ b/src/a.rs
@@ -9,4 +9,5 @@ fn main() {
 fn a() {

-    old(1);
--- looks like a head
+    new(1, \"a very long line that has to be wrapped at the width of most screens\");
+\ttab
+++ added
@@ -100,2 +101,1 @@
 }
-gone
\\ No newline at end of file
";

const TWO: &str = "\
diff --git a/x.txt b/x.txt
new file mode 100644
index 000..111
--- /dev/null
+++ b/x.txt
@@ -0,0 +1,2 @@
+one
+two
diff --git a/y.txt b/y.txt
deleted file mode 100644
--- a/y.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
";

fn edit(changes: &[(&str, ChangeKind)], diff: &str, status: ItemStatus) -> FileChange {
    FileChange {
        changes: changes
            .iter()
            .map(|(path, kind)| PathChange {
                path: (*path).to_owned(),
                kind: *kind,
            })
            .collect(),
        status,
        unified_diff: diff.to_owned(),
        error: None,
    }
}

#[test]
fn an_edit_of_one_file() {
    let change = edit(
        &[("src/a.rs", ChangeKind::Update)],
        DIFF,
        ItemStatus::Completed,
    );
    let cell = |look: &Look| patch(&change, 50, look);
    expect![[r#"
        40:
        • Edited src/a.rs (+3 -3)
              9  fn a() {
             10
             11 -    old(1);
             12 --- looks like a head
             11 +    new(1, "a very long line th
                 at has to be wrapped at the wid
                 th of most screens");
             12 +    tab
             13 +++ added
                ⋮
            101  }
            101 -gone
                \ No newline at end of file
        80:
        • Edited src/a.rs (+3 -3)
              9  fn a() {
             10
             11 -    old(1);
             12 --- looks like a head
             11 +    new(1, "a very long line that has to be wrapped at the width of mos
                 t screens");
             12 +    tab
             13 +++ added
                ⋮
            101  }
            101 -gone
                \ No newline at end of file
        120:
        • Edited src/a.rs (+3 -3)
              9  fn a() {
             10
             11 -    old(1);
             12 --- looks like a head
             11 +    new(1, "a very long line that has to be wrapped at the width of most screens");
             12 +    tab
             13 +++ added
                ⋮
            101  }
            101 -gone
                \ No newline at end of file
    "#]]
    .assert_eq(&at_widths(cell));
    expect![[r#"
        - Edited src/a.rs (+3 -3)
              9  fn a() {
             10
             11 -    old(1);
             12 --- looks like a head
             11 +    new(1, "a very long line that has to be wrapped at the width of mos
                 t screens");
             12 +    tab
             13 +++ added
                ...
            101  }
            101 -gone
                \ No newline at end of file
    "#]]
    .assert_eq(&in_plain_glyphs(cell));
}

#[test]
fn an_edit_of_several_files() {
    let changes = [
        ("x.txt", ChangeKind::Add),
        ("y.txt", ChangeKind::Delete),
        ("z", ChangeKind::Update),
    ];
    let change = edit(&changes, TWO, ItemStatus::Completed);
    expect![[r#"
        • Edited 3 files (+2 -1)
          └ Added x.txt (+2 -0)
            1 +one
            2 +two
          └ Deleted y.txt (+0 -1)
            1 -gone
          └ Edited z
    "#]]
    .assert_eq(&plain(&patch(&change, 50, &look(60)), 60));
    expect![[r#"
        • Edited 3 files (+2 -1)
          └ Added x.txt (+2 -0)
            1 +one
            … +4 lines
    "#]]
    .assert_eq(&plain(&patch(&change, 2, &look(60)), 60));
    expect![[r#"
        x.txt (+2 -0)
        1 +one
        2 +two
        y.txt (+0 -1)
        1 -gone
    "#]]
    .assert_eq(&plain(&diff_rows(TWO, &look(60), 50), 60));
}

#[test]
fn edits_that_were_not_made_say_why() {
    let changes = [("a.rs", ChangeKind::Update)];
    let mut failed = edit(&changes, "", ItemStatus::Failed);
    failed.error = Some("no line matches `x`\nin a.rs\n".to_owned());
    let declined = edit(&[("b.rs", ChangeKind::Delete)], "", ItemStatus::Declined);
    let open = edit(&[("c.rs", ChangeKind::Add)], "", ItemStatus::InProgress);
    let text = [failed, declined, open]
        .map(|change| plain(&patch(&change, 9, &look(60)), 60))
        .concat();
    expect![[r#"
        ✗ Could not edit a.rs
          └ no line matches `x`
            in a.rs
        ✗ Declined deleting b.rs
        • Adding c.rs
    "#]]
    .assert_eq(&text);
}

#[test]
fn the_styles_of_a_diff() {
    expect![[r#"
        {dim|1 } a
        {dim|2 }{red|-}{red|b}
        {dim|2 }{green|+}{green|c}
    "#]]
    .assert_eq(&styled(&diff_rows(
        "@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        &look(40),
        9,
    )));
}

#[test]
fn a_diff_keeps_its_signs_at_any_width() {
    for width in 1..10 {
        let rows = diff_rows(DIFF, &look(width), 1000);
        assert_sound(&rows, width);
        let text: String = rows.iter().map(Row::text).collect();
        assert!(text.contains('-') && text.contains('+'), "{width}: {text}");
    }
}

#[test]
fn what_is_no_diff_is_shown() {
    let text = "@@ broken\nnot a diff\n@@ -1,9 +1,9 @@\n+a\nwhat\n";
    expect![[r#"
          @@ broken
          not a diff
        1 +a
          what
    "#]]
    .assert_eq(&plain(&diff_rows(text, &look(40), 9), 40));
}

#[test]
fn a_huge_diff_is_counted_and_not_set() {
    let diff = format!("@@ -0,0 +1,300000 @@\n{}", "+x\n".repeat(300_000));
    let shown = plain(&diff_rows(&diff, &look(40), 2), 40);
    expect![[r#"
             1 +x
             2 +x
        … +299998 lines
    "#]]
    .assert_eq(&shown);
}

proptest! {
    #[test]
    fn diffs_are_sound(text in hostile(), width in 1u16..40, max in 0usize..9) {
        let diff = format!("--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n {text}\n-{text}\n+{text}\n");
        for diff in [&diff, &text] {
            let rows = diff_rows(diff, &look(width), max);
            assert_sound(&rows, width);
        }
        let change = edit(&[(&text, ChangeKind::Update)], &diff, ItemStatus::Completed);
        assert_sound(&patch(&change, max, &look(width)), width);
    }
}
