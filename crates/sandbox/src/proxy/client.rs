//! A connection from a command: its bytes as far as they have arrived, within bounds.

use std::io;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

/// How much is read at once, in bytes.
const READ_BYTES: usize = 4 * 1024;

/// How much of what a client goes on to send is read after it got its answer, and for how long.
/// A connection that is closed with unread bytes is reset, and the answer may be lost with it.
const MAX_DRAINED: usize = 256 * 1024;
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// A client that has not said yet what it wants.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) stream: TcpStream,
    /// What was read and not used.
    pub(super) unused: BytesMut,
    deadline: Instant,
}

impl Client {
    /// A client that has this long for its request.
    pub(super) fn new(stream: TcpStream, limit: Duration) -> Self {
        // Without it small writes wait for each other; a failure costs only time.
        drop(stream.set_nodelay(true));
        Self {
            stream,
            unused: BytesMut::new(),
            deadline: Instant::now() + limit,
        }
    }

    /// The first byte, which is left unused.
    pub(super) async fn first_byte(&mut self) -> io::Result<u8> {
        loop {
            if let Some(byte) = self.unused.first() {
                return Ok(*byte);
            }
            self.read_more().await?;
        }
    }

    /// Waits for more of the request. The end of what the client sends is an error.
    pub(super) async fn read_more(&mut self) -> io::Result<()> {
        self.unused.reserve(READ_BYTES);
        let read = timeout_at(self.deadline, self.stream.read_buf(&mut self.unused));
        match read.await {
            Ok(Ok(0)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Takes the first bytes of what is unused.
    pub(super) fn take(&mut self, n_bytes: usize) -> BytesMut {
        self.unused.split_to(n_bytes.min(self.unused.len()))
    }

    /// Answers, ends the connection and sees to it that the answer arrives.
    pub(super) async fn answer(mut self, answer: &[u8]) -> io::Result<()> {
        self.stream.write_all(answer).await?;
        self.stream.shutdown().await?;
        let drain = async {
            let mut n_drained = 0;
            while n_drained < MAX_DRAINED {
                self.unused.clear();
                self.unused.reserve(READ_BYTES);
                match self.stream.read_buf(&mut self.unused).await {
                    Ok(0) | Err(_) => return,
                    Ok(n_bytes) => n_drained += n_bytes,
                }
            }
        };
        // Who sends for longer has had the time to read.
        drop(timeout(DRAIN_LIMIT, drain).await);
        Ok(())
    }

    /// The end of an HTTP head, if it is there: behind the first empty line. `from` is how much
    /// was searched already.
    pub(super) fn end_of_head(&self, from: usize) -> Option<usize> {
        let unused = self.unused.chunk();
        let start = from.saturating_sub(3);
        let rest = unused.get(start..)?;
        let crlf = find(rest, b"\n\r\n");
        let lf = find(rest, b"\n\n");
        crlf.into_iter().chain(lf).min().map(|at| start + at)
    }
}

/// The end of the first place where `wanted` is.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let at = bytes
        .windows(wanted.len())
        .position(|window| window == wanted)?;
    Some(at + wanted.len())
}
