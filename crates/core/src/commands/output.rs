//! What one command printed: its ends in memory, the whole in a file where that is needed.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use agent_process::Capture;

use super::output_files::{OutputFile, OutputFiles};

/// Output that is kept of a command in memory, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// Where the whole output of a command is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WholeOutput {
    /// In a file, which has the bytes as they came.
    InFile {
        /// The file, which commands of this thread may read.
        path: PathBuf,
        /// How many of the bytes it has.
        n_kept: u64,
        /// All bytes that the command printed so far.
        n_bytes: u64,
    },
    /// Nowhere: why.
    Lost(String),
}

/// What a command printed.
#[derive(Debug)]
pub(super) struct Output {
    ends: Capture,
    files: Arc<OutputFiles>,
    number: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// All of it, or nobody asked for more than its ends.
    InMemory,
    InFile {
        file: OutputFile,
        n_kept: u64,
    },
    Closed {
        path: PathBuf,
        n_kept: u64,
    },
    Lost(String),
}

impl Output {
    /// Nothing yet. `number` is that of the command.
    pub(super) fn new(files: Arc<OutputFiles>, number: u64) -> Self {
        Self {
            ends: Capture::new(KEPT_BYTES),
            files,
            number,
            state: State::InMemory,
        }
    }

    /// Takes what came next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.ends.has_room_for(bytes.len()) {
            self.keep_whole();
        }
        self.ends.push(bytes);
        self.append(bytes);
    }

    /// Its ends.
    pub(super) fn ends(&self) -> &Capture {
        &self.ends
    }

    /// The number of the command.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Says where the whole is; from the first time on it is in a file.
    pub(super) fn whole(&mut self) -> WholeOutput {
        self.keep_whole();
        let n_bytes = self.ends.n_bytes();
        let (path, n_kept) = match &self.state {
            State::InMemory => return WholeOutput::Lost("it was not kept".to_owned()),
            State::Lost(why) => return WholeOutput::Lost(why.clone()),
            State::InFile { file, n_kept } => (&file.path, *n_kept),
            State::Closed { path, n_kept } => (path, *n_kept),
        };
        WholeOutput::InFile {
            path: path.clone(),
            n_kept,
            n_bytes,
        }
    }

    /// No more comes.
    pub(super) fn close(&mut self) {
        let State::InFile { file, n_kept } = &mut self.state else {
            return;
        };
        let [_, front, back] = self.ends.kept();
        let end = [front, back].concat();
        let n_missing = self.ends.n_bytes() - *n_kept;
        let n_omitted = n_missing.saturating_sub(end.len() as u64);
        // Where the start was cut short within the end, a part of that is in the file already.
        let n_there =
            end.len() - usize::try_from(n_missing).map_or(end.len(), |n| n.min(end.len()));
        *n_kept += n_missing - n_omitted;
        let ended = file.write_end(n_omitted, end.get(n_there..).unwrap_or_default());
        self.state = match ended {
            Ok(()) => State::Closed {
                path: file.path.clone(),
                n_kept: *n_kept,
            },
            Err(err) => State::Lost(err.to_string()),
        };
    }

    fn keep_whole(&mut self) {
        if matches!(self.state, State::InMemory) {
            self.state = match self.begin_file() {
                Ok(state) => state,
                Err(err) => State::Lost(err.to_string()),
            };
        }
    }

    /// Called while nothing is left out yet.
    fn begin_file(&self) -> io::Result<State> {
        let mut file = self.files.create(self.number)?;
        let mut n_kept = 0;
        for part in self.ends.kept() {
            match file.write(part) {
                Ok(n_written) => n_kept += n_written,
                Err(err) => return Ok(file.given_up(&err)),
            }
        }
        Ok(State::InFile { file, n_kept })
    }

    fn append(&mut self, bytes: &[u8]) {
        if let State::InFile { file, n_kept } = &mut self.state {
            match file.write(bytes) {
                Ok(n_written) => *n_kept += n_written,
                Err(err) => self.state = file.given_up(&err),
            }
        }
    }
}

impl OutputFile {
    /// A disk that is full is not kept full by what cannot be finished.
    fn given_up(&self, err: &io::Error) -> State {
        self.remove();
        State::Lost(err.to_string())
    }
}
