//! A unified diff as rows: line numbers, signs, colours.

mod parse;

use ratatui_core::style::Modifier;
use ratatui_core::text::Span;

use super::left_out;
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, Piece, flow, inner_width, spaces, spelled_out, spelled_out_line};

use parse::{DiffLine, LineKind};
pub(super) use parse::{FileDiff, parse};

/// A unified diff of any number of files, at most `max_rows` rows and one that says how many
/// lines are left out. Text that is no diff is shown as it is.
pub(crate) fn diff_rows(unified_diff: &str, look: &Look, max_rows: usize) -> Vec<Row> {
    let files = parse(unified_diff);
    let mut out = Capped::new(max_rows);
    for file in &files {
        if !file.path.is_empty() {
            let bold = look.theme.text.add_modifier(Modifier::BOLD);
            let pieces = [
                Piece::new(spelled_out_line(file.path), bold),
                Piece::new(format!(" {}", file.counts()), look.theme.dim),
            ];
            let frame = Frame::bare(look.width);
            out.add(|| flow(&pieces, frame, Break::Anywhere));
        }
        file_rows(file, 0, look, &mut out);
    }
    out.finish(0, look)
}

/// The lines of one file behind `indent` columns.
pub(super) fn file_rows(file: &FileDiff<'_>, indent: usize, look: &Look, out: &mut Capped) {
    let last = file.lines.iter().map(|line| line.number).max().unwrap_or(0);
    let column = indent + last.to_string().len();
    for line in &file.lines {
        out.add(|| line_rows(line, column, look));
    }
}

/// One line, whose number ends at `column`.
fn line_rows(line: &DiffLine<'_>, column: usize, look: &Look) -> Vec<Row> {
    let theme = &look.theme;
    let (sign, style) = match line.kind {
        LineKind::Added => ("+", theme.added),
        LineKind::Removed => ("-", theme.removed),
        LineKind::Context => (" ", theme.text),
        LineKind::Gap => return note(look.glyphs.skip, column, look),
        LineKind::Note => return note(line.text, column, look),
    };
    let text = spelled_out(line.text.trim_end());
    let number = Span::styled(format!("{:>column$} ", line.number), theme.dim);
    let first = [number, Span::styled(sign, style)];
    if inner_width(&spaces(column + 2), look.width) == look.width {
        // Without room for numbers, the sign still has to be there.
        let pieces = [Piece::new(format!("{sign}{text}"), style)];
        return flow(&pieces, Frame::bare(look.width), Break::Anywhere);
    }
    if text.is_empty() && line.kind == LineKind::Context {
        let number = format!("{:>column$}", line.number);
        return vec![Span::styled(number, theme.dim).into()];
    }
    let rest = [spaces(column + 2)];
    let frame = Frame {
        width: look.width,
        first: &first,
        rest: &rest,
    };
    flow(&[Piece::new(text, style)], frame, Break::Anywhere)
}

/// A row without a number.
fn note(text: &str, column: usize, look: &Look) -> Vec<Row> {
    let indent = [spaces(column + 1)];
    let frame = Frame {
        width: look.width,
        first: &indent,
        rest: &indent,
    };
    let pieces = [Piece::new(spelled_out(text.trim_end()), look.theme.dim)];
    flow(&pieces, frame, Break::Words)
}

/// Rows up to a limit; what comes later is counted and never set.
pub(super) struct Capped {
    rows: Vec<Row>,
    max_rows: usize,
    n_left_out: usize,
}

impl Capped {
    pub(super) fn new(max_rows: usize) -> Self {
        Self {
            rows: Vec::new(),
            max_rows,
            n_left_out: 0,
        }
    }

    /// Adds the rows of one line.
    pub(super) fn add(&mut self, rows: impl FnOnce() -> Vec<Row>) {
        let room = self.max_rows.saturating_sub(self.rows.len());
        if room == 0 {
            self.n_left_out += 1;
            return;
        }
        let mut rows = rows();
        if rows.len() > room {
            rows.truncate(room);
            self.n_left_out += 1;
        }
        self.rows.append(&mut rows);
    }

    /// All rows; below them, behind `indent` columns, how many lines are missing.
    pub(super) fn finish(mut self, indent: usize, look: &Look) -> Vec<Row> {
        if self.n_left_out > 0 {
            let more = left_out(self.n_left_out, look);
            let indent = [spaces(indent)];
            let frame = Frame {
                width: look.width,
                first: &indent,
                rest: &indent,
            };
            let pieces = [Piece::new(more, look.theme.dim)];
            self.rows.append(&mut flow(&pieces, frame, Break::Words));
        }
        self.rows
    }
}
