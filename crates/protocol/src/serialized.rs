//! An item together with the exact JSON text that stands for it in requests and on disk.
//!
//! History keeps the text and never renders it again: a request is made by joining texts, and
//! what was sent once stays the same byte for byte (prompt caches depend on it).

use std::sync::Arc;

use crate::{CallForm, CallId, ResponseItem, Role};

/// An item's JSON text and what the session must know of it without parsing again.
#[derive(Debug, Clone, PartialEq)]
pub struct SerializedItem {
    json: Arc<str>,
    kind: ItemKind,
}

/// What the session must know of an item without parsing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// A message.
    Message(Role),
    /// Reasoning.
    Reasoning,
    /// A tool call.
    Call {
        /// Pairs it with its output.
        call_id: CallId,
        /// Function or custom.
        form: CallForm,
    },
    /// The output of a tool call.
    Output {
        /// The call.
        call_id: CallId,
        /// Function or custom.
        form: CallForm,
    },
    /// A kind that this version does not know.
    Other,
}

impl ItemKind {
    /// The kind of a parsed item.
    pub fn of(item: &ResponseItem) -> Self {
        let function = CallForm::Function;
        let custom = CallForm::Custom;
        match item {
            ResponseItem::Message { role, .. } => Self::Message(*role),
            ResponseItem::Reasoning { .. } => Self::Reasoning,
            ResponseItem::FunctionCall { call_id, .. } => Self::Call {
                call_id: call_id.clone(),
                form: function,
            },
            ResponseItem::FunctionCallOutput { call_id, .. } => Self::Output {
                call_id: call_id.clone(),
                form: function,
            },
            ResponseItem::CustomToolCall { call_id, .. } => Self::Call {
                call_id: call_id.clone(),
                form: custom,
            },
            ResponseItem::CustomToolCallOutput { call_id, .. } => Self::Output {
                call_id: call_id.clone(),
                form: custom,
            },
            ResponseItem::Unknown => Self::Other,
        }
    }
}

impl SerializedItem {
    /// Renders an item that this program made.
    ///
    /// # Errors
    /// When the item is [`ResponseItem::Unknown`], which has no text of its own.
    pub fn render(item: &ResponseItem) -> Result<Self, serde_json::Error> {
        if matches!(item, ResponseItem::Unknown) {
            return Err(serde::ser::Error::custom(
                "an item of an unknown kind cannot be rendered",
            ));
        }
        Ok(Self {
            json: serde_json::to_string(item)?.into(),
            kind: ItemKind::of(item),
        })
    }

    /// Keeps the text that a provider or a file gave, beside the item that was parsed from it.
    /// Fields that `item` does not show stay in the text.
    pub fn from_parsed(json: impl Into<Arc<str>>, item: &ResponseItem) -> Self {
        Self {
            json: json.into(),
            kind: ItemKind::of(item),
        }
    }

    /// The JSON text, one line.
    pub fn json(&self) -> &Arc<str> {
        &self.json
    }

    /// What kind of item it is.
    pub fn kind(&self) -> &ItemKind {
        &self.kind
    }

    /// Parses the text again.
    ///
    /// # Errors
    /// When the text is no item; it cannot happen for text that came from [`Self::render`].
    pub fn parse(&self) -> Result<ResponseItem, serde_json::Error> {
        serde_json::from_str(&self.json)
    }
}
