//! Images from the clipboard of the user's desktop, by the programs that desktops have for it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

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
pub(super) fn image(directory: &Path) -> Result<PathBuf, String> {
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
