//! The tools of a session by name, and how they are told to the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_protocol::CallForm;
use serde_json::{Value, json};

use crate::tool::{
    CallDraft, PreparedCall, ToolError, ToolHandler, ToolInput, ToolPayload, ToolSpec,
};

/// The tools of a session.
pub(crate) struct ToolRouter {
    handlers: BTreeMap<String, Arc<dyn ToolHandler>>,
    json: Arc<str>,
}

/// How much of an unknown tool's name is repeated to the model.
const MAX_NAME_CHARS: usize = 64;

impl ToolRouter {
    /// Holds these tools. They are told to the model in the order of their names, so that the
    /// text is the same in each request.
    pub(crate) fn new(tools: impl IntoIterator<Item = Arc<dyn ToolHandler>>) -> Self {
        let handlers: BTreeMap<_, _> = tools
            .into_iter()
            .map(|tool| (tool.spec().name, tool))
            .collect();
        let specs: Vec<Value> = handlers
            .values()
            .map(|tool| wire_spec(tool.spec()))
            .collect();
        Self {
            handlers,
            json: Value::Array(specs).to_string().into(),
        }
    }

    /// The tools as a JSON array.
    pub(crate) fn json(&self) -> &Arc<str> {
        &self.json
    }

    /// Parses a call. The error is the output that the model gets.
    pub(crate) fn prepare(
        &self,
        name: &str,
        payload: &ToolPayload,
    ) -> Result<Box<dyn PreparedCall>, String> {
        let Some(handler) = self.handlers.get(name) else {
            return Err(self.unknown_tool(name));
        };
        handler
            .prepare(payload)
            .map_err(|err: ToolError| err.to_string())
    }

    /// Follows a call while the model writes it, where the tool can tell something of it.
    pub(crate) fn draft(&self, name: &str, form: CallForm) -> Option<Box<dyn CallDraft>> {
        self.handlers.get(name)?.draft(form)
    }

    /// A call that runs a script of the user's own, where a tool runs commands.
    pub(crate) fn user_command(&self, script: &str) -> Option<Box<dyn PreparedCall>> {
        let mut handlers = self.handlers.values();
        handlers.find_map(|handler| handler.user_command(script))
    }

    fn unknown_tool(&self, name: &str) -> String {
        let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
        let names: Vec<&str> = self.handlers.keys().map(String::as_str).collect();
        format!(
            "unsupported call: {shown}. The available tools are: {}.",
            names.join(", ")
        )
    }
}

/// A tool as the Responses API wants it.
fn wire_spec(spec: ToolSpec) -> Value {
    match spec.input {
        ToolInput::Function { parameters } => json!({
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "strict": false,
            "parameters": parameters,
        }),
        ToolInput::Custom { lark } => json!({
            "type": "custom",
            "name": spec.name,
            "description": spec.description,
            "format": {"type": "grammar", "syntax": "lark", "definition": lark},
        }),
    }
}
