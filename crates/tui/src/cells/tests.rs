mod commands;
mod edits;
mod words;

use agent_protocol::{CommandExecution, CommandSource, ItemStatus};

use super::*;
use crate::look::{Glyphs, Theme};
use crate::shown::{look, plain, styled};

/// The cell at the widths that people have.
#[track_caller]
fn at_widths(cell: impl Fn(&Look) -> Vec<Row>) -> String {
    [40, 80, 120]
        .map(|width| format!("{width}:\n{}", plain(&cell(&look(width)), width)))
        .concat()
}

/// The cell in plain glyphs and without colours.
#[track_caller]
fn in_plain_glyphs(cell: impl Fn(&Look) -> Vec<Row>) -> String {
    let look = Look {
        glyphs: Glyphs::PLAIN,
        theme: Theme::MONOCHROME,
        ..look(80)
    };
    let shown = plain(&cell(&look), 80);
    assert!(shown.is_ascii(), "{shown}");
    shown
}

fn ran(script: &str, output: &str, exit_code: i32) -> CommandExecution {
    let status = if exit_code == 0 {
        ItemStatus::Completed
    } else {
        ItemStatus::Failed
    };
    CommandExecution {
        command: script.to_owned(),
        aggregated_output: output.to_owned(),
        exit_code: Some(exit_code),
        status,
        duration_ms: Some(2345),
        source: CommandSource::Model,
        escalated: false,
        session_id: None,
        is_input: false,
    }
}

#[test]
fn lengths_of_time_are_short() {
    let shown = [
        0, 150, 9_900, 10_000, 59_999, 60_000, 185_000, 3_600_000, 90_061_000,
    ]
    .map(|ms| duration(Duration::from_millis(ms)))
    .join(" ");
    assert_eq!(shown, "0.0s 0.1s 9.9s 10s 59s 1m 00s 3m 05s 1h 00m 25h 01m");
}
