//! The one writer of a session.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use agent_protocol::ThreadId;
use jiff::{Timestamp, ZonedDateTime};
use serde::Serialize;

use crate::record::Record;

/// Why a session cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriterError {
    /// The directory or file cannot be made or opened.
    #[error("cannot write the session file `{path}`", path = path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process writes this session.
    #[error("another process is using the session `{path}`", path = path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
}

/// Appends records to one session's file. It holds an advisory lock (`flock`) on the file, which
/// the kernel releases when the process ends, however that happens.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// The length up to which the file holds whole lines of ours.
    good_length: u64,
    line: Vec<u8>,
}

impl Writer {
    /// Makes the file of a new session below `home/sessions/YYYY/MM/DD`, named by local time.
    ///
    /// # Errors
    /// When a directory or the file cannot be made.
    pub fn create(home: &Path, id: ThreadId) -> Result<Self, WriterError> {
        let now = ZonedDateTime::now();
        let directory = home
            .join("sessions")
            .join(now.strftime("%Y/%m/%d").to_string());
        let time = now.strftime("%Y-%m-%dT%H-%M-%S");
        let path = directory.join(format!("rollout-{time}-{id}.jsonl"));
        let open = |source| WriterError::Open {
            path: path.clone(),
            source,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .map_err(open)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(open)?;
        Self::with_lock(file, path)
    }

    /// Opens the file of a session to go on with it. A torn last line is left as it is; records
    /// begin on a fresh line after it.
    ///
    /// # Errors
    /// When the file cannot be opened or another process writes it.
    pub fn resume(path: &Path) -> Result<Self, WriterError> {
        let open = |source| WriterError::Open {
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(open)?;
        let mut writer = Self::with_lock(file, path.to_owned())?;
        writer.finish_torn_line().map_err(open)?;
        Ok(writer)
    }

    fn with_lock(file: File, path: PathBuf) -> Result<Self, WriterError> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(WriterError::InUse { path }),
            // A file system without locks (some network ones) must not stop the session.
            Err(TryLockError::Error(err)) => {
                tracing::warn!(error = %err, "the session file cannot be locked");
            }
        }
        Ok(Self {
            file,
            path,
            good_length: 0,
            line: Vec::new(),
        })
    }

    fn finish_torn_line(&mut self) -> io::Result<()> {
        self.good_length = self.file.metadata()?.len();
        if self.good_length == 0 {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.good_length - 1))?;
        let mut last = [0];
        self.file.read_exact(&mut last)?;
        if last != *b"\n" {
            self.file.write_all(b"\n")?;
            self.good_length += 1;
        }
        Ok(())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one record as one line with one `write`. When that fails half-way (a full disk),
    /// the half line is cut off again, so that the file holds whole lines.
    ///
    /// # Errors
    /// When the record cannot be written; the file is then as it was before.
    pub fn append(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.line.clear();
        render(record, &mut self.line)?;
        match self.file.write_all(&self.line) {
            Ok(()) => {
                self.good_length += u64::try_from(self.line.len()).unwrap_or(0);
                Ok(())
            }
            Err(err) => {
                if let Err(cut) = self.file.set_len(self.good_length) {
                    tracing::warn!(error = %cut, "a half-written record could not be cut off");
                }
                Err(err)
            }
        }
    }

    /// Waits until what was written is on the disk (`fdatasync`).
    ///
    /// # Errors
    /// When the disk says no.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Renders a record as a line, its end included.
fn render(record: &Record<'_>, line: &mut Vec<u8>) -> io::Result<()> {
    let now = Timestamp::now();
    write!(line, "{{\"timestamp\":\"{now:.3}\",\"type\":")?;
    match record {
        Record::SessionMeta(meta) => payload(line, "session_meta", meta)?,
        Record::TurnContext(context) => payload(line, "turn_context", context)?,
        Record::Event(event) => payload(line, "event_msg", event)?,
        Record::ResponseItem { item, metadata } => {
            write!(line, "\"response_item\",\"payload\":{}", item.json())?;
            if !metadata.is_empty() {
                line.extend_from_slice(b",\"metadata\":");
                serde_json::to_writer(&mut *line, metadata)?;
            }
        }
    }
    line.extend_from_slice(b"}\n");
    Ok(())
}

fn payload(line: &mut Vec<u8>, kind: &str, value: &impl Serialize) -> io::Result<()> {
    write!(line, "\"{kind}\",\"payload\":")?;
    serde_json::to_writer(&mut *line, value)?;
    Ok(())
}
