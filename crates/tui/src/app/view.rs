//! The frame: what still changes, what is going on, the composer and the status line.

use std::time::Instant;

use ratatui_core::text::Span;

use super::App;
use crate::composer::ComposerView;
use crate::overlay::Overlay;
use crate::row::Row;
use crate::terminal::{Frame, Size};
use crate::text;

/// How many rows the composer takes at most.
const MAX_COMPOSER_ROWS: u16 = 12;

/// On a smaller screen the hint that keys are kept away is left out.
const MIN_HINT_ROWS: u16 = 4;

/// What is shown.
#[derive(Debug)]
pub(crate) enum View {
    /// At the end of the scrollback.
    Inline(Frame),
    /// Over the whole terminal.
    Screen(Frame),
}

impl App {
    /// What is shown now. It fits the size.
    pub(crate) fn view(&mut self, size: Size, now: Instant) -> View {
        if let Some(screen) = &mut self.screen {
            let look = &self.look;
            let mut frame = screen.view(&self.transcript, look, size);
            if self.overlays.front().is_some_and(Overlay::is_question)
                && let Some(last) = frame.rows.last_mut()
            {
                let hint = "a question waits; esc leaves this and shows it";
                let row = Row::from(Span::styled(hint, look.theme.warning));
                *last = text::truncate_row(&row, look);
            }
            return View::Screen(frame);
        }
        View::Inline(self.inline(size, now))
    }

    fn inline(&mut self, size: Size, now: Instant) -> Frame {
        let height = usize::from(size.rows);
        let (bottom, cursor) = self.bottom(size);
        let mut above = self.above(height.saturating_sub(bottom.len()), now);
        if height > 2 && self.transcript.wants_gap() {
            let room = height.saturating_sub(bottom.len());
            if above.len() < room {
                above.insert(0, Row::blank());
            }
        }
        let n_above = above.len();
        let mut rows = above;
        rows.extend(bottom);
        let n_over = rows.len().saturating_sub(height);
        let rows = rows.split_off(n_over);
        let cursor = cursor.and_then(|(column, row)| {
            let row = (usize::from(row) + n_above).checked_sub(n_over)?;
            let row = u16::try_from(row).ok()?;
            (row < size.rows).then_some((column.min(size.columns.saturating_sub(1)), row))
        });
        Frame { rows, cursor }
    }

    /// What the user works with, and the cursor in it.
    fn bottom(&mut self, size: Size) -> (Vec<Row>, Option<(u16, u16)>) {
        let is_kept = self.guard.is_up() && self.has_guarded();
        if let Some(overlay) = self.overlays.front_mut() {
            let has_hint = is_kept && size.rows > MIN_HINT_ROWS;
            let size = Size {
                rows: size.rows - u16::from(has_hint),
                ..size
            };
            let (mut rows, cursor) = overlay.view(&self.look, size);
            if has_hint {
                let hint = "you were typing: keys count again after a short rest";
                let row = Row::from(Span::styled(hint, self.look.theme.dim));
                rows.push(text::truncate_row(&row, &self.look));
            }
            return (rows, cursor);
        }
        let max_rows = MAX_COMPOSER_ROWS.min(size.rows.saturating_sub(2).max(1));
        let ComposerView {
            mut rows,
            popup,
            cursor,
            mode,
        } = self.composer.view(&self.look, max_rows);
        let room = usize::from(size.rows).saturating_sub(rows.len());
        if popup.is_empty() {
            if room > 0 {
                let mut status = self.status_line();
                if let Some(mode) = mode {
                    let span = Span::styled(format!("  {mode}"), self.look.theme.accent);
                    status.line.spans.insert(0, span);
                    status = text::truncate_row(&status, &self.look);
                }
                rows.push(status);
            }
        } else {
            rows.extend(popup.into_iter().take(room));
        }
        (rows, cursor)
    }

    /// What stands above the composer: what still changes, what is going on, what waits.
    fn above(&self, room: usize, now: Instant) -> Vec<Row> {
        let mut notes = Vec::new();
        if let Some(activity) = self.activity(now)
            && !self.is_asking()
        {
            notes.push(Row::blank());
            notes.push(activity);
        }
        notes.extend(self.waiting());
        let n_over = notes.len().saturating_sub(room);
        let notes = notes.split_off(n_over);
        let live_room = room.saturating_sub(notes.len() + 1);
        let mut rows = self.transcript.live_rows(&self.look, live_room, now);
        if rows.is_empty() && notes.first().is_some_and(|row| *row == Row::blank()) {
            rows.extend(notes.into_iter().skip(1));
        } else {
            rows.extend(notes);
        }
        if !rows.is_empty() && rows.len() < room {
            rows.push(Row::blank());
        }
        rows
    }

    /// Messages that wait to be read or sent.
    fn waiting(&self) -> Vec<Row> {
        let look = &self.look;
        let steering = self
            .steering
            .iter()
            .map(|text| ("sent, not read yet", text));
        let queue = self.queue.iter();
        let when = if self.is_busy() {
            "after this turn"
        } else {
            "after the next turn"
        };
        let queued = queue.map(|queued| (when, &queued.submission.shown));
        let commands = self.commands.iter().map(|command| ("then runs", command));
        let mut rows: Vec<Row> = steering
            .chain(queued)
            .chain(commands)
            .map(|(what, text)| {
                let line = format!("  {} {what}: {}", look.glyphs.branch, text::one_line(text));
                text::truncate_row(&Row::from(Span::styled(line, look.theme.dim)), look)
            })
            .collect();
        if !self.queue.is_empty() {
            let hint = "    up to edit the last one";
            let row = Row::from(Span::styled(hint, look.theme.dim));
            rows.push(text::truncate_row(&row, look));
        }
        rows
    }
}
