//! The `tui` face: chat in the terminal.
//!
//! A pure state machine and views that are functions of its state; finished text goes to the
//! terminal's own scrollback, only the live tail, the status and the composer are drawn again.

pub mod cells;
pub mod composer;
pub mod draft_file;
pub mod history_file;
pub mod look;
mod private_file;
pub mod markdown;
pub mod mentions;
pub mod row;
#[cfg(test)]
mod shown;
pub mod text;
