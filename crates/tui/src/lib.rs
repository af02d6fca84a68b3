//! The `tui` face: chat in the terminal.
//!
//! A pure state machine and views that are functions of its state; finished text goes to the
//! terminal's own scrollback, only the live tail, the status and the composer are drawn again.

pub mod composer;
pub mod draft_file;
pub mod history_file;
pub mod look;
pub mod mentions;
mod private_file;
pub mod row;
pub mod text;
