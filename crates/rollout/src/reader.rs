//! Reading a session back: whatever can be read is taken, whatever cannot is counted.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use agent_protocol::{ResponseItem, SerializedItem, TokenUsage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::record::{EventRecord, ItemMetadata, SessionMeta, TurnContext};

/// A line longer than this (256 MiB) is skipped as damaged, so that a broken file cannot fill
/// the memory.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// Why a session cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the session file `{path}`", path = path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// What a rollout holds.
#[derive(Debug, Default)]
pub struct Session {
    /// The first line, where it is there.
    pub meta: Option<SessionMeta>,
    /// The conversation, in the order of the file.
    pub items: Vec<LoadedItem>,
    /// The settings of the last turn.
    pub last_context: Option<TurnContext>,
    /// Tokens of the whole session so far.
    pub total_usage: TokenUsage,
    /// What could not be read.
    pub damage: Damage,
}

/// One item of the conversation.
#[derive(Debug, Clone)]
pub struct LoadedItem {
    /// The item.
    pub item: SerializedItem,
    /// What was recorded beside it.
    pub metadata: ItemMetadata,
}

/// What could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    /// Lines in the middle that are no record.
    pub broken_lines: usize,
    /// The last line is cut off.
    pub torn_tail: bool,
    /// The first record, which says what the session is, is missing.
    pub missing_head: bool,
}

impl Damage {
    /// Whether everything could be read.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.missing_head {
            parts.push("its first record is missing".to_owned());
        }
        if self.broken_lines > 0 {
            parts.push(match self.broken_lines {
                1 => "1 damaged line was skipped".to_owned(),
                n => format!("{n} damaged lines were skipped"),
            });
        }
        if self.torn_tail {
            parts.push("its last record is torn and was skipped".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

/// One line, with the payload still as text.
#[derive(Deserialize)]
pub(crate) struct Line<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) payload: &'a RawValue,
    #[serde(default)]
    metadata: Option<ItemMetadata>,
}

/// Reads the whole session.
///
/// # Errors
/// When the file cannot be opened or read; damage inside it is no error.
pub fn read(path: &Path) -> Result<Session, ReadError> {
    let error = |source| ReadError {
        path: path.to_owned(),
        source,
    };
    let mut input = BufReader::with_capacity(1 << 20, File::open(path).map_err(error)?);
    let mut session = Session::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if read_line(&mut input, &mut line).map_err(error)? == LineEnd::Nothing {
            break;
        }
        let whole = line.last() == Some(&b'\n');
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        if session.take(text).is_none() {
            if whole {
                session.damage.broken_lines += 1;
            } else {
                session.damage.torn_tail = true;
            }
        }
    }
    session.damage.missing_head = session.meta.is_none();
    Ok(session)
}

#[derive(PartialEq)]
pub(crate) enum LineEnd {
    Line,
    Nothing,
}

/// Reads up to and with the next line end. Of an absurdly long line only the end of it is kept
/// out: it is dropped to nothing that parses.
pub(crate) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineEnd> {
    let n_read = io::Read::take(&mut *input, MAX_LINE_BYTES).read_until(b'\n', line)?;
    if n_read == 0 {
        return Ok(LineEnd::Nothing);
    }
    if line.last() != Some(&b'\n') && u64::try_from(n_read).unwrap_or(0) == MAX_LINE_BYTES {
        line.clear();
        input.skip_until(b'\n')?;
        line.extend_from_slice(b"!\n");
    }
    Ok(LineEnd::Line)
}

impl Session {
    /// Takes one line; `None` when it is damaged.
    fn take(&mut self, text: &[u8]) -> Option<()> {
        let line: Line<'_> = serde_json::from_slice(text).ok()?;
        let payload = line.payload.get();
        match &*line.kind {
            "session_meta" => {
                let meta = serde_json::from_str(payload).ok()?;
                // A fork repeats its parent's head after its own: the first one counts.
                self.meta.get_or_insert(meta);
            }
            "turn_context" => self.last_context = serde_json::from_str(payload).ok(),
            "response_item" => {
                let item: ResponseItem = serde_json::from_str(payload).ok()?;
                self.items.push(LoadedItem {
                    item: SerializedItem::from_parsed(payload, &item),
                    metadata: line.metadata.unwrap_or_default(),
                });
            }
            "event_msg" => {
                if let Ok(EventRecord::TokenCount { info }) = serde_json::from_str(payload) {
                    self.total_usage = info.total_token_usage;
                }
            }
            // Kinds of other versions stay in the file untouched.
            _ => {}
        }
        Some(())
    }
}
