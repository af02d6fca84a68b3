//! The places that the interface begins in and moves to: headers, trust, other threads.

use std::path::PathBuf;
use std::time::Instant;

use agent_core::{Resume, Trust};
use agent_protocol::{Op, SettingsChange, ThreadInfo};

use super::commands::TRUST;
use super::{App, Effect};
use crate::cell::{Cell, Header};
use crate::composer::Submission;
use crate::overlay::menu::{Choice, Menu, Purpose};
use crate::overlay::{Outcome, Overlay};
use crate::row::Row;
use crate::screen::{Screen, ScreenOutcome};
use crate::text;

impl App {
    /// What the thread works with, at its beginning.
    pub(crate) fn show_header(&mut self, version: &'static str) {
        let header = Header {
            version,
            info: self.info.clone(),
            directory: text::short_path(&self.info.cwd, self.home_directory.as_deref()),
            branch: self.branch.clone(),
        };
        self.transcript
            .push(Cell::Header(Box::new(header)), &self.look);
    }

    /// Asks whether the directory is trusted.
    pub(crate) fn ask_trust(&mut self, trust: &Trust) {
        let mut body = vec![trust.directory.display().to_string()];
        if trust.files.is_empty() {
            body.push("It has no files that tell the agent what to do.".to_owned());
        } else {
            let files: Vec<String> = trust
                .files
                .iter()
                .map(|f| f.display().to_string())
                .collect();
            body.push(format!(
                "It tells the agent what to do in: {}",
                files.join(", ")
            ));
        }
        body.push(
            "In a trusted directory commands may write without asking; elsewhere they only read."
                .to_owned(),
        );
        let choice = |name: &str, label: &str, detail: &str| Choice {
            name: name.to_owned(),
            label: label.to_owned(),
            detail: detail.to_owned(),
        };
        let choices = vec![
            choice(TRUST, "Yes, I trust it", "work here, in the sandbox"),
            choice("no", "No", "only read, ask for everything else"),
        ];
        let menu = Menu::new(Purpose::Trust, "Do you trust this directory?", choices);
        self.overlays.push_back(Overlay::Menu(menu.with_body(body)));
    }

    /// Whether the user is asked for trust and has not answered yet.
    pub(crate) fn is_asking_trust(&self) -> bool {
        self.overlays.iter().any(is_about_trust)
    }

    /// A prompt from the command line or from standard input.
    pub(crate) fn send_prompt(
        &mut self,
        text: &str,
        images: Vec<PathBuf>,
        now: Instant,
    ) -> Vec<Effect> {
        self.composer.remember(text);
        // It was not typed here.
        let echoes = std::mem::take(&mut self.echoes);
        let effects = self.send(&Submission::of_text(text, images), now);
        self.echoes = echoes;
        effects
    }

    /// Another thread begins; what is printed stays.
    pub(crate) fn forget_thread(&mut self) {
        self.end_turn();
        self.transcript.begin_anew();
        // Whether the directory is trusted is no matter of the thread.
        self.overlays.retain(is_about_trust);
        self.screen = None;
        self.steering.clear();
        self.queue.clear();
        self.n_user_messages = 0;
        self.last_request = None;
    }

    /// The thread goes on before the user's message of this number.
    pub(crate) fn forget_after(&mut self, index: usize) {
        self.end_turn();
        self.transcript.cut_before(index);
        self.n_user_messages = index;
        let old = session_id(&self.info);
        let old = old.map(|id| format!("; the one before: agent resume {id}"));
        let what = if index == usize::MAX {
            "this is a copy of the conversation now"
        } else {
            "back to before this message, in a copy; edit it and send it again"
        };
        self.info_line(&format!("{what}{}", old.unwrap_or_default()));
    }

    /// What the user is told after a change of settings.
    pub(crate) fn describe_settings(&self, change: &SettingsChange) -> String {
        let mut parts = Vec::new();
        if let Some(model) = &change.model {
            parts.push(format!("model {model}"));
        }
        if let Some(effort) = &change.reasoning_effort {
            let effort = effort.as_deref().unwrap_or("default");
            parts.push(format!("effort {effort}"));
        }
        if let Some(mode) = change.sandbox_mode {
            parts.push(format!("sandbox {mode}"));
        }
        if let Some(policy) = change.approval_policy {
            parts.push(format!("approvals {policy}"));
        }
        let when = if self.turn.is_some() {
            " from the next turn on"
        } else {
            ""
        };
        format!("{}{when}", parts.join(", "))
    }

    /// The terminal's title.
    pub(crate) fn title(&self) -> String {
        let name = self.info.cwd.file_name().map(|name| name.to_string_lossy());
        let name = text::one_line(&name.unwrap_or_default());
        let mark = if self.is_asking() {
            "? "
        } else if self.is_busy() {
            "• "
        } else {
            ""
        };
        format!("{mark}agent · {name}")
    }

    /// What is printed at the end.
    pub(crate) fn farewell(&self) -> Vec<Row> {
        match session_id(&self.info).filter(|_| self.n_user_messages > 0) {
            Some(id) => {
                let line = format!("to go on: agent resume {id}");
                let span = ratatui_core::text::Span::styled(line, self.look.theme.dim);
                vec![
                    Row::blank(),
                    text::truncate_row(&Row::from(span), &self.look),
                ]
            }
            None => Vec::new(),
        }
    }

    pub(super) fn screen_outcome(&mut self, outcome: ScreenOutcome) -> Vec<Effect> {
        match outcome {
            ScreenOutcome::Stay => Vec::new(),
            ScreenOutcome::Close => {
                self.screen = None;
                Vec::new()
            }
            ScreenOutcome::Resume(id) => {
                self.screen = None;
                vec![Effect::Resume(Resume::Id(id.to_string()))]
            }
            ScreenOutcome::List { all } => vec![Effect::ListSessions { all }],
        }
    }

    pub(super) fn overlay_outcome(&mut self, outcome: Outcome) -> Vec<Effect> {
        if matches!(outcome, Outcome::Stay | Outcome::Unused) {
            return Vec::new();
        }
        let overlay = self.overlays.pop_front();
        if let Some(told) = overlay.and_then(|overlay| overlay.record(&outcome)) {
            self.info_line(&told);
        }
        match outcome {
            Outcome::Stay | Outcome::Unused | Outcome::Close => Vec::new(),
            Outcome::Answer {
                request_id,
                choice,
                note,
            } => Self::submit(Op::Answer {
                request_id,
                choice,
                note,
            }),
            Outcome::Reply {
                request_id,
                answers,
            } => Self::submit(Op::Reply {
                request_id,
                answers,
            }),
            Outcome::Chosen(purpose, choice) => self.chosen(purpose, &choice),
        }
    }

    /// The transcript over the whole terminal.
    pub(super) fn open_transcript(&mut self) {
        self.screen = Some(Screen::transcript(&self.transcript));
    }
}

fn is_about_trust(overlay: &Overlay) -> bool {
    matches!(overlay, Overlay::Menu(menu) if menu.is_for(Purpose::Trust))
}

/// The id of the session, from its file.
fn session_id(info: &ThreadInfo) -> Option<String> {
    let stem = info.rollout_path.as_ref()?.file_stem()?.to_str()?;
    let id = stem.get(stem.len().checked_sub(UUID_LENGTH)?..)?;
    Some(id.to_owned())
}

/// Length of a UUID in its usual spelling (RFC 9562 section 4).
const UUID_LENGTH: usize = 36;
