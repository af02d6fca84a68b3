//! Token counts as a provider reports them.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens of one request, or of several added together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Tokens sent, cached ones included.
    pub input_tokens: u64,
    /// Of the input, how many the provider served from its prompt cache.
    pub cached_input_tokens: u64,
    /// Of the input, how many the provider wrote to its prompt cache.
    pub cache_write_input_tokens: u64,
    /// Tokens received, reasoning included.
    pub output_tokens: u64,
    /// Of the output, how many were reasoning.
    pub reasoning_output_tokens: u64,
}

impl TokenUsage {
    /// Input and output together: what the conversation takes of the context window.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.cached_input_tokens, other.cached_input_tokens);
        add(
            &mut self.cache_write_input_tokens,
            other.cache_write_input_tokens,
        );
        add(&mut self.output_tokens, other.output_tokens);
        add(
            &mut self.reasoning_output_tokens,
            other.reasoning_output_tokens,
        );
    }
}
