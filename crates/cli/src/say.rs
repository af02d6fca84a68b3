//! Errors as people see them: what went wrong, the cause, what to do next.

use std::fmt;
use std::process::ExitCode;

use agent_terminal_text::sanitize;

/// An error for the user's hands: usage or configuration. Exit code 2.
#[derive(Debug)]
pub(crate) struct UsageError {
    message: String,
    hint: Option<String>,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UsageError {}

/// An error that the user can mend.
pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    UsageError {
        message: message.into(),
        hint: Some(hint.into()),
    }
    .into()
}

/// An error that the user can mend, from one of a library.
pub(crate) fn usage_from(err: &dyn std::error::Error, hint: Option<String>) -> anyhow::Error {
    UsageError {
        message: with_causes(err),
        hint,
    }
    .into()
}

/// The error and what caused it, on one line.
pub(crate) fn with_causes(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut cause = err.source();
    while let Some(err) = cause {
        text.push_str(": ");
        text.push_str(&err.to_string());
        cause = err.source();
    }
    text
}

/// Tells an error and returns its exit code: 2 for what the user can mend, else 1.
#[expect(clippy::print_stderr, reason = "this is where errors are told")]
pub(crate) fn error(err: &anyhow::Error) -> ExitCode {
    if let Some(usage) = err.downcast_ref::<UsageError>() {
        eprintln!("error: {}", sanitize(&usage.to_string()));
        if let Some(hint) = &usage.hint {
            eprintln!("hint: {}", sanitize(hint));
        }
        return ExitCode::from(2);
    }
    eprintln!("error: {}", sanitize(&format!("{err:#}")));
    ExitCode::FAILURE
}

/// What to do after an error.
#[expect(clippy::print_stderr, reason = "this is where errors are told")]
pub(crate) fn hint(text: &str) {
    eprintln!("hint: {}", sanitize(text));
}

/// Tells what is wrong with the command line, or prints the help that was asked for.
#[expect(clippy::print_stderr, reason = "this is where errors are told")]
pub(crate) fn wrong_arguments(err: &clap::Error) -> ExitCode {
    // Nobody is left to tell when the terminal is gone.
    err.print().ok();
    if err.kind() == clap::error::ErrorKind::InvalidSubcommand {
        eprintln!("hint: put what you want to say in quotes: agent \"fix the failing test\"");
    }
    ExitCode::from(u8::try_from(err.exit_code()).unwrap_or(2))
}

/// One line of data on standard output. Nobody reading it is no error here: the one that is
/// being told already counts.
pub(crate) fn data(line: &str) {
    let mut out = std::io::stdout();
    std::io::Write::write_all(&mut out, format!("{line}\n").as_bytes()).ok();
}

/// Something that the user should know, while the work goes on.
#[expect(clippy::print_stderr, reason = "this is where warnings are told")]
pub(crate) fn warning(text: &str) {
    eprintln!("warning: {}", sanitize(text));
}
