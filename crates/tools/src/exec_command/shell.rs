//! The shell that a call names, and how its command reads with it. Starts nothing.
//!
//! What people are asked about and what they see must name every program that the call chose: a
//! script that reads well does anything when it is handed to a program that is no shell.

/// Shells of the system, under which a script means what it says.
const SYSTEM_SHELLS: &[&str] = &[
    "/bin/sh",
    "/bin/bash",
    "/bin/dash",
    "/bin/zsh",
    "/usr/bin/sh",
    "/usr/bin/bash",
    "/usr/bin/dash",
    "/usr/bin/zsh",
];

/// A program that is named as the shell and is none of the system's.
pub(super) fn foreign(shell: Option<&str>) -> Option<&str> {
    shell.filter(|shell| !SYSTEM_SHELLS.contains(shell))
}

/// The command as people see it.
pub(super) fn written(shell: Option<&str>, script: &str) -> String {
    match foreign(shell) {
        Some(program) => format!("{} -c {}", quoted(program), quoted(script)),
        None => script.to_owned(),
    }
}

/// A word as it would be written in a script.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{foreign, written};

    #[test]
    fn a_program_that_is_no_shell_of_the_system_is_named() {
        assert_eq!(written(None, "git status"), "git status");
        assert_eq!(written(Some("/bin/bash"), "git status"), "git status");
        assert_eq!(written(Some("./x"), "git status"), "./x -c 'git status'");
        assert_eq!(written(Some("/w/a b"), "it's"), r"'/w/a b' -c 'it'\''s'");
        assert_eq!(written(Some(""), ""), "'' -c ''");
        // Whatever a search path leads to.
        assert_eq!(foreign(Some("bash")), Some("bash"));
    }
}
