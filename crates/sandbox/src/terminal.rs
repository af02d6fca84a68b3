//! Pseudo-terminals for commands that want one.

use std::io;
use std::os::fd::OwnedFd;

use bytes::{Bytes, BytesMut};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

use crate::sys;

/// The size that commands see, as models know it: 24 rows of 80 columns.
const SIZE: Winsize = Winsize {
    ws_row: 24,
    ws_col: 80,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// How much of the output is read at once, in bytes.
const READ_BYTES: usize = 16 * 1024;

/// The agent's end of a pseudo-terminal (pty(7)).
#[derive(Debug)]
pub struct Terminal {
    master: AsyncFd<OwnedFd>,
    /// The command's end. While it is open here, a command may close all of its own and open its
    /// terminal again without being hung up on.
    slave: Option<OwnedFd>,
    unwritten: BytesMut,
}

/// The two ends of a new pseudo-terminal: the agent's and the command's. Its name is one in the
/// `/dev/pts` of this process.
pub(crate) fn open_pair() -> io::Result<[OwnedFd; 2]> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    // Not at once on macOS: a program that another thread starts in between inherits it.
    #[cfg(target_os = "macos")]
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(&*name, flags, Mode::empty())?;
    tcsetwinsize(&slave, SIZE)?;
    let status = rustix::fs::fcntl_getfl(&master)?;
    rustix::fs::fcntl_setfl(&master, status | OFlags::NONBLOCK)?;
    Ok([master, slave])
}

impl Terminal {
    /// The agent's side of two ends.
    pub(crate) fn new([master, slave]: [OwnedFd; 2]) -> io::Result<(Self, OwnedFd)> {
        let terminal = Self {
            master: sys::watch(master)?,
            slave: Some(slave.try_clone()?),
            unwritten: BytesMut::new(),
        };
        Ok((terminal, slave))
    }

    /// Types something; it is written while somebody reads.
    pub fn write(&mut self, bytes: &[u8]) {
        self.unwritten.extend_from_slice(bytes);
    }

    /// How much of that has not been written yet, in bytes.
    pub fn n_unwritten(&self) -> usize {
        self.unwritten.len()
    }

    /// The shell has ended: what it printed ends when nobody else has the terminal open.
    pub fn release(&mut self) {
        self.slave = None;
    }

    /// What can be read now; `None` once nobody has the other end open. Writes what was typed.
    ///
    /// # Cancel safety
    /// A call that is dropped has lost nothing.
    pub async fn read(&mut self) -> Option<Bytes> {
        loop {
            let interest = if self.unwritten.is_empty() {
                Interest::READABLE
            } else {
                Interest::READABLE | Interest::WRITABLE
            };
            let mut ready = self.master.ready(interest).await.ok()?;
            if ready.ready().is_readable() {
                let mut buffer = BytesMut::zeroed(READ_BYTES);
                match rustix::io::read(&self.master, &mut *buffer) {
                    // Linux says EIO once the other end is closed (pty(7)).
                    Ok(0) | Err(Errno::IO) => return None,
                    Ok(n_bytes) => {
                        buffer.truncate(n_bytes);
                        return Some(buffer.freeze());
                    }
                    Err(Errno::AGAIN) => ready.clear_ready_matching(Ready::READABLE),
                    Err(Errno::INTR) => {}
                    Err(_) => return None,
                }
            }
            if ready.ready().is_writable() && !self.unwritten.is_empty() {
                match rustix::io::write(&self.master, &self.unwritten) {
                    Ok(n_bytes) => drop(self.unwritten.split_to(n_bytes)),
                    Err(Errno::AGAIN) => ready.clear_ready_matching(Ready::WRITABLE),
                    Err(Errno::INTR) => {}
                    // Nobody has the other end open, so nobody will read it.
                    Err(_) => self.unwritten.clear(),
                }
            }
        }
    }
}
