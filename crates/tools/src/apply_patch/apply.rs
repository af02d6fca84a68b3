//! Plans a patch against the disk and writes it.

use std::fmt::Write as _;

use agent_apply_patch::{ChangeKind as Planned, Patch, Plan, parse, plan, summary};
use agent_core::environment::Edits;
use agent_workspace::{ChangeKind as Written, FileChange, Refusal};

use super::diff;

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
    let committed = edits.commit(changes).map_err(|err| with_cause(&err))?;
    for warning in &committed.warnings {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "warning: {warning}");
    }
    Ok(Applied {
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

fn with_cause(err: &dyn std::error::Error) -> String {
    match err.source() {
        Some(source) => format!("{err}: {source}; nothing was changed"),
        None => format!("{err}; nothing was changed"),
    }
}
