//! What happens outside of the terminal that the interface draws on: stopping as a job, the
//! editor, the clipboard, the title, calling the user.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use nix::sys::signal::{Signal, kill, raise};
use nix::unistd::Pid;

use super::Running;
use super::input::Keys;
use super::work::Done;
use crate::settings::NotificationMethod;
use crate::terminal::write_all;
use crate::text;

/// More than this many bytes most terminals do not take for their clipboard.
const MAX_CLIPBOARD_BYTES: usize = 70_000;

/// How long an editor has to end when it is asked to.
const EDITOR_GRACE: Duration = Duration::from_secs(2);

impl Running {
    /// Stops like any job and goes on when the shell says so.
    pub(super) fn suspend(&mut self, keys: &mut Keys) -> io::Result<()> {
        self.hand_over(keys)?;
        stop()?;
        // The signal that went on with the process is heard as well; all is drawn by then.
        self.went_on = true;
        self.take_over(keys)
    }

    /// Gives the terminal to another program.
    pub(super) fn hand_over(&mut self, keys: &mut Keys) -> io::Result<()> {
        keys.pause();
        if self.alternate.take().is_some() {
            crate::terminal::AlternateScreen::leave(&mut self.modes)?;
        }
        match &mut self.plain {
            Some(plain) => plain.line_ended(),
            None => self.inline.clear()?,
        }
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
        if let Some(why) = self.app.take_attention() {
            let why = text::one_line(&format!("agent: {why}"));
            let _ = match self.app.settings.notification {
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
    raise(Signal::SIGSTOP)?;
    Ok(())
}

/// The editor's process while it runs; 0 while none does.
#[derive(Debug, Clone, Default)]
pub(super) struct Editor(Arc<AtomicI32>);

impl Editor {
    /// Opens the user's editor on a file and waits for it. The editor is a program of the user's
    /// own, in the foreground, with the terminal.
    pub(super) fn edit(&self, editor: &str, file: &Path) -> Result<(), String> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the user's editor needs the terminal itself; it is waited for"
        )]
        let mut command = std::process::Command::new("/bin/sh");
        // As git does it: the variable may hold options, and the file is an argument of its own.
        command
            .arg("-c")
            .arg(format!("{editor} \"$@\""))
            .arg(editor)
            .arg(file);
        let status = command.spawn().and_then(|mut child| {
            let id = i32::try_from(child.id()).unwrap_or(0);
            self.0.store(id, Ordering::SeqCst);
            let status = child.wait();
            self.0.store(0, Ordering::SeqCst);
            status
        });
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("the editor `{editor}` ended with {status}")),
            Err(err) => Err(format!("cannot start the editor `{editor}`: {err}")),
        }
    }

    fn send(&self, signal: Signal) {
        let id = self.0.load(Ordering::SeqCst);
        if id > 0 {
            // It may have ended by itself.
            kill(Pid::from_raw(id), signal).ok();
        }
    }
}

impl Running {
    /// Ends the editor, should one have the terminal: asks it, then insists.
    pub(super) async fn end_editor(&mut self) {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            if !self.away {
                return;
            }
            self.editor.send(signal);
            let edited = async { while !matches!(self.worker.next().await, Done::Edited(_)) {} };
            if tokio::time::timeout(EDITOR_GRACE, edited).await.is_ok() {
                self.away = false;
            }
        }
    }
}
