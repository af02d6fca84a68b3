//! The `exec` face: one task without a person. It never waits for anything it was not asked to
//! wait for, prints either the answer or pure JSONL on standard output, and says by its exit
//! code what happened.

mod answer;
mod color;
mod exit;
mod human;
mod json;
mod prompt;
mod run;
mod schema;

pub use color::ColorChoice;
pub use exit::ExitStatus;
pub use json::{error_line, line_schema};
pub use prompt::StdinMode;
pub use run::{ExecError, ExecOptions, ExecThread, Format, run};
