//! Atomic commits of several files: all are prepared beside their places, then renamed into them.

mod attributes;
mod in_place;
mod prepare;
mod step;

use std::io;
use std::path::PathBuf;

use crate::change::{ChangeKind, FileChange};
use crate::target::{Location, Target};
use crate::workspace::Workspace;
use prepare::Transaction;

/// How the names of temporary files begin.
pub const TEMPORARY_PREFIX: &str = ".agent-tmp-";

/// What is to be told about a commit that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// What could not be done as usual, for the model.
    pub warnings: Vec<String>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The file is not as it was when it was read.
    #[error("`{path}` has changed since it was read; read it again")]
    Changed {
        /// Its path as written.
        path: String,
    },
    /// Something is where a new file should be.
    #[error("`{path}` already exists")]
    Exists {
        /// Its path as written.
        path: String,
    },
    /// Two changes of the commit are of one file.
    #[error("`{path}` and `{other}` are the same file; change it by one name")]
    SameFile {
        /// The one path as written.
        path: String,
        /// The other.
        other: String,
    },
    /// A directory could not be made or entered.
    #[error("cannot open the directory of `{path}`")]
    Directory {
        /// The path of the file as written.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The file could not be written.
    #[error("cannot write `{path}`")]
    Write {
        /// Its path as written.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The file could not be removed.
    #[error("cannot remove `{path}`")]
    Remove {
        /// Its path as written.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The commit failed, and so did taking back a part of it.
    #[error("after a failure, {} could not be put back as before", list(.paths))]
    RollBack {
        /// The paths as written that are not as they were.
        paths: Vec<String>,
        /// Why the commit failed.
        source: Box<CommitError>,
    },
}

/// One file to write or to remove.
#[derive(Debug)]
enum Job {
    Create {
        after: Vec<u8>,
        /// The file whose mode and attributes it takes.
        like: Option<Location>,
    },
    Replace {
        before: Vec<u8>,
        after: Vec<u8>,
    },
    Remove {
        before: Vec<u8>,
        content: Location,
    },
}

/// Writes all changes or none.
pub(crate) fn commit(
    workspace: &Workspace,
    changes: Vec<FileChange>,
) -> Result<Committed, CommitError> {
    let jobs = jobs(changes)?;
    let mut transaction = Transaction::new(workspace);
    let written = jobs
        .into_iter()
        .try_for_each(|(path, location, job)| transaction.prepare(path, &location, job))
        .and_then(|()| transaction.apply());
    match written {
        Ok(()) => Ok(transaction.finish()),
        Err(source) => Err(transaction.roll_back(source)),
    }
}

type Placed = (String, Location, Job);

/// The files to write, then those to remove.
fn jobs(changes: Vec<FileChange>) -> Result<Vec<Placed>, CommitError> {
    let mut writes: Vec<Placed> = Vec::new();
    let mut removals: Vec<Placed> = Vec::new();
    for FileChange { target, kind } in changes {
        match kind {
            ChangeKind::Create { after } => {
                let job = Job::Create { after, like: None };
                writes.push((target.written, target.entry, job));
            }
            ChangeKind::Delete { before } => removals.push(removal(target, before)),
            ChangeKind::Update {
                before,
                after,
                move_to: None,
            } => writes.push((
                target.written,
                target.content,
                Job::Replace { before, after },
            )),
            ChangeKind::Update {
                before,
                after,
                move_to: Some(to),
            } if to.content == target.content => {
                writes.push((to.written, to.content, Job::Replace { before, after }));
            }
            ChangeKind::Update {
                before,
                after,
                move_to: Some(to),
            } => {
                let like = Some(target.content.clone());
                writes.push((to.written, to.entry, Job::Create { after, like }));
                removals.push(removal(target, before));
            }
        }
    }
    writes.append(&mut removals);
    check_distinct(&writes)?;
    Ok(writes)
}

fn removal(target: Target, before: Vec<u8>) -> Placed {
    let content = target.content;
    (
        target.written,
        target.entry,
        Job::Remove { before, content },
    )
}

fn check_distinct(jobs: &[Placed]) -> Result<(), CommitError> {
    let mut seen = std::collections::HashMap::<PathBuf, (usize, &str)>::new();
    for (path, location, _) in jobs {
        let key = location.relative.clone();
        if let Some((root, other)) = seen.insert(key, (location.root, path))
            && root == location.root
        {
            return Err(CommitError::SameFile {
                path: path.clone(),
                other: other.to_owned(),
            });
        }
    }
    Ok(())
}

fn list(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests;
