//! The file for the last message (`--output-last-message`).

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// The file that the last message goes to. It is emptied at the start, so that a failed run
/// leaves nothing of an earlier one.
#[derive(Debug)]
pub(crate) struct AnswerFile {
    file: File,
    path: PathBuf,
}

impl AnswerFile {
    /// Opens and empties the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        // A pipe that nobody reads must not be waited for.
        let flags = OFlag::O_NONBLOCK.bits();
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .custom_flags(flags)
            .open(path)?;
        fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Writes the last message, exactly.
    ///
    /// # Errors
    /// With a message that names the file.
    pub(crate) fn write(mut self, text: &str) -> Result<(), String> {
        self.file
            .write_all(text.as_bytes())
            .map_err(|err| format!("cannot write `{}`: {err}", self.path.display()))
    }
}
