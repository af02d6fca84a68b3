//! The edit as people read it: a unified diff. It is only shown, never applied.

use std::fmt::Write as _;

use agent_apply_patch::{ChangeKind, Plan};
use agent_workspace::hunks;

/// Files larger than this, in bytes, are not compared line by line for display.
const MAX_COMPARED_BYTES: usize = 1 << 20;
/// The diff is cut after so many bytes.
const MAX_DIFF_BYTES: usize = 64 << 10;

/// The changes of a plan as one diff.
pub(super) fn unified(plan: &Plan) -> String {
    let mut text = String::new();
    for change in &plan.changes {
        let (before, after, new_path): (&[u8], &[u8], &str) = match &change.kind {
            ChangeKind::Add { after } => (&[], after, &change.path),
            ChangeKind::Delete { before } => (before, &[], &change.path),
            ChangeKind::Update {
                before,
                after,
                move_to,
            } => (before, after, move_to.as_deref().unwrap_or(&change.path)),
        };
        if before.len() + after.len() > MAX_COMPARED_BYTES {
            text.push_str(&change.path);
            text.push_str(": too large to show\n");
            continue;
        }
        let before = String::from_utf8_lossy(before);
        let after = String::from_utf8_lossy(after);
        let hunks = hunks(&before, &after);
        if !hunks.is_empty() {
            let path = &change.path;
            let _ = write!(text, "--- {path}\n+++ {new_path}\n{hunks}");
        }
    }
    if text.len() > MAX_DIFF_BYTES {
        text.truncate(text.floor_char_boundary(MAX_DIFF_BYTES));
        text.push_str("\n… the rest is not shown\n");
    }
    text
}
