//! Lists of sessions, from the heads of their files.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agent_protocol::ThreadId;
use serde::Deserialize;

use crate::find::{FindError, Found, session_files};
use crate::record::{EventRecord, SessionMeta};

/// How much of a file is looked at for the first words of the user, in bytes. The base
/// instructions and AGENTS.md come before them.
const MAX_HEAD_BYTES: u64 = 512 << 10;

/// How much of the user's first words is kept, in characters.
const MAX_PREVIEW_CHARS: usize = 200;

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: ThreadId,
    /// Its file.
    pub path: PathBuf,
    /// Where its commands run, if its head can be read.
    pub cwd: Option<PathBuf>,
    /// The branch that it began on.
    pub branch: Option<String>,
    /// When it was used last.
    pub modified: SystemTime,
    /// The first words of the user; empty if there were none.
    pub preview: String,
}

/// The sessions that were used last, newest first, at most `max`; of one directory or of all.
/// One that nobody said anything in is left out; one whose head is damaged is of any directory.
///
/// # Errors
/// When the directory of sessions cannot be read.
pub fn list(home: &Path, cwd: Option<&Path>, max: usize) -> Result<Vec<Summary>, FindError> {
    let mut files = session_files(home)?;
    files.sort_by(|(_, a), (_, b)| b.cmp(a));
    let summaries = files
        .into_iter()
        .map(|(found, modified)| summary(found, modified));
    let wanted = summaries.filter(|summary| {
        // Recorded as text, so compared as text.
        let is_of =
            |dir: &PathBuf| cwd.is_none_or(|cwd| dir.to_string_lossy() == cwd.to_string_lossy());
        let is_empty = summary.cwd.is_some() && summary.preview.is_empty();
        !is_empty && summary.cwd.as_ref().is_none_or(is_of)
    });
    Ok(wanted.take(max).collect())
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    payload: serde_json::Value,
}

fn summary(found: Found, modified: SystemTime) -> Summary {
    let mut summary = Summary {
        id: found.id,
        path: found.path,
        cwd: None,
        branch: None,
        modified,
        preview: String::new(),
    };
    // A file that cannot be read is listed by its name.
    if let Ok(file) = fs::File::open(&summary.path) {
        let head = BufReader::new(io::Read::take(file, MAX_HEAD_BYTES));
        for line in head.split(b'\n').map_while(Result::ok) {
            summary.take(&line);
            if !summary.preview.is_empty() {
                break;
            }
        }
    }
    summary
}

impl Summary {
    fn take(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return;
        };
        match line.kind.as_str() {
            "session_meta" if self.cwd.is_none() => {
                if let Ok(meta) = serde_json::from_value::<SessionMeta>(line.payload) {
                    self.cwd = Some(meta.cwd);
                    self.branch = meta.git.and_then(|git| git.branch);
                }
            }
            "event_msg" => {
                if let Ok(EventRecord::UserMessage { message }) =
                    serde_json::from_value(line.payload)
                {
                    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
                    self.preview = words.chars().take(MAX_PREVIEW_CHARS).collect();
                }
            }
            _ => {}
        }
    }
}
