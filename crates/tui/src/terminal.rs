//! The terminal: entering and leaving its modes, and drawing on it.

mod encode;
mod inline;
mod modes;
mod plain;
mod screen;

pub(crate) use inline::{Frame, InlineTerminal, Reflow};
pub(crate) use modes::{Modes, Size, write_all};
pub(crate) use plain::PlainTerminal;
pub(crate) use screen::AlternateScreen;
