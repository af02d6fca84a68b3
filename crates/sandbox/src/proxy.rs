//! The only way out for commands whose network is a list of hosts: a proxy on a loopback port of
//! their network namespace.
//!
//! The holder makes the listening socket inside the namespace; the agent accepts on it and dials
//! in its own. Three protocols come in on the one port, told apart by the first byte: HTTP CONNECT
//! and plain HTTP by absolute URI (RFC 9110, RFC 9112), and SOCKS5 (RFC 1928). Whoever asks is
//! taken as hostile: what arrives is bounded in size and time, a request is written anew from what
//! was understood of it, and [`HostList`] decides about the destination and about each address that
//! it leads to.

mod body;
mod client;
mod dial;
mod http;
mod log;
mod relay;
mod resolve;
mod socks;

use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::hosts::{HostDenial, HostList};
use client::Client;
use resolve::{Resolve, SystemResolver};

pub(crate) use log::DenialLog;

/// The port in the commands' network namespace. Nobody else is there when it is taken, so that
/// what a login profile makes of the address holds for all holders.
const PORT: u16 = 47_128;

/// How many connections are served at once; others wait to be accepted. Each takes two
/// descriptors, of which a process has 1024 as a rule.
const MAX_CONNECTIONS: usize = 128;

/// How long a client may take to say what it wants.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// How long nothing is accepted after that failed, which it does when descriptors are short.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a running proxy works with.
#[derive(Debug)]
struct Shared<R> {
    list: HostList,
    log: Arc<DenialLog>,
    resolver: R,
}

/// A running proxy. Dropping it ends it and every connection through it.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    log: Arc<DenialLog>,
    task: JoinSet<()>,
}

/// Makes the listening socket in the network namespace of this process.
pub(crate) fn listen() -> io::Result<StdListener> {
    StdListener::bind(("127.0.0.1", PORT)).or_else(|_| StdListener::bind(("127.0.0.1", 0)))
}

impl Proxy {
    /// Serves on a listening socket. To be called where an async runtime runs.
    pub(crate) fn start(listener: StdListener, list: HostList) -> io::Result<Self> {
        Self::start_with(listener, list, SystemResolver::default())
    }

    fn start_with(
        listener: StdListener,
        list: HostList,
        resolver: impl Resolve,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let listener = TcpListener::from_std(listener)?;
        let log = Arc::new(DenialLog::default());
        let shared = Arc::new(Shared {
            list,
            log: Arc::clone(&log),
            resolver,
        });
        let mut task = JoinSet::new();
        task.spawn(accept(listener, shared));
        Ok(Self { port, log, task })
    }

    /// Waits for its end, which comes only with that of the runtime.
    pub(crate) async fn ended(mut self) {
        self.task.join_next().await;
    }

    /// Its port on the loopback of the commands.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// What it refused.
    pub(crate) fn log(&self) -> &Arc<DenialLog> {
        &self.log
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared<impl Resolve>>) {
    let mut clients = JoinSet::new();
    loop {
        if clients.len() >= MAX_CONNECTIONS {
            clients.join_next().await;
            continue;
        }
        // Both branches are cancel-safe.
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    clients.spawn(serve(stream, Arc::clone(&shared)));
                }
                Err(error) => {
                    tracing::debug!(%error, "the proxy cannot accept");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared<impl Resolve>>) {
    let mut client = Client::new(stream, REQUEST_LIMIT);
    let served = match client.first_byte().await {
        Ok(socks::VERSION) => socks::serve(client, &shared).await,
        Ok(_) => http::serve(client, &shared).await,
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection through the proxy broke");
    }
}

impl<R> Shared<R> {
    /// Notes a denial and gives it back.
    fn deny(&self, denial: HostDenial) -> HostDenial {
        if self.log.add(&denial) {
            tracing::info!(%denial, "the proxy refused a connection");
        } else {
            tracing::debug!(%denial, "the proxy refused a connection again");
        }
        denial
    }
}

#[cfg(test)]
mod tests;
