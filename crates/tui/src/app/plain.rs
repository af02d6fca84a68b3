//! The interface where the terminal only has lines: what is asked is printed once, with
//! numbers, and answered by a line.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{App, Effect};
use crate::overlay::{Outcome, Overlay};
use crate::row::Row;
use crate::screen::{Screen, ScreenOutcome};
use crate::terminal::Size;

/// Rows that a printed question or list has at most.
const MAX_ROWS: u16 = 500;

impl App {
    /// What is asked now, and the prompt for the line that answers or begins something.
    pub(crate) fn plain_view(&mut self) -> (Vec<Row>, Option<&'static str>) {
        let size = Size {
            columns: self.look.width,
            rows: MAX_ROWS,
        };
        let prompt = (!self.is_busy()).then_some("> ");
        if let Some(screen) = &mut self.screen {
            let rows = screen.plain_rows(&self.transcript, &self.look);
            if matches!(screen, Screen::Sessions(_)) {
                return (rows, Some("number> "));
            }
            // A pager has nothing to wait for here.
            self.screen = None;
            return (rows, prompt);
        }
        if let Some(overlay) = self.overlays.front_mut() {
            let (rows, _) = overlay.view(&self.look, size);
            if matches!(overlay, Overlay::Help(_)) {
                // It is read and needs no answer.
                self.overlays.pop_front();
                return (rows, prompt);
            }
            return (rows, Some("answer> "));
        }
        (Vec::new(), prompt)
    }

    pub(super) fn line(&mut self, line: &str, now: Instant) -> Vec<Effect> {
        if let Some(Screen::Sessions(list)) = &mut self.screen {
            let number = line.trim().parse::<usize>().ok();
            let chosen = number.and_then(|number| list.nth(number.checked_sub(1)?));
            let outcome = chosen.map_or(ScreenOutcome::Close, ScreenOutcome::Resume);
            return self.screen_outcome(outcome);
        }
        if let Some(overlay) = self.overlays.front_mut() {
            let outcome = overlay.line(line);
            if outcome == Outcome::Unused {
                self.info_line("not understood; answer with a number");
            }
            return self.overlay_outcome(outcome);
        }
        if line.trim().is_empty() {
            return Vec::new();
        }
        if matches!(line.trim(), "?" | "/") {
            return self.command("help", "", now);
        }
        self.composer.set_text(line);
        let effect = self.composer.key(key(KeyCode::Enter), now);
        self.composer_effect(effect, now)
    }
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}
