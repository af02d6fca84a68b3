//! From names to addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use tokio::sync::Semaphore;

/// How many names are looked up at once. A lookup blocks a thread for as long as it takes, also
/// after nobody waits for it any more.
const MAX_LOOKUPS: usize = 8;

/// Looks names up.
pub(super) trait Resolve: Send + Sync + 'static {
    /// The addresses of a name, the preferred ones first.
    fn resolve(&self, name: String) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;
}

/// The resolver of this machine.
#[derive(Debug)]
pub(super) struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)),
        }
    }
}

impl Resolve for SystemResolver {
    async fn resolve(&self, name: String) -> io::Result<Vec<IpAddr>> {
        let lookups = Arc::clone(&self.lookups);
        let permit = lookups.acquire_owned().await.map_err(io::Error::other)?;
        let lookup = tokio::task::spawn_blocking(move || {
            let _until_it_ends = permit;
            let found = (name.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        });
        lookup.await?
    }
}
