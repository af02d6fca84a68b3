//! A patch while the model writes its call, in either form of call.

use agent_apply_patch::{PatchKind, PatchProgress};
use agent_core::tool::CallDraft;
use agent_protocol::{CallForm, ChangeKind, EditDraft, FileDraft};

use super::string_field::StringField;

/// The argument of the function form that holds the patch.
const FIELD: &str = "input";

/// A patch that is being written.
pub(super) struct PatchDraft {
    patch: PatchProgress,
    /// Takes the patch out of the JSON of the function form.
    field: Option<StringField>,
}

impl PatchDraft {
    pub(super) fn new(form: CallForm) -> Self {
        Self {
            patch: PatchProgress::default(),
            field: match form {
                CallForm::Function => Some(StringField::new(FIELD)),
                CallForm::Custom => None,
            },
        }
    }
}

impl CallDraft for PatchDraft {
    fn push(&mut self, delta: &str) -> bool {
        let patch = &mut self.patch;
        let Some(field) = &mut self.field else {
            return patch.push(delta);
        };
        let mut changed = false;
        field.push(delta, &mut |text| changed |= patch.push(text));
        changed
    }

    fn edit(&self) -> EditDraft {
        let (added, removed) = self.patch.lines();
        let files = self.patch.files().iter().map(|file| FileDraft {
            path: file.move_to.as_ref().unwrap_or(&file.path).clone(),
            kind: match file.kind {
                PatchKind::Add => ChangeKind::Add,
                PatchKind::Delete => ChangeKind::Delete,
                PatchKind::Update => ChangeKind::Update,
            },
            added: file.added,
            removed: file.removed,
        });
        EditDraft {
            files: files.collect(),
            n_left_out: self.patch.n_left_out(),
            added,
            removed,
        }
    }
}

#[cfg(test)]
mod tests;
