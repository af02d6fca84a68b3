//! The rollout as the session uses it: where it cannot be written, the session goes on and the
//! user is told once.

use std::path::Path;

use agent_rollout::{Record, Writer};

/// Writes records, or does not.
#[derive(Debug)]
pub(crate) struct RecordLog {
    writer: Option<Writer>,
    warned: bool,
}

impl RecordLog {
    /// Writes to a session's file.
    pub(crate) fn new(writer: Writer) -> Self {
        Self {
            writer: Some(writer),
            warned: false,
        }
    }

    /// Writes nothing.
    pub(crate) fn none() -> Self {
        Self {
            writer: None,
            warned: false,
        }
    }

    /// The session's file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.writer.as_ref().map(Writer::path)
    }

    /// Writes a record. The first failure gives a warning for the user; later records are still
    /// tried, because a full disk may have room again.
    pub(crate) fn append(&mut self, record: &Record<'_>) -> Option<String> {
        let writer = self.writer.as_mut()?;
        let err = writer.append(record).err()?;
        tracing::warn!(error = %err, "a record could not be written");
        if std::mem::replace(&mut self.warned, true) {
            return None;
        }
        Some(format!(
            "cannot write the session file `{}`: {err}; the session goes on, but it may not be \
             possible to resume it",
            writer.path().display()
        ))
    }

    /// Waits until the records are on the disk.
    pub(crate) fn sync(&self) {
        if let Some(Err(err)) = self.writer.as_ref().map(Writer::sync) {
            tracing::warn!(error = %err, "the session file could not be synced");
        }
    }
}
