//! Conversation items in the shape of the Responses API, which is also the shape on disk
//! (`response_item` records).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::CallId;

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The provider's own instructions.
    System,
    /// This program's instructions.
    Developer,
    /// The person, and what this program says in their place.
    User,
    /// The model.
    Assistant,
}

/// One item of a conversation. Kinds and fields that are not listed are kept in the item's JSON
/// text (see [`crate::SerializedItem`]), not here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseItem {
    /// Something said.
    Message {
        /// The provider's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Who says it.
        role: Role,
        /// What is said.
        #[serde(deserialize_with = "text_or_parts")]
        content: Vec<ContentPart>,
    },
    /// What the model thought.
    Reasoning {
        /// The provider's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// A summary for people.
        #[serde(default)]
        summary: Vec<ReasoningPart>,
        /// The raw reasoning, which only some providers send.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Vec<ReasoningPart>>,
        /// The reasoning in a form that only the provider can read, to be sent back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
    },
    /// A tool call with JSON arguments.
    FunctionCall {
        /// The provider's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Pairs the call with its output.
        call_id: CallId,
        /// The tool.
        name: String,
        /// The name space of the tool, for tools of servers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        /// JSON, as text.
        arguments: String,
    },
    /// The output of a function call.
    FunctionCallOutput {
        /// The call.
        call_id: CallId,
        /// What the tool returned.
        output: OutputPayload,
    },
    /// A tool call with free text.
    CustomToolCall {
        /// The provider's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Pairs the call with its output.
        call_id: CallId,
        /// The tool.
        name: String,
        /// The text.
        input: String,
    },
    /// The output of a custom tool call.
    CustomToolCallOutput {
        /// The call.
        call_id: CallId,
        /// What the tool returned.
        output: OutputPayload,
    },
    /// A kind that this version does not know. Its JSON text is kept and sent back untouched.
    #[serde(other)]
    Unknown,
}

/// Whether a tool takes JSON arguments or free text. Call and output have the same form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallForm {
    /// JSON arguments (`function_call`).
    Function,
    /// Free text (`custom_tool_call`).
    Custom,
}

impl ResponseItem {
    /// A message of plain text.
    pub fn text_message(role: Role, text: impl Into<String>) -> Self {
        let text = text.into();
        let part = match role {
            Role::Assistant => ContentPart::OutputText { text },
            Role::System | Role::Developer | Role::User => ContentPart::InputText { text },
        };
        Self::Message {
            id: None,
            role,
            content: vec![part],
        }
    }

    /// The output of a call, in the form of the call.
    pub fn call_output(form: CallForm, call_id: CallId, output: OutputPayload) -> Self {
        match form {
            CallForm::Function => Self::FunctionCallOutput { call_id, output },
            CallForm::Custom => Self::CustomToolCallOutput { call_id, output },
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// Text for the model.
    InputText {
        /// The text.
        text: String,
    },
    /// Text by the model.
    OutputText {
        /// The text.
        text: String,
    },
    /// An image for the model.
    InputImage {
        /// A `data:` URL.
        image_url: String,
        /// How closely the model looks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// The model declines to answer.
    Refusal {
        /// Why.
        refusal: String,
    },
    /// A kind that this version does not know.
    #[serde(other)]
    Unknown,
}

/// A part of a reasoning item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReasoningPart {
    /// A paragraph of the summary.
    SummaryText {
        /// Markdown.
        text: String,
    },
    /// A piece of the raw reasoning.
    ReasoningText {
        /// The text.
        text: String,
    },
    /// A piece of the raw reasoning, in the older spelling.
    Text {
        /// The text.
        text: String,
    },
    /// A kind that this version does not know.
    #[serde(other)]
    Unknown,
}

/// What a tool returned: text, or parts where images are among them.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputPayload {
    /// Text.
    Text(String),
    /// Text and images.
    Parts(Vec<ContentPart>),
}

impl Serialize for OutputPayload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for OutputPayload {
    /// Reads a string, a list of parts, or (an older form) an object whose `content` is a string.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            parts @ Value::Array(_) => serde_json::from_value(parts)
                .map(Self::Parts)
                .map_err(D::Error::custom),
            Value::Object(mut object) => match object.remove("content") {
                Some(Value::String(text)) => Ok(Self::Text(text)),
                _ => Err(D::Error::custom("tool output object without text")),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => Err(D::Error::custom(
                "tool output is neither text nor a list of parts",
            )),
        }
    }
}

/// Message content is a list of parts; plain text is read as one part.
fn text_or_parts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentPart>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if let Value::String(text) = value {
        return Ok(vec![ContentPart::InputText { text }]);
    }
    serde_json::from_value(value).map_err(D::Error::custom)
}

/// The kind of a text that this program put into the conversation. It is stored beside the item
/// (never read back from the text), so that a later version knows what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FragmentKind {
    /// What the sandbox and the approval policy allow.
    Permissions,
    /// Instructions found in AGENTS.md files.
    AgentsMd,
    /// Instructions from the configuration.
    DeveloperInstructions,
    /// Directory, shell, date.
    Environment,
    /// The user stopped a turn.
    TurnInterrupted,
    /// A command of the user's own.
    UserShellCommand,
    /// A kind that a newer version wrote.
    #[serde(other)]
    Other,
}
