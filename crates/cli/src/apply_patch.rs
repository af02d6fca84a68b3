//! The personality `apply_patch`: what commands that call it by that name get.
//!
//! It does what the tool does, with the rights of its process: in a sandbox the kernel decides
//! where it may write.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use agent_terminal_text::sanitize;
use agent_tools::{PERSONALITIES, apply_text};
use agent_workspace::Workspace;

/// The largest patch that is read, in bytes.
const MAX_PATCH_BYTES: u64 = 64 << 20;

const USAGE: &str = "\
usage: apply_patch PATCH
       apply_patch < FILE

Edits files: applies a patch from `*** Begin Patch` to `*** End Patch`, as a whole or not at all.
Paths are relative to the current directory.

exit status: 0 applied, 1 not applied and nothing changed, 2 wrong usage
";

/// How it ended, as an exit status.
enum End {
    Applied(String),
    /// Nothing was changed.
    Failed(String),
    /// The command line makes no sense.
    Usage,
    Help,
}

/// Whether a program of this name is this personality.
pub(crate) fn is_name(program: &OsStr) -> bool {
    let name = Path::new(program).file_name();
    name.is_some_and(|name| PERSONALITIES.iter().any(|own| name == *own))
}

/// Runs it.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (code, text) = match end(arguments) {
        End::Applied(text) => return told(&text),
        End::Help => return told(USAGE),
        End::Failed(text) => (1, text + "\n"),
        End::Usage => (2, USAGE.to_owned()),
    };
    // Nobody is left to be told when this fails; the status says the same.
    let _result = std::io::stderr().write_all(sanitize(&text).as_bytes());
    ExitCode::from(code)
}

/// What was done stays done when nobody reads of it.
fn told(text: &str) -> ExitCode {
    let _result = std::io::stdout().write_all(sanitize(text).as_bytes());
    ExitCode::SUCCESS
}

fn end(mut arguments: impl Iterator<Item = OsString>) -> End {
    let text = match (arguments.next(), arguments.next()) {
        (Some(word), None) if word == "--help" || word == "-h" => return End::Help,
        (Some(word), None) if word != "-" => match word.into_string() {
            Ok(text) => text,
            Err(_) => return End::Failed("cannot read the patch: it is not UTF-8".to_owned()),
        },
        (_, None) => match standard_input() {
            Ok(text) => text,
            Err(why) => return End::Failed(format!("cannot read the patch: {why}")),
        },
        (_, Some(_)) => return End::Usage,
    };
    if text.trim().is_empty() {
        return End::Usage;
    }
    let cwd = match std::env::current_dir() {
        Ok(cwd) => cwd,
        Err(err) => return End::Failed(format!("cannot find the current directory: {err}")),
    };
    match apply_text(&text, &Workspace::unrestricted(cwd)) {
        Ok(text) => End::Applied(text),
        Err(reason) => End::Failed(format!("{reason}{}", sandbox_hint(&reason))),
    }
}

fn standard_input() -> Result<String, String> {
    let mut text = String::new();
    let input = std::io::stdin().lock();
    let n_bytes = input.take(MAX_PATCH_BYTES + 1).read_to_string(&mut text);
    match n_bytes {
        Ok(n_bytes) if n_bytes as u64 > MAX_PATCH_BYTES => {
            Err(format!("it is larger than {} MiB", MAX_PATCH_BYTES >> 20))
        }
        Ok(_) => Ok(text),
        Err(err) => Err(err.to_string()),
    }
}

/// What to do where the sandbox is in the way.
fn sandbox_hint(reason: &str) -> &'static str {
    let denied = [
        "Read-only file system",
        "Permission denied",
        "not permitted",
    ];
    let is_denied = denied.iter().any(|words| reason.contains(words));
    if is_denied && std::env::var_os("AGENT_SANDBOX").is_some() {
        "\nThe sandbox does not let commands write there; the `apply_patch` tool can ask for it."
    } else {
        ""
    }
}
