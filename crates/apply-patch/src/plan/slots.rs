//! The files of a patch while it is planned: what each was, and what it has become so far.

use std::collections::HashMap;

use super::{ChangeKind, PlanError, PlannedChange, Read};

/// What a file has become.
#[derive(Debug)]
pub(super) enum Content {
    /// What it was.
    Same,
    /// Nothing: it does not exist.
    Gone,
    /// Other bytes.
    New(Vec<u8>),
}

#[derive(Debug)]
struct Slot {
    path: String,
    original: Option<Vec<u8>>,
    content: Content,
    moved_to: Option<usize>,
    /// Whether what was moved here is a file that existed before the patch.
    from_disk: bool,
}

/// All files that the patch has named so far; the same file has one slot however it is written.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    by_key: HashMap<String, usize>,
}

impl Slots {
    /// The slot of a path; the file is read when it is named first.
    pub(super) fn open(&mut self, path: &str, read: &mut Read<'_>) -> Result<usize, PlanError> {
        let key = lexical(path);
        if let Some(at) = self.by_key.get(&key) {
            return Ok(*at);
        }
        let path = path.to_owned();
        let original = match read(&path) {
            Ok(original) => original,
            Err(reason) => return Err(PlanError::Unreadable { path, reason }),
        };
        let at = self.slots.len();
        self.by_key.insert(key, at);
        self.slots.push(Slot {
            path,
            original,
            content: Content::Same,
            moved_to: None,
            from_disk: false,
        });
        Ok(at)
    }

    /// What the file is now; `None` if it does not exist.
    pub(super) fn current(&self, at: usize) -> Option<&[u8]> {
        let slot = self.slots.get(at)?;
        match &slot.content {
            Content::Same => slot.original.as_deref(),
            Content::Gone => None,
            Content::New(bytes) => Some(bytes),
        }
    }

    /// Where the patch moved the file to.
    pub(super) fn moved_to(&self, at: usize) -> Option<&str> {
        let to = self.slots.get(at)?.moved_to?;
        self.slots.get(to).map(|slot| slot.path.as_str())
    }

    pub(super) fn set(&mut self, at: usize, content: Content) {
        if let Some(slot) = self.slots.get_mut(at) {
            slot.content = content;
        }
    }

    /// Moves what is at `from` to `to`, where nothing is.
    pub(super) fn move_content(&mut self, from: usize, to: usize) {
        let Some(source) = self.slots.get_mut(from) else {
            return;
        };
        let bytes = match std::mem::replace(&mut source.content, Content::Gone) {
            Content::Same => source.original.clone(),
            Content::Gone => None,
            Content::New(bytes) => Some(bytes),
        };
        let Some(bytes) = bytes else { return };
        let from_disk = source.original.is_some() || source.from_disk;
        let Some(target) = self.slots.get_mut(to) else {
            return;
        };
        target.content = Content::New(bytes);
        // Onto a file that this patch deleted, it is that file's rewrite and a deletion.
        if target.original.is_none() {
            target.from_disk = from_disk;
            if let Some(source) = self.slots.get_mut(from) {
                source.moved_to = Some(to);
            }
        }
    }

    /// The changes that lead from what the files were to what they have become.
    pub(super) fn into_changes(mut self) -> Vec<PlannedChange> {
        let mut changes = Vec::new();
        for at in 0..self.slots.len() {
            // A file that was moved here is told where it came from.
            if self.slots.get(at).is_some_and(|slot| slot.from_disk) {
                continue;
            }
            let end = self.last_place(at);
            let is_chain_start = self
                .slots
                .get(at)
                .is_some_and(|slot| slot.original.is_some());
            let (after, path) = match self.slots.get_mut(end) {
                Some(slot) => (
                    std::mem::replace(&mut slot.content, Content::Gone),
                    slot.path.clone(),
                ),
                None => continue,
            };
            let Some(slot) = self.slots.get_mut(at) else {
                continue;
            };
            let move_to = (end != at && is_chain_start).then_some(path);
            changes.extend(change(slot, after, move_to));
        }
        changes
    }

    /// Follows the moves of a file that existed before.
    fn last_place(&self, at: usize) -> usize {
        let mut end = at;
        if self
            .slots
            .get(at)
            .is_some_and(|slot| slot.original.is_some())
        {
            while let Some(to) = self.slots.get(end).and_then(|slot| slot.moved_to) {
                end = to;
            }
        }
        end
    }
}

fn change(slot: &mut Slot, after: Content, move_to: Option<String>) -> Option<PlannedChange> {
    let path = slot.path.clone();
    let kind = match (slot.original.take(), after) {
        (None, Content::New(after)) => ChangeKind::Add { after },
        (Some(before), Content::Gone) => ChangeKind::Delete { before },
        (Some(before), Content::New(after)) => ChangeKind::Update {
            before,
            after,
            move_to,
        },
        (None, Content::Gone | Content::Same) | (Some(_), Content::Same) => return None,
    };
    Some(PlannedChange { path, kind })
}

/// One form for the ways to write a path; `..` takes the name before it away.
fn lexical(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
