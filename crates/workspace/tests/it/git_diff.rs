//! Differences as git reads them: `git apply` makes the new content from the old.

use std::path::Path;

use agent_workspace::{GitDiff, NoText};
use expect_test::expect;
use proptest::prelude::*;

use crate::support::Place;

fn diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let diff = GitDiff {
        path: Path::new(path),
        moved_from: None,
        before: before.map(str::as_bytes),
        after: after.map(str::as_bytes),
        executable: false,
    };
    diff.render().unwrap()
}

#[test]
fn the_kinds_of_change() {
    let moved = GitDiff {
        path: Path::new("new"),
        moved_from: Some(Path::new("old")),
        before: Some(b"1\n2\n"),
        after: Some(b"1\n3\n"),
        executable: true,
    };
    let unchanged = GitDiff {
        after: moved.before,
        ..moved
    };
    let texts = [
        diff("a", None, Some("x\ny")),
        diff("a", Some("x\n"), None),
        diff("a", Some("x\r\n"), Some("x\n")),
        diff("a", None, Some("")),
        diff("a", Some("x"), Some("x")),
        diff("a \"b\"\t", Some("x"), Some("y\n")),
        moved.render().unwrap(),
        unchanged.render().unwrap(),
    ];
    expect![[r#"
        diff --git a/a b/a
        new file mode 100644
        index 0000000000000000000000000000000000000000..1b322989b6eea65102d4f5921ccb7df5dc613fe7
        --- /dev/null
        +++ b/a
        @@ -0,0 +1,2 @@
        +x
        +y
        \ No newline at end of file
        ---
        diff --git a/a b/a
        deleted file mode 100644
        index 587be6b4c3f93f93c489c0111bba5596147a26cb..0000000000000000000000000000000000000000
        --- a/a
        +++ /dev/null
        @@ -1 +0,0 @@
        -x
        ---
        diff --git a/a b/a
        index db127bf6be70c2285b1d852d39387a37b01c3032..587be6b4c3f93f93c489c0111bba5596147a26cb 100644
        --- a/a
        +++ b/a
        @@ -1 +1 @@
        -x␍
        +x
        ---
        diff --git a/a b/a
        new file mode 100644
        index 0000000000000000000000000000000000000000..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
        ---
        ---
        diff --git "a/a \"b\"\011" "b/a \"b\"\011"
        index c1b0730e0133447badcfd47fd144e254807b06e1..975fbec8256d3e8a3797e7a3611380f27c49f4ac 100644
        --- "a/a \"b\"\011"
        +++ "b/a \"b\"\011"
        @@ -1 +1 @@
        -x
        \ No newline at end of file
        +y
        ---
        diff --git a/old b/new
        similarity index 50%
        rename from old
        rename to new
        index 1191247b6d9a206f6ba3d8ac79e26d041dd86941..2b2f2e1b9261c50c3816610eb3eb140fabf1745a 100755
        --- a/old
        +++ b/new
        @@ -1,2 +1,2 @@
         1
        -2
        +3
        ---
        diff --git a/old b/new
        similarity index 100%
        rename from old
        rename to new
    "#]]
    .assert_eq(&texts.join("---\n").replace('\r', "␍"));
}

#[test]
fn what_is_no_text_has_no_difference() {
    let with = |after: &[u8]| {
        let diff = GitDiff {
            path: Path::new("a"),
            moved_from: None,
            before: Some(b"x"),
            after: Some(after),
            executable: false,
        };
        diff.render()
    };
    assert_eq!(with(b"\xff"), Err(NoText::Content));
    assert_eq!(with(b"a\0b"), Err(NoText::Content));
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test asks git, as a person would"
)]
fn git_apply(place: &Place, text: &str) -> String {
    place.write("d.patch", text);
    let output = std::process::Command::new("git")
        .args(["apply", "--whitespace=nowarn", "d.patch"])
        .current_dir(place.inside(""))
        .env("GIT_CEILING_DIRECTORIES", "/")
        .output()
        .unwrap();
    String::from_utf8(output.stderr).unwrap()
}

fn content() -> impl Strategy<Value = Option<String>> {
    let line = "(a|b|cc|dd|é|)(\n|\r\n|\r)";
    let lines = prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat());
    let text = (lines, "(x|)").prop_map(|(lines, last)| lines + &last);
    prop::option::weighted(0.9, text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn git_makes_the_new_content_from_the_old(
        before in content(),
        after in content(),
        name in "[a-z é\"\\\\']{1,8}",
    ) {
        prop_assume!(before != after && name.trim() == name);
        let place = Place::new();
        if let Some(before) = &before {
            place.write(&name, before);
        }
        let said = git_apply(&place, &diff(&name, before.as_deref(), after.as_deref()));
        let found = std::fs::read_to_string(place.inside(&name)).ok();
        prop_assert_eq!(found, after, "{}", said);
    }
}
