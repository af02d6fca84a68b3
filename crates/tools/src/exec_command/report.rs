//! What the model and the user learn of a command that has ended.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use agent_core::commands::{CommandChunk, CommandSession, Ending, MAX_LIVE, WholeOutput};
use agent_core::tool::{ToolContext, ToolOutcome};
use agent_process::shorten_for_model;
use agent_protocol::{CommandExecution, ItemStatus, TurnItem};

use super::Args;

/// Output is this long for the model unless the call says otherwise, in tokens.
const DEFAULT_OUTPUT_TOKENS: usize = 10_000;

/// Why a command is stopped with its turn.
pub(crate) const ABORTED: &str = "aborted by user";

/// What a call has learned of a command.
pub(crate) struct Report<'a> {
    pub(crate) chunk: CommandChunk,
    pub(crate) session: &'a CommandSession,
    pub(crate) max_output_tokens: Option<usize>,
    /// Another command that was ended because too many were running.
    pub(crate) made_room: Option<u64>,
}

impl Report<'_> {
    /// Whether there is something left to ask for.
    pub(crate) fn goes_on(&self) -> bool {
        self.chunk.ending.is_none() || self.chunk.leftovers
    }

    /// The output, and the step if it has ended.
    pub(crate) fn outcome(&self, context: &ToolContext) -> ToolOutcome {
        let outcome = ToolOutcome::text(self.for_model(context));
        if self.chunk.ending.is_none() {
            return outcome;
        }
        let execution = self.session.ended_execution();
        outcome.with_item(TurnItem::CommandExecution(execution))
    }

    /// Header lines that models know, then the output.
    pub(crate) fn for_model(&self, context: &ToolContext) -> String {
        let wanted = self.max_output_tokens.unwrap_or(DEFAULT_OUTPUT_TOKENS);
        let max_tokens = wanted.min(context.max_output_tokens);
        let captured = &self.chunk.captured;
        let shortened = shorten_for_model(
            &captured.text,
            captured.n_bytes,
            captured.n_lines,
            max_tokens,
        );
        let mut text = String::new();
        let _ = writeln!(text, "Chunk ID: {}", chunk_id(context));
        let _ = writeln!(
            text,
            "Wall time: {:.4} seconds",
            self.chunk.wall.as_secs_f64()
        );
        self.write_state(&mut text);
        self.write_notes(&mut text, context);
        if captured.n_omitted > 0 || shortened.is_cut {
            self.write_whole_output(&mut text);
        }
        let _ = writeln!(text, "Original token count: {}", shortened.n_tokens);
        text.push_str("Output:\n");
        text.push_str(&shortened.text);
        text
    }

    fn write_state(&self, text: &mut String) {
        let id = self.session.id();
        // Writing to a string cannot fail.
        let _ = match &self.chunk.ending {
            None => writeln!(text, "Process running with session ID {id}"),
            Some(Ending::Ended(end)) => writeln!(text, "Process exited with code {}", end.code()),
            Some(Ending::TimedOut(limit)) => {
                let ms = limit.as_millis();
                writeln!(
                    text,
                    "Command timed out after {ms} ms; it and all its processes were ended"
                )
            }
            Some(Ending::Stopped(why)) if *why == ABORTED => writeln!(text, "{ABORTED}"),
            Some(Ending::Stopped(why)) => {
                writeln!(text, "It and all its processes were ended: {why}")
            }
            Some(Ending::Lost(why)) => {
                writeln!(text, "sandbox_error: the command was lost: {why}")
            }
        };
        if self.chunk.leftovers {
            let _ = writeln!(
                text,
                "Note: processes of this command are still running in the background with session \
                 ID {id}; they end with the session"
            );
        }
        if let Some(other) = self.made_room {
            let _ = writeln!(
                text,
                "Note: session {other} was idle longest and is being ended, because {MAX_LIVE} \
                 commands were running"
            );
        }
    }

    /// Where to look for what is left out.
    fn write_whole_output(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self.session.whole_output() {
            WholeOutput::Lost(why) => writeln!(text, "Full output: it could not be kept: {why}"),
            WholeOutput::InFile {
                path,
                n_kept,
                n_bytes,
            } => {
                let path = path.display();
                let part = if n_kept < n_bytes {
                    format!("{n_kept} of {n_bytes} bytes")
                } else {
                    format!("{n_bytes} bytes")
                };
                writeln!(
                    text,
                    "Full output: {path} ({part}; look into it with grep -n, sed -n or tail)"
                )
            }
        };
    }

    /// Lines that explain what the output alone does not.
    fn write_notes(&self, text: &mut String, context: &ToolContext) {
        for finding in &self.chunk.findings {
            let _ = writeln!(text, "Sandbox: {finding}");
        }
        let environment = &context.environment;
        let printed = &self.chunk.captured.text;
        let command = &self.session.execution().command;
        if let Some(ending) = &self.chunk.ending
            && let Some(line) = environment.explain_denial(ending.exit_code(), printed)
        {
            let _ = writeln!(text, "Sandbox: {line}");
        }
        let mentioned =
            |name: &&String| command.contains(name.as_str()) || printed.contains(name.as_str());
        let withheld = environment.withheld_variables().iter();
        let withheld: Vec<&str> = withheld.filter(mentioned).map(String::as_str).collect();
        if !withheld.is_empty() {
            let _ = writeln!(
                text,
                "Note: these variables look like secrets and are withheld from commands: {}",
                withheld.join(", ")
            );
        }
    }
}

/// What the output that the model got says of a command.
pub(super) fn replayed(args: &Args, output: &str) -> CommandExecution {
    let declined = output.starts_with("declined:");
    let (header, printed) = output.split_once("Output:\n").unwrap_or((output, ""));
    let line = |prefix: &str| header.lines().find_map(|line| line.strip_prefix(prefix));
    let exit_code = line("Process exited with code ").and_then(|code| code.parse().ok());
    let seconds = line("Wall time: ").and_then(|rest| rest.split(' ').next());
    let wall = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.parse().ok()?).ok());
    let session_id = line("Process running with session ID ").and_then(|id| id.parse().ok());
    let status = match exit_code {
        _ if declined => ItemStatus::Declined,
        Some(0) => ItemStatus::Completed,
        Some(_) | None => ItemStatus::Failed,
    };
    CommandExecution {
        exit_code,
        duration_ms: wall.and_then(|wall| u64::try_from(wall.as_millis()).ok()),
        aggregated_output: printed.to_owned(),
        session_id,
        ..args.execution(status)
    }
}

/// Six hexadecimal digits that tell one output from another.
fn chunk_id(context: &ToolContext) -> String {
    let mut hasher = DefaultHasher::new();
    context.call_id.hash(&mut hasher);
    format!("{:06x}", hasher.finish() & 0x00FF_FFFF)
}
