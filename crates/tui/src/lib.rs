//! The `tui` face: chat in the terminal.
//!
//! A pure state machine ([`app`](self)) and views that are functions of its state; finished text
//! goes to the terminal's own scrollback, only the live tail, the status and the composer are
//! drawn again. It knows threads and the protocol and nothing below them.

mod app;
mod cell;
mod cells;
mod command_table;
mod composer;
mod draft_file;
mod history_file;
mod look;
mod markdown;
mod mentions;
mod overlay;
mod private_file;
mod report;
mod row;
mod run;
mod screen;
mod settings;
#[cfg(test)]
mod shown;
mod terminal;
mod text;
mod transcript;

pub use run::{Begin, TerminalFacts, TuiError, TuiExit, TuiOptions, run};
pub use settings::{NotificationMethod, StatusItem, TuiSettings};

/// The names of the themes that there are.
pub fn theme_names() -> &'static [&'static str] {
    look::Theme::NAMES
}
