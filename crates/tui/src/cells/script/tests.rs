use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(scripts: &[&str], expected: &Expect) {
    let mut shown = String::new();
    for script in scripts {
        let steps = match exploration(script) {
            Some(exploration) => exploration.steps.iter().map(describe).collect(),
            None => vec!["?".to_owned()],
        };
        shown.push_str(&format_line(script, &steps));
    }
    expected.assert_eq(&shown);
}

fn format_line(script: &str, steps: &[String]) -> String {
    format!("{script:?}: {}\n", steps.join("; "))
}

fn describe(step: &Step) -> String {
    match step {
        Step::Read { path } => format!("read {path}"),
        Step::Search { pattern, place } => format!("search `{pattern}` in {place:?}"),
        Step::List { place } => format!("list {place:?}"),
        Step::Show { what } => format!("show {what}"),
    }
}

#[test]
fn commands_that_only_look_are_known() {
    let scripts = [
        "cat a.rs b.rs",
        "sed -n '1,20p' src/a.rs",
        "head -n 5 a && tail -20 b",
        "wc -l a",
        "nl -b a x",
        "ls",
        "ls -la src",
        "rg -n 'fn \\w+\\(' src tests | head -20",
        "rg --files src",
        "rg -e a -A3 src",
        "grep -rn \"two words\" .",
        "find . -name '*.rs' -type f",
        "find src -maxdepth 2",
        "git status --short",
        "git --no-pager log --oneline -5",
        "git diff -- src/a.rs",
        "cat 'a b.rs' | head -n 3 | tail -1",
    ];
    check(
        &scripts,
        &expect![[r#"
            "cat a.rs b.rs": read a.rs; read b.rs
            "sed -n '1,20p' src/a.rs": read src/a.rs
            "head -n 5 a && tail -20 b": read a; read b
            "wc -l a": read a
            "nl -b a x": read x
            "ls": list None
            "ls -la src": list Some("src")
            "rg -n 'fn \\w+\\(' src tests | head -20": search `fn \w+\(` in Some("src tests")
            "rg --files src": list Some("src")
            "rg -e a -A3 src": search `a` in Some("src")
            "grep -rn \"two words\" .": search `two words` in Some(".")
            "find . -name '*.rs' -type f": search `*.rs` in Some(".")
            "find src -maxdepth 2": list Some("src")
            "git status --short": show git status --short
            "git --no-pager log --oneline -5": show git log --oneline -5
            "git diff -- src/a.rs": show git diff -- src/a.rs
            "cat 'a b.rs' | head -n 3 | tail -1": read a b.rs
        "#]],
    );
}

#[test]
fn whatever_else_a_script_may_do_makes_it_unknown() {
    let scripts = [
        "",
        "cat",
        "cat a > b",
        "cat < a",
        "cat $(rm x)",
        "cat `rm x`",
        "cat \"$HOME\"",
        "cat a; rm b",
        "cat a || rm b",
        "cat a & rm b",
        "cat a &",
        "cat a &&",
        "cat a\nrm b",
        "cat 'a\nb'",
        "cat a | sh",
        "cat a | head b",
        "| cat",
        "FOO=1 cat a",
        "cat a # b",
        "cat {a,b}",
        "cat a\\ b",
        "cat 'a",
        "sed -i 's/a/b/' x",
        "sed -n '1,5p;w out' x",
        "sed -n 5p -i x",
        "tail -f log",
        "rg --pre sh x",
        "rg -e a -e b",
        "rg -ea b",
        "grep --files x",
        "find . -delete",
        "find . -exec rm",
        "find . -name a -fprint b",
        "git diff --output=x",
        "git diff --ext-diff",
        "git -c core.pager=sh log",
        "git commit",
        "git",
        "cargo test",
        "/tmp/cat a",
        "cat a\u{202e}b",
    ];
    for script in scripts {
        assert_eq!(exploration(script), None, "{script:?}");
    }
}
