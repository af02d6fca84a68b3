//! The cells of the transcript: each a function of plain data and the look to rows.
//!
//! A cell ends without a blank row; whoever puts cells below each other separates them. Text
//! of models, commands and files is foreign: it is sanitised as it becomes rows. Knows nothing
//! of the state that the cells come from.

mod command;
mod diff;
mod explored;
mod message;
mod notice;
mod patch;
mod script;
mod session;

use std::time::Duration;

use ratatui_core::style::Style;
use ratatui_core::text::Span;

use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, Piece, flow, spaces, width};

pub(crate) use command::{CommandView, command};
pub(crate) use diff::diff_rows;
pub(crate) use explored::explored;
pub(crate) use message::{AgentMessage, Detail, agent_message, reasoning, user_message};
pub(crate) use notice::{NoticeKind, interrupted, notice, plan};
pub(crate) use patch::patch;
pub(crate) use script::exploration;
pub(crate) use session::{SessionHeader, TurnFooter, session_header, turn_footer};

/// Text behind a mark, with the rows that follow below the text.
fn marked(mark: &str, style: Style, pieces: &[Piece], look: &Look) -> Vec<Row> {
    let first = [Span::styled(format!("{mark} "), style)];
    let rest = [spaces(width(mark) + 1)];
    let frame = Frame {
        width: look.width,
        first: &first,
        rest: &rest,
    };
    flow(pieces, frame, Break::Words)
}

/// Text that belongs to the line above it.
fn branch(pieces: &[Piece], look: &Look, breaking: Break) -> Vec<Row> {
    let (first, rest) = branch_indents(look);
    let frame = Frame {
        width: look.width,
        first: &[first],
        rest: &[rest],
    };
    flow(pieces, frame, breaking)
}

/// What stands before the first row of what belongs to the line above, and before the others.
fn branch_indents(look: &Look) -> (Span<'static>, Span<'static>) {
    let branch = format!("  {} ", look.glyphs.branch);
    let rest = spaces(width(&branch));
    (Span::styled(branch, look.theme.dim), rest)
}

/// Says how many lines are not shown.
fn left_out(n_lines: usize, look: &Look) -> String {
    let unit = if n_lines == 1 { "line" } else { "lines" };
    format!("{} +{n_lines} {unit}", look.glyphs.ellipsis)
}

/// A length of time, as short as it may be.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1}s", duration.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests;
