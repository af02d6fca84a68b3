//! What the model is told beside the conversation: base instructions and fragments.
//!
//! Everything here is a function from values to text. Files are read by a function that the
//! caller passes in; there is no clock and no environment.

mod agents_md;
mod fragment;
mod fragments;
mod invisible;

pub use agents_md::{AgentsMd, AgentsMdRequest, DocRead, collect as collect_agents_md};
pub use fragment::{Fragment, Rendered, render};
pub use fragments::{
    DeveloperInstructions, Environment, Network, Permissions, TurnInterrupted, UserShellCommand,
};
pub use invisible::{Escaped, escape_invisible};

/// What every model is told first. It is ours, short, and the same for all sessions, so that
/// prompt caches hit.
pub const BASE_INSTRUCTIONS: &str = include_str!("base_instructions.md");

/// A rough count of tokens: four bytes each, rounded up. It is the measure of limits on tool
/// output, not of bills.
pub fn approximate_tokens(n_bytes: usize) -> usize {
    n_bytes.div_ceil(4)
}
