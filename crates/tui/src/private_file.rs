//! Files that only the user can read, replaced as a whole.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Fails when something else than a file is there: opening a pipe would wait for its other end.
/// That nothing is there is no error.
pub(crate) fn refuse_others(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(io::Error::new(ErrorKind::InvalidInput, "it is no file")),
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(()),
        Err(err) => Err(err),
    }
}

/// Puts `bytes` in the place of a file: whoever reads sees the old or the new ones, also after a
/// kill (not after a power cut: waiting for the disk would hold up the keys). `temporary` is a
/// name in the same directory.
pub(crate) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a crash has left behind; a link there must not be written through.
    match fs::remove_file(temporary) {
        Ok(()) => {}
        Err(err) if err.kind() == ErrorKind::NotFound => {}
        Err(err) => return Err(err),
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(temporary)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| fs::rename(temporary, path));
    if written.is_err() {
        // The first error is the one that matters.
        drop(fs::remove_file(temporary));
    }
    written
}
