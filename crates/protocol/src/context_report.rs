//! Where the context window goes.

use serde::{Deserialize, Serialize};

/// The parts of the next request, and the window that they must fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextReport {
    /// The parts, in the order in which they are sent. Sizes are estimates.
    pub parts: Vec<ContextPart>,
    /// What the provider counted for the last request, in tokens.
    pub last_request_tokens: Option<u64>,
    /// The size of the window in tokens, where it is known.
    pub window: Option<u64>,
}

/// One part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPart {
    /// What it is, for a person.
    pub name: String,
    /// How many items it has.
    pub items: u64,
    /// Its estimated size, in tokens.
    pub tokens: u64,
}
