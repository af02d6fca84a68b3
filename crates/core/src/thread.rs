//! A thread as its faces hold it: operations go in, events come out.

use agent_protocol::{Envelope, Op, ThreadId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Operations that may wait.
pub(crate) const OPS_CAPACITY: usize = 64;

/// A running thread. Dropping it ends what it runs.
pub struct Thread {
    pub(crate) id: ThreadId,
    pub(crate) ops: mpsc::Sender<Op>,
    pub(crate) events: mpsc::Receiver<Envelope>,
    pub(crate) actor: JoinSet<()>,
}

/// The thread has ended and takes no more operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the thread has ended")]
pub struct ThreadEnded;

impl Thread {
    /// Its id.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Hands in an operation.
    ///
    /// # Errors
    /// When the thread has ended.
    ///
    /// # Cancel safety
    /// When dropped before it returns, the operation was not handed in.
    pub async fn submit(&self, op: Op) -> Result<(), ThreadEnded> {
        self.ops.send(op).await.map_err(|_| ThreadEnded)
    }

    /// The next event; `None` after the thread has ended.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub async fn next_event(&mut self) -> Option<Envelope> {
        self.events.recv().await
    }

    /// Ends the thread and waits until nothing of it runs.
    pub async fn shut_down(mut self) {
        // An ended thread needs no telling.
        self.submit(Op::Shutdown).await.ok();
        while self.events.recv().await.is_some() {}
        while self.actor.join_next().await.is_some() {}
    }
}
