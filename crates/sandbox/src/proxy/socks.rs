//! SOCKS version 5 (RFC 1928): `CONNECT` without authentication.
//!
//! The readers are pure: they take what has arrived and say what it means or that more is needed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::AsyncWriteExt as _;

use super::client::Client;
use super::dial::{DialError, dial};
use super::resolve::Resolve;
use super::{Shared, relay};
use crate::hosts::{Destination, Host, HostDenial, Refusal};

/// The first byte of all that a client says.
pub(super) const VERSION: u8 = 5;

/// The method "no authentication required", and the answer when it was not offered.
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;

const COMMAND_CONNECT: u8 = 1;

/// Section 6: what a request is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Succeeded = 0,
    NotAllowed = 2,
    NetworkUnreachable = 3,
    HostUnreachable = 4,
    ConnectionRefused = 5,
    CommandNotSupported = 7,
    AddressTypeNotSupported = 8,
}

impl Reply {
    /// With the unspecified address in place of the one that was bound: which address of this
    /// machine it is is none of the client's business.
    fn bytes(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// How a message reads as far as it has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reading<T> {
    More,
    /// The message, and its length in bytes.
    Whole(T, usize),
}

/// Section 3: whether a greeting offers to go without authentication.
fn greeting(bytes: &[u8]) -> Reading<bool> {
    let Some((_, rest)) = bytes.split_first() else {
        return Reading::More;
    };
    let Some((n_methods, rest)) = rest.split_first() else {
        return Reading::More;
    };
    match rest.get(..usize::from(*n_methods)) {
        Some(methods) => Reading::Whole(methods.contains(&NO_AUTHENTICATION), 2 + methods.len()),
        None => Reading::More,
    }
}

/// What a request comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Request {
    Connect(Destination),
    /// It is for no host that can be compared with a list.
    Unclear(Refusal),
    Refused(Reply),
}

/// Sections 4 and 5: a request.
fn request(bytes: &[u8]) -> Reading<Request> {
    let refused = |reply| Reading::Whole(Request::Refused(reply), bytes.len());
    let Some(([version, command, _, kind], rest)) = bytes.split_first_chunk::<4>() else {
        return Reading::More;
    };
    if *version != VERSION || *command != COMMAND_CONNECT {
        return refused(Reply::CommandNotSupported);
    }
    let (host, rest) = match kind {
        1 => match rest.split_first_chunk::<4>() {
            Some((address, rest)) => (Ok(address_v4(*address)), rest),
            None => return Reading::More,
        },
        3 => {
            let Some((length, rest)) = rest.split_first() else {
                return Reading::More;
            };
            let Some((name, rest)) = rest.split_at_checked(usize::from(*length)) else {
                return Reading::More;
            };
            (Host::parse(&String::from_utf8_lossy(name)), rest)
        }
        4 => match rest.split_first_chunk::<16>() {
            Some((address, rest)) => (Ok(address_v6(*address)), rest),
            None => return Reading::More,
        },
        _ => return refused(Reply::AddressTypeNotSupported),
    };
    let Some((port, rest)) = rest.split_first_chunk::<2>() else {
        return Reading::More;
    };
    let port = u16::from_be_bytes(*port);
    let request = match host {
        Ok(host) => Request::Connect(Destination { host, port }),
        Err(refusal) => Request::Unclear(refusal),
    };
    Reading::Whole(request, bytes.len() - rest.len())
}

fn address_v4(address: [u8; 4]) -> Host {
    Host::Address(IpAddr::V4(Ipv4Addr::from(address)))
}

fn address_v6(address: [u8; 16]) -> Host {
    Host::Address(IpAddr::V6(Ipv6Addr::from(address)).to_canonical())
}

/// Reads one message with a pure reader. The longest message there is has 262 bytes.
async fn read<T>(client: &mut Client, reader: fn(&[u8]) -> Reading<T>) -> io::Result<T> {
    loop {
        if let Reading::Whole(message, length) = reader(&client.unused) {
            drop(client.take(length));
            return Ok(message);
        }
        client.read_more().await?;
    }
}

/// Serves a client whose first byte was [`VERSION`].
pub(super) async fn serve(mut client: Client, shared: &Shared<impl Resolve>) -> io::Result<()> {
    if !read(&mut client, greeting).await? {
        return client.answer(&[VERSION, NO_METHOD]).await;
    }
    let chosen = [VERSION, NO_AUTHENTICATION];
    client.stream.write_all(&chosen).await?;
    let destination = match read(&mut client, request).await? {
        Request::Connect(destination) => destination,
        Request::Unclear(refusal) => {
            shared.deny(HostDenial::unclear(refusal));
            return client.answer(&Reply::NotAllowed.bytes()).await;
        }
        Request::Refused(reply) => return client.answer(&reply.bytes()).await,
    };
    let host = match dial(shared, &destination).await {
        Ok(host) => host,
        Err(error) => return client.answer(&reply_to(&error).bytes()).await,
    };
    client.stream.write_all(&Reply::Succeeded.bytes()).await?;
    relay::join(client.stream, &client.unused, host).await
}

fn reply_to(error: &DialError) -> Reply {
    match error {
        DialError::Denied(_) => Reply::NotAllowed,
        DialError::Unknown { .. } => Reply::HostUnreachable,
        DialError::Unreachable { source, .. } => {
            let kind = source.kind();
            if kind == io::ErrorKind::ConnectionRefused {
                Reply::ConnectionRefused
            } else if kind == io::ErrorKind::NetworkUnreachable {
                Reply::NetworkUnreachable
            } else {
                Reply::HostUnreachable
            }
        }
    }
}

#[cfg(test)]
mod tests;
