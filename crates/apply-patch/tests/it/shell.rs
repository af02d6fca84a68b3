//! Patches that come as shell commands: recognised, refused, or left to the shell.

use agent_apply_patch::PatchCommand;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const BODY: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";

fn shown(command: Option<PatchCommand>) -> String {
    match command {
        None => "shell".to_owned(),
        Some(PatchCommand::Refused(reason)) => format!("refused: {reason}"),
        Some(PatchCommand::Call { directory, patch }) => {
            let directory = directory.unwrap_or_else(|| ".".to_owned());
            let patch = if patch.trim() == BODY.trim() {
                "patch"
            } else {
                &patch
            };
            format!("in {directory}: {patch}")
        }
    }
}

/// `BODY` in the script stands for a patch.
fn script(text: &str) -> String {
    text.replace("BODY", BODY)
}

#[track_caller]
fn check_all(scripts: &[&str], expected: &Expect) {
    let lines = scripts.iter().map(|text| {
        let command = PatchCommand::of_script(&script(text));
        format!("{text:?}\n    {}\n", shown(command))
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn calls_that_do_nothing_else_are_patches() {
    check_all(
        &[
            "apply_patch <<'EOF'\nBODYEOF\n",
            "apply_patch <<'EOF'\nBODYEOF",
            "apply_patch <<\"END\"\nBODYEND\n",
            "apply_patch <<EOF\nBODYEOF\n",
            "apply_patch << 'PATCH-1'\nBODYPATCH-1\n",
            "apply_patch <<\\EOF\nBODYEOF\n",
            "apply_patch - <<'EOF'\nBODYEOF\n",
            "apply_patch <<'EOF' 2>&1\nBODYEOF\n",
            "apply_patch <<'EOF'\nBODYEOF  \n\n",
            "apply_patch <<'EOF'\nBODY",
            "applypatch <<'EOF'\nBODYEOF\n",
            "\n  # fix it\napply_patch <<'EOF'\nBODYEOF\n# done\n",
            "cat <<'EOF' | apply_patch\nBODYEOF\n",
            "apply_patch 'BODY'",
            "apply_patch \"BODY\"",
            "cd sub && apply_patch <<'EOF'\nBODYEOF\n",
            "cd 'a b'; apply_patch <<'EOF'\nBODYEOF\n",
            "cd /w/x\napply_patch <<'EOF'\nBODYEOF\n",
            "bash -lc \"apply_patch 'BODY'\"",
            "cd a && bash -c \"cd b && apply_patch 'BODY'\"",
            "cd a && bash -c \"cd /b && apply_patch 'BODY'\"",
        ],
        &expect![[r#"
            "apply_patch <<'EOF'\nBODYEOF\n"
                in .: patch
            "apply_patch <<'EOF'\nBODYEOF"
                in .: patch
            "apply_patch <<\"END\"\nBODYEND\n"
                in .: patch
            "apply_patch <<EOF\nBODYEOF\n"
                in .: patch
            "apply_patch << 'PATCH-1'\nBODYPATCH-1\n"
                in .: patch
            "apply_patch <<\\EOF\nBODYEOF\n"
                in .: patch
            "apply_patch - <<'EOF'\nBODYEOF\n"
                in .: patch
            "apply_patch <<'EOF' 2>&1\nBODYEOF\n"
                in .: patch
            "apply_patch <<'EOF'\nBODYEOF  \n\n"
                in .: patch
            "apply_patch <<'EOF'\nBODY"
                in .: patch
            "applypatch <<'EOF'\nBODYEOF\n"
                in .: patch
            "\n  # fix it\napply_patch <<'EOF'\nBODYEOF\n# done\n"
                in .: patch
            "cat <<'EOF' | apply_patch\nBODYEOF\n"
                in .: patch
            "apply_patch 'BODY'"
                in .: patch
            "apply_patch \"BODY\""
                in .: patch
            "cd sub && apply_patch <<'EOF'\nBODYEOF\n"
                in sub: patch
            "cd 'a b'; apply_patch <<'EOF'\nBODYEOF\n"
                in a b: patch
            "cd /w/x\napply_patch <<'EOF'\nBODYEOF\n"
                in /w/x: patch
            "bash -lc \"apply_patch 'BODY'\""
                in .: patch
            "cd a && bash -c \"cd b && apply_patch 'BODY'\""
                in a/b: patch
            "cd a && bash -c \"cd /b && apply_patch 'BODY'\""
                in /b: patch
        "#]],
    );
}

#[test]
fn scripts_that_do_more_or_are_not_certain_run_in_the_shell() {
    check_all(
        &[
            "",
            "ls",
            "apply_patch",
            "apply_patch --help extra",
            "apply_patch <<'EOF' && echo ok\nBODYEOF\n",
            "apply_patch <<'EOF'\nBODYEOF\ncargo test\n",
            "apply_patch <<'EOF' > log\nBODYEOF\n",
            "apply_patch <<< 'BODY'",
            "apply_patch < p.patch",
            "apply_patch \"$(cat p)\"",
            "apply_patch \"BODY $x\"",
            "cat p | apply_patch",
            "cat <<'EOF' | tee x\nBODYEOF\n",
            "cat <<'EOF'\nBODYEOF\n",
            "cd $D && apply_patch <<'EOF'\nBODYEOF\n",
            "cd ~/x && apply_patch <<'EOF'\nBODYEOF\n",
            "cd a || apply_patch <<'EOF'\nBODYEOF\n",
            "cd a && cd b && apply_patch <<'EOF'\nBODYEOF\n",
            "set -e; apply_patch <<'EOF'\nBODYEOF\n",
            "X=1 apply_patch <<'EOF'\nBODYEOF\n",
            "echo '*** Begin Patch'",
            "git apply <<'EOF'\nBODYEOF\n",
            "python -c \"apply_patch 'BODY'\"",
        ],
        &expect![[r#"
            ""
                shell
            "ls"
                shell
            "apply_patch"
                shell
            "apply_patch --help extra"
                shell
            "apply_patch <<'EOF' && echo ok\nBODYEOF\n"
                shell
            "apply_patch <<'EOF'\nBODYEOF\ncargo test\n"
                shell
            "apply_patch <<'EOF' > log\nBODYEOF\n"
                shell
            "apply_patch <<< 'BODY'"
                shell
            "apply_patch < p.patch"
                shell
            "apply_patch \"$(cat p)\""
                shell
            "apply_patch \"BODY $x\""
                shell
            "cat p | apply_patch"
                shell
            "cat <<'EOF' | tee x\nBODYEOF\n"
                shell
            "cat <<'EOF'\nBODYEOF\n"
                shell
            "cd $D && apply_patch <<'EOF'\nBODYEOF\n"
                shell
            "cd ~/x && apply_patch <<'EOF'\nBODYEOF\n"
                shell
            "cd a || apply_patch <<'EOF'\nBODYEOF\n"
                shell
            "cd a && cd b && apply_patch <<'EOF'\nBODYEOF\n"
                shell
            "set -e; apply_patch <<'EOF'\nBODYEOF\n"
                shell
            "X=1 apply_patch <<'EOF'\nBODYEOF\n"
                shell
            "echo '*** Begin Patch'"
                shell
            "git apply <<'EOF'\nBODYEOF\n"
                shell
            "python -c \"apply_patch 'BODY'\""
                shell
        "#]],
    );
}

#[test]
fn what_only_a_shell_knows_runs_in_the_shell() {
    for text in [
        "cd link/.. && apply_patch 'BODY'",
        "cd /w/../x && apply_patch 'BODY'",
        "cd a && sh -c \"cd .. && apply_patch 'BODY'\"",
        "cd - && apply_patch 'BODY'",
        "cd -P && apply_patch 'BODY'",
        "cd '' && apply_patch 'BODY'",
        "<<'EOF'\necho\nEOF\n",
        "apply_patch --help",
        "cd '' && sh -c \"cd a && apply_patch 'BODY'\"",
    ] {
        assert_eq!(
            shown(PatchCommand::of_script(&script(text))),
            "shell",
            "{text}"
        );
    }
}

#[test]
fn the_text_of_a_patch_is_no_command() {
    let refused = expect![
        "refused: this is the text of a patch and no command, so nothing was run; send it with the `apply_patch` tool"
    ];
    let fenced = format!("```\n{BODY}```\n");
    let followed = format!("{BODY}cargo test\n");
    let nested = format!("sh -c '{BODY}'");
    let marked = format!("\u{feff}{BODY}");
    let after_cd = format!("cd sub\n{BODY}");
    let unread = format!("<<'EOF'\n{BODY}EOF\n");
    let texts = [&fenced, &followed, &nested, &marked, &after_cd, &unread];
    for text in texts
        .map(String::as_str)
        .into_iter()
        .chain([BODY, "  *** Begin Patch"])
    {
        refused.assert_eq(&shown(PatchCommand::of_script(text)));
    }
}

#[test]
fn a_bare_delimiter_leaves_the_text_alone_unless_it_is_escaped() {
    let with = |line: &str| {
        let text = format!(
            "apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+{line}\n*** End Patch\nEOF\n"
        );
        shown(PatchCommand::of_script(&text))
    };
    expect![[r#"
        in .: *** Begin Patch
        *** Add File: a
        +let x = "$HOME \d `y`";
        *** End Patch
    "#]]
    .assert_eq(&with(r#"let x = "$HOME \d `y`";"#));
    let refused = expect![
        "refused: the delimiter of the heredoc is not quoted, so that `\\$` or a `\\` before a backtick may mean either the character or both; nothing was changed. Send the patch with the `apply_patch` tool"
    ];
    refused.assert_eq(&with(r"echo \$x"));
    refused.assert_eq(&with(r"echo \`x\`"));
}

#[test]
fn tabs_before_the_lines_of_a_dash_heredoc_go() {
    let text = "apply_patch <<-EOF\n\t*** Begin Patch\n\t*** Add File: a\n\t+\tx\n\t*** End Patch\n\tEOF\n";
    expect![[r"
        in .: *** Begin Patch
        *** Add File: a
        +	x
        *** End Patch
    "]]
    .assert_eq(&shown(PatchCommand::of_script(text)));
}

#[test]
fn every_shell_and_the_names_themselves_are_looked_into() {
    let of = |argv: &[&str]| {
        let argv: Vec<String> = argv.iter().map(|word| script(word)).collect();
        shown(PatchCommand::of(&argv))
    };
    let heredoc = "apply_patch <<'EOF'\nBODYEOF\n";
    for shell in ["sh", "/bin/bash", "/usr/bin/zsh", "dash"] {
        for options in [&["-c"][..], &["-lc"], &["-l", "-c"]] {
            let argv = [&[shell], options, &[heredoc]].concat();
            assert_eq!(of(&argv), "in .: patch", "{argv:?}");
        }
    }
    assert_eq!(of(&["apply_patch", "BODY"]), "in .: patch");
    assert_eq!(of(&["applypatch", "BODY"]), "in .: patch");
    assert_eq!(of(&["apply_patch"]), "shell");
    assert_eq!(of(&["bash", heredoc]), "shell");
    assert_eq!(of(&["./mine", "-c", heredoc]), "shell");
    assert_eq!(of(&[]), "shell");
}

proptest! {
    #[test]
    fn any_script_is_looked_at_without_panic(
        text in "(apply_patch|cd a|&&|;|\n|<<-?'?E'?|E\n|\\*\\*\\* Begin Patch\n|\"|'|\\\\|\\$|`| |\t|#|cat|\\||bash -c|\\PC){0,14}",
    ) {
        let _command = PatchCommand::of_script(&text);
    }

    /// Words that a shell takes literally come out as they went in.
    #[test]
    fn a_quoted_directory_is_understood(name in "[a-zA-Z0-9 $'\"\\\\*?`é]{1,12}") {
        let quoted = name.replace('\'', r"'\''");
        let text = format!("cd '{quoted}' && apply_patch <<'EOF'\n{BODY}EOF\n");
        prop_assert_eq!(shown(PatchCommand::of_script(&text)), format!("in {name}: patch"));
    }
}
