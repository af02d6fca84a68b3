//! The text that reports a carried-out plan to the model.

use std::fmt::Write as _;

use crate::plan::{ChangeKind, Plan};

/// Lists the changed files: added first, then modified, then deleted, each group in patch order.
pub fn summary(plan: &Plan) -> String {
    let mut groups = [String::new(), String::new(), String::new()];
    let [added, modified, deleted] = &mut groups;
    for change in &plan.changes {
        let (group, letter, path) = match &change.kind {
            ChangeKind::Add { .. } => (&mut *added, 'A', &change.path),
            ChangeKind::Delete { .. } => (&mut *deleted, 'D', &change.path),
            ChangeKind::Update { move_to, .. } => (
                &mut *modified,
                'M',
                move_to.as_ref().unwrap_or(&change.path),
            ),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(group, "{letter} {path}");
    }
    let mut out = "Success. Updated the following files:\n".to_owned();
    out.extend(groups);
    for warning in &plan.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    out
}
