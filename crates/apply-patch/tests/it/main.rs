//! Tests of the whole crate: text and files in, bytes or messages out.
#![cfg(test)]
#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "tests build small texts in the plainest way"
)]

mod bytes;
mod edits;
mod forms;
mod in_bash;
mod large;
mod messages;
mod placement;
mod places;
mod progress;
mod properties;
mod scenarios;
mod shell;
mod support;
