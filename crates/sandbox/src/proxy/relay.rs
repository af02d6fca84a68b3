//! Passes bytes between a client and a host, both ways, in bounded memory.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// How much is passed on at once, in bytes: the memory of one direction.
pub(super) const PASS_BYTES: usize = 16 * 1024;

/// How long nothing may be passed on where one side has ended already. A client that was killed
/// looks like one that has said all it wants; without this its connection would stay for ever.
const HALF_OPEN_LIMIT: Duration = Duration::from_mins(5);

/// Sees whether a connection of which one side has ended goes on.
#[derive(Debug, Default)]
pub(super) struct Watch {
    half_open: Notify,
    has_passed: AtomicBool,
}

impl Watch {
    /// Something was passed on.
    pub(super) fn passed(&self) {
        self.has_passed.store(true, Ordering::Relaxed);
    }

    /// One side has ended.
    pub(super) fn ended(&self) {
        self.half_open.notify_one();
    }

    /// Returns once one side has ended and the other is silent for too long.
    pub(super) async fn is_idle(&self) {
        self.half_open.notified().await;
        loop {
            self.has_passed.store(false, Ordering::Relaxed);
            tokio::time::sleep(HALF_OPEN_LIMIT).await;
            if !self.has_passed.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

/// Passes on everything that `from` sends, and its end.
pub(super) async fn pass(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    watch: &Watch,
) -> io::Result<()> {
    let mut buffer = vec![0; PASS_BYTES];
    loop {
        let n_bytes = from.read(&mut buffer).await?;
        let Some(bytes) = buffer.get(..n_bytes).filter(|bytes| !bytes.is_empty()) else {
            watch.ended();
            return to.shutdown().await;
        };
        to.write_all(bytes).await?;
        watch.passed();
    }
}

/// Joins a client and a host until both have ended. `early` is what the client has sent already.
pub(super) async fn join(
    mut client: TcpStream,
    early: &[u8],
    mut host: TcpStream,
) -> io::Result<()> {
    let watch = Watch::default();
    let outcome = {
        let (mut from_client, mut to_client) = client.split();
        let (mut from_host, mut to_host) = host.split();
        let outward = async {
            to_host.write_all(early).await?;
            pass(&mut from_client, &mut to_host, &watch).await
        };
        let inward = pass(&mut from_host, &mut to_client, &watch);
        tokio::select! {
            both = async { tokio::try_join!(outward, inward) } => both.map(drop),
            () = watch.is_idle() => Err(io::ErrorKind::TimedOut.into()),
        }
    };
    if outcome.is_err() {
        reset(&client);
        reset(&host);
    }
    outcome
}

/// Lets a connection end as broken, so that what was passed on is not taken for all of it.
pub(super) fn reset(stream: &TcpStream) {
    // Without it the connection ends as if it were whole, which is the lesser harm.
    drop(stream.set_zero_linger());
}
