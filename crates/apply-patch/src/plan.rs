//! Turns a patch and the files that it names into new bytes. All or nothing.

mod file;
mod slots;

use crate::patch::{FileOp, FilePatch, Patch};
use slots::{Content, Slots};

/// What to write, once everything is known to fit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// One entry a file, in the order in which the patch first names it.
    pub changes: Vec<PlannedChange>,
    /// What was done leniently, for the model.
    pub warnings: Vec<String>,
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChange {
    /// The path as the patch writes it.
    pub path: String,
    /// What happens, with the bytes.
    pub kind: ChangeKind,
}

/// What happens to a file, with its bytes before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is created.
    Add {
        /// Its content.
        after: Vec<u8>,
    },
    /// It is removed.
    Delete {
        /// Its content until then.
        before: Vec<u8>,
    },
    /// Its content or its path changes.
    Update {
        /// Its content until then.
        before: Vec<u8>,
        /// Its content from then on.
        after: Vec<u8>,
        /// Its new path as written, if it moves to another one.
        move_to: Option<String>,
    },
}

/// Reads a file by its path as written: `None` if it does not exist, an error text if it cannot be
/// read.
pub type Read<'r> = dyn FnMut(&str) -> Result<Option<Vec<u8>>, String> + 'r;

/// Why a patch does not fit. The text is for the model and says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A new file is there already.
    #[error(
        "`{path}` already exists; use `*** Update File: {path}` to change it, or put `*** Delete File: {path}` before the `*** Add File` section to replace it"
    )]
    Exists {
        /// Its path as written.
        path: String,
    },
    /// A file to change is not there.
    #[error("`{path}` does not exist; use `*** Add File: {path}` to create it")]
    MissingUpdate {
        /// Its path as written.
        path: String,
    },
    /// A file to delete is not there.
    #[error("`{path}` does not exist, so it cannot be deleted")]
    MissingDelete {
        /// Its path as written.
        path: String,
    },
    /// A file would move onto another one.
    #[error(
        "cannot move `{path}` to `{move_to}`: `{move_to}` already exists; delete it first in the same patch if it is to be replaced"
    )]
    MoveOnto {
        /// The path as written.
        path: String,
        /// The new path as written.
        move_to: String,
    },
    /// The patch uses a path again that it moved away.
    #[error(
        "`{path}` was moved to `{move_to}` earlier in this patch; use `{move_to}`, or send a second patch"
    )]
    MovedAway {
        /// The path as written.
        path: String,
        /// Where it went.
        move_to: String,
    },
    /// The reader refused or failed.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// Its path as written.
        path: String,
        /// Why, in the words of the reader.
        reason: String,
    },
    /// The file cannot be edited as text lines.
    #[error("cannot edit `{path}`: {reason}")]
    Unsupported {
        /// Its path as written.
        path: String,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// The chunks do not fit, or fit in several ways.
    #[error("cannot apply the chunk at patch line {line} to `{path}`: {reason}")]
    NoFit {
        /// Its path as written.
        path: String,
        /// The line of the patch at which the chunk begins.
        line: usize,
        /// What was looked for, what the file has and what to do.
        reason: String,
    },
}

/// Plans `patch` against the files that `read` returns.
pub fn plan(patch: &Patch, read: &mut Read<'_>) -> Result<Plan, PlanError> {
    let mut planner = Planner {
        slots: Slots::default(),
        warnings: Vec::new(),
        read,
    };
    for hunk in &patch.hunks {
        planner.hunk(hunk)?;
    }
    Ok(Plan {
        changes: planner.slots.into_changes(),
        warnings: planner.warnings,
    })
}

struct Planner<'a, 'r> {
    slots: Slots,
    warnings: Vec<String>,
    read: &'a mut Read<'r>,
}

impl Planner<'_, '_> {
    fn hunk(&mut self, hunk: &FilePatch) -> Result<(), PlanError> {
        let path = &hunk.path;
        let at = self.slots.open(path, self.read)?;
        if let Some(to) = self.slots.moved_to(at) {
            let move_to = to.to_owned();
            let path = path.clone();
            return Err(PlanError::MovedAway { path, move_to });
        }
        let current = self.slots.current(at);
        match (&hunk.op, current) {
            (FileOp::Add { .. }, Some(_)) => Err(PlanError::Exists { path: path.clone() }),
            (FileOp::Add { content }, None) => {
                self.slots.set(at, Content::New(content.clone().into()));
                Ok(())
            }
            (FileOp::Delete, None) => Err(PlanError::MissingDelete { path: path.clone() }),
            (FileOp::Delete, Some(_)) => {
                self.slots.set(at, Content::Gone);
                Ok(())
            }
            (FileOp::Update { .. }, None) => Err(PlanError::MissingUpdate { path: path.clone() }),
            (FileOp::Update { move_to, chunks }, Some(before)) => {
                // A move alone does not care what the bytes mean.
                if !chunks.is_empty() {
                    let after = file::update(path, before, chunks, &mut self.warnings)?;
                    if after == before && move_to.is_none() {
                        self.warnings.push(format!(
                            "`{path}` already has this content; nothing changed"
                        ));
                    }
                    self.slots.set(at, Content::New(after));
                }
                match move_to {
                    Some(move_to) => self.move_file(at, path, move_to),
                    None => Ok(()),
                }
            }
        }
    }

    fn move_file(&mut self, at: usize, path: &str, move_to: &str) -> Result<(), PlanError> {
        let to = self.slots.open(move_to, self.read)?;
        if to == at {
            return Ok(());
        }
        if let Some(away) = self.slots.moved_to(to) {
            let (path, move_to) = (move_to.to_owned(), away.to_owned());
            return Err(PlanError::MovedAway { path, move_to });
        }
        if self.slots.current(to).is_some() {
            let (path, move_to) = (path.to_owned(), move_to.to_owned());
            return Err(PlanError::MoveOnto { path, move_to });
        }
        self.slots.move_content(at, to);
        Ok(())
    }
}
