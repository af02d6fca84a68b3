//! What happens outside of the terminal that the interface draws on: stopping as a job, the
//! editor, the clipboard, the title, calling the user.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::Running;
use super::input::Keys;
use crate::settings::NotificationMethod;
use crate::terminal::write_all;
use crate::text;

/// More than this many bytes most terminals do not take for their clipboard.
const MAX_CLIPBOARD_BYTES: usize = 70_000;

impl Running {
    /// Stops like any job and goes on when the shell says so.
    pub(super) fn suspend(&mut self, keys: &mut Keys) -> io::Result<()> {
        self.hand_over(keys)?;
        stop()?;
        self.take_over(keys)
    }

    /// Gives the terminal to another program.
    pub(super) fn hand_over(&mut self, keys: &mut Keys) -> io::Result<()> {
        keys.pause();
        if self.alternate.take().is_some() {
            crate::terminal::AlternateScreen::leave(&mut self.modes)?;
        }
        self.inline.clear()?;
        self.modes.leave();
        self.away = true;
        Ok(())
    }

    /// Takes the terminal back from another program, which may have written anything.
    pub(super) fn take_over(&mut self, keys: &mut Keys) -> io::Result<()> {
        self.away = false;
        self.modes.resume()?;
        self.inline.forget();
        self.title.clear();
        keys.resume();
        self.last_frame = None;
        Ok(())
    }

    /// Sets the title and the progress of the terminal, and calls the user if it is time.
    pub(super) fn announce(&mut self) -> io::Result<()> {
        let mut out = String::new();
        let title = self.app.title();
        if title != self.title {
            let _ = write!(out, "\x1b]2;{}\x1b\\", text::one_line(&title));
            self.title = title;
        }
        let working = self.app.is_busy();
        if self.options.terminal.progress && working != self.modes.progress() {
            // OSC 9;4: 3 shows that something goes on, 0 takes it away.
            let _ = write!(out, "\x1b]9;4;{}\x1b\\", if working { 3 } else { 0 });
            self.modes.set_progress(working);
        }
        if let (Some(why), Some(method)) = (
            self.app.take_attention(),
            self.options.settings.notification,
        ) {
            let why = text::one_line(&format!("agent: {why}"));
            let _ = match method {
                NotificationMethod::Osc9 => write!(out, "\x1b]9;{why}\x07"),
                NotificationMethod::Osc777 => write!(out, "\x1b]777;notify;agent;{why}\x07"),
                NotificationMethod::Bell => write!(out, "\x07"),
            };
        }
        if out.is_empty() {
            return Ok(());
        }
        write_all(&out)
    }

    /// Puts a text on the clipboard by OSC 52, which works over a network as well. What to tell.
    pub(super) fn copy(&self, text: &str) -> io::Result<String> {
        if text.len() > MAX_CLIPBOARD_BYTES {
            return Ok(format!(
                "the answer is too long for the terminal's clipboard ({} bytes); /export writes \
                 it to a file",
                text.len()
            ));
        }
        let encoded = BASE64_STANDARD.encode(text);
        let sequence = format!("\x1b]52;c;{encoded}\x07");
        write_all(&sequence)?;
        if self.options.terminal.tmux {
            // tmux passes it on to the terminal around it only when it is wrapped.
            write_all(&format!("\x1bPtmux;\x1b{sequence}\x1b\\"))?;
        }
        Ok(format!("copied {} characters", text.chars().count()))
    }
}

/// Stops this process until the shell goes on with it. SIGTSTP is heard by the program itself;
/// this one stops it for certain (signal(7)).
pub(super) fn stop() -> io::Result<()> {
    nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP)?;
    Ok(())
}

/// Opens the user's editor on a file and waits for it. The editor is a program of the user's
/// own, in the foreground, with the terminal.
pub(super) fn edit(editor: &str, file: &Path) -> Result<(), String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the user's editor needs the terminal itself; it is waited for"
    )]
    let mut command = std::process::Command::new("/bin/sh");
    // As git does it: the variable may hold options, and the file is an argument of its own.
    let status = command
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg(editor)
        .arg(file)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the editor `{editor}` ended with {status}")),
        Err(err) => Err(format!("cannot start the editor `{editor}`: {err}")),
    }
}
