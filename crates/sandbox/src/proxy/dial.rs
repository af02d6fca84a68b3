//! Connects to a destination that the list allows, and to nothing else.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Shared;
use super::resolve::Resolve;
use crate::hosts::{Destination, Host, HostDenial};

/// How long looking a name up may take.
const RESOLVE_LIMIT: Duration = Duration::from_secs(15);

/// How long one address may take to answer.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How many addresses of a name are tried.
const MAX_TRIED: usize = 4;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    /// The list is against it.
    #[error("{0}")]
    Denied(HostDenial),
    /// The name was not found.
    #[error("cannot look `{destination}` up")]
    Unknown {
        destination: Destination,
        source: io::Error,
    },
    /// No address answered.
    #[error("cannot connect to `{destination}`")]
    Unreachable {
        destination: Destination,
        source: io::Error,
    },
}

/// Connects to a destination. The name is looked up once, and what is connected to is exactly the
/// address that was checked: a second lookup could answer otherwise.
pub(super) async fn dial(
    shared: &Shared<impl Resolve>,
    destination: &Destination,
) -> Result<TcpStream, DialError> {
    let denied = |refusal| DialError::Denied(shared.deny(HostDenial::new(destination, refusal)));
    shared.list.decide(destination).map_err(denied)?;
    let addresses = addresses(shared, destination).await?;
    let mut last = None;
    let mut refusal = None;
    let checked = addresses.into_iter().filter(|address| {
        let verdict = shared.list.decide_address(destination, *address);
        let is_allowed = verdict.is_ok();
        refusal = refusal.take().or(verdict.err());
        is_allowed
    });
    let checked: Vec<_> = checked.take(MAX_TRIED).collect();
    for address in checked {
        let address = SocketAddr::new(address, destination.port);
        match timeout(CONNECT_LIMIT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                tracing::debug!(%destination, %address, "connected through the proxy");
                // Without it small writes wait for each other; a failure costs only time.
                drop(stream.set_nodelay(true));
                return Ok(stream);
            }
            Ok(Err(error)) => last = Some(error),
            Err(_) => last = Some(io::ErrorKind::TimedOut.into()),
        }
    }
    match (last, refusal) {
        (None, Some(refusal)) => Err(denied(refusal)),
        (source, _) => Err(DialError::Unreachable {
            destination: destination.clone(),
            source: source.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()),
        }),
    }
}

async fn addresses(
    shared: &Shared<impl Resolve>,
    destination: &Destination,
) -> Result<Vec<IpAddr>, DialError> {
    let name = match &destination.host {
        Host::Address(address) => return Ok(vec![*address]),
        // No server is asked about this name (RFC 6761, section 6.3).
        host if host.is_localhost() => {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        Host::Name(name) => name.clone(),
    };
    let found = timeout(RESOLVE_LIMIT, shared.resolver.resolve(name)).await;
    let found = found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    found.map_err(|source| DialError::Unknown {
        destination: destination.clone(),
        source,
    })
}
