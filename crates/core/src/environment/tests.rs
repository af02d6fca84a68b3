use std::path::PathBuf;

use agent_apply_patch::PatchCommand;

use super::{Command, Confinement};

const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";

fn made(argv: &[&str]) -> Result<Command, PatchCommand> {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    Command::new(argv, PathBuf::from("/"), Confinement::None)
}

/// Environments take commands only, and there is no other way to one.
#[test]
fn a_patch_is_never_a_command() {
    let heredoc = format!("cd d && apply_patch <<'E'\n{PATCH}E\n");
    for argv in [
        &["sh", "-c", &heredoc][..],
        &["/bin/bash", "-lc", &heredoc],
        &["zsh", "-l", "-c", &heredoc],
        &["apply_patch", PATCH],
        &["sh", "-c", PATCH],
    ] {
        assert!(made(argv).is_err(), "{argv:?}");
    }
    let command = made(&["sh", "-c", "ls"]).unwrap();
    assert_eq!(command.argv(), ["sh", "-c", "ls"]);
}
