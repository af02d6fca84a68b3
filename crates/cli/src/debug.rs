//! `agent debug`: what the program knows of itself.

use std::io::Write;
use std::process::ExitCode;

use crate::args::{DebugArgs, DebugCommand};

/// Runs it.
pub(crate) fn run(args: &DebugArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        DebugCommand::Events { .. } => {
            let schema = serde_json::to_string_pretty(&agent_exec::line_schema())?;
            writeln!(std::io::stdout(), "{schema}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
