//! Text into rows: how wide it is, where it breaks, how it is cut short.
//!
//! Everything that passes through here is sanitised, so no row can hold a control character,
//! whoever wrote the text. Knows nothing of Markdown or of cells.

mod wrap;

use std::path::Path;
use std::sync::Arc;

use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::look::Look;
use crate::row::{Link, Row};

pub(crate) use wrap::flow;
pub(crate) use wrap::room_beside;

/// What a tab is replaced with. Real tab stops would need the column that the text begins at,
/// which is not what it was in the file once there is an indent.
const TAB: &str = "    ";

/// A stretch of text in one style, before it is broken into rows. May hold line feeds, which
/// end a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The text; foreign text is welcome.
    pub text: String,
    /// Its style.
    pub style: Style,
    /// Where it leads, as [`crate::row::Link::target`].
    pub target: Option<Arc<str>>,
}

impl Piece {
    /// Text that leads nowhere.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
            target: None,
        }
    }
}

/// Where the rows go: how wide they are and what stands before the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// Columns of a row, indents included.
    pub width: u16,
    /// Before the first row.
    pub first: &'a [Span<'static>],
    /// Before every other row.
    pub rest: &'a [Span<'static>],
}

impl Frame<'_> {
    /// A frame without indents.
    pub(crate) fn bare(width: u16) -> Self {
        Self {
            width,
            first: &[],
            rest: &[],
        }
    }
}

/// Where a row may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    /// Between words; within a word only if it is longer than a row.
    Words,
    /// Anywhere: code, where each column counts.
    Anywhere,
}

/// How many columns the text takes, once it is clean.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Wraps one logical line at words. Line feeds in it end a row. At least one row.
pub(crate) fn wrap(
    line: &Line<'static>,
    width: u16,
    first_indent: &[Span<'static>],
    rest_indent: &[Span<'static>],
) -> Vec<Row> {
    let pieces: Vec<Piece> = line
        .spans
        .iter()
        .map(|span| Piece::new(span.content.as_ref(), line.style.patch(span.style)))
        .collect();
    let frame = Frame {
        width,
        first: first_indent,
        rest: rest_indent,
    };
    flow(&pieces, frame, Break::Words)
}

/// The beginning of a text that fits into `width` columns, with `ellipsis` at its end if
/// something was left out. Always one line.
pub(crate) fn truncate(text: &str, width: usize, ellipsis: &str) -> String {
    cut(one_line(text), width, ellipsis)
}

fn cut(text: String, width: usize, ellipsis: &str) -> String {
    if text.width() <= width {
        return text;
    }
    let ellipsis = if ellipsis.width() <= width {
        ellipsis
    } else {
        ""
    };
    let room = width.saturating_sub(ellipsis.width());
    let mut kept = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        used += grapheme.width();
        if used > room {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.truncate(kept.trim_end().len());
    kept.push_str(ellipsis);
    kept
}

/// Foreign text without control characters but line feeds; tabs are spaces.
pub(crate) fn clean(text: &str) -> String {
    if text
        .bytes()
        .all(|b| b == b'\n' || (b' '..=b'~').contains(&b))
    {
        return text.to_owned(); // Most text is this, and the parser of sequences is slow.
    }
    agent_terminal_text::sanitize(text).replace('\t', TAB)
}

/// Foreign text of which nothing may be hidden: commands, paths, changes. What a terminal would
/// act on (a carriage return that overwrites, an escape sequence that deletes) is spelled out, and
/// so is what looks like something else: spaces that separate no words, marks that show nothing
/// behind a plain character. Only line feeds and tabs stay.
pub(crate) fn spelled_out(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        let is_control = character.is_control() && !matches!(character, '\n' | '\t');
        if is_control || before.is_ascii() && joins(character) || is_false_space(character) {
            spelled.extend(character.escape_default());
        } else {
            spelled.push(character);
        }
        before = character;
    }
    spelled
}

/// Joiners and variation selectors: emoji and several scripts need them between their own
/// characters, elsewhere they show nothing.
fn joins(character: char) -> bool {
    matches!(character, '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}')
}

/// Looks like a space, but is a part of a word to a shell. The space of East Asian texts is as
/// wide as their characters and is seen.
fn is_false_space(character: char) -> bool {
    let is_other = character.is_whitespace() && !character.is_ascii();
    is_other && character != '\u{3000}' || character == '\u{2800}'
}

/// Like [`spelled_out`], on one line.
pub(crate) fn spelled_out_line(text: &str) -> String {
    clean(&spelled_out(text).replace('\n', "\\n"))
}

/// Foreign text as one line: line feeds are spaces.
pub(crate) fn one_line(text: &str) -> String {
    clean(text.trim()).replace('\n', " ")
}

/// The beginning of a row that fits the look's width. Links that are cut off go.
pub(crate) fn truncate_row(row: &Row, look: &Look) -> Row {
    let room = usize::from(look.width);
    if row.width() <= room {
        return row.clone();
    }
    let more = "  "; // The row is too wide, so whatever fills it is not its end.
    let mut used = 0;
    let mut spans = Vec::new();
    for span in &row.line.spans {
        let text = clean(&span.content).replace('\n', " ");
        // A span that just fits is cut as well: something follows that does not.
        let is_last = used + text.width() >= room;
        let text = if is_last { text + more } else { text };
        let kept = cut(text, room - used, look.glyphs.ellipsis);
        used += kept.width();
        spans.push(Span::styled(kept, span.style));
        if is_last {
            break;
        }
    }
    let mut cut = Row::new(spans);
    cut.line.style = row.line.style;
    cut.links.clone_from(&row.links);
    cut.links
        .retain(|link| usize::from(link.columns.end) <= used);
    cut
}

/// Spaces to put before text.
pub(crate) fn spaces(n_columns: usize) -> Span<'static> {
    Span::raw(" ".repeat(n_columns))
}

/// Puts a row behind another; its links move along.
pub(crate) fn append(row: &mut Row, more: Row) {
    let shift = u16::try_from(row.width()).unwrap_or(u16::MAX);
    row.line.spans.extend(more.line.spans);
    row.links.extend(more.links.into_iter().map(|link| Link {
        columns: link.columns.start.saturating_add(shift)..link.columns.end.saturating_add(shift),
        ..link
    }));
}

/// Puts something before each row that was set for [`inner_width`]. Blank rows stay blank.
pub(crate) fn indent(
    rows: Vec<Row>,
    first: &Span<'static>,
    rest: &Span<'static>,
    width: u16,
) -> Vec<Row> {
    if inner_width(first, width) == width {
        return rows;
    }
    let with_prefix = |(row_idx, row): (usize, Row)| {
        if row_idx > 0 && row.width() == 0 {
            return Row::blank();
        }
        let prefix = if row_idx == 0 { first } else { rest };
        let mut whole = Row::from(prefix.clone());
        append(&mut whole, row);
        whole
    };
    rows.into_iter().enumerate().map(with_prefix).collect()
}

/// Columns that are left beside a prefix; all of them if they would be too few.
pub(crate) fn inner_width(prefix: &Span<'static>, width: u16) -> u16 {
    let room = room_beside(std::slice::from_ref(prefix), width);
    u16::try_from(room).unwrap_or(width)
}

/// A count in a few characters: `950`, `12.3k`, `1.2M`.
pub(crate) fn short_count(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A path with `~` for the home directory.
pub(crate) fn short_path(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    match below {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
