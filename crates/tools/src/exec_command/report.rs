//! What the model and the user learn of a command that has ended.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use agent_core::environment::CommandEnd;
use agent_core::tool::{ToolContext, ToolOutcome};
use agent_process::{Captured, shorten_for_model};
use agent_protocol::{CommandExecution, ItemStatus, TurnItem};

use super::Args;

/// Output is this long for the model unless the call says otherwise, in tokens.
const DEFAULT_OUTPUT_TOKENS: usize = 10_000;

/// How a call came to its end.
#[derive(Debug)]
pub(super) enum Ending {
    /// The shell ended.
    Ended(CommandEnd),
    /// The time limit was reached.
    TimedOut(Duration),
    /// The turn was stopped.
    Aborted,
    /// The command cannot be watched any more.
    Lost(String),
}

/// A command that has ended.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) wall: Duration,
    pub(super) captured: Captured,
    pub(super) findings: Vec<String>,
    pub(super) ending: Ending,
    pub(super) leftovers: bool,
}

impl Report {
    pub(super) fn outcome(self, args: &Args, context: &ToolContext) -> ToolOutcome {
        let mut execution = args.execution(self.status());
        execution.exit_code = self.exit_code();
        execution.duration_ms = Some(u64::try_from(self.wall.as_millis()).unwrap_or(u64::MAX));
        let output = self.for_model(args, context);
        execution.aggregated_output = self.captured.text;
        ToolOutcome::text(output).with_item(TurnItem::CommandExecution(execution))
    }

    fn exit_code(&self) -> Option<i32> {
        match &self.ending {
            Ending::Ended(end) => Some(end.code()),
            Ending::TimedOut(_) | Ending::Aborted | Ending::Lost(_) => None,
        }
    }

    fn status(&self) -> ItemStatus {
        match self.exit_code() {
            Some(0) => ItemStatus::Completed,
            Some(_) | None => ItemStatus::Failed,
        }
    }

    /// Header lines that models know, then the output.
    fn for_model(&self, args: &Args, context: &ToolContext) -> String {
        let wanted = args.max_output_tokens.unwrap_or(DEFAULT_OUTPUT_TOKENS);
        let max_tokens = wanted.min(context.max_output_tokens);
        let captured = &self.captured;
        let shortened = shorten_for_model(
            &captured.text,
            captured.n_bytes,
            captured.n_lines,
            max_tokens,
        );
        let mut text = String::new();
        let _ = writeln!(text, "Chunk ID: {}", chunk_id(context));
        let _ = writeln!(text, "Wall time: {:.4} seconds", self.wall.as_secs_f64());
        match &self.ending {
            Ending::Ended(end) => {
                let _ = writeln!(text, "Process exited with code {}", end.code());
            }
            Ending::TimedOut(limit) => {
                let ms = limit.as_millis();
                let _ = writeln!(
                    text,
                    "Command timed out after {ms} ms; it and all its processes were ended"
                );
            }
            Ending::Aborted => text.push_str("aborted by user\n"),
            Ending::Lost(why) => {
                let _ = writeln!(text, "The command was lost: {why}");
            }
        }
        self.write_notes(&mut text, args, context);
        let _ = writeln!(text, "Original token count: {}", shortened.n_tokens);
        text.push_str("Output:\n");
        text.push_str(&shortened.text);
        text
    }

    /// Lines that explain what the output alone does not.
    fn write_notes(&self, text: &mut String, args: &Args, context: &ToolContext) {
        if self.leftovers {
            text.push_str(
                "Note: processes of this command are still running in the background; they end \
                 with the session\n",
            );
        }
        for finding in &self.findings {
            let _ = writeln!(text, "Sandbox: {finding}");
        }
        let environment = &context.environment;
        if let Some(line) = environment.explain_denial(self.exit_code(), &self.captured.text) {
            let _ = writeln!(text, "Sandbox: {line}");
        }
        let mentioned = |name: &&String| {
            args.cmd.contains(name.as_str()) || self.captured.text.contains(name.as_str())
        };
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
    let status = match exit_code {
        _ if declined => ItemStatus::Declined,
        Some(0) => ItemStatus::Completed,
        Some(_) | None => ItemStatus::Failed,
    };
    CommandExecution {
        exit_code,
        duration_ms: wall.and_then(|wall| u64::try_from(wall.as_millis()).ok()),
        aggregated_output: printed.to_owned(),
        ..args.execution(status)
    }
}

/// Six hexadecimal digits that tell one output from another.
fn chunk_id(context: &ToolContext) -> String {
    let mut hasher = DefaultHasher::new();
    context.call_id.hash(&mut hasher);
    format!("{:06x}", hasher.finish() & 0x00FF_FFFF)
}
