//! The last diff of a session, found without reading the rest of its records.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use crate::reader::{Line, LineEnd, ReadError, read_line};
use crate::record::EventRecord;

/// What the patches of a turn changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnDiff {
    /// In the format of git, with paths relative to the root of the repository.
    pub unified_diff: String,
    /// Files that it leaves out, each with the reason.
    pub left_out: Vec<String>,
}

/// The last diff in a session's file; `None` if no turn changed a file by a patch.
///
/// # Errors
/// When the file cannot be opened or read; damage inside it is no error.
pub fn last_turn_diff(path: &Path) -> Result<Option<TurnDiff>, ReadError> {
    last(path).map_err(|source| ReadError {
        path: path.to_owned(),
        source,
    })
}

fn last(path: &Path) -> io::Result<Option<TurnDiff>> {
    let mut input = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut line = Vec::new();
    let mut found = None;
    loop {
        line.clear();
        if read_line(&mut input, &mut line)? == LineEnd::Nothing {
            return Ok(found);
        }
        // Most lines are something else: a search is cheaper than parsing them.
        if memchr::memmem::find(&line, b"turn_diff").is_none() {
            continue;
        }
        found = turn_diff(&line).or(found);
    }
}

fn turn_diff(line: &[u8]) -> Option<TurnDiff> {
    let line: Line<'_> = serde_json::from_slice(line.trim_ascii()).ok()?;
    if line.kind != "event_msg" {
        return None;
    }
    match serde_json::from_str(line.payload.get()).ok()? {
        EventRecord::TurnDiff {
            unified_diff,
            left_out,
            ..
        } => Some(TurnDiff {
            unified_diff,
            left_out,
        }),
        EventRecord::TaskStarted { .. }
        | EventRecord::UserMessage { .. }
        | EventRecord::TokenCount { .. }
        | EventRecord::TaskComplete { .. }
        | EventRecord::TurnAborted { .. }
        | EventRecord::Other => None,
    }
}
