//! What happens outside of the terminal that the interface draws on: stopping as a job, the
//! editor, the clipboard, the title, calling the user.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

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
    nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP)?;
    Ok(())
}

/// Programs that give the image on the clipboard as PNG: the variable that says that they can
/// work, the program, its arguments.
const CLIPBOARD_PROGRAMS: &[(&str, &str, &[&str])] = &[
    (
        "WAYLAND_DISPLAY",
        "wl-paste",
        &["--no-newline", "--type", "image/png"],
    ),
    (
        "DISPLAY",
        "xclip",
        &["-selection", "clipboard", "-target", "image/png", "-out"],
    ),
];

/// The largest image that is taken from the clipboard, in bytes.
const MAX_IMAGE_BYTES: usize = 32 << 20;

/// Puts the image on the clipboard into a file in `directory`.
///
/// # Errors
/// When there is none, or no program that gives it; the text is for the user.
pub(super) fn clipboard_image(directory: &Path) -> Result<PathBuf, String> {
    let usable = CLIPBOARD_PROGRAMS
        .iter()
        .find(|(variable, ..)| std::env::var_os(variable).is_some());
    let Some((_, program, arguments)) = usable else {
        return Err("there is no clipboard to take an image from; paste its path".to_owned());
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of the user's desktop, not of the model; it is waited for"
    )]
    let mut command = std::process::Command::new(program);
    command.args(*arguments).stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|err| format!("cannot start `{program}` to read the clipboard: {err}"))?;
    if !output.status.success() || !output.stdout.starts_with(PNG) {
        return Err("there is no image on the clipboard".to_owned());
    }
    if output.stdout.len() > MAX_IMAGE_BYTES {
        return Err("the image on the clipboard is larger than 32 MiB".to_owned());
    }
    let failed = |err: io::Error| format!("cannot keep the image of the clipboard: {err}");
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut file = tempfile::Builder::new()
        .prefix("clipboard-")
        .suffix(".png")
        .tempfile_in(directory)
        .map_err(failed)?;
    io::Write::write_all(&mut file, &output.stdout).map_err(failed)?;
    let (_, path) = file.keep().map_err(|err| failed(err.error))?;
    Ok(path)
}

/// How a PNG file begins (ISO/IEC 15948, section 5.2).
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

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
