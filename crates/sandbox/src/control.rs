//! The messages between the agent and its holder, and how they cross a socket.
//!
//! Every message is one packet of a `SOCK_SEQPACKET` pair: one byte that says where the payload
//! is, a JSON header, a line feed, the payload. Descriptors travel beside it. A payload that
//! would not fit into a packet is passed as a file in memory, as one more descriptor.

use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, UnixAddr,
    recvmsg, sendmsg, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::level::LevelReport;

const INLINE_LIMIT: usize = 48 * 1024;
const PACKET_LIMIT: usize = 128 * 1024;
pub(crate) const PAYLOAD_LIMIT: usize = 8 * 1024 * 1024;
const PAYLOAD_INLINE: u8 = 0;
const PAYLOAD_IN_FILE: u8 = 1;

/// What the agent asks of the holder.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The first message. The payload is the policy, which may be long.
    SetUp {
        /// The agent itself runs inside a sandbox of ours, or so its environment says.
        claims_inherited: bool,
    },
    /// Start a command. Descriptors: its own socket, stdout, stderr, then stdin if it has one.
    Spawn(CommandShape),
    /// The agent itself is about to change a protected path. The payload is the path.
    Expect,
    /// What the policy says of a path. The payload is the path; the answer goes to the descriptor.
    Explain,
    /// A new terminal. Its two ends go to the descriptor, or nothing if there can be none.
    Terminal,
}

/// How the payload of a spawn request is divided.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct CommandShape {
    pub(crate) n_arguments: usize,
    pub(crate) has_stdin: bool,
}

/// The answer to `Request::SetUp`. With `Ready` comes the proxy's listening socket, where the
/// network is a list of hosts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SetUpReply {
    Ready(LevelReport),
    Unavailable(LevelReport),
}

/// What the agent asks about one command, on that command's socket. Closing it means `Kill`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum CommandRequest {
    Terminate,
    Kill,
}

/// What happens to one command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum CommandEvent {
    /// The proxy's listening socket comes with it: of a command that has no holder.
    Listening,
    Started,
    Failed {
        stage: Stage,
        errno: i32,
    },
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
    },
    /// Nothing of the command is left.
    Gone {
        findings: Vec<Finding>,
    },
}

/// Where the start of a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    SetUp,
    Directory,
    Program,
}

/// A received packet.
pub(crate) struct Packet {
    bytes: Vec<u8>,
    pub(crate) fds: Vec<OwnedFd>,
}

/// A connected pair of packet sockets, both closed on exec.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )?)
}

/// Sends one message. With `MSG_DONTWAIT` semantics only if the socket itself is non-blocking.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    header: &impl Serialize,
    payload: &[u8],
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let in_file = payload.len() > INLINE_LIMIT;
    let mut packet = vec![if in_file {
        PAYLOAD_IN_FILE
    } else {
        PAYLOAD_INLINE
    }];
    serde_json::to_writer(&mut packet, header)?;
    packet.push(b'\n');
    let mut raw: Vec<_> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let file;
    if in_file {
        file = payload_file(payload)?;
        raw.push(file.as_raw_fd());
    } else {
        packet.extend_from_slice(payload);
    }
    let rights = [ControlMessage::ScmRights(&raw)];
    let rights = if raw.is_empty() { &[][..] } else { &rights[..] };
    let sent = sendmsg::<UnixAddr>(
        socket.as_raw_fd(),
        &[IoSlice::new(&packet)],
        rights,
        MsgFlags::MSG_NOSIGNAL,
        None,
    )?;
    if sent == packet.len() {
        Ok(())
    } else {
        Err(io::ErrorKind::WriteZero.into())
    }
}

fn payload_file(payload: &[u8]) -> io::Result<std::fs::File> {
    let fd = memfd_create(c"agent-sandbox", MFdFlags::MFD_CLOEXEC)?;
    let mut file = std::fs::File::from(fd);
    file.write_all(payload)?;
    Ok(file)
}

/// Receives one message; `None` is the end of the connection.
pub(crate) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<Packet>> {
    match receive_once(socket) {
        // The other side closed before it read all. What it had sent comes after this error.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => receive_once(socket),
        outcome => outcome,
    }
}

fn receive_once(socket: BorrowedFd<'_>) -> io::Result<Option<Packet>> {
    let mut bytes = vec![0; PACKET_LIMIT];
    let mut space = nix::cmsg_space!([std::os::fd::RawFd; 8]);
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let message = recvmsg::<UnixAddr>(
        socket.as_raw_fd(),
        &mut slices,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    let length = message.bytes;
    let truncated = message.flags.contains(MsgFlags::MSG_TRUNC);
    let mut fds = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = control {
            fds.extend(raw.into_iter().map(crate::sys::take_fd));
        }
    }
    if length == 0 {
        return Ok(None);
    }
    if truncated {
        return Err(io::ErrorKind::InvalidData.into());
    }
    bytes.truncate(length);
    let mut packet = Packet { bytes, fds };
    if packet.bytes.first() == Some(&PAYLOAD_IN_FILE) {
        packet.read_payload_file()?;
    }
    Ok(Some(packet))
}

impl Packet {
    fn read_payload_file(&mut self) -> io::Result<()> {
        let fd = self.fds.pop().ok_or(io::ErrorKind::InvalidData)?;
        let mut file = std::fs::File::from(fd);
        file.seek(SeekFrom::Start(0))?;
        file.take(PAYLOAD_LIMIT as u64)
            .read_to_end(&mut self.bytes)?;
        Ok(())
    }

    /// The header and the payload after it.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> io::Result<(T, &[u8])> {
        let (header, payload) = self.split();
        Ok((serde_json::from_slice(header)?, payload))
    }

    /// What comes after the header.
    pub(crate) fn payload(&self) -> &[u8] {
        self.split().1
    }

    fn split(&self) -> (&[u8], &[u8]) {
        let body = self.bytes.get(1..).unwrap_or_default();
        let end = body
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(body.len());
        let (header, payload) = body.split_at(end);
        (header, payload.get(1..).unwrap_or_default())
    }
}

/// Receives one message and parses its header; `None` is the end of the connection.
pub(crate) fn receive_header<T: DeserializeOwned>(socket: &impl AsFd) -> io::Result<Option<T>> {
    match receive(socket.as_fd())? {
        Some(packet) => Ok(Some(packet.parse()?.0)),
        None => Ok(None),
    }
}
