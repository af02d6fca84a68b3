//! Plans a patch against the disk and writes it.

use std::fmt::Write as _;

use agent_apply_patch::{ChangeKind as Planned, Patch, Plan, parse, plan, summary};
use agent_core::environment::Edits;
use agent_core::tool::{EditedContent, FileEdit};
use agent_workspace::{ChangeKind as Written, CommitError, FileChange, Refusal};

use super::diff;

/// Files larger than this before and after together, in bytes, are left out of the turn's diff.
const MAX_COMPARED_BYTES: usize = 8 << 20;

/// How much content of one patch is kept for the turn's diff, in bytes: as much as a whole turn may.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Applies the text of a patch: what was done, or why nothing was.
///
/// # Errors
/// When it is no patch, does not fit or cannot be written. The text is for models and people.
pub fn apply_text(text: &str, edits: &dyn Edits) -> Result<String, String> {
    let patch = parse(text).map_err(|err| err.to_string())?;
    Ok(apply(&patch, edits)?.summary)
}

/// A patch that was applied.
pub(super) struct Applied {
    pub(super) edits: Vec<FileEdit>,
    pub(super) summary: String,
    pub(super) diff: String,
}

/// Plans the patch against the disk and writes it. The error is for the model.
pub(super) fn apply(patch: &Patch, edits: &dyn Edits) -> Result<Applied, String> {
    let mut read = |path: &str| {
        let target = edits.resolve(path).map_err(|err| err.to_string())?;
        edits.read(&target).map_err(|err| err.to_string())
    };
    let plan = plan(patch, &mut read).map_err(|err| err.to_string())?;
    let diff = diff::unified(&plan);
    let mut text = summary(&plan);
    let changes = changes(plan, edits).map_err(|refusal| refusal.to_string())?;
    let mut room = MAX_KEPT_BYTES;
    let done = changes.iter().map(|change| edit(change, edits, &mut room));
    let done = done.collect();
    let committed = edits.commit(changes).map_err(|err| not_committed(&err))?;
    for warning in &committed.warnings {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "warning: {warning}");
    }
    Ok(Applied {
        edits: done,
        summary: text,
        diff,
    })
}

/// The plan in terms of the places that its paths lead to.
fn changes(plan: Plan, edits: &dyn Edits) -> Result<Vec<FileChange>, Refusal> {
    plan.changes
        .into_iter()
        .map(|change| {
            let kind = match change.kind {
                Planned::Add { after } => Written::Create { after },
                Planned::Delete { before } => Written::Delete { before },
                Planned::Update {
                    before,
                    after,
                    move_to,
                } => Written::Update {
                    before,
                    after,
                    move_to: move_to.map(|path| edits.resolve(&path)).transpose()?,
                },
            };
            Ok(FileChange {
                target: edits.resolve(&change.path)?,
                kind,
            })
        })
        .collect()
}

/// What a change does to its file, for the diff of the turn; `room` is what may still be kept.
fn edit(change: &FileChange, edits: &dyn Edits, room: &mut usize) -> FileEdit {
    let unknown = |reason| EditedContent::Unknown { reason };
    let (before, after, moved_to) = match &change.kind {
        Written::Create { after } => (None, Some(after), None),
        Written::Delete { before } => (Some(before), None, None),
        Written::Update {
            before,
            after,
            move_to,
        } => (Some(before), Some(after), move_to.as_ref()),
    };
    let n_bytes = before.map_or(0, Vec::len) + after.map_or(0, Vec::len);
    let content = if change.target.is_link() && (after.is_none() || moved_to.is_some()) {
        unknown("it is a link")
    } else if n_bytes > MAX_COMPARED_BYTES {
        unknown("it is too large")
    } else if n_bytes > *room {
        unknown("the turn changed too much to keep it all")
    } else {
        *room -= n_bytes;
        EditedContent::Known {
            before: before.cloned(),
            after: after.cloned(),
            executable: edits.is_executable(&change.target),
        }
    };
    FileEdit {
        path: change.target.real_path().to_owned(),
        moved_to: moved_to.map(|target| target.real_path().to_owned()),
        content,
    }
}

fn not_committed(err: &CommitError) -> String {
    let source = std::error::Error::source(err);
    let cause = source
        .map(|source| format!(": {source}"))
        .unwrap_or_default();
    match err {
        CommitError::RollBack { .. } => format!("{err}{cause}"),
        CommitError::Changed { .. }
        | CommitError::Exists { .. }
        | CommitError::SameFile { .. }
        | CommitError::Directory { .. }
        | CommitError::Write { .. }
        | CommitError::Remove { .. } => format!("{err}{cause}; nothing was changed"),
    }
}
