//! The loop: keys, events of the thread, timers and signals go into the state; effects come out
//! and are carried out; what changed is drawn, at most sixty times a second.

mod clipboard;
mod drafts;
mod effects;
mod first_start;
mod input;
mod outside;
mod panics;
mod signals;
mod work;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agent_core::{Resume, StartError, Thread, ThreadManager, ThreadOptions};

use crate::app::{App, AppEvent, View};
use crate::cell::Cell;
use crate::look::{Glyphs, Look, Theme};
use crate::settings::TuiSettings;
use crate::terminal::{AlternateScreen, InlineTerminal, Modes, PlainTerminal, Reflow, Size};
use drafts::Drafts;
use effects::Flow;
use input::{Input, Keys};
use outside::Editor;
use signals::{Signal, Signals};
use work::{Done, Worker};

/// The shortest time between two frames.
const FRAME_TIME: Duration = Duration::from_millis(16);

/// What the interface is started with.
#[derive(Debug)]
pub struct TuiOptions {
    /// Its settings.
    pub settings: TuiSettings,
    /// How threads are started.
    pub thread: ThreadOptions,
    /// What to begin with.
    pub begin: Begin,
    /// Something to send at once.
    pub prompt: Option<String>,
    /// Images that go with it.
    pub images: Vec<PathBuf>,
    /// Ask whether the directory is trusted, if nobody has said so.
    pub ask_trust: bool,
    /// Tell what there is on this machine to work with.
    pub first_start: bool,
    /// Words to warn with.
    pub warnings: Vec<String>,
    /// What the program knows of its terminal.
    pub terminal: TerminalFacts,
    /// Only lines: no cursor movement, words instead of signs.
    pub plain: bool,
    /// The program's version.
    pub version: &'static str,
}

/// What to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// A new thread.
    New,
    /// One that is there.
    Resume(Resume),
    /// The list of sessions; of all directories if so.
    Choose {
        /// Of all directories.
        all: bool,
    },
}

/// What the program knows of its terminal, from its environment.
#[derive(Debug, Clone, Default)]
pub struct TerminalFacts {
    /// It wraps lines anew when it becomes narrower.
    pub reflows: bool,
    /// It shows progress that programs tell it of (OSC 9;4).
    pub progress: bool,
    /// The program runs inside tmux, which passes some sequences on only when they are wrapped.
    pub tmux: bool,
    /// The user's home directory, to show paths shorter.
    pub home: Option<PathBuf>,
    /// The command that edits text: `$VISUAL` or `$EDITOR`.
    pub editor: Option<String>,
}

/// How the interface ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuiExit {
    /// The user left.
    Left,
    /// A signal ended it.
    Signal(i32),
}

/// How it ends when the terminal is gone.
const HUNG_UP: TuiExit = TuiExit::Signal(nix::libc::SIGHUP);

/// Why the interface did not start or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Configuration or options make no sense.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The terminal cannot be used.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    /// Signals cannot be heard.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// A fault of the program. The session is on disk and can be resumed.
    #[error("a fault of the program ended it: {report}")]
    Panicked {
        /// What and where.
        report: String,
    },
}

impl TuiError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Start(err) => err.hint(),
            Self::Terminal(_) => Some("without a terminal, use `agent exec`".to_owned()),
            Self::Panicked { .. } => {
                Some("agent resume --last goes on with the session".to_owned())
            }
            Self::Signals(_) => None,
        }
    }
}

/// Runs the interface until the user leaves.
///
/// # Errors
/// When it cannot start, or the terminal is gone.
pub async fn run(manager: ThreadManager, options: TuiOptions) -> Result<TuiExit, TuiError> {
    let preview = manager.preview(&options.thread)?;
    if let Begin::Resume(which) = &options.begin {
        manager.find(which, &preview.info.cwd)?;
    }
    let size = Size::now();
    let look = look(&options, size);
    let mut app = App::new(look, options.settings.clone(), preview.info);
    app.branch = preview.branch;
    app.echoes = options.plain;
    app.home_directory.clone_from(&options.terminal.home);
    // From the moment on in which the terminal has our modes.
    let signals = Signals::listen().map_err(TuiError::Signals)?;
    let modes = if options.plain {
        Modes::none()
    } else {
        Modes::enter().map_err(TuiError::Terminal)?
    };
    let reflow = if options.terminal.reflows {
        Reflow::Wraps
    } else {
        Reflow::Cuts
    };
    let mut running = Running {
        inline: InlineTerminal::new(size, reflow),
        alternate: None,
        plain: options.plain.then(PlainTerminal::default),
        size,
        app,
        thread: None,
        worker: Worker::new(),
        modes,
        manager,
        options,
        last_frame: None,
        title: String::new(),
        away: false,
        went_on: false,
        drafts: Drafts::default(),
        editor: Editor::default(),
    };
    running.begin(&preview.warnings);
    running.draw().map_err(TuiError::Terminal)?;
    let exit = Box::pin(panics::caught(running.run(signals))).await;
    running.finish().await;
    match exit {
        Ok(exit) => exit,
        Err(report) => Err(TuiError::Panicked { report }),
    }
}

fn look(options: &TuiOptions, size: Size) -> Look {
    let settings = &options.settings;
    let theme = if settings.no_color || options.plain {
        Theme::MONOCHROME
    } else {
        Theme::named(&settings.theme).unwrap_or(Theme::ANSI)
    };
    Look {
        width: size.columns,
        theme,
        glyphs: if options.plain {
            Glyphs::PLAIN
        } else {
            Glyphs::UNICODE
        },
        reduced_motion: settings.reduced_motion,
    }
}

/// The interface while it runs.
struct Running {
    manager: ThreadManager,
    options: TuiOptions,
    app: App,
    thread: Option<Thread>,
    worker: Worker,
    inline: InlineTerminal,
    alternate: Option<AlternateScreen>,
    plain: Option<PlainTerminal>,
    size: Size,
    modes: Modes,
    last_frame: Option<Instant>,
    /// What the terminal's title says.
    title: String,
    /// Another program has the terminal.
    away: bool,
    /// The signal that ends a stop is still to be heard.
    went_on: bool,
    drafts: Drafts,
    editor: Editor,
}

/// What woke the loop.
enum Wake {
    Input(io::Result<Input>),
    Thread(Option<Box<agent_protocol::Envelope>>),
    Work(Done),
    Signal(Signal),
    Deadline,
}

impl Running {
    async fn run(&mut self, mut signals: Signals) -> Result<TuiExit, TuiError> {
        let mut keys = if self.plain.is_some() {
            Keys::lines()
        } else {
            Keys::stream()
        };
        self.start_up().await;
        let mut dirty = true;
        loop {
            let now = Instant::now();
            let frame_at = dirty.then(|| self.next_frame(now));
            let deadlines = [frame_at, self.app.deadline(now), self.drafts.due()];
            let deadline = deadlines.into_iter().flatten().min();
            // Each branch is cancel-safe: one that loses has consumed nothing.
            let wake = tokio::select! {
                biased;
                signal = signals.next() => Wake::Signal(signal),
                input = keys.next() => Wake::Input(input),
                done = self.worker.next() => Wake::Work(done),
                event = next_event(&mut self.thread) => Wake::Thread(event),
                () = sleep_until(deadline) => Wake::Deadline,
            };
            let now = Instant::now();
            let flow = match wake {
                Wake::Signal(signal) => self.signal(signal, &mut keys).await,
                Wake::Input(Ok(input)) => self.input(input, &mut keys, now).await,
                Wake::Input(Err(err)) => return Err(TuiError::Terminal(err)),
                Wake::Work(done) => self.done(done, &mut keys, now).await,
                Wake::Thread(Some(envelope)) => {
                    self.event(AppEvent::Thread(envelope), &mut keys, now).await
                }
                Wake::Thread(None) => {
                    self.thread = None;
                    self.event(AppEvent::Ended, &mut keys, now).await
                }
                Wake::Deadline => {
                    self.keep_draft(now);
                    self.event(AppEvent::Tick, &mut keys, now).await
                }
            };
            if let Flow::Exit(exit) = flow {
                return Ok(exit);
            }
            dirty = true;
            if self.next_frame(now) <= now {
                self.draw().map_err(TuiError::Terminal)?;
                dirty = false;
            }
        }
    }

    /// When the next frame may be drawn.
    fn next_frame(&self, now: Instant) -> Instant {
        self.last_frame.map_or(now, |last| last + FRAME_TIME)
    }

    async fn event(&mut self, event: AppEvent, keys: &mut Keys, now: Instant) -> Flow {
        let effects = self.app.update(event, now);
        for effect in effects {
            if let Flow::Exit(exit) = self.carry_out(effect, keys).await {
                return Flow::Exit(exit);
            }
        }
        self.send_prompt().await;
        Flow::Go
    }

    async fn input(&mut self, input: Input, keys: &mut Keys, now: Instant) -> Flow {
        let event = match input {
            Input::Key(key) => AppEvent::Key(key),
            Input::Paste(text) => AppEvent::Paste(text),
            Input::Focus(focused) => AppEvent::Focus(focused),
            Input::Resize => return Flow::Go, // Seen where the frame is drawn.
            Input::Line(line) => {
                if let Some(plain) = &mut self.plain {
                    plain.line_ended();
                }
                AppEvent::Line(line)
            }
            Input::End => return Flow::Exit(TuiExit::Left),
            Input::Gone => return Flow::Exit(HUNG_UP),
        };
        let flow = self.event(event, keys, now).await;
        self.draft_touched(now);
        flow
    }

    /// Draws what there is to draw.
    fn draw(&mut self) -> io::Result<()> {
        if self.away {
            return Ok(());
        }
        let now = Instant::now();
        let size = Size::now();
        if size != self.size {
            self.size = size;
            self.inline.resize(size);
            self.app.resize(size.columns);
        }
        if let Some(plain) = &mut self.plain {
            let finished = self.app.transcript.take_unprinted();
            let (asked, prompt) = self.app.plain_view();
            self.last_frame = Some(now);
            return plain.draw(&finished, asked, prompt);
        }
        self.announce()?;
        match self.app.view(size, now) {
            View::Inline(frame) => {
                if self.alternate.take().is_some() {
                    AlternateScreen::leave(&mut self.modes)?;
                }
                let finished = self.app.transcript.take_unprinted();
                self.inline.draw(&finished, frame)?;
            }
            // What is finished meanwhile waits until the terminal shows its scrollback again.
            View::Screen(frame) => {
                let alternate = match self.alternate.take() {
                    Some(alternate) => alternate,
                    None => AlternateScreen::enter(&mut self.modes)?,
                };
                self.alternate.insert(alternate).draw(size, frame)?;
            }
        }
        self.last_frame = Some(now);
        Ok(())
    }

    /// What stands at the top of a new thread, and words to warn with.
    fn begin(&mut self, more: &[String]) {
        self.app.show_header(self.options.version);
        let warnings = std::mem::take(&mut self.options.warnings);
        for warning in warnings.iter().chain(more) {
            self.app
                .transcript
                .push(Cell::warning(warning), &self.app.look);
        }
        if self.options.ask_trust {
            let trust = self.manager.trust(&self.options.thread.cwd);
            if trust.trusted.is_none() {
                self.app.ask_trust(&trust);
            }
        }
    }

    /// Gives everything back: the thread, the terminal.
    async fn finish(&mut self) {
        self.end_editor().await;
        if self.alternate.take().is_some() {
            AlternateScreen::leave(&mut self.modes).ok();
        }
        self.save_draft();
        // What was finished is printed; what was live goes.
        let finished = self.app.transcript.take_unprinted();
        let farewell = self.app.farewell();
        match &mut self.plain {
            Some(plain) => {
                let rows: Vec<_> = finished.into_iter().chain(farewell).collect();
                plain.draw(&rows, Vec::new(), None).ok();
            }
            None => {
                self.inline.end(&finished, &farewell).ok();
            }
        }
        self.modes.leave();
        if let Some(thread) = self.thread.take() {
            thread.shut_down().await;
        }
        self.worker.stop().await;
    }
}

/// The next event of the thread; never where there is none.
async fn next_event(thread: &mut Option<Thread>) -> Option<Box<agent_protocol::Envelope>> {
    match thread {
        Some(thread) => thread.next_event().await.map(Box::new),
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
