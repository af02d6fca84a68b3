//! What the user does at the terminal: keys, or whole lines where the terminal only has those.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _};

use crossterm::event::{Event, EventStream, KeyEvent};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

/// Lines that may wait.
const LINES: usize = 16;

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
}

/// Where input comes from.
pub(super) enum Keys {
    /// Keys. While paused, nothing is read, so that another program can.
    Stream(Option<Box<EventStream>>),
    /// Lines.
    Lines(mpsc::Receiver<String>),
}

impl Keys {
    /// Keys of the terminal.
    pub(super) fn stream() -> Self {
        Self::Stream(Some(Box::new(EventStream::new())))
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
        if let Self::Stream(stream) = self {
            *stream = None;
        }
    }

    /// Reads again.
    pub(super) fn resume(&mut self) {
        if let Self::Stream(stream) = self {
            *stream = Some(Box::new(EventStream::new()));
        }
    }

    /// What the user does next.
    ///
    /// # Errors
    /// When the terminal is gone.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub(super) async fn next(&mut self) -> io::Result<Input> {
        match self {
            Self::Lines(lines) => Ok(lines.recv().await.map_or(Input::End, Input::Line)),
            Self::Stream(None) => std::future::pending().await,
            Self::Stream(Some(stream)) => next_key(stream).await,
        }
    }
}

async fn next_key(stream: &mut EventStream) -> io::Result<Input> {
    loop {
        let Some(event) = stream.next().await else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        return Ok(match event? {
            Event::Key(key) => Input::Key(key),
            Event::Paste(text) => Input::Paste(text),
            Event::FocusGained => Input::Focus(true),
            Event::FocusLost => Input::Focus(false),
            Event::Resize(..) => Input::Resize,
            Event::Mouse(_) => continue,
        });
    }
}
