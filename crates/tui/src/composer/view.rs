//! What the composer looks like: rows of text, the list below, and where the cursor is.

use agent_terminal_text::sanitize;
use ratatui_core::style::Style;
use ratatui_core::text::Span;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::Composer;
use super::completion::{Item, Kind};
use super::history::Search;
use super::layout::{Layout, shown};
use super::rich_text::Unit;
use super::vim::Mode;
use crate::look::Look;
use crate::row::Row;

/// Rows that the list below the text has at most.
pub(super) const POPUP_ROWS: usize = 8;

/// Columns of the prompt and the space behind it.
const INDENT: usize = 2;
/// What an empty composer says: the first of these for which there is room.
const HINTS: [&str; 3] = [
    "Ask anything, @ files, / commands, ? shortcuts",
    "Ask, @ files, / commands, ? shortcuts",
    "? shortcuts",
];

/// The same of one that has no commands: it waits for an answer, not for an order.
const ANSWER_HINTS: [&str; 1] = ["in your own words"];

/// What there is to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComposerView {
    /// The text, at least one row.
    pub rows: Vec<Row>,
    /// The list below it, at most [`POPUP_ROWS`] rows.
    pub popup: Vec<Row>,
    /// Column and row of the cursor, counted from the first of `rows`; `popup` follows them.
    pub cursor: Option<(u16, u16)>,
    /// What Vim mode is in.
    pub mode: Option<&'static str>,
}

/// Columns for text in a terminal of `columns`. One is left for the cursor behind a full row.
pub(super) fn capacity(columns: u16) -> usize {
    let columns = usize::from(columns);
    columns.saturating_sub(indent(columns) + 1).max(1)
}

/// Very narrow terminals have no room for a prompt.
fn indent(columns: usize) -> usize {
    if columns < INDENT + 2 { 0 } else { INDENT }
}

pub(super) fn view(composer: &Composer, look: &Look, max_rows: u16) -> ComposerView {
    let capacity = capacity(look.width);
    let layout = composer.editor.layout(capacity);
    let text = composer.editor.text();
    let (row, column) = layout.position(text, composer.editor.cursor());
    let height = layout.len().min(usize::from(max_rows.max(1)));
    // The cursor is in the middle where the text goes on on both sides.
    let top = row.saturating_sub(height / 2).min(layout.len() - height);
    let rows: Vec<Row> = (top..top + height)
        .map(|row| text_row(composer, look, &layout, (row, row == top)))
        .collect();
    let columns = usize::from(look.width).max(1);
    let mut cursor = (
        (indent(columns) + column).min(columns - 1),
        row.saturating_sub(top),
    );
    let mut popup = Vec::new();
    if let Some(search) = &composer.search {
        popup = search_rows(composer, search, look);
        let first = popup.first().map_or(0, Row::width);
        cursor = (first.min(columns - 1), rows.len());
    } else if composer.completion.open().is_some() {
        popup = completion_rows(composer, look);
    }
    ComposerView {
        rows,
        popup,
        cursor: Some((narrow(cursor.0), narrow(cursor.1))),
        mode: composer.vim.as_ref().map(|vim| match vim.mode() {
            Mode::Insert => "INSERT",
            Mode::Normal => "NORMAL",
        }),
    }
}

fn narrow(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// One row of text; the first one that is shown has the prompt.
fn text_row(
    composer: &Composer,
    look: &Look,
    layout: &Layout,
    (row, is_first): (usize, bool),
) -> Row {
    let theme = &look.theme;
    let columns = usize::from(look.width);
    let mut line = Line::new(columns);
    if indent(columns) > 0 {
        let is_shell = composer.editor.text().as_str().starts_with('!');
        let style = if is_shell {
            theme.warning
        } else {
            theme.accent
        };
        if is_first {
            line.push(look.glyphs.prompt, style);
        }
        while line.width < INDENT {
            line.push(" ", theme.text);
        }
    }
    if composer.is_empty() {
        let fits = |hint: &&str| line.width + hint.len() <= columns;
        let hints = if composer.commands.is_empty() {
            ANSWER_HINTS.iter()
        } else {
            HINTS.iter()
        };
        let hint = hints.copied().find(fits).unwrap_or_default();
        line.push(hint, theme.dim);
        return line.into_row();
    }
    for unit in composer.editor.text().units(layout.row(row)) {
        let cell = shown(unit, capacity(look.width));
        let style = if unit.in_element {
            theme.accent
        } else if is_escaped(unit, &cell.text) {
            theme.warning
        } else {
            theme.text
        };
        line.push(&cell.text, style);
    }
    line.into_row()
}

/// Something else is shown than what was typed.
fn is_escaped(unit: Unit<'_>, shown: &str) -> bool {
    unit.text != "\t" && unit.text != shown
}

fn search_rows(composer: &Composer, search: &Search, look: &Look) -> Vec<Row> {
    let theme = &look.theme;
    let columns = usize::from(look.width);
    let mut line = Line::new(columns);
    line.push_clipped("  history search: ", theme.dim, look.glyphs.ellipsis);
    line.push_clipped(&sanitize(search.query()), theme.text, look.glyphs.ellipsis);
    let mut rows = vec![line.into_row()];
    let texts: Vec<&str> = search.texts(&composer.history).collect();
    if texts.is_empty() {
        let mut line = Line::new(columns);
        line.push_clipped("  no match", theme.dim, look.glyphs.ellipsis);
        rows.push(line.into_row());
    }
    for at in window(search.selected(), texts.len(), POPUP_ROWS - 1) {
        let text = texts.get(at).copied().unwrap_or_default().trim();
        let is_selected = at == search.selected();
        let mut line = entry_line(look, is_selected);
        let first = text.lines().next().unwrap_or_default();
        let first = sanitize(first).replace('\t', " ");
        let style = if is_selected {
            theme.selected
        } else {
            theme.text
        };
        line.push_clipped(&first, style, look.glyphs.ellipsis);
        if text.lines().count() > 1 {
            line.push_clipped(look.glyphs.ellipsis, theme.dim, "");
        }
        rows.push(line.into_row());
    }
    rows
}

fn completion_rows(composer: &Composer, look: &Look) -> Vec<Row> {
    let completion = &composer.completion;
    let mark = match completion.open().map(|token| token.kind) {
        Some(Kind::Command) => "/",
        Some(Kind::Skill) => "$",
        Some(Kind::File) | None => "",
    };
    let items = completion.items();
    let names = items.iter().map(|item| clean(&item.name).width());
    let widest = names.max().unwrap_or(0) + mark.len();
    window(completion.selected(), items.len(), POPUP_ROWS)
        .filter_map(|at| Some((at, items.get(at)?)))
        .map(|(at, item)| {
            let is_selected = at == completion.selected();
            let mut line = entry_line(look, is_selected);
            push_item(&mut line, look, (mark, item, is_selected));
            if !item.detail.is_empty() {
                let ellipsis = look.glyphs.ellipsis;
                while line.width < INDENT + widest + 2 && line.push(" ", look.theme.text) {}
                line.push_clipped(&clean(&item.detail), look.theme.dim, ellipsis);
            }
            line.into_row()
        })
        .collect()
}

/// An entry of a list; a mark, not colour alone, tells which one is selected.
fn entry_line(look: &Look, is_selected: bool) -> Line {
    let mut line = Line::new(usize::from(look.width));
    if is_selected {
        line.push(look.glyphs.bullet, look.theme.selected);
    }
    while line.width < INDENT && line.push(" ", look.theme.text) {}
    line
}

/// The name of an entry. Of one that is too long the end is shown: paths differ there.
fn push_item(line: &mut Line, look: &Look, (mark, item, is_selected): (&str, &Item, bool)) {
    let theme = &look.theme;
    let base = if is_selected {
        theme.selected
    } else {
        theme.text
    };
    let mut cells: Vec<(String, Style)> = vec![(mark.to_owned(), base)];
    let mut n_chars = 0;
    for grapheme in item.name.graphemes(true) {
        let matches = |at: &usize| (n_chars..n_chars + grapheme.chars().count()).contains(at);
        let style = if item.matched.iter().any(matches) {
            base.patch(theme.accent)
        } else {
            base
        };
        n_chars += grapheme.chars().count();
        cells.push((clean(grapheme), style));
    }
    let room = line.columns.saturating_sub(line.width);
    let mut width: usize = cells.iter().map(|(text, _)| text.width()).sum();
    let mut rest = cells.as_slice();
    if width > room {
        let ellipsis = look.glyphs.ellipsis;
        while let [(first, _), behind @ ..] = rest
            && width + ellipsis.width() > room
        {
            width -= first.width();
            rest = behind;
        }
        line.push(ellipsis, theme.dim);
    }
    for (text, style) in rest {
        line.push(text, *style);
    }
}

/// Text of one row.
fn clean(text: &str) -> String {
    sanitize(text).replace(['\n', '\t'], " ")
}

/// The entries to show so that the selected one is among them.
fn window(selected: usize, n_entries: usize, height: usize) -> std::ops::Range<usize> {
    let height = height.min(n_entries);
    let top = selected.saturating_sub(height / 2).min(n_entries - height);
    top..top + height
}

/// A row that is being filled, never wider than the screen.
struct Line {
    spans: Vec<Span<'static>>,
    width: usize,
    columns: usize,
}

impl Line {
    fn new(columns: usize) -> Self {
        Self {
            spans: Vec::new(),
            width: 0,
            columns,
        }
    }

    /// Adds printable text; false when it does not fit, and nothing is added.
    fn push(&mut self, text: &str, style: Style) -> bool {
        let width = text.width();
        if self.width + width > self.columns {
            return false;
        }
        self.width += width;
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(text),
            Some(_) | None => self.spans.push(Span::styled(text.to_owned(), style)),
        }
        true
    }

    /// Adds as much of a text as fits; an ellipsis tells that something is left out.
    fn push_clipped(&mut self, text: &str, style: Style, ellipsis: &str) {
        let room = self.columns.saturating_sub(self.width);
        let fits = text.width() <= room;
        let room = if fits {
            room
        } else {
            room.saturating_sub(ellipsis.width())
        };
        let end = self.width + room;
        for grapheme in text.graphemes(true) {
            if self.width + grapheme.width() > end {
                break;
            }
            self.push(grapheme, style);
        }
        if !fits {
            self.push(ellipsis, style);
        }
    }

    fn into_row(self) -> Row {
        Row::new(self.spans)
    }
}
