//! A script that is taken as a patch is, run by bash, one call of `apply_patch` with the same text
//! in the same directory, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use agent_apply_patch::PatchCommand;
use proptest::prelude::*;
use tempfile::TempDir;

/// Prints where it runs and what it gets.
const STUB: &str = "#!/bin/sh\npwd -P\ncase \"$1\" in ''|-) cat;; *) printf %s \"$1\";; esac\n";

/// A directory with the stub and directories to change to.
fn place() -> &'static Path {
    static PLACE: OnceLock<TempDir> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        let place = tempfile::tempdir().unwrap();
        for directory in [
            "bin", "work/sub", "work/a b", "work/-P", "far/away", "far/sub",
        ] {
            fs::create_dir_all(place.path().join(directory)).unwrap();
        }
        symlink("../far/away", place.path().join("work/link")).unwrap();
        for name in agent_apply_patch::PERSONALITIES {
            let stub = place.path().join("bin").join(name);
            fs::write(&stub, STUB).unwrap();
            fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
        }
        place
    });
    place.path()
}

/// `None` where there is no bash.
fn in_bash(script: &str) -> Option<Output> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test compares with a shell as a person would start it"
    )]
    let mut bash = Command::new("bash");
    let search = format!("{}:/usr/bin:/bin", place().join("bin").display());
    bash.args(["-c", script])
        .current_dir(place().join("work"))
        .env_clear()
        .env("PATH", search)
        .env("HOME", place());
    bash.output().ok()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A patch with odd lines, of which only the text counts here.
fn patch() -> impl Strategy<Value = String> {
    prop::collection::vec(
        "[ +-]?([a-zA-Z\"'*#!;&|<>(){}é\t]|EOF|E F|\\$x|`y`|\\\\){0,4}",
        0..4,
    )
    .prop_map(|lines| {
        let lines: String = lines.iter().map(|line| format!("+{line}\n")).collect();
        format!("*** Begin Patch\n*** Add File: a\n{lines}*** End Patch\n")
    })
}

/// Pieces that may stand before a call: nothing, comments, changes of the directory.
fn before() -> impl Strategy<Value = String> {
    let directory = prop::sample::select(vec![
        "sub",
        "./sub/",
        "'a b'",
        "a\\ b",
        "link",
        "link/..",
        "link/../sub",
        "..",
        "../far",
        ".",
        "''",
        "-P",
        "--",
        "\"sub\"",
        "su\\\nb",
        "~",
        "-",
    ]);
    let separator =
        prop::sample::select(vec![" && ", "; ", "\n", " &&\n# c\n", "&", " || ", " | "]);
    prop_oneof![
        Just(String::new()),
        Just("\n # comment \\\n".to_owned()),
        (directory, separator)
            .prop_map(|(directory, separator)| format!("cd {directory}{separator}")),
    ]
}

fn call() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "apply_patch",
        "applypatch",
        "apply'_'patch",
        "\\apply_patch",
        "apply_\\\npatch",
    ]);
    let delimiter = prop::sample::select(vec![
        ("'EOF'", "EOF"),
        ("\"EOF\"", "EOF"),
        ("\\EOF", "EOF"),
        ("'E F'", "E F"),
        ("'$X'", "$X"),
        ("E\"O\"F", "EOF"),
    ]);
    let middle = prop::sample::select(vec!["", " - ", " 2>&1 ", " x", "  "]);
    let after = prop::sample::select(vec![
        "",
        " 2>&1",
        " && echo more",
        " &",
        " # c",
        "2>&1 \\\n",
        " | cat",
        ";",
    ]);
    let end = prop::sample::select(vec!["", "\n", "\n\n# done\n", "\necho more\n"]);
    (name, delimiter, middle, after, end, patch(), 0..3).prop_map(
        |(name, (written, delimiter), middle, after, end, patch, form)| match form {
            0 => format!("{name}{middle}<<{written}{after}\n{patch}{delimiter}{end}"),
            1 => format!("cat <<{written} | {name}{after}\n{patch}{delimiter}{end}"),
            _ => format!("{name} {}{after}{end}", quoted(&patch)),
        },
    )
}

fn script() -> impl Strategy<Value = String> {
    (before(), call(), 0..4).prop_map(|(before, call, depth)| {
        let script = format!("{before}{call}");
        if depth == 0 {
            format!("bash -c {}", quoted(&script))
        } else {
            script
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_taken_as_a_patch_is_that_to_bash(script in script()) {
        let Some(PatchCommand::Call { directory, patch }) = PatchCommand::of_script(&script) else {
            return Ok(());
        };
        let Some(output) = in_bash(&script) else {
            return Ok(());
        };
        let directory = place().join("work").join(directory.map(PathBuf::from).unwrap_or_default());
        let directory = fs::canonicalize(directory).unwrap();
        let expected = format!("{}\n{patch}", directory.display());
        prop_assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        prop_assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        prop_assert!(output.status.success());
    }
}
