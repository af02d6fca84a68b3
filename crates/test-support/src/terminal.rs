//! Runs the built binary in a pseudo-terminal, with a terminal emulator behind it that keeps a
//! scrollback and wraps it anew when its width changes.

mod emulator;
mod modes;

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use crate::Workspace;
use crate::command::{clean_command, send_signal};
use crate::fail::{OrFail, lock};
use emulator::Emulator;

pub use emulator::{Glyph, Ink};
pub use modes::modes_left;

/// How long something that must happen may take. Only hanging takes so long.
const DEADLINE: Duration = Duration::from_secs(30);
/// The end of a synchronised frame (DEC private mode 2026).
const FRAME_END: &[u8] = b"\x1b[?2026l";
/// How often an ended process is looked for.
const TICK: Duration = Duration::from_millis(5);

/// A run in a pseudo-terminal that is being prepared.
pub struct TerminalCommand {
    command: Command,
    size: (u16, u16),
    replies: bool,
}

impl TerminalCommand {
    /// A run of `program` in a workspace with a cleared environment. The terminal has 80 columns
    /// and 24 rows and says that it is one that wraps lines anew.
    pub fn new(program: impl AsRef<Path>, workspace: &Workspace) -> Self {
        // The terminal becomes the controlling one of a session of its own. The process keeps its
        // id: `setsid` replaces itself by the program.
        let mut command = clean_command(Path::new("setsid"), workspace);
        command
            .arg("--ctty")
            .arg(program.as_ref())
            .env("TERM", "alacritty");
        Self {
            command,
            size: (80, 24),
            replies: true,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.command.arg(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.command.env(name.into(), value.into());
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn without_env(mut self, name: impl Into<OsString>) -> Self {
        self.command.env_remove(name.into());
        self
    }

    /// Runs it elsewhere.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.command.current_dir(directory.into());
        self
    }

    /// Gives the terminal another size.
    #[must_use]
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    /// Answers no question of the program (cursor position, attributes).
    #[must_use]
    pub fn without_replies(mut self) -> Self {
        self.replies = false;
        self
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn(mut self) -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).or_fail("open a pseudo-terminal");
        grantpt(&master).or_fail("grant the pseudo-terminal");
        unlockpt(&master).or_fail("unlock the pseudo-terminal");
        let name = ptsname(&master, Vec::new()).or_fail("name the pseudo-terminal");
        let name = PathBuf::from(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let open = || {
            let flags = i32::try_from(OFlags::NOCTTY.bits()).or_fail("open a terminal");
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(flags);
            options
                .open(&name)
                .or_fail(format!("open `{}`", name.display()))
        };
        let (columns, rows) = self.size;
        set_size(&master, columns, rows);
        let program = open();
        let before = Termios::of(&program);
        self.command.stdin(program).stdout(open()).stderr(open());
        let child = self.command.spawn().or_fail("start `setsid`");
        // With the command its handles of the terminal are closed, so that only the program and
        // what it started have some.
        drop(self.command);
        let master = File::from(master);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                raw: Vec::new(),
                emulator: Emulator::new(columns, rows),
                closed: false,
                next_size: None,
            }),
            changed: Condvar::new(),
        });
        let (stopped, stop) = std::io::pipe().or_fail("make a pipe");
        let reader = {
            let shared = Arc::clone(&shared);
            let terminal = master.try_clone().or_fail("use the pseudo-terminal");
            let replies = self.replies;
            thread::spawn(move || read(terminal, &stopped, &shared, replies))
        };
        Terminal {
            child,
            master: Some(master),
            stop: Some(stop),
            reader: Some(reader),
            shared,
            before,
        }
    }
}

/// The settings of a terminal's line (termios(3)), to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Termios(String);

impl Termios {
    fn of(terminal: &File) -> Self {
        let settings = tcgetattr(terminal).or_fail("read the settings of the terminal");
        Self(format!("{settings:?}"))
    }
}

/// How a program in a terminal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

struct State {
    raw: Vec<u8>,
    emulator: Emulator,
    /// Nobody has the terminal open any more.
    closed: bool,
    /// A size that the terminal takes when it has shown the next frame.
    next_size: Option<(u16, u16)>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A program that runs in a pseudo-terminal. It is killed when this is dropped.
pub struct Terminal {
    child: Child,
    master: Option<File>,
    stop: Option<PipeWriter>,
    reader: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
    before: Termios,
}

impl Terminal {
    /// The program's process id, which is also its session.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    #[track_caller]
    fn master(&self) -> &File {
        let Some(master) = &self.master else {
            panic!("the terminal was taken away");
        };
        master
    }

    /// Types.
    #[track_caller]
    pub fn send(&self, bytes: impl AsRef<[u8]>) {
        let mut master = self.master();
        master.write_all(bytes.as_ref()).or_fail("type");
    }

    /// Everything that was written to the terminal.
    pub fn raw(&self) -> Vec<u8> {
        lock(&self.shared.state).raw.clone()
    }

    /// How many bytes were written to the terminal so far.
    pub fn n_bytes(&self) -> usize {
        lock(&self.shared.state).raw.len()
    }

    /// The rows of the screen, without blanks at their ends.
    pub fn screen(&self) -> Vec<String> {
        lock(&self.shared.state).emulator.screen()
    }

    /// How the screen looks: each cell that holds something, row by row.
    pub fn glyphs(&self) -> Vec<Glyph> {
        lock(&self.shared.state).emulator.glyphs()
    }

    /// The lines of scrollback and screen, without blanks at their ends. A line that the terminal
    /// wrapped is one line.
    pub fn history(&self) -> Vec<String> {
        lock(&self.shared.state).emulator.history()
    }

    /// The column and row of the cursor, from 0.
    pub fn cursor(&self) -> (usize, usize) {
        lock(&self.shared.state).emulator.cursor()
    }

    /// Waits until the screen shows this text.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(text, |state| state.screen_has(text));
    }

    /// Waits until the screen does not show this text.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) {
        self.wait_until(&format!("no {text}"), |state| !state.screen_has(text));
    }

    /// Waits until this text is in the scrollback or on the screen.
    #[track_caller]
    pub fn wait_for_line(&self, text: &str) {
        self.wait_until(text, |state| {
            let lines = state.emulator.history();
            lines.iter().any(|line| line.contains(text))
        });
    }

    /// Waits until the screen satisfies this.
    #[track_caller]
    pub fn wait_for_screen(&self, what: &str, mut holds: impl FnMut(&[String]) -> bool) {
        self.wait_until(what, |state| holds(&state.emulator.screen()));
    }

    /// Waits until the bytes that were written since then satisfy this.
    #[track_caller]
    pub fn wait_for_raw(&self, since: usize, what: &str, mut holds: impl FnMut(&[u8]) -> bool) {
        self.wait_until(what, |state| state.raw.get(since..).is_some_and(&mut holds));
    }

    #[track_caller]
    fn wait_until(&self, what: &str, mut holds: impl FnMut(&State) -> bool) {
        let end = Instant::now() + DEADLINE;
        let mut state = lock(&self.shared.state);
        loop {
            if holds(&state) {
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || state.closed {
                let lines = state.emulator.history();
                let from = lines.len().saturating_sub(60);
                let lines = lines[from..].join("\n");
                let why = if state.closed { "has ended" } else { "hangs" };
                drop(state);
                panic!("the program {why}, waited for `{what}`; the terminal shows:\n{lines}");
            }
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .map_or_else(|err| err.into_inner().0, |(state, _)| state);
        }
    }

    /// Waits until nothing has been written for so long.
    #[track_caller]
    pub fn settle(&self, quiet: Duration) {
        let end = Instant::now() + DEADLINE;
        let mut state = lock(&self.shared.state);
        while Instant::now() < end {
            let n_bytes = state.raw.len();
            let waited = self
                .shared
                .changed
                .wait_timeout_while(state, quiet, |state| {
                    state.raw.len() == n_bytes && !state.closed
                });
            let (now, timeout) = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
            if timeout.timed_out() || now.closed {
                return;
            }
            state = now;
        }
        drop(state);
        panic!("the program never falls silent");
    }

    /// Gives the terminal another size.
    #[track_caller]
    pub fn resize(&self, columns: u16, rows: u16) {
        let master = self.master();
        // Under the lock: what was written before is wrapped, what comes later is not.
        let mut state = lock(&self.shared.state);
        state.emulator.resize(columns, rows);
        set_size(master, columns, rows);
        drop(state);
    }

    /// Gives the terminal another size as soon as it has shown a frame and no more has come: in
    /// the middle of one nobody could say what belongs where.
    #[track_caller]
    pub fn resize_between_frames(&self, columns: u16, rows: u16) {
        lock(&self.shared.state).next_size = Some((columns, rows));
        self.wait_until("a frame", |state| state.next_size.is_none());
    }

    /// The settings of the line before the program had the terminal.
    pub fn termios_before(&self) -> &Termios {
        &self.before
    }

    /// The settings of the line now.
    #[track_caller]
    pub fn termios(&self) -> Termios {
        Termios::of(self.master())
    }

    /// The modes that are switched on now; see [`modes_left`].
    pub fn modes(&self) -> Vec<String> {
        modes_left(&self.raw())
    }

    /// Sends the program a signal by name, for instance `TERM`.
    pub fn signal(&self, name: &str) {
        send_signal(name, &self.pid().to_string());
    }

    /// Takes the terminal away, as closing its window does.
    pub fn hang_up(&mut self) {
        self.stop = None;
        if let Some(reader) = self.reader.take() {
            drop(reader.join());
        }
        self.master = None;
    }

    /// Waits for the end of the program, and until nobody has the terminal open.
    #[track_caller]
    pub fn wait(&mut self) -> Exit {
        let end = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().or_fail("wait for the program") {
                break status;
            }
            if Instant::now() > end {
                let lines = self.history().join("\n");
                panic!("the program does not end; the terminal shows:\n{lines}");
            }
            thread::sleep(TICK);
        };
        if self.master.is_some() {
            let state = lock(&self.shared.state);
            let waited = self
                .shared
                .changed
                .wait_timeout_while(state, DEADLINE, |state| !state.closed);
            let closed = waited.is_ok_and(|(state, _)| state.closed);
            assert!(closed, "something still has the terminal");
        }
        Exit {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

impl State {
    fn screen_has(&self, text: &str) -> bool {
        self.emulator.screen().join("\n").contains(text)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.hang_up();
        if let Ok(None) = self.child.try_wait() {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

/// Reads until nobody has the terminal open or the pipe is closed.
fn read(mut master: File, stopped: &std::io::PipeReader, shared: &Shared, replies: bool) {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let mut ready = [
            PollFd::new(&master, PollFlags::IN),
            PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN),
        ];
        if poll(&mut ready, None).is_err() {
            continue;
        }
        if !ready[1].revents().is_empty() {
            return;
        }
        let length = master.read(&mut chunk).unwrap_or(0);
        let mut state = lock(&shared.state);
        if length == 0 {
            state.closed = true;
            shared.changed.notify_all();
            return;
        }
        let bytes = &chunk[..length];
        state.raw.extend(bytes);
        let answers = state.emulator.feed(bytes);
        if state.raw.ends_with(FRAME_END)
            && !has_more(&master)
            && let Some((columns, rows)) = state.next_size.take()
        {
            state.emulator.resize(columns, rows);
            set_size(&master, columns, rows);
        }
        drop(state);
        shared.changed.notify_all();
        if replies && !answers.is_empty() {
            // Nobody may be left to read it.
            drop(master.write_all(answers.as_bytes()));
        }
    }
}

/// Whether there is something to read now.
fn has_more(master: &File) -> bool {
    let mut ready = [PollFd::new(master, PollFlags::IN)];
    poll(&mut ready, Some(&Timespec::default())).is_ok_and(|n_ready| n_ready > 0)
}

fn set_size(master: impl std::os::fd::AsFd, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size).or_fail("set the size of the terminal");
}
