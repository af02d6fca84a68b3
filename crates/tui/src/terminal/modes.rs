//! The modes that the program switches on, and switching them off again on every exit.

use std::io::{self, Write as _};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Rows and columns of the terminal, each at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

impl Size {
    /// What the terminal says now; the classic size where it says nothing.
    pub(crate) fn now() -> Self {
        let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
        Self::of(columns, rows)
    }

    /// A size. A terminal that reports 0 has not been told its size yet.
    pub(crate) fn of(columns: u16, rows: u16) -> Self {
        Self {
            columns: if columns == 0 { 80 } else { columns },
            rows: if rows == 0 { 24 } else { rows },
        }
    }
}

/// Bracketed paste (DEC 2004), focus reports (1004), keys told apart (kitty keyboard protocol,
/// level 1), the title saved (xterm window operation 22). Terminals ignore what they do not have.
const ENTER: &str = "\x1b[?2004h\x1b[?1004h\x1b[>1u\x1b[22;0t";

/// [`ENTER`] without what goes on stacks; the keyboard's level is set where it is on top.
const AGAIN: &str = "\x1b[?2004h\x1b[?1004h\x1b[=1u";

/// All of [`ENTER`] taken back; besides, what only some moments use: synchronised output (2026),
/// the hidden cursor (25), a style.
const LEAVE: &str = "\x1b[?2026l\x1b[<1u\x1b[?1004l\x1b[?2004l\x1b[0m\x1b[23;0t\x1b[?25h";

/// Takes progress (OSC 9;4) away. Only for terminals that were told of some: others show it as a
/// notification.
const NO_PROGRESS: &str = "\x1b]9;4;0\x1b\\";

/// Leaves the alternate screen, should it be on.
const LEAVE_ALTERNATE: &str = "\x1b[?1049l";

/// Who has the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is left as it is, always.
    Untouched,
    /// It was given back.
    Left,
    /// It has our modes.
    Entered,
}

/// The modes of the terminal while the program has it. Dropping it gives the terminal back.
#[derive(Debug)]
pub(crate) struct Modes {
    state: State,
    alternate: bool,
    progress: bool,
}

impl Modes {
    /// The modes of a terminal that is left as it is.
    pub(crate) fn none() -> Self {
        Self {
            state: State::Untouched,
            alternate: false,
            progress: false,
        }
    }

    /// Takes the terminal.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn enter() -> io::Result<Self> {
        let mut modes = Self {
            state: State::Left,
            ..Self::none()
        };
        modes.resume()?;
        Ok(modes)
    }

    /// Takes the terminal again after [`Modes::leave`].
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        if self.state == State::Untouched {
            return Ok(());
        }
        enable_raw_mode()?;
        self.state = State::Entered;
        write_all(ENTER)
    }

    /// Sets everything again that somebody may have changed while this process was stopped and
    /// could not give the terminal back. What terminals keep on stacks is not put there twice.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn set_again(&mut self) -> io::Result<()> {
        if self.state != State::Entered {
            return Ok(());
        }
        // It remembers that it is on and would do nothing.
        disable_raw_mode()?;
        enable_raw_mode()?;
        write_all(AGAIN)
    }

    /// Gives the terminal back. Twice is as good as once.
    pub(crate) fn leave(&mut self) {
        if self.state != State::Entered {
            return;
        }
        self.state = State::Left;
        // There is nobody left to tell when the terminal is gone.
        if std::mem::take(&mut self.alternate) {
            write_all(LEAVE_ALTERNATE).ok();
        }
        if std::mem::take(&mut self.progress) {
            write_all(NO_PROGRESS).ok();
        }
        write_all(LEAVE).ok();
        disable_raw_mode().ok();
    }

    /// Whether the terminal shows that something goes on.
    pub(crate) fn progress(&self) -> bool {
        self.progress
    }

    /// Notes that the terminal shows progress, or no more.
    pub(crate) fn set_progress(&mut self, on: bool) {
        self.progress = on;
    }

    /// Notes that the alternate screen is on or off.
    pub(crate) fn set_alternate(&mut self, on: bool) {
        self.alternate = on;
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Writes to the terminal at once.
///
/// # Errors
/// When the terminal is gone.
pub(crate) fn write_all(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
