//! Commands that only looked, told in a few words.

use agent_protocol::{CommandExecution, ItemStatus};
use ratatui_core::style::Modifier;

use super::script::{Step, exploration};
use super::{branch_indents, marked};
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, Piece, flow, indent, inner_width, spelled_out, spelled_out_line};

/// Consecutive commands that only looked, in one cell. A command that
/// [`exploration`] does not know is shown in full.
pub(crate) fn explored(commands: &[CommandExecution], look: &Look) -> Vec<Row> {
    let runs = commands
        .iter()
        .any(|command| command.status == ItemStatus::InProgress);
    let words = if runs { "Exploring" } else { "Explored" };
    let bold = look.theme.text.add_modifier(Modifier::BOLD);
    let title = [Piece::new(words, bold)];
    let mut rows = marked(look.glyphs.bullet, look.theme.success, &title, look);
    let (first, rest) = branch_indents(look);
    let frame = Frame::bare(inner_width(&first, look.width));
    let mut below = Vec::new();
    for (verb, what) in lines(commands) {
        let pieces = [
            Piece::new(format!("{verb} "), look.theme.accent),
            Piece::new(what, look.theme.text),
        ];
        below.append(&mut flow(&pieces, frame, Break::Words));
    }
    rows.append(&mut indent(below, &first, &rest, look.width));
    rows
}

/// What to say, line by line: files that are read one after the other share a line.
fn lines(commands: &[CommandExecution]) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    let mut read: Vec<String> = Vec::new();
    for command in commands {
        let Some(exploration) = exploration(&command.command) else {
            read.clear();
            lines.push(("Run", spelled_out(command.command.trim())));
            continue;
        };
        for step in exploration.steps {
            let (verb, what) = describe(step);
            let goes_on = verb == "Read" && !read.is_empty();
            if goes_on && read.contains(&what) {
                continue;
            }
            match lines.last_mut() {
                Some((_, line)) if goes_on => {
                    line.push_str(", ");
                    line.push_str(&what);
                }
                _ => lines.push((verb, what.clone())),
            }
            if verb == "Read" {
                read.push(what);
            } else {
                read.clear();
            }
        }
    }
    lines
}

fn describe(step: Step) -> (&'static str, String) {
    match step {
        Step::Read { path } => ("Read", spelled_out_line(&path)),
        Step::Search {
            pattern,
            place: None,
        } => ("Search", spelled_out_line(&pattern)),
        Step::Search {
            pattern,
            place: Some(place),
        } => ("Search", spelled_out_line(&format!("{pattern} in {place}"))),
        Step::List { place } => (
            "List",
            spelled_out_line(&place.unwrap_or_else(|| ".".to_owned())),
        ),
        Step::Show { what } => ("Show", spelled_out_line(&what)),
    }
}
