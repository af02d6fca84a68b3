//! Reading files that someone named: they must be regular and of a sane size, because a pipe
//! would be waited for and a device never ends.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Reads a whole regular file of at most `max_bytes`.
///
/// # Errors
/// When it cannot be opened or read, is no regular file, or is larger.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe without a writer must not wait.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let too_large = || io::Error::other(format!("it is larger than {max_bytes} bytes"));
    if metadata.len() > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}
