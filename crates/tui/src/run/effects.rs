//! Carrying out what the state asks for.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use agent_core::{Resume, StartError, Thread};
use agent_protocol::{Op, SettingsChange};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nix::libc::SIGINT;

use super::clipboard;
use super::first_start::look_around;
use super::input::Keys;
use super::outside;
use super::signals::Signal;
use super::work::Done;
use super::{Begin, HUNG_UP, Running, TuiExit};
use crate::app::{AppEvent, Effect};
use crate::history_file::HistoryFile;

/// How many sessions a list shows.
const MAX_SESSIONS: usize = 500;

/// How many entries of an earlier run are shown when a session is resumed.
const MAX_EARLIER: usize = 300;

/// Whether the loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Go,
    Exit(TuiExit),
}

impl Running {
    /// Does what the interface was started for.
    pub(super) async fn start_up(&mut self) {
        match self.options.begin.clone() {
            Begin::New => {}
            Begin::Resume(which) => self.resume(which).await,
            Begin::Choose { all } => self.list_sessions(all),
        }
        if self.options.first_start {
            self.look_around();
        }
        self.load_history();
        self.load_draft();
        self.send_prompt().await;
    }

    /// Sends what the interface was started with, once. The answer to whether the directory is
    /// trusted comes before: it says what the thread may do.
    pub(super) async fn send_prompt(&mut self) {
        if self.app.is_asking_trust() {
            return;
        }
        let images = std::mem::take(&mut self.options.images);
        let prompt = self.options.prompt.take();
        let Some(text) = prompt.filter(|text| !text.trim().is_empty()) else {
            // Images without a word wait for one.
            for image in images {
                self.app.composer.attach_image(image);
            }
            return;
        };
        for effect in self.app.send_prompt(&text, images, Instant::now()) {
            if let Effect::Submit(op) = effect {
                self.submit(op).await;
            } else if let Effect::Remember(text) = effect {
                self.remember(&text);
            }
        }
    }

    fn look_around(&mut self) {
        let provider = self.app.info.provider.clone();
        let branch = self.app.branch.clone();
        let setting = self.manager.command_setting(&self.options.thread).ok();
        self.worker.spawn_waiting(async {
            Done::LookedAround(look_around(provider, branch, setting).await)
        });
    }

    pub(super) async fn carry_out(&mut self, effect: Effect, keys: &mut Keys) -> Flow {
        match effect {
            Effect::Submit(op) => self.submit(op).await,
            Effect::NewThread => self.new_thread().await,
            Effect::Resume(which) => self.resume(which).await,
            Effect::ForkBefore(index) => self.fork_before(index).await,
            Effect::Configure(change) => self.configure(change).await,
            Effect::Search(query) => self.worker.search(&self.options.thread.cwd, &query),
            Effect::Remember(text) => self.remember(&text),
            Effect::TakeImage => {
                let directory = self.manager.home().join("images");
                self.worker
                    .spawn(move || Done::Image(clipboard::image(&directory)));
            }
            Effect::OpenEditor(text) => self.open_editor(&text, keys),
            Effect::Copy(text) => {
                let told = self.copy(&text);
                self.tell(told.unwrap_or_else(|err| err.to_string()));
            }
            Effect::Export(path) => self.export(path),
            Effect::ListSessions { all } => self.list_sessions(all),
            Effect::AskTrust => {
                let trust = self.manager.trust(&self.options.thread.cwd);
                self.app.ask_trust(&trust);
            }
            Effect::Trust(trusted) => self.set_trust(trusted),
            Effect::StoreText(key, text) => {
                let stored = self.manager.store_tui_text(key, &text);
                self.tell_all(stored.err().map(|err| err.to_string()));
            }
            Effect::StoreSwitch(key, on) => {
                let stored = self.manager.store_tui_switch(key, on);
                self.tell_all(stored.err().map(|err| err.to_string()));
            }
            Effect::Redraw => self.redraw(),
            Effect::Suspend => {
                if self.suspend(keys).is_err() {
                    return Flow::Exit(HUNG_UP);
                }
            }
            Effect::Quit => return Flow::Exit(TuiExit::Left),
        }
        Flow::Go
    }

    pub(super) async fn signal(&mut self, signal: Signal, keys: &mut Keys) -> Flow {
        match signal {
            // The keys of the terminal belong to the editor, and so do their signals.
            Signal::End(SIGINT) | Signal::Continue if self.away => {}
            Signal::Stop if self.away => {
                if outside::stop().is_err() {
                    return Flow::Exit(TuiExit::Left);
                }
            }
            // Where keys are no events, Ctrl-C comes as a signal.
            Signal::End(SIGINT) if self.plain.is_some() && self.app.is_busy() => {
                let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
                return self.event(AppEvent::Key(key), keys, Instant::now()).await;
            }
            Signal::End(number) => return Flow::Exit(TuiExit::Signal(number)),
            Signal::Stop => return self.carry_out(Effect::Suspend, keys).await,
            Signal::Continue if std::mem::take(&mut self.went_on) => {}
            // The modes are whatever the shell left; all is set and drawn anew.
            Signal::Continue => {
                if self.modes.set_again().is_err() {
                    return Flow::Exit(HUNG_UP);
                }
                self.redraw();
            }
        }
        Flow::Go
    }

    pub(super) async fn done(&mut self, done: Done, keys: &mut Keys, now: Instant) -> Flow {
        let event = match done {
            Done::Mentions(query, matches) => AppEvent::Mentions(query, matches),
            Done::Edited(edited) => {
                if self.take_over(keys).is_err() {
                    return Flow::Exit(HUNG_UP);
                }
                self.draft_touched(now);
                AppEvent::Edited(edited)
            }
            Done::Image(image) => AppEvent::Image(image),
            Done::LookedAround(lines) => AppEvent::Told(lines.join("\n")),
            Done::Broken(why) => AppEvent::Told(format!("something in the program broke: {why}")),
            Done::Sessions { sessions, all, now } => AppEvent::Sessions { sessions, all, now },
        };
        self.event(event, keys, now).await
    }

    pub(super) fn tell(&mut self, text: String) {
        self.app.update(AppEvent::Told(text), Instant::now());
    }

    fn tell_all(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            self.tell(text);
        }
    }

    fn redraw(&mut self) {
        self.inline.forget();
        if self.alternate.is_some() {
            self.alternate = Some(crate::terminal::AlternateScreen::default());
        }
        self.last_frame = None;
    }

    /// Hands an operation to the thread; starts one if there is none and it is needed.
    async fn submit(&mut self, op: Op) {
        if self.thread.is_none() {
            match &op {
                Op::UserTurn { .. } | Op::UserCommand { .. } | Op::ShowDiff | Op::ReportContext => {
                    let started = self.manager.start(self.options.thread.clone()).await;
                    if !self.started(started) {
                        self.give_back(op);
                        return;
                    }
                }
                Op::ListCommands => {
                    self.app.nothing_runs();
                    return;
                }
                Op::Interrupt
                | Op::StopCommands
                | Op::Answer { .. }
                | Op::Reply { .. }
                | Op::Configure(_)
                | Op::Shutdown => return,
            }
        }
        if let Some(thread) = &self.thread
            && thread.submit(op).await.is_err()
        {
            self.thread = None;
            self.app.update(AppEvent::Ended, Instant::now());
        }
    }

    /// What could not be sent is the user's again.
    fn give_back(&mut self, op: Op) {
        let Op::UserTurn { input, .. } = op else {
            return;
        };
        self.app.take_back(input);
    }

    fn started(&mut self, started: Result<Thread, StartError>) -> bool {
        let event = match started {
            Ok(thread) => {
                self.thread = Some(thread);
                return true;
            }
            Err(err) => AppEvent::NotStarted {
                hint: err.hint(),
                message: chain(&err),
            },
        };
        self.app.update(event, Instant::now());
        false
    }

    async fn end_thread(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.shut_down().await;
        }
    }

    async fn new_thread(&mut self) {
        self.end_thread().await;
        self.app.forget_thread();
        self.refresh();
        self.app.show_header(self.options.version);
    }

    async fn resume(&mut self, which: Resume) {
        self.end_thread().await;
        self.app.forget_thread();
        let cwd = &self.options.thread.cwd;
        let earlier = self.manager.transcript(&which, cwd, MAX_EARLIER);
        let started = self.manager.resume(&which, self.options.thread.clone());
        let started = started.await;
        if self.started(started)
            && let Ok((entries, n_before)) = earlier
        {
            let event = AppEvent::Earlier { entries, n_before };
            self.app.update(event, Instant::now());
        }
    }

    async fn fork_before(&mut self, index: usize) {
        let Some(id) = self.thread.as_ref().map(Thread::id) else {
            return;
        };
        self.end_thread().await;
        self.app.forget_after(index);
        if index == 0 {
            return;
        }
        let options = self.options.thread.clone();
        let started = self.manager.fork_before(id, index, options).await;
        self.started(started);
    }

    async fn configure(&mut self, change: SettingsChange) {
        let options = &mut self.options.thread.change;
        let SettingsChange {
            model,
            reasoning_effort,
            approval_policy,
            sandbox_mode,
        } = change.clone();
        // Threads that start later in this run are the same.
        options.model = model.or(options.model.take());
        options.reasoning_effort = reasoning_effort.or(options.reasoning_effort.take());
        options.approval_policy = approval_policy.or(options.approval_policy);
        options.sandbox_mode = sandbox_mode.or(options.sandbox_mode);
        let told = self.app.describe_settings(&change);
        self.tell(told);
        if self.thread.is_some() {
            self.submit(Op::Configure(change)).await;
        } else {
            self.refresh();
        }
    }

    /// Looks anew at what a thread would work with.
    fn refresh(&mut self) {
        match self.manager.preview(&self.options.thread) {
            Ok(preview) => {
                self.app.info = preview.info;
                self.app.branch = preview.branch;
            }
            Err(err) => self.tell(chain(&err)),
        }
    }

    fn set_trust(&mut self, trusted: bool) {
        let trust = self.manager.trust(&self.options.thread.cwd);
        let stored = self.manager.set_trust(&trust.directory, trusted);
        self.tell_all(
            stored
                .err()
                .map(|err| format!("{}; the answer holds for this run only", chain(&err))),
        );
        if self.thread.is_none() {
            self.refresh();
        }
        let directory = trust.directory.display();
        self.tell(if trusted {
            format!("{directory} is trusted: commands may write in it")
        } else {
            format!("{directory} is not trusted: commands only read; /permissions changes it")
        });
    }

    fn remember(&mut self, text: &str) {
        if !self.options.settings.keep_history || self.options.thread.ephemeral {
            return;
        }
        let id = self.thread.as_ref().map(|thread| thread.id().to_string());
        let mut file = HistoryFile::new(self.manager.home(), id.unwrap_or_default());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        if let Err(err) = file.append(now.unwrap_or_default().as_secs(), text) {
            tracing::warn!(error = %err, "the history was not written");
        }
    }

    fn list_sessions(&mut self, all: bool) {
        let cwd = self.options.thread.cwd.canonicalize();
        let cwd = cwd.unwrap_or_else(|_| self.options.thread.cwd.clone());
        let home = self.manager.home().to_owned();
        self.worker.spawn(move || {
            let cwd = (!all).then_some(cwd.as_path());
            let sessions = agent_core::list_sessions(&home, cwd, MAX_SESSIONS);
            Done::Sessions {
                sessions: sessions.map_err(|err| chain(&err)),
                all,
                now: SystemTime::now(),
            }
        });
    }

    fn open_editor(&mut self, text: &str, keys: &mut Keys) {
        if let Err(why) = self.start_editor(text, keys) {
            self.app.update(AppEvent::Edited(Err(why)), Instant::now());
        }
    }

    /// Starts the editor; the turn that runs goes on beside it, and nothing is drawn.
    fn start_editor(&mut self, text: &str, keys: &mut Keys) -> Result<(), String> {
        let Some(editor) = self.options.terminal.editor.clone() else {
            return Err("no editor: set VISUAL or EDITOR".to_owned());
        };
        let file = tempfile::Builder::new()
            .prefix("agent-")
            .suffix(".md")
            .tempfile();
        let mut file = file.map_err(|err| format!("cannot make a file for the editor: {err}"))?;
        let told = |err: io::Error| format!("cannot use the editor: {err}");
        file.write_all(text.as_bytes()).map_err(told)?;
        self.hand_over(keys).map_err(told)?;
        let process = self.editor.clone();
        self.worker.spawn(move || {
            let edited = process.edit(&editor, file.path());
            let text = edited.and_then(|()| std::fs::read_to_string(file.path()).map_err(told));
            Done::Edited(text.map(|text| text.trim_end().to_owned()))
        });
        Ok(())
    }

    fn export(&mut self, path: Option<PathBuf>) {
        let name = match &self.thread {
            Some(thread) => format!("agent-{}.md", thread.id()),
            None => "agent-transcript.md".to_owned(),
        };
        let path = self
            .options
            .thread
            .cwd
            .join(path.unwrap_or_else(|| name.into()));
        let text = self.app.transcript.markdown();
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        self.tell(match written {
            Ok(()) => format!("the transcript is in {}", path.display()),
            Err(err) => format!("cannot write the transcript to {}: {err}", path.display()),
        });
    }

    fn load_history(&mut self) {
        match HistoryFile::new(self.manager.home(), "").read() {
            Ok(entries) => self.app.composer.set_history(entries),
            Err(err) => self.tell(chain(&err)),
        }
    }
}

/// An error with what caused it, in one line.
pub(super) fn chain(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut source = err.source();
    while let Some(err) = source {
        text.push_str(": ");
        text.push_str(&err.to_string());
        source = err.source();
    }
    text
}
