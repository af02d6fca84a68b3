//! The two formats behind one set of calls. Standard output is data; everything for people
//! goes to standard error, and that nobody reads that is no error.

use std::io::{self, IsTerminal, Stderr, Stdout, Write};

use agent_protocol::{Envelope, TokenUsage, TurnFailure};
use agent_terminal_text::sanitize;

use super::{ExecOptions, Format};
use crate::color::Paint;
use crate::human::HumanOutput;
use crate::json::JsonOutput;

/// Prints a run.
pub(super) enum Output {
    Human {
        progress: HumanOutput<Stderr>,
        answer: Stdout,
        paint: Paint,
    },
    Json {
        lines: JsonOutput<Stdout>,
    },
}

impl Output {
    pub(super) fn new(options: &ExecOptions) -> Self {
        match options.format {
            Format::Json => Self::Json {
                lines: JsonOutput::new(io::stdout()),
            },
            Format::Human => {
                let paint = Paint::for_stderr(options.color, options.no_color);
                let mut progress = HumanOutput::new(io::stderr(), paint, options.version);
                if io::stderr().is_terminal() {
                    progress = progress.watched();
                }
                Self::Human {
                    progress,
                    answer: io::stdout(),
                    paint,
                }
            }
        }
    }

    /// Prints what an event says.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn event(&mut self, envelope: &Envelope) -> io::Result<()> {
        match self {
            Self::Json { lines } => lines.event(envelope),
            Self::Human { progress, .. } => {
                unheard(progress.event(envelope));
                Ok(())
            }
        }
    }

    /// After the header: the prompt, and what is to be said about the run.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn introduce(&mut self, prompt: &str, notes: &[String]) -> io::Result<()> {
        match self {
            Self::Json { lines } => notes.iter().try_for_each(|note| lines.warning(note)),
            Self::Human { progress, .. } => {
                unheard(progress.prompt(prompt));
                for note in notes {
                    unheard(progress.note(note));
                }
                Ok(())
            }
        }
    }

    /// The turn completed.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn completed(&mut self, usage: TokenUsage, text: &str) -> io::Result<()> {
        match self {
            Self::Json { lines } => lines.turn_completed(usage),
            Self::Human {
                progress, answer, ..
            } => {
                unheard(progress.usage(usage));
                let text = sanitize(text);
                writeln!(answer, "{}", text.trim_end_matches('\n'))?;
                answer.flush()
            }
        }
    }

    /// The turn failed. The reason is on standard error in both formats, where callers look for
    /// it when the exit code is not zero.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn failed(&mut self, failure: &TurnFailure) -> io::Result<()> {
        self.failed_without_status(&failure.message)?;
        if let Some(hint) = &failure.hint {
            unheard(writeln!(io::stderr(), "hint: {}", sanitize(hint)));
        }
        Ok(())
    }

    /// The same without a hint.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn failed_without_status(&mut self, message: &str) -> io::Result<()> {
        let mut label = "error:".to_owned();
        if let Self::Human {
            progress, paint, ..
        } = self
        {
            unheard(progress.release_held());
            label = paint.red(&label);
        }
        unheard(writeln!(io::stderr(), "{label} {}", sanitize(message)));
        match self {
            Self::Json { lines } => lines.turn_failed(message),
            Self::Human { .. } => Ok(()),
        }
    }
}

/// Nobody reads the progress: the run goes on.
fn unheard(result: io::Result<()>) {
    result.ok();
}

/// An error that belongs to no turn.
pub(super) fn complain(message: &str) {
    unheard(writeln!(io::stderr(), "error: {}", sanitize(message)));
}
