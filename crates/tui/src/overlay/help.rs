//! Commands and keys.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui_core::text::{Line, Span};

use super::Outcome;
use crate::command_table::COMMANDS;
use crate::look::Look;
use crate::row::Row;
use crate::terminal::Size;
use crate::text;

/// Keys and what they do.
const KEYS: &[(&str, &str)] = &[
    ("enter", "send; while a turn runs, steer it"),
    ("tab", "send when the turn is over"),
    ("shift-enter, alt-enter, ctrl-j", "new line"),
    ("esc", "stop the turn; twice: go back to an earlier message"),
    ("ctrl-c", "clear the line, stop the turn; twice: quit"),
    ("ctrl-d", "quit, when the line is empty"),
    ("ctrl-t", "the whole transcript"),
    ("ctrl-r", "search what you sent before"),
    ("up, down", "move, and walk through what you sent before"),
    ("ctrl-g", "write in your editor"),
    ("ctrl-v", "the image on the clipboard"),
    ("@", "a file"),
    ("/", "a command"),
    ("!", "run a command yourself; the model sees it"),
    (
        "ctrl-a ctrl-e ctrl-w ctrl-u ctrl-k ctrl-y",
        "as in readline",
    ),
    ("ctrl-_, alt-_", "undo, redo"),
    ("ctrl-l", "draw anew"),
    ("ctrl-z", "suspend"),
];

/// The list while it is shown.
#[derive(Debug, Default)]
pub(crate) struct Help {
    offset: usize,
}

impl Help {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    pub(super) fn key(&mut self, key: KeyEvent) -> Outcome {
        match key.code {
            KeyCode::Up => self.offset = self.offset.saturating_sub(1),
            KeyCode::Down => self.offset += 1,
            KeyCode::PageUp => self.offset = self.offset.saturating_sub(10),
            KeyCode::PageDown => self.offset += 10,
            _ => return Outcome::Close,
        }
        Outcome::Stay
    }

    pub(super) fn view(&mut self, look: &Look, size: Size) -> Vec<Row> {
        let mut rows = vec![heading("Keys", look)];
        rows.extend(KEYS.iter().flat_map(|(key, what)| entry(key, what, look)));
        rows.push(Row::blank());
        rows.push(heading("Commands", look));
        let commands = COMMANDS.iter();
        rows.extend(commands.flat_map(|(name, what, _)| entry(&format!("/{name}"), what, look)));
        let room = usize::from(size.rows).saturating_sub(1).max(1);
        let max_offset = rows.len().saturating_sub(room);
        self.offset = self.offset.min(max_offset);
        let mut rows: Vec<Row> = rows.into_iter().skip(self.offset).take(room).collect();
        let hint = if max_offset > 0 {
            "up and down scroll, any other key leaves"
        } else {
            "any key leaves"
        };
        if usize::from(size.rows) > rows.len() {
            let hint = Row::from(Span::styled(hint, look.theme.dim));
            rows.push(text::truncate_row(&hint, look));
        }
        rows
    }
}

fn heading(title: &'static str, look: &Look) -> Row {
    let row = Row::from(Span::styled(title, look.theme.heading));
    text::truncate_row(&row, look)
}

/// Columns of the keys. Where little more is left beside them, what they do stands below.
const KEY_COLUMNS: usize = 33;

fn entry(key: &str, what: &'static str, look: &Look) -> Vec<Row> {
    let what = Line::from(Span::styled(what, look.theme.text));
    let is_wide = usize::from(look.width) >= KEY_COLUMNS * 2;
    if is_wide && key.len() < KEY_COLUMNS - 2 {
        let key = Span::styled(format!("  {key:<30} "), look.theme.accent);
        let rest = [text::spaces(KEY_COLUMNS)];
        return text::wrap(&what, look.width, &[key], &rest);
    }
    let key = Line::from(Span::styled(key.to_owned(), look.theme.accent));
    let indent = [text::spaces(2)];
    let mut rows = text::wrap(&key, look.width, &indent, &indent);
    let indent = [text::spaces(if is_wide { KEY_COLUMNS } else { 6 })];
    rows.extend(text::wrap(&what, look.width, &indent, &indent));
    rows
}
