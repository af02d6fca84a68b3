//! The line below the composer and the line that says what is going on.

use std::time::Instant;

use agent_protocol::{ChangeKind, EditDraft};
use ratatui_core::text::Span;

use super::{App, Armed, SPINNER_STEP};
use crate::row::Row;
use crate::settings::StatusItem;
use crate::text;
use crate::transcript::elapsed;

/// What the status line leaves out where there is no room, in this order. With the first of them
/// the directory is its last name only.
const DROPPED: &[StatusItem] = &[
    StatusItem::Branch,
    StatusItem::Directory,
    StatusItem::Context,
    StatusItem::Permissions,
];

/// Pictures of the spinner: a dot that breathes.
const SPINNER: &[&str] = &["·", "•", "●", "•"];

/// Where fewer columns are left for what is going on, the hint beside it is cut instead.
const MIN_DOING_COLUMNS: usize = 8;

impl App {
    /// What is going on, if a turn or a command runs.
    pub(super) fn activity(&self, now: Instant) -> Option<Row> {
        let look = &self.look;
        if !self.is_busy() {
            return None;
        }
        let mut spans = vec![Span::styled(
            format!("{} ", self.spinner(now)),
            look.theme.accent,
        )];
        let time = self.turn.as_ref().map(|turn| {
            let time = now.saturating_duration_since(turn.started);
            format!("{} · ", elapsed(time))
        });
        let time = time.unwrap_or_default();
        let hint = format!(" ({time}esc to interrupt)");
        // How to stop it stays readable, however long the rest is.
        let room = usize::from(look.width).saturating_sub(2 + text::width(&hint));
        let doing = if room < MIN_DOING_COLUMNS {
            self.doing(now)
        } else {
            text::truncate(&self.doing(now), room, look.glyphs.ellipsis)
        };
        spans.push(Span::styled(doing, look.theme.text));
        spans.push(Span::styled(hint, look.theme.dim));
        Some(text::truncate_row(&Row::new(spans), look))
    }

    fn spinner(&self, now: Instant) -> &'static str {
        let Some(turn) = self.turn.as_ref().filter(|_| !self.look.reduced_motion) else {
            return self.look.glyphs.bullet;
        };
        let time = now.saturating_duration_since(turn.started);
        let step = time.as_millis() / SPINNER_STEP.as_millis();
        let index = usize::try_from(step).unwrap_or(0) % SPINNER.len();
        SPINNER.get(index).copied().unwrap_or("•")
    }

    /// What the agent does now, in a few words.
    fn doing(&self, now: Instant) -> String {
        if let Some(turn) = &self.turn {
            if turn.interrupting {
                return "Stopping".to_owned();
            }
            if let Some(trouble) = &turn.trouble {
                let left = trouble.next.saturating_duration_since(now);
                let seconds = left.as_millis().div_ceil(1000);
                let (attempt, reason) = (trouble.attempt, &trouble.reason);
                return text::one_line(&format!("Try {attempt} follows in {seconds}s: {reason}"));
            }
        }
        // A command that runs beside it has rows of its own.
        if let Some(draft) = self.transcript.draft() {
            return writing(draft);
        }
        match self.transcript.running_command() {
            Some(command) => text::spelled_out_line(&format!("Running {command}")),
            None => "Working".to_owned(),
        }
    }

    /// The line below the composer.
    pub(super) fn status_line(&self) -> Row {
        let look = &self.look;
        let hint = match self.armed {
            Some((Armed::Quit, _)) => Some("press it again to quit"),
            Some((Armed::Back, _)) => Some("press esc again to go back to an earlier message"),
            None => None,
        };
        if let Some(hint) = hint {
            let row = Row::from(Span::styled(format!("  {hint}"), look.theme.warning));
            return text::truncate_row(&row, look);
        }
        let mut line = String::new();
        // Where there is little room, what is easiest to find elsewhere goes first.
        for dropped in 0..=DROPPED.len() {
            let gone = DROPPED.get(..dropped).unwrap_or_default();
            let parts = self.settings.status_line.iter();
            let parts = parts.filter(|item| !gone.contains(item));
            let short_directory = dropped > 0;
            let parts = parts.filter_map(|item| self.status_part(*item, short_directory));
            line = format!("  {}", parts.collect::<Vec<_>>().join(" · "));
            if text::width(&line) <= usize::from(look.width) {
                break;
            }
        }
        text::truncate_row(&Row::from(Span::styled(line, look.theme.dim)), look)
    }

    fn status_part(&self, item: StatusItem, short: bool) -> Option<String> {
        let info = &self.info;
        match item {
            StatusItem::Model => Some(match &info.reasoning_effort {
                Some(effort) => text::one_line(&format!("{} {effort}", info.model)),
                None => text::one_line(&info.model),
            }),
            StatusItem::Directory if short => {
                let name = info.cwd.file_name()?.to_string_lossy();
                Some(text::one_line(&name))
            }
            StatusItem::Directory => Some(text::one_line(&self.short_directory())),
            StatusItem::Branch => self.branch.as_deref().map(text::one_line),
            StatusItem::Permissions => {
                Some(format!("{} · {}", info.sandbox_mode, info.approval_policy))
            }
            StatusItem::Context => self.context_left(),
        }
    }

    /// The directory with `~` for the home directory.
    fn short_directory(&self) -> String {
        text::short_path(&self.info.cwd, self.home_directory.as_deref())
    }

    /// How much of the window is left where it is known; else how much is used.
    fn context_left(&self) -> Option<String> {
        let used = self.last_request?.total();
        match self.info.context_window.filter(|window| *window > 0) {
            Some(window) => {
                let left = window.saturating_sub(used) * 100 / window;
                Some(format!("{left}% context left"))
            }
            None => Some(format!("{} in context", text::short_count(used))),
        }
    }
}

/// The file that the model is writing; of several, how many there are.
fn writing(draft: &EditDraft) -> String {
    let Some(file) = draft.files.last() else {
        return "Writing".to_owned();
    };
    let path = text::spelled_out_line(&file.path);
    let what = match file.kind {
        ChangeKind::Delete => " (deletion)".to_owned(),
        ChangeKind::Add | ChangeKind::Update => counts(file.added, file.removed),
    };
    let n_files = draft.files.len() + draft.n_left_out;
    let all = match n_files {
        1 => String::new(),
        _ => format!(" · {n_files} files{}", counts(draft.added, draft.removed)),
    };
    format!("Writing {path}{what}{all}")
}

/// Nothing before the first line.
fn counts(added: usize, removed: usize) -> String {
    match (added, removed) {
        (0, 0) => String::new(),
        _ => format!(" (+{added} -{removed})"),
    }
}
