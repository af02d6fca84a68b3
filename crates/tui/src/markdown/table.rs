//! Tables: columns that shrink to fit, cells that wrap, and plain lines where there is no room.

use ratatui_core::style::Modifier;
use ratatui_core::text::Span;

use pulldown_cmark::Alignment;

use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, Piece, append, flow, spaces};

/// So many rows decide how wide the columns are; a longer table is shown with these widths.
pub(super) const MEASURED_ROWS: usize = 200;
/// Columns narrower than this are hard to read.
const MIN_COLUMN: usize = 5;
/// Columns between two cells.
const GAP: usize = 3;

/// A cell.
pub(super) type Cell = Vec<Piece>;

/// A table as it was parsed; the first row is its head.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) alignments: Vec<Alignment>,
}

/// How the rows of a table are set.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    /// Side by side, with the widths of the columns.
    Columns(Vec<usize>),
    /// One line for each cell, with its heading.
    Fields,
}

impl Layout {
    /// Fits the table into `room` columns.
    pub(super) fn fit(table: &Table, room: usize) -> Self {
        let n_columns = table.alignments.len();
        let mut widths = vec![1; n_columns];
        for row in table.rows.iter().take(MEASURED_ROWS + 1) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell_width(cell, room));
            }
        }
        let room = room.saturating_sub(GAP * n_columns.saturating_sub(1));
        if widths.iter().sum::<usize>() <= room {
            return Self::Columns(widths);
        }
        let limit = widest(&widths, room);
        if limit < MIN_COLUMN {
            return Self::Fields;
        }
        // What rounding leaves over goes to the first columns that want it.
        let mut left = room.saturating_sub(widths.iter().map(|w| (*w).min(limit)).sum());
        for width in &mut widths {
            if *width > limit {
                *width = limit + usize::from(left > 0);
                left = left.saturating_sub(1);
            }
        }
        Self::Columns(widths)
    }

    /// The head, and a line below it.
    pub(super) fn head(&self, table: &Table, look: &Look) -> Vec<Row> {
        let (Self::Columns(widths), Some(head)) = (self, table.rows.first()) else {
            return Vec::new();
        };
        let head: Vec<Cell> = head.iter().map(|cell| bold(cell.clone())).collect();
        let mut rows = columns(&head, widths, &table.alignments, look);
        let total = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        rows.push(Span::styled(look.glyphs.rule.repeat(total), look.theme.dim).into());
        rows
    }

    /// The rows below the head. `continues` if there were some before.
    pub(super) fn body(
        &self,
        table: &Table,
        look: &Look,
        continues: bool,
        room: usize,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        let head = table.rows.first().map(Vec::as_slice).unwrap_or_default();
        for (row_idx, row) in table.rows.iter().skip(1).enumerate() {
            match self {
                Self::Columns(widths) => {
                    rows.append(&mut columns(row, widths, &table.alignments, look));
                }
                Self::Fields => {
                    if continues || row_idx > 0 {
                        let rule = look.glyphs.rule.repeat(room.min(4));
                        rows.push(Span::styled(rule, look.theme.dim).into());
                    }
                    rows.append(&mut fields(head, row, room));
                }
            }
        }
        if matches!(self, Self::Fields) && rows.is_empty() && !continues {
            rows = fields(head, &[], room);
        }
        rows
    }
}

/// The widest column that all fit with, if the narrower ones keep their width.
fn widest(widths: &[usize], room: usize) -> usize {
    let mut sorted = widths.to_vec();
    sorted.sort_unstable();
    let mut room = room;
    let mut n_left = sorted.len();
    for width in sorted {
        if width * n_left > room {
            return room / n_left.max(1);
        }
        room -= width;
        n_left -= 1;
    }
    room
}

/// Columns of the longest line of a cell, which need not be counted beyond `limit`.
fn cell_width(cell: &Cell, limit: usize) -> usize {
    let frame = Frame::bare(u16::try_from(limit.max(1)).unwrap_or(u16::MAX));
    let rows = flow(cell, frame, Break::Words);
    rows.iter().map(Row::width).max().unwrap_or(0)
}

fn bold(mut cell: Cell) -> Cell {
    for piece in &mut cell {
        piece.style = piece.style.add_modifier(Modifier::BOLD);
    }
    cell
}

fn columns(row: &[Cell], widths: &[usize], alignments: &[Alignment], look: &Look) -> Vec<Row> {
    let cells: Vec<Vec<Row>> = widths
        .iter()
        .enumerate()
        .map(|(column_idx, width)| {
            let cell = row.get(column_idx).map(Vec::as_slice).unwrap_or_default();
            let frame = Frame::bare(u16::try_from(*width).unwrap_or(u16::MAX));
            flow(cell, frame, Break::Words)
        })
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut rows = Vec::with_capacity(height);
    for row_idx in 0..height {
        let mut line = Row::blank();
        for (column_idx, (cell, column)) in cells.iter().zip(widths).enumerate() {
            if column_idx > 0 {
                let bar = format!(" {} ", look.glyphs.bar);
                line.line.spans.push(Span::styled(bar, look.theme.dim));
            }
            let is_last = column_idx + 1 == widths.len();
            let text = cell.get(row_idx).cloned().unwrap_or_default();
            let free = column.saturating_sub(text.width());
            let before = match alignments.get(column_idx) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                Some(Alignment::Left | Alignment::None) | None => 0,
            };
            let after = if is_last { 0 } else { free - before };
            pad(&mut line, before);
            append(&mut line, text);
            pad(&mut line, after);
        }
        trim_end(&mut line);
        rows.push(line);
    }
    rows
}

/// Takes the spaces off that stand before an empty last cell.
fn trim_end(row: &mut Row) {
    if let Some(last) = row.line.spans.last_mut() {
        let kept = last.content.trim_end().len();
        last.content.to_mut().truncate(kept);
    }
}

fn pad(row: &mut Row, n_columns: usize) {
    if n_columns > 0 {
        row.line.spans.push(spaces(n_columns));
    }
}

/// `heading: value` for each cell.
fn fields(head: &[Cell], row: &[Cell], room: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (column_idx, heading) in head.iter().enumerate() {
        let mut pieces = bold(heading.clone());
        pieces.push(Piece::new(": ", ratatui_core::style::Style::new()));
        pieces.extend(row.get(column_idx).cloned().unwrap_or_default());
        let rest = [spaces(2)];
        let frame = Frame {
            width: u16::try_from(room.max(1)).unwrap_or(u16::MAX),
            first: &[],
            rest: &rest,
        };
        rows.append(&mut flow(&pieces, frame, Break::Words));
    }
    rows
}
