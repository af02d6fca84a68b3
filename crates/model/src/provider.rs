//! What every provider can do.

use futures_util::future::BoxFuture;

use crate::{ModelError, ModelRequest, ModelStream};

/// A model behind some interface. One value serves a whole session and all its threads.
pub trait ModelProvider: Send + Sync {
    /// The provider's name in the configuration.
    fn name(&self) -> &str;

    /// Sends the request once and returns the stream of its answer. No retry happens inside.
    ///
    /// # Cancel safety
    /// Dropping the future, or later the stream, ends the request and closes its connection.
    fn open<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<ModelStream, ModelError>>;
}
