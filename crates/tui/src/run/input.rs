//! What the user does at the terminal: keys, or whole lines where the terminal only has those.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _};
use std::os::fd::AsFd as _;

use crossterm::event::{Event, EventStream, KeyEvent};
use futures_util::StreamExt as _;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::sync::{mpsc, oneshot};

/// Lines that may wait.
const LINES: usize = 16;

/// Keys that may wait.
const KEYS: usize = 64;

/// Something the user did.
#[derive(Debug)]
pub(super) enum Input {
    /// A key.
    Key(KeyEvent),
    /// A paste, in brackets.
    Paste(String),
    /// The terminal has or lost the focus.
    Focus(bool),
    /// The terminal has another size.
    Resize,
    /// A line.
    Line(String),
    /// There will be no more lines.
    End,
    /// The terminal is gone.
    Gone,
}

/// Where input comes from.
pub(super) enum Keys {
    /// Keys.
    Terminal(TerminalKeys),
    /// Lines.
    Lines(mpsc::Receiver<String>),
}

/// Keys of a terminal that may go away.
pub(super) struct TerminalKeys {
    /// While paused there is none, so that another program can read.
    reader: Option<Reader>,
    /// What was read before the last pause and not taken.
    waiting: VecDeque<io::Result<Event>>,
    /// Says that the terminal is gone.
    gone: mpsc::Receiver<()>,
}

/// A thread that reads keys. It ends when this is dropped.
struct Reader {
    events: mpsc::Receiver<io::Result<Event>>,
    _stop: oneshot::Sender<()>,
}

impl Keys {
    /// Keys of the terminal.
    pub(super) fn stream() -> Self {
        Self::Terminal(TerminalKeys {
            reader: Some(Reader::start()),
            waiting: VecDeque::new(),
            gone: watch_terminal(),
        })
    }

    /// Lines of the terminal: of standard input, or of `/dev/tty` where that was something else.
    /// The thread that reads them ends with the process: a blocked read cannot be called off.
    pub(super) fn lines() -> Self {
        let (sender, receiver) = mpsc::channel(LINES);
        std::thread::spawn(move || {
            let is_terminal = io::stdin().is_terminal();
            let terminal = (!is_terminal).then(|| File::open("/dev/tty").ok());
            let lines: Box<dyn BufRead> = match terminal.flatten() {
                Some(terminal) => Box::new(BufReader::new(terminal)),
                None => Box::new(io::stdin().lock()),
            };
            for line in lines.lines().map_while(Result::ok) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self::Lines(receiver)
    }

    /// Reads no more.
    pub(super) fn pause(&mut self) {
        if let Self::Terminal(keys) = self
            && let Some(mut reader) = keys.reader.take()
        {
            keys.waiting
                .extend(std::iter::from_fn(|| reader.events.try_recv().ok()));
        }
    }

    /// Reads again.
    pub(super) fn resume(&mut self) {
        if let Self::Terminal(keys) = self {
            keys.reader = Some(Reader::start());
        }
    }

    /// What the user does next.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub(super) async fn next(&mut self) -> io::Result<Input> {
        match self {
            Self::Lines(lines) => Ok(lines.recv().await.map_or(Input::End, Input::Line)),
            Self::Terminal(keys) => keys.next().await,
        }
    }
}

impl TerminalKeys {
    async fn next(&mut self) -> io::Result<Input> {
        loop {
            // Each branch is cancel-safe: one that loses has consumed nothing.
            let event = tokio::select! {
                biased;
                Some(()) = self.gone.recv() => return Ok(Input::Gone),
                event = next_event(&mut self.reader, &mut self.waiting) => event?,
            };
            return Ok(match event {
                Event::Key(key) => Input::Key(key),
                Event::Paste(text) => Input::Paste(text),
                Event::FocusGained => Input::Focus(true),
                Event::FocusLost => Input::Focus(false),
                Event::Resize(..) => Input::Resize,
                Event::Mouse(_) => continue,
            });
        }
    }
}

async fn next_event(
    reader: &mut Option<Reader>,
    waiting: &mut VecDeque<io::Result<Event>>,
) -> io::Result<Event> {
    let Some(reader) = reader else {
        return std::future::pending().await;
    };
    if let Some(event) = waiting.pop_front() {
        return event;
    }
    let event = reader.events.recv().await;
    event.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
}

impl Reader {
    /// Begins to read. Not on the thread of the loop: when a terminal goes away, crossterm reads
    /// the end of it over and over and never returns.
    fn start() -> Self {
        let (sender, events) = mpsc::channel(KEYS);
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Handle::current();
        std::thread::spawn(move || runtime.block_on(read_keys(&sender, stopped)));
        Self {
            events,
            _stop: stop,
        }
    }
}

/// Hands on what the terminal says until nobody wants it any more.
async fn read_keys(sender: &mpsc::Sender<io::Result<Event>>, mut stopped: oneshot::Receiver<()>) {
    let mut stream = EventStream::new();
    // There is room before an event is taken, so that none is taken and lost.
    while let Ok(room) = sender.reserve().await {
        tokio::select! {
            biased;
            _ = &mut stopped => return,
            event = stream.next() => match event {
                Some(event) => room.send(event),
                None => return,
            },
        }
    }
}

/// Tells when the terminal is gone. The hang-up signal says so only to those whose controlling
/// terminal it is. The thread sleeps until then, or until the process ends.
fn watch_terminal() -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let terminal = io::stdout();
        let mut watched = [PollFd::new(terminal.as_fd(), PollFlags::empty())];
        while poll(&mut watched, PollTimeout::NONE) == Err(Errno::EINTR) {}
        // The loop may have ended by itself meanwhile.
        sender.blocking_send(()).ok();
    });
    receiver
}
