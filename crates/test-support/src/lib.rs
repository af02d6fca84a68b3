//! Fixtures of the tests: a scripted model server on loopback, a workspace, runners for the
//! built binary, with pipes or in a terminal.
//!
//! Everything is synchronous and panics when a fixture cannot be made, because a test cannot go on
//! without it. It knows none of the product's crates: it sees the product as a server and a shell
//! see it.

#![expect(
    clippy::indexing_slicing,
    reason = "reading a key of JSON that is not there gives null, and fixtures may panic"
)]

mod command;
mod fail;
mod server;
mod step;
mod terminal;
mod workspace;

pub use command::{AgentCommand, Run, RunningAgent};
pub use server::{ModelServer, RecordedRequest, ServerBuilder};
pub use step::{Item, Step};
pub use terminal::{Exit, Glyph, Ink, Terminal, TerminalCommand, Termios, modes_left};
pub use workspace::Workspace;
