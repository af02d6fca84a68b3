//! Keeping what is in the composer, so that a crash takes at most a second of typing.

use std::time::{Duration, Instant};

use super::Running;
use super::effects::chain;
use crate::composer::Draft;
use crate::draft_file::DraftFile;

/// How long after a change the draft is written at the latest.
const KEEP_TIME: Duration = Duration::from_secs(1);

/// What is known of the file.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    /// The composer may have changed and is looked at then. Nothing waits while nobody types.
    due: Option<Instant>,
    /// What the file holds.
    kept: Option<Draft>,
}

impl Drafts {
    /// When [`Running::keep_draft`] must be called at the latest.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

impl Running {
    fn draft_file(&self) -> DraftFile {
        DraftFile::new(self.manager.home(), &self.options.thread.cwd)
    }

    pub(super) fn load_draft(&mut self) {
        match self.draft_file().load() {
            Ok(Some(draft)) => {
                self.app.composer.restore(&draft);
                self.drafts.kept = Some(draft);
            }
            Ok(None) => {}
            Err(err) => self.tell(chain(&err)),
        }
    }

    /// The user did something that may have changed the composer.
    pub(super) fn draft_touched(&mut self, now: Instant) {
        if self.app.composer.is_empty() && self.drafts.kept.is_some() {
            // What was sent must not come back as a draft.
            self.save_draft();
        } else {
            self.drafts.due.get_or_insert(now + KEEP_TIME);
        }
    }

    /// Writes the draft if its time has come.
    pub(super) fn keep_draft(&mut self, now: Instant) {
        if self.drafts.due.is_some_and(|due| due <= now) {
            self.save_draft();
        }
    }

    /// Keeps what is in the composer for the next start here.
    pub(super) fn save_draft(&mut self) {
        self.drafts.due = None;
        let draft = Some(self.app.composer.draft()).filter(|draft| !draft.is_empty());
        if draft == self.drafts.kept {
            return;
        }
        let file = self.draft_file();
        let kept = match &draft {
            Some(draft) => file.save(draft),
            None => file.remove(),
        };
        match kept {
            Ok(()) => self.drafts.kept = draft,
            Err(err) => tracing::warn!(error = %err, "the draft was not kept"),
        }
    }
}
