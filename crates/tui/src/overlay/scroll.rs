//! Text of which nothing may be hidden: it scrolls where it does not fit, and says so.

use crossterm::event::KeyCode;
use ratatui_core::text::Span;

use crate::look::Look;
use crate::row::Row;
use crate::text;

/// How far a page key scrolls at most.
const PAGE_ROWS: usize = 8;

/// How far a text is scrolled.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scroll {
    /// The first row that is shown.
    offset: usize,
    /// How far it can scroll, from the last view.
    max_offset: usize,
    /// How far a page key goes: no row is jumped over.
    page: usize,
}

impl Scroll {
    /// Whether the key scrolled, or would have.
    pub(super) fn key(&mut self, code: KeyCode) -> bool {
        if self.max_offset == 0 {
            return false;
        }
        if code == KeyCode::PageUp {
            self.offset = self.offset.saturating_sub(self.page);
        } else if code == KeyCode::PageDown {
            self.offset = (self.offset + self.page).min(self.max_offset);
        }
        matches!(code, KeyCode::PageUp | KeyCode::PageDown)
    }

    /// As many of the rows as there is room for, at least one.
    pub(super) fn view(&mut self, rows: Vec<Row>, room: usize, look: &Look) -> Vec<Row> {
        let n_rows = rows.len();
        if n_rows <= room {
            *self = Self::default();
            return rows;
        }
        // One row says that there are more, where there is room for more than one.
        let n_shown = room.saturating_sub(1).max(1);
        self.max_offset = n_rows.saturating_sub(n_shown);
        self.offset = self.offset.min(self.max_offset);
        self.page = n_shown.min(PAGE_ROWS);
        let mut shown: Vec<Row> = rows.into_iter().skip(self.offset).take(n_shown).collect();
        if room > 1 {
            let n_below = self.max_offset - self.offset;
            let text = format!("  {n_below} more rows; page up and page down scroll");
            let row = Row::from(Span::styled(text, look.theme.warning));
            shown.push(text::truncate_row(&row, look));
        }
        shown
    }
}
