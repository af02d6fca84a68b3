//! Writes into a file that cannot be replaced: its directory is read-only, or it is a mount point.
//!
//! Not atomic: used only where a rename would fail or lose the owner, and with a warning.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// Makes `bytes` the whole content of `file`.
pub(super) fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// Whether the content of `file` is `bytes`, without holding both.
pub(super) fn is_content(file: &mut File, bytes: &[u8]) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut rest = bytes;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n_read = file.read(&mut buffer)?;
        let read = buffer.get(..n_read).unwrap_or(&[]);
        if read.is_empty() {
            return Ok(rest.is_empty());
        }
        match rest.strip_prefix(read) {
            Some(after) => rest = after,
            None => return Ok(false),
        }
    }
}

/// The whole content of `file`.
pub(super) fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
