//! A request as the session describes it, and its JSON text.

use std::sync::Arc;

use agent_protocol::SerializedItem;
use bytes::Bytes;
use serde_json::Value;

use crate::body::RequestBody;

/// Everything that one request says. Cloning it copies no history.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The model.
    pub model: String,
    /// The base instructions.
    pub instructions: Arc<str>,
    /// The conversation. The items' texts are sent as they are.
    pub input: Vec<SerializedItem>,
    /// The tools: a JSON array, as text.
    pub tools: Arc<str>,
    /// Groups requests that share a prefix: the thread's id.
    pub prompt_cache_key: String,
    /// How hard the model thinks.
    pub reasoning_effort: Option<String>,
    /// Whether it tells what it thought.
    pub reasoning_summary: Option<String>,
    /// How much it says.
    pub verbosity: Option<String>,
    /// A JSON schema that the answer must satisfy.
    pub output_schema: Option<Value>,
    /// Whether one answer may hold several calls.
    pub parallel_tool_calls: bool,
}

impl ModelRequest {
    /// A request without history, tools or wishes.
    pub fn new(model: impl Into<String>, instructions: impl Into<Arc<str>>) -> Self {
        Self {
            model: model.into(),
            instructions: instructions.into(),
            input: Vec::new(),
            tools: "[]".into(),
            prompt_cache_key: String::new(),
            reasoning_effort: None,
            reasoning_summary: None,
            verbosity: None,
            output_schema: None,
            parallel_tool_calls: true,
        }
    }
}

/// The exact bytes that the Responses provider sends for a request.
pub fn render_body(request: &ModelRequest) -> Bytes {
    RequestBody::new(request).into_bytes()
}
