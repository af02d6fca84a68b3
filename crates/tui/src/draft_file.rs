//! The draft of one directory, kept over a crash and the next start.
//!
//! It is `drafts/<hash of the directory>.json` in the home of the program. Only the user can
//! read it, and it is replaced as a whole.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::composer::Draft;
use crate::private_file;

/// What is read at most: a longer file is none of ours.
const MAX_FILE: u64 = 64 << 20;

/// Why there is no draft, or none was kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DraftError {
    /// There is a file, but it cannot be read.
    #[error("cannot read the draft `{path}`", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is a file, but no draft of a known version is in it.
    #[error("cannot understand the draft `{path}`", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The file cannot be written or removed.
    #[error("cannot write the draft `{path}`", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What is in the file. The directory is there because two may have the same hash.
#[derive(Serialize, Deserialize)]
struct Kept {
    directory: String,
    draft: Draft,
}

/// The place of one directory's draft.
#[derive(Debug, Clone)]
pub(crate) struct DraftFile {
    path: PathBuf,
    directory: String,
}

impl DraftFile {
    /// The draft of `directory` in `home`.
    pub(crate) fn new(home: &Path, directory: &Path) -> Self {
        let name = format!("{:016x}.json", hash(directory.as_os_str().as_bytes()));
        Self {
            path: home.join("drafts").join(name),
            directory: directory.to_string_lossy().into_owned(),
        }
    }

    /// The draft that was kept, if there is one.
    ///
    /// # Errors
    /// When there is a file that cannot be read or understood. It is left as it is.
    pub(crate) fn load(&self) -> Result<Option<Draft>, DraftError> {
        let bytes = match self.read() {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                let path = self.path.clone();
                return Err(DraftError::Read { path, source });
            }
        };
        match serde_json::from_slice::<Kept>(&bytes) {
            Ok(kept) => Ok(Some(kept)
                .filter(|kept| kept.directory == self.directory)
                .map(|kept| kept.draft)),
            Err(source) => {
                let path = self.path.clone();
                Err(DraftError::Damaged { path, source })
            }
        }
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        private_file::refuse_others(&self.path)?;
        let file = File::open(&self.path)?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Keeps a draft in the place of the one before; an empty one removes it.
    ///
    /// # Errors
    /// When the file cannot be written. The draft before is still there then.
    pub(crate) fn save(&self, draft: &Draft) -> Result<(), DraftError> {
        if draft.is_empty() {
            return self.remove();
        }
        self.write(draft).map_err(|source| self.not_written(source))
    }

    fn write(&self, draft: &Draft) -> io::Result<()> {
        let kept = Kept {
            directory: self.directory.clone(),
            draft: draft.clone(),
        };
        let bytes = serde_json::to_vec(&kept)?;
        if let Some(drafts) = self.path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(drafts)?;
        }
        // One name for all processes: what a kill leaves behind is written over. When two save at
        // once, one of them fails and saves again with its next change.
        let temporary = self.path.with_extension("tmp");
        private_file::replace(&self.path, &temporary, &bytes)
    }

    /// Removes the draft, if there is one.
    ///
    /// # Errors
    /// When there is one and it cannot be removed.
    pub(crate) fn remove(&self) -> Result<(), DraftError> {
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(()),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(self.not_written(source)),
        }
    }

    fn not_written(&self, source: io::Error) -> DraftError {
        let path = self.path.clone();
        DraftError::Write { path, source }
    }
}

/// FNV-1a with 64 bits: short, and the same in each version of the program.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
