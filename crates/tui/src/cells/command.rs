//! A shell command and what it printed.

use std::fmt::Write as _;
use std::time::Duration;

use agent_protocol::{CommandExecution, CommandSource, ItemStatus};
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::Span;

use super::{branch_indents, duration, left_out};
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, Piece, flow, indent, inner_width, spelled_out};

/// What a command's cell shows beside the command itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandView<'a> {
    /// What it has printed so far; used while it runs.
    pub live_output: &'a str,
    /// How long it has been running; used while it runs.
    pub elapsed: Option<Duration>,
    /// At most so many rows of the script.
    pub max_script_rows: usize,
    /// At most so many rows of output, beside the one that says what is left out.
    pub max_output_rows: usize,
}

impl Default for CommandView<'_> {
    fn default() -> Self {
        Self {
            live_output: "",
            elapsed: None,
            max_script_rows: 8,
            max_output_rows: 5,
        }
    }
}

/// A command: what it is, how it went and the two ends of what it printed.
pub(crate) fn command(command: &CommandExecution, view: &CommandView<'_>, look: &Look) -> Vec<Row> {
    let mut rows = script_rows(command, view, look);
    let output = match command.status {
        ItemStatus::InProgress if !view.live_output.is_empty() => view.live_output,
        ItemStatus::InProgress
        | ItemStatus::Completed
        | ItemStatus::Failed
        | ItemStatus::Declined => &command.aggregated_output,
    };
    rows.append(&mut output_rows(output, view.max_output_rows, look));
    rows
}

/// What is said of a command that goes on after its call.
const BACKGROUND: &str = "Goes on in the background:";

/// The mark and the words in front of the script.
fn verdict(
    command: &CommandExecution,
    source: CommandSource,
    look: &Look,
) -> (Span<'static>, &'static str) {
    let theme = &look.theme;
    let mark = |mark: &str, style: Style| Span::styled(format!("{mark} "), style);
    let ok = mark(look.glyphs.bullet, theme.success);
    let bad = mark(look.glyphs.failed, theme.error);
    let stopped = command.exit_code.is_none();
    if command.is_input {
        return match command.status {
            ItemStatus::InProgress | ItemStatus::Completed => (ok, "Typed into"),
            ItemStatus::Declined => (bad, "Declined to type into"),
            ItemStatus::Failed => (bad, "Could not type into"),
        };
    }
    if command.session_id.is_some() && source == CommandSource::Model {
        return match command.status {
            ItemStatus::InProgress => (mark(look.glyphs.bullet, theme.accent), BACKGROUND),
            ItemStatus::Completed => (ok, "Ended in the background:"),
            ItemStatus::Failed if stopped => (bad, "Stopped in the background:"),
            ItemStatus::Failed | ItemStatus::Declined => (bad, "Ended in the background:"),
        };
    }
    match (command.status, source) {
        (ItemStatus::InProgress, CommandSource::Model) => {
            (mark(look.glyphs.bullet, theme.accent), "Running")
        }
        (ItemStatus::InProgress, CommandSource::User) => {
            (mark(look.glyphs.bullet, theme.accent), "You are running")
        }
        (ItemStatus::Declined, CommandSource::Model | CommandSource::User) => (bad, "Declined"),
        (ItemStatus::Failed, CommandSource::Model | CommandSource::User) if stopped => {
            (bad, "Stopped")
        }
        (ItemStatus::Failed, CommandSource::Model) if command.escalated => {
            (bad, "Ran outside the sandbox:")
        }
        (ItemStatus::Failed, CommandSource::Model) => (bad, "Ran"),
        (ItemStatus::Failed, CommandSource::User) => (bad, "You ran"),
        (ItemStatus::Completed, _) if command.exit_code.is_some_and(|code| code != 0) => (
            bad,
            if source == CommandSource::User {
                "You ran"
            } else {
                "Ran"
            },
        ),
        (ItemStatus::Completed, CommandSource::Model) if command.escalated => {
            (ok, "Ran outside the sandbox:")
        }
        (ItemStatus::Completed, CommandSource::Model) => (ok, "Ran"),
        (ItemStatus::Completed, CommandSource::User) => (ok, "You ran"),
    }
}

fn script_rows(command: &CommandExecution, view: &CommandView<'_>, look: &Look) -> Vec<Row> {
    let (mark, words) = verdict(command, command.source, look);
    let bold = look.theme.text.add_modifier(Modifier::BOLD);
    let outcome = outcome(command, view, look);
    let pieces = [
        Piece::new(format!("{words} "), bold),
        Piece::new(spelled_out(command.command.trim_end()), look.theme.text),
        Piece::new(outcome.clone(), look.theme.dim),
    ];
    let rest = [Span::styled(
        format!("  {} ", look.glyphs.bar),
        look.theme.dim,
    )];
    let frame = Frame {
        width: look.width,
        first: &[mark],
        rest: &rest,
    };
    let mut rows = flow(&pieces, frame, Break::Words);
    let max = view.max_script_rows.max(1);
    if rows.len() > max {
        let more = left_out(rows.len() - max, look);
        rows.truncate(max);
        let frame = Frame {
            width: look.width,
            first: &rest,
            rest: &rest,
        };
        let pieces = [Piece::new(more + &outcome, look.theme.dim)];
        rows.append(&mut flow(&pieces, frame, Break::Words));
    }
    rows
}

/// How it ended and how long it took, to stand behind the script.
fn outcome(command: &CommandExecution, view: &CommandView<'_>, look: &Look) -> String {
    let code = command.exit_code.filter(|code| *code != 0);
    let took = match command.status {
        ItemStatus::InProgress => view.elapsed,
        ItemStatus::Completed | ItemStatus::Failed => {
            command.duration_ms.map(Duration::from_millis)
        }
        ItemStatus::Declined => None,
    };
    // What is over at once needs no number.
    let took = took.filter(|took| took.as_millis() >= 100);
    let mut outcome = String::new();
    if let Some(code) = code {
        outcome.push_str(look.glyphs.joint);
        let _ = write!(outcome, "exit {code}");
    }
    if let Some(took) = took {
        outcome.push_str(look.glyphs.joint);
        outcome.push_str(&duration(took));
    }
    if let Some(session) = command.session_id.filter(|_| !command.is_input) {
        outcome.push_str(look.glyphs.joint);
        let _ = write!(outcome, "session {session}");
    }
    outcome
}

/// The beginning and the end of an output.
fn output_rows(output: &str, max_rows: usize, look: &Look) -> Vec<Row> {
    let lines: Vec<&str> = output
        .trim_end()
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .collect();
    if max_rows == 0 || lines.is_empty() {
        return Vec::new();
    }
    let n_head = max_rows / 2;
    let n_tail = max_rows - n_head;
    let n_skipped = lines.len().saturating_sub(max_rows);
    let head_end = if n_skipped > 0 { n_head } else { lines.len() };
    let mut head = Rows::set(lines.iter().take(head_end), max_rows, look);
    let mut tail = Rows::set(lines.iter().skip(head_end + n_skipped), max_rows, look);
    if n_skipped == 0 && head.rows.len() > max_rows {
        tail.rows = head.rows.split_off(n_head);
    }
    let n_unset = n_skipped + head.n_unset + tail.n_unset;
    if n_unset > 0 || !tail.rows.is_empty() {
        let n_cut_head = head.rows.len().saturating_sub(n_head);
        let n_cut_tail = tail.rows.len().saturating_sub(n_tail);
        head.rows.truncate(n_head);
        let n_cut = n_unset + n_cut_head + n_cut_tail;
        let more = Piece::new(left_out(n_cut, look), look.theme.dim);
        let frame = Frame::bare(inner_width(&branch_indents(look).0, look.width));
        head.rows.append(&mut flow(&[more], frame, Break::Words));
        head.rows.extend(tail.rows.into_iter().skip(n_cut_tail));
    }
    let (first, rest) = branch_indents(look);
    indent(head.rows, &first, &rest, look.width)
}

/// Lines of an output, for the room beside the indent.
struct Rows {
    rows: Vec<Row>,
    /// About how many rows were not set.
    n_unset: usize,
}

impl Rows {
    /// Sets lines. Of each only so much is broken into rows as may be shown: outputs are long,
    /// and are shown often while they grow.
    fn set<'a>(lines: impl Iterator<Item = &'a &'a str>, max_rows: usize, look: &Look) -> Self {
        let (first, _) = branch_indents(look);
        let frame = Frame::bare(inner_width(&first, look.width));
        // A character takes at most four bytes a column, with some room for combining marks.
        let limit = max_rows
            .saturating_mul(usize::from(frame.width))
            .saturating_mul(8);
        let mut all = Self {
            rows: Vec::new(),
            n_unset: 0,
        };
        for line in lines {
            let line = line.trim_end();
            let (start, rest) = line.split_at(line.floor_char_boundary(limit));
            let end = rest.ceil_char_boundary(rest.len().saturating_sub(limit));
            let (middle, end) = rest.split_at(end);
            all.n_unset += middle.len().div_ceil(usize::from(frame.width.max(1)));
            let mut set = |part: &str| {
                let pieces = [Piece::new(part, look.theme.dim)];
                all.rows.append(&mut flow(&pieces, frame, Break::Anywhere));
            };
            set(start);
            if !end.is_empty() {
                set(end);
            }
        }
        all
    }
}
