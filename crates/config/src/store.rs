//! Writing to the user's configuration file: one value at a time, everything else as it is.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, value};

use crate::file::read_regular;
use crate::settings::TrustLevel;

/// The largest configuration file, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Why a setting was not stored. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be read.
    #[error("cannot read `{path}`", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("`{path}` is not valid TOML", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Why.
        source: toml_edit::TomlError,
    },
    /// A key has a value of another type.
    #[error("`{key}` in `{path}` is not a table", path = path.display())]
    NotATable {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// The file cannot be written.
    #[error("cannot write `{path}`", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Stores whether the user trusts a directory: `[projects."DIR"] trust_level`.
///
/// # Errors
/// When the file cannot be read, understood or replaced.
pub fn store_trust(file: &Path, directory: &Path, level: TrustLevel) -> Result<(), StoreError> {
    let word = match level {
        TrustLevel::Trusted => "trusted",
        TrustLevel::Untrusted => "untrusted",
    };
    let directory = directory.to_string_lossy();
    edit(file, &["projects", &directory, "trust_level"], word)
}

/// Stores a text under a key of a table, `tui.theme` for example.
///
/// # Errors
/// When the file cannot be read, understood or replaced.
pub fn store_text(file: &Path, keys: &[&str], text: &str) -> Result<(), StoreError> {
    edit(file, keys, text)
}

/// Stores a switch under a key of a table.
///
/// # Errors
/// When the file cannot be read, understood or replaced.
pub fn store_switch(file: &Path, keys: &[&str], on: bool) -> Result<(), StoreError> {
    edit(file, keys, on)
}

fn edit(file: &Path, keys: &[&str], new: impl Into<toml_edit::Value>) -> Result<(), StoreError> {
    // A link to the file (people keep their settings in a repository) stays a link.
    let path = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let text = match read_regular(&path, MAX_FILE_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|err| StoreError::Read {
            path: path.clone(),
            source: io::Error::new(ErrorKind::InvalidData, err),
        })?,
        Err(err) if err.kind() == ErrorKind::NotFound => String::new(),
        Err(source) => return Err(StoreError::Read { path, source }),
    };
    let parsed = text.parse::<DocumentMut>();
    let mut document = parsed.map_err(|source| StoreError::Parse {
        path: path.clone(),
        source,
    })?;
    let Some((last, tables)) = keys.split_last() else {
        return Ok(());
    };
    let mut table: &mut Table = document.as_table_mut();
    for key in tables {
        let is_new = !table.contains_key(key);
        let entry = table
            .entry(key)
            .or_insert_with(|| Item::Table(Table::new()));
        if let Item::Value(inline) = entry
            && let Some(inline) = inline.as_inline_table()
        {
            *entry = Item::Table(inline.clone().into_table());
        }
        let Some(inner) = entry.as_table_mut() else {
            return Err(StoreError::NotATable {
                path,
                key: (*key).to_owned(),
            });
        };
        if is_new {
            // Without a header of its own, unless it gets values of its own.
            inner.set_implicit(true);
        }
        table = inner;
    }
    table.insert(last, value(new));
    replace(&path, &document.to_string()).map_err(|source| StoreError::Write { path, source })
}

/// Replaces the file in one step; its permissions stay as they were.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().ok_or(ErrorKind::NotFound)?;
    fs::create_dir_all(directory)?;
    let mode = fs::metadata(path).map_or(0o600, |metadata| metadata.permissions().mode() & 0o777);
    let temporary = directory.join(format!(".config.toml.{}", std::process::id()));
    fs::remove_file(&temporary).ok();
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        fs::remove_file(&temporary).ok();
    }
    written
}

#[cfg(test)]
mod tests;
