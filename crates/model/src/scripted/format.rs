//! The file format of scripts, and the events of a step.

use std::time::Duration;

use agent_protocol::{CallId, ReasoningPart, ResponseItem, Role, SerializedItem, TokenUsage};
use serde::Deserialize;
use serde_json::Value;

use super::ScriptError;
use crate::{ErrorClass, ModelError, ModelEvent, Phase};

/// One answer.
#[derive(Debug)]
pub(super) struct Step {
    items: Vec<Item>,
    usage: Option<TokenUsage>,
    pub(super) delay: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Item {
    Message(String),
    Reasoning(String),
    Call(Call),
    Custom(Custom),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    arguments: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Custom {
    name: String,
    input: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongStep {
    items: Vec<Value>,
    #[serde(default)]
    usage: Option<TokenUsage>,
    #[serde(default)]
    delay_ms: u64,
}

/// Reads a script; `origin` names it in errors.
pub(super) fn parse(origin: &str, json: &str) -> Result<Vec<Step>, ScriptError> {
    let shape = |problem: String| ScriptError::Shape {
        origin: origin.to_owned(),
        problem,
    };
    let value: Value = serde_json::from_str(json).map_err(|error| shape(error.to_string()))?;
    let steps = match value {
        Value::Array(steps) => Some(steps),
        Value::Object(mut object) => match object.remove("steps") {
            Some(Value::Array(steps)) => Some(steps),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    let Some(steps) = steps else {
        return Err(shape(
            "expected a list, or an object with the list `steps`".to_owned(),
        ));
    };
    let steps = steps.into_iter().enumerate().map(|(index, step)| {
        parse_step(step).map_err(|problem| ScriptError::Step {
            origin: origin.to_owned(),
            step: index + 1,
            problem,
        })
    });
    steps.collect()
}

fn parse_step(step: Value) -> Result<Step, String> {
    let step = match step {
        Value::Array(items) => LongStep {
            items,
            usage: None,
            delay_ms: 0,
        },
        step @ Value::Object(_) => serde_json::from_value(step).map_err(|e| e.to_string())?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err("expected a list of items, or an object with the list `items`".to_owned());
        }
    };
    let items = step.items.into_iter().enumerate().map(|(index, item)| {
        serde_json::from_value(item).map_err(|error| format!("item {}: {error}", index + 1))
    });
    Ok(Step {
        items: items.collect::<Result<_, _>>()?,
        usage: step.usage,
        delay: Duration::from_millis(step.delay_ms),
    })
}

impl Step {
    /// What the stream of this step says, step `index` counting from 0.
    pub(super) fn events(&self, index: usize) -> Vec<Result<ModelEvent, ModelError>> {
        let response_id = Some(format!("resp_{index}"));
        let mut events = vec![Ok(ModelEvent::Created {
            response_id: response_id.clone(),
        })];
        for (item_index, item) in self.items.iter().enumerate() {
            match item {
                Item::Message(text) => {
                    events.push(Ok(ModelEvent::MessageStarted));
                    events.extend(words(text).map(|text| Ok(ModelEvent::MessageDelta { text })));
                }
                Item::Reasoning(text) => {
                    events.push(Ok(ModelEvent::ReasoningPartAdded));
                    events.extend(words(text).map(|text| Ok(ModelEvent::ReasoningDelta { text })));
                }
                Item::Call(_) | Item::Custom(_) => {}
            }
            let call_id = CallId(format!("call_{index}_{item_index}"));
            events.push(item_done(item.as_response_item(call_id)));
        }
        events.push(Ok(ModelEvent::Completed {
            response_id,
            usage: self.usage,
        }));
        events
    }
}

impl Item {
    fn as_response_item(&self, call_id: CallId) -> ResponseItem {
        match self {
            Self::Message(text) => ResponseItem::text_message(Role::Assistant, text),
            Self::Reasoning(text) => ResponseItem::Reasoning {
                id: None,
                summary: vec![ReasoningPart::SummaryText { text: text.clone() }],
                content: None,
                encrypted_content: None,
            },
            Self::Call(call) => ResponseItem::FunctionCall {
                id: None,
                call_id,
                name: call.name.clone(),
                namespace: None,
                arguments: match call.arguments.as_str() {
                    Some(text) => text.to_owned(),
                    None => call.arguments.to_string(),
                },
            },
            Self::Custom(custom) => ResponseItem::CustomToolCall {
                id: None,
                call_id,
                name: custom.name.clone(),
                input: custom.input.clone(),
            },
        }
    }
}

fn item_done(item: ResponseItem) -> Result<ModelEvent, ModelError> {
    match SerializedItem::render(&item) {
        Ok(serialized) => Ok(ModelEvent::ItemDone { item, serialized }),
        Err(error) => {
            let message = format!("cannot render an item of the script: {error}");
            Err(ModelError::new(ErrorClass::Script, Phase::Stream, message))
        }
    }
}

/// A text in pieces that end after white space.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(char::is_whitespace).map(str::to_owned)
}
