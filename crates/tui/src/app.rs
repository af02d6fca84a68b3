//! The state of the interface, and how events change it. Nothing here reads a clock, touches a
//! file or writes to the terminal: that is done by the loop, which carries out [`Effect`]s.

mod commands;
mod guard;
mod keys;
mod places;
mod plain;
mod session;
mod status;
mod view;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use agent_core::{Resume, SessionSummary, TranscriptEntry};
use agent_protocol::{Op, SettingsChange, ThreadInfo, TokenUsage, UserInput};
use crossterm::event::KeyEvent;

use crate::composer::{Composer, Submission};
use crate::look::Look;
use crate::mentions::Match;
use crate::overlay::Overlay;
use crate::screen::Screen;
use crate::settings::TuiSettings;
use crate::transcript::Transcript;

pub(crate) use view::View;

/// A second press within this time confirms the first one.
const CONFIRM_TIME: Duration = Duration::from_secs(2);

/// What happens to the interface.
#[derive(Debug)]
pub(crate) enum AppEvent {
    /// A key was pressed.
    Key(KeyEvent),
    /// A line was entered, where the terminal only has lines.
    Line(String),
    /// Text was pasted.
    Paste(String),
    /// The terminal has or lost the focus.
    Focus(bool),
    /// The thread says something.
    Thread(Box<agent_protocol::Envelope>),
    /// The thread that was asked for cannot be started.
    NotStarted {
        /// Why.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The thread has ended without being asked to.
    Ended,
    /// Files that a mention may mean.
    Mentions(String, Vec<Match>),
    /// The image on the clipboard is in this file; else why there is none.
    Image(Result<PathBuf, String>),
    /// The external editor returned this text; `None` when it failed or was left.
    Edited(Result<String, String>),
    /// The list of sessions.
    Sessions {
        /// The sessions, or why there is no list.
        sessions: Result<Vec<SessionSummary>, String>,
        /// Of all directories.
        all: bool,
        /// When it was made.
        now: SystemTime,
    },
    /// What happened in a session that goes on.
    Earlier {
        /// The last entries.
        entries: Vec<TranscriptEntry>,
        /// How many there are before them.
        n_before: usize,
    },
    /// Something to tell the user.
    Told(String),
    /// Time has passed.
    Tick,
}

/// What the loop shall do.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Hand this to the thread; start one if there is none.
    Submit(Op),
    /// End the thread and begin with none.
    NewThread,
    /// End the thread and go on with another.
    Resume(Resume),
    /// Copy the conversation before the user's message of this number (from 0) into a new thread
    /// and go on there.
    ForkBefore(usize),
    /// Change settings of the thread, or of the one to come.
    Configure(SettingsChange),
    /// Find files for a mention.
    Search(String),
    /// Remember what was sent, for the history.
    Remember(String),
    /// Take the image on the clipboard.
    TakeImage,
    /// Open an editor.
    OpenEditor(String),
    /// Put this on the clipboard.
    Copy(String),
    /// Write the transcript to a file.
    Export(Option<PathBuf>),
    /// List the sessions, of this directory or of all.
    ListSessions {
        /// Of all directories.
        all: bool,
    },
    /// Ask whether the directory is trusted.
    AskTrust,
    /// Store whether the directory is trusted.
    Trust(bool),
    /// Store a setting of the interface.
    StoreText(&'static str, String),
    /// Store a switch of the interface.
    StoreSwitch(&'static str, bool),
    /// Draw everything anew.
    Redraw,
    /// Stop like any job; go on when the shell says so.
    Suspend,
    /// End.
    Quit,
}

/// A turn that runs.
#[derive(Debug)]
pub(crate) struct RunningTurn {
    started: Instant,
    usage: TokenUsage,
    /// What stands in the way now, if something does.
    trouble: Option<Trouble>,
    interrupting: bool,
}

/// What stands in the way of a turn.
#[derive(Debug)]
struct Trouble {
    reason: String,
    /// Which attempt comes next.
    attempt: u32,
    /// When.
    next: Instant,
}

/// Words that wait.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) submission: Submission,
}

/// A key that counts only if it is pressed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Armed {
    Quit,
    Back,
}

/// The state of the interface.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) look: Look,
    pub(crate) settings: TuiSettings,
    pub(crate) composer: Composer,
    pub(crate) transcript: Transcript,
    /// In front of the composer; the first one is shown.
    overlays: VecDeque<Overlay>,
    /// Over the whole terminal.
    pub(crate) screen: Option<Screen>,
    pub(crate) info: ThreadInfo,
    pub(crate) branch: Option<String>,
    turn: Option<RunningTurn>,
    /// Sent while a turn runs and not read by the model yet.
    steering: VecDeque<String>,
    /// Sent when the turn is over.
    queue: VecDeque<Queued>,
    /// Commands of the user's own that run when the turn is over.
    commands: VecDeque<String>,
    /// How many messages of the user the thread has.
    n_user_messages: usize,
    last_request: Option<TokenUsage>,
    armed: Option<(Armed, Instant)>,
    focused: bool,
    /// The terminal shows what the user types, line by line.
    pub(crate) echoes: bool,
    /// The user's home directory, to show paths shorter.
    pub(crate) home_directory: Option<PathBuf>,
    /// Whether a path is a file; asked when a path is pasted.
    is_file: fn(&Path) -> bool,
    /// Something happened while the terminal was not focused.
    attention: Option<String>,
    guard: guard::Guard,
    search: Option<String>,
}

impl App {
    /// The interface before anything has happened.
    pub(crate) fn new(look: Look, settings: TuiSettings, info: ThreadInfo) -> Self {
        let mut composer = Composer::new(commands::composer_options(&settings));
        composer.set_columns(look.width);
        Self {
            look,
            settings,
            composer,
            transcript: Transcript::default(),
            overlays: VecDeque::new(),
            screen: None,
            info,
            branch: None,
            turn: None,
            steering: VecDeque::new(),
            queue: VecDeque::new(),
            commands: VecDeque::new(),
            n_user_messages: 0,
            last_request: None,
            armed: None,
            focused: true,
            echoes: false,
            home_directory: None,
            is_file: Path::is_file,
            attention: None,
            guard: guard::Guard::default(),
            search: None,
        }
    }

    /// Takes an event; what comes of it is for the loop to do.
    pub(crate) fn update(&mut self, event: AppEvent, now: Instant) -> Vec<Effect> {
        self.guard.tick(now);
        let effects = match event {
            AppEvent::Key(key) => self.key(key, now),
            AppEvent::Line(line) => self.line(&line, now),
            AppEvent::Paste(text) => self.paste(&text),
            AppEvent::Focus(focused) => {
                self.focused = focused;
                Vec::new()
            }
            AppEvent::Thread(envelope) => self.thread_event(*envelope, now),
            AppEvent::NotStarted { message, hint } => {
                self.not_started(&message, hint.as_deref());
                Vec::new()
            }
            AppEvent::Ended => {
                self.end_turn();
                self.error("the session ended unexpectedly", None);
                Vec::new()
            }
            AppEvent::Mentions(query, matches) => {
                self.composer.set_mention_results(&query, matches);
                Vec::new()
            }
            AppEvent::Edited(Ok(text)) => {
                self.composer.set_text(&text);
                Vec::new()
            }
            AppEvent::Image(Ok(path)) => {
                self.composer.attach_image(path);
                Vec::new()
            }
            AppEvent::Image(Err(reason)) | AppEvent::Edited(Err(reason)) => {
                self.error(&reason, None);
                Vec::new()
            }
            AppEvent::Sessions { sessions, all, now } => {
                match sessions {
                    Ok(sessions) => self.screen = Some(Screen::sessions(sessions, all, now)),
                    Err(reason) => self.error(&reason, None),
                }
                Vec::new()
            }
            AppEvent::Earlier { entries, n_before } => {
                self.show_earlier(entries, n_before);
                Vec::new()
            }
            AppEvent::Told(text) => {
                self.info_line(&text);
                Vec::new()
            }
            AppEvent::Tick => self.tick(now),
        };
        self.guard.see(self.question_in_front(), now);
        self.with_search(effects)
    }

    /// Whether the user sees something that a stray key must not answer.
    fn has_guarded(&self) -> bool {
        let overlay = self.overlays.front().filter(|_| self.screen.is_none());
        overlay.is_some_and(Overlay::is_guarded)
    }

    /// The question that the user sees.
    fn question_in_front(&self) -> Option<agent_protocol::RequestId> {
        let overlay = self.overlays.front().filter(|_| self.screen.is_none())?;
        overlay.asks()
    }

    /// The terminal has this many columns now.
    pub(crate) fn resize(&mut self, columns: u16) {
        self.look.width = columns.max(1);
        self.composer.set_columns(columns.max(1));
    }

    fn paste(&mut self, text: &str) -> Vec<Effect> {
        if let Some(screen) = &mut self.screen {
            screen.paste(text);
        } else if let Some(overlay) = self.overlays.front_mut()
            && overlay.takes_text()
            && !(self.guard.is_up() && overlay.is_guarded())
        {
            overlay.paste(text);
        } else {
            // What is in front has no use for it, and the user had one.
            self.composer.paste(text, &self.is_file);
        }
        Vec::new()
    }

    fn tick(&mut self, now: Instant) -> Vec<Effect> {
        if self.armed.is_some_and(|(_, until)| until <= now) {
            self.armed = None;
        }
        let effect = self.composer.tick(now);
        self.composer_effect(effect, now)
    }

    /// Asks for files when the mention under the cursor changed.
    fn with_search(&mut self, mut effects: Vec<Effect>) -> Vec<Effect> {
        let query = self.composer.mention_query().map(str::to_owned);
        if query != self.search {
            self.search.clone_from(&query);
            effects.extend(query.map(Effect::Search));
        }
        effects
    }

    /// When [`AppEvent::Tick`] must come at the latest; `None` while nothing moves.
    pub(crate) fn deadline(&self, now: Instant) -> Option<Instant> {
        let armed = self.armed.map(|(_, until)| until);
        let spinner = self
            .turn
            .as_ref()
            .filter(|_| self.is_working())
            .map(|turn| {
                // The next whole second of the turn.
                let elapsed = now.saturating_duration_since(turn.started);
                let step = if self.look.reduced_motion {
                    Duration::from_secs(1)
                } else {
                    SPINNER_STEP
                };
                let n_steps = elapsed.as_millis() / step.as_millis().max(1) + 1;
                turn.started + step * u32::try_from(n_steps).unwrap_or(u32::MAX)
            });
        [
            self.composer.deadline(),
            armed,
            spinner,
            self.guard.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Whether the turn goes on without the user.
    fn is_working(&self) -> bool {
        self.turn.is_some() && !self.is_asking()
    }

    /// Whether an answer of the user is waited for.
    fn is_asking(&self) -> bool {
        self.overlays.front().is_some_and(Overlay::is_question)
    }

    /// Whether something runs that Esc would stop.
    pub(crate) fn is_busy(&self) -> bool {
        self.turn.is_some() || self.transcript.is_busy()
    }

    /// What the user should be called for, once.
    pub(crate) fn take_attention(&mut self) -> Option<String> {
        self.attention.take()
    }

    fn call_for_attention(&mut self, why: &str) {
        if self.settings.notifications && (!self.focused || self.settings.notify_always) {
            self.attention = Some(why.to_owned());
        }
    }
}

/// How long one picture of the spinner is shown.
const SPINNER_STEP: Duration = Duration::from_millis(125);

/// What the user says, in the form that threads take.
pub(crate) fn user_input(submission: &Submission) -> Vec<UserInput> {
    let images = submission.images.iter();
    let images = images.map(|path| UserInput::LocalImage { path: path.clone() });
    let text = UserInput::Text {
        text: submission.text.clone(),
    };
    images.chain([text]).collect()
}

#[cfg(test)]
mod tests;
