//! The holder of a policy: started with the first command, and anew if it was ended from outside.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::{Arc, Mutex, PoisonError};

use agent_protocol::SandboxLevel;
use agent_sandbox::{Holder, HolderOptions, SandboxError, SandboxPolicy};
use tokio::sync::OnceCell;

/// Filled by the first that needs it.
type Cell = Arc<OnceCell<Arc<Holder>>>;

/// A holder, or none yet.
#[derive(Debug, Default)]
pub(super) struct HolderSlot {
    current: Mutex<Cell>,
}

impl HolderSlot {
    /// The holder, which is started if there is none.
    ///
    /// # Cancel safety
    /// A holder that is being started ends.
    pub(super) async fn get_or_start(
        &self,
        policy: &SandboxPolicy,
    ) -> Result<Arc<Holder>, SandboxError> {
        let cell = self.cell();
        let holder = cell.get_or_try_init(|| async {
            make_records(policy);
            let holder = Holder::start(policy, HolderOptions::default()).await?;
            tracing::info!(level = %holder.level(), report = ?holder.report(), "sandbox");
            Ok(Arc::new(holder))
        });
        holder.await.map(Arc::clone)
    }

    /// How much is enforced; nothing is known before there is a holder.
    pub(super) fn level(&self) -> SandboxLevel {
        let cell = self.cell();
        cell.get()
            .map_or(SandboxLevel::None, |holder| holder.level())
    }

    /// This one is gone, and its commands with it; the next command starts another.
    pub(super) fn forget(&self, gone: &Arc<Holder>) {
        let mut cell = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if cell.get().is_some_and(|held| Arc::ptr_eq(held, gone)) {
            *cell = Cell::default();
        }
    }

    fn cell(&self) -> Cell {
        let cell = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&cell)
    }
}

/// Commands see the records that are there when the holder starts.
fn make_records(policy: &SandboxPolicy) {
    for record in &policy.readable_records {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(record);
        if let Err(err) = made {
            tracing::warn!(path = %record.display(), error = %err, "no place for outputs");
        }
    }
}
