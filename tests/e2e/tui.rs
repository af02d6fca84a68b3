//! The terminal interface of the built binary, in a pseudo-terminal with an emulator behind it.

mod background;
mod cases;
mod commands;
mod composing;
mod drafts;
mod exits;
mod idle;
mod pager;
mod plain;
mod resizing;
mod start;
mod support;
mod suspending;
mod tmux;
mod walkthrough;
mod writing;
