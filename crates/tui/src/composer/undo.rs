//! What was changed, to take it back and to do it again.

use super::rich_text::RichText;

/// Groups that are remembered.
const MAX_GROUPS: usize = 500;

/// One replacement.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    /// Where.
    pub(super) at: usize,
    /// What stood there.
    pub(super) removed: RichText,
    /// What stands there now.
    pub(super) inserted: RichText,
    /// Where the cursor was before.
    pub(super) cursor_before: usize,
    /// Where it was afterwards.
    pub(super) cursor_after: usize,
}

/// How an edit belongs to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// It begins a group.
    Apart,
    /// It is taken back together with the edit before, unless a group was ended.
    WithLast,
}

/// The stacks of edits.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    done: Vec<Vec<Edit>>,
    undone: Vec<Vec<Edit>>,
    /// The newest group is finished.
    closed: bool,
}

impl Undo {
    /// Notes an edit.
    pub(super) fn record(&mut self, edit: Edit, join: Join) {
        self.undone.clear();
        match self.done.last_mut() {
            Some(group) if join == Join::WithLast && !self.closed => group.push(edit),
            Some(_) | None => self.done.push(vec![edit]),
        }
        if self.done.len() > MAX_GROUPS {
            self.done.remove(0);
        }
        self.closed = false;
    }

    /// Whatever comes next begins a group.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Takes back the newest group; the cursor that was before it.
    pub(super) fn undo(&mut self, text: &mut RichText) -> Option<usize> {
        let group = self.done.pop()?;
        let mut cursor = None;
        for edit in group.iter().rev() {
            text.replace(edit.at..edit.at + edit.inserted.len(), &edit.removed);
            cursor = Some(edit.cursor_before);
        }
        self.undone.push(group);
        self.closed = true;
        cursor
    }

    /// Does again what was taken back last; the cursor that was after it.
    pub(super) fn redo(&mut self, text: &mut RichText) -> Option<usize> {
        let group = self.undone.pop()?;
        let mut cursor = None;
        for edit in &group {
            text.replace(edit.at..edit.at + edit.removed.len(), &edit.inserted);
            cursor = Some(edit.cursor_after);
        }
        self.done.push(group);
        self.closed = true;
        cursor
    }
}
