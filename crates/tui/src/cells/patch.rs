//! An edit of files: what was changed, and how.

use agent_protocol::{ChangeKind, FileChange, ItemStatus, PathChange};
use ratatui_core::style::Modifier;

use super::diff::{Capped, FileDiff, file_rows, parse};
use super::{branch, marked};
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Piece, spelled_out_line};

/// Columns before the lines of a diff.
const INDENT: usize = 4;

/// An edit: the files, why it was not made, and at most `max_rows` rows of its diff.
pub(crate) fn patch(change: &FileChange, max_rows: usize, look: &Look) -> Vec<Row> {
    let files = parse(&change.unified_diff);
    let mut rows = title(change, &files, look);
    if let Some(error) = &change.error {
        let pieces = [Piece::new(error.trim_end(), look.theme.dim)];
        rows.append(&mut branch(&pieces, look, Break::Words));
    }
    let mut out = Capped::new(max_rows);
    if let [_] = change.changes.as_slice() {
        for file in &files {
            file_rows(file, INDENT, look, &mut out);
        }
        rows.append(&mut out.finish(INDENT, look));
        return rows;
    }
    for path in &change.changes {
        let file = files.iter().find(|file| file.path == path.path);
        out.add(|| branch(&file_title(path, file, look), look, Break::Words));
        if let Some(file) = file {
            file_rows(file, INDENT, look, &mut out);
        }
    }
    rows.append(&mut out.finish(INDENT, look));
    rows
}

/// The first line: what became of the edit.
fn title(change: &FileChange, files: &[FileDiff<'_>], look: &Look) -> Vec<Row> {
    let theme = &look.theme;
    let kind = match change.changes.as_slice() {
        [only] => only.kind,
        _ => ChangeKind::Update,
    };
    let (mark, style, verb) = match change.status {
        ItemStatus::InProgress => (look.glyphs.bullet, theme.accent, present(kind)),
        ItemStatus::Completed => (look.glyphs.bullet, theme.success, past(kind)),
        ItemStatus::Failed => (look.glyphs.failed, theme.error, failed(kind)),
        ItemStatus::Declined => (look.glyphs.failed, theme.error, declined(kind)),
    };
    let what = match change.changes.as_slice() {
        [only] => spelled_out_line(&only.path),
        several => format!("{} files", several.len()),
    };
    let mut pieces = vec![
        Piece::new(format!("{verb} "), theme.text.add_modifier(Modifier::BOLD)),
        Piece::new(what, theme.text),
    ];
    if !files.is_empty() {
        let n_added = files.iter().map(|file| file.n_added).sum();
        let n_removed = files.iter().map(|file| file.n_removed).sum();
        pieces.extend(counts(n_added, n_removed, look));
    }
    marked(mark, style, &pieces, look)
}

fn file_title(path: &PathChange, file: Option<&FileDiff<'_>>, look: &Look) -> Vec<Piece> {
    let mut pieces = vec![Piece::new(
        format!("{} {}", past(path.kind), spelled_out_line(&path.path)),
        look.theme.text,
    )];
    if let Some(file) = file {
        pieces.extend(counts(file.n_added, file.n_removed, look));
    }
    pieces
}

fn counts(n_added: usize, n_removed: usize, look: &Look) -> [Piece; 5] {
    let theme = &look.theme;
    [
        Piece::new(" (", theme.dim),
        Piece::new(format!("+{n_added}"), theme.added),
        Piece::new(" ", theme.dim),
        Piece::new(format!("-{n_removed}"), theme.removed),
        Piece::new(")", theme.dim),
    ]
}

fn past(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "Added",
        ChangeKind::Delete => "Deleted",
        ChangeKind::Update => "Edited",
    }
}

fn present(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "Adding",
        ChangeKind::Delete => "Deleting",
        ChangeKind::Update => "Editing",
    }
}

fn failed(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "Could not add",
        ChangeKind::Delete => "Could not delete",
        ChangeKind::Update => "Could not edit",
    }
}

fn declined(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "Declined adding",
        ChangeKind::Delete => "Declined deleting",
        ChangeKind::Update => "Declined editing",
    }
}
