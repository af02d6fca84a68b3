//! What a strict server would refuse, and what our own rules forbid.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Options;

/// The last request of each conversation.
#[derive(Default)]
pub(crate) struct Checker {
    previous: HashMap<String, Previous>,
}

struct Previous {
    instructions: String,
    tools: String,
    input: Vec<String>,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default)]
    model: String,
    #[serde(borrow)]
    instructions: &'a RawValue,
    #[serde(borrow)]
    input: Vec<&'a RawValue>,
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(default)]
    prompt_cache_key: String,
    store: Option<bool>,
    stream: Option<bool>,
}

impl Checker {
    /// What is wrong with a request. One that is wrong is not remembered.
    pub(super) fn check(&mut self, raw: &str, new_window: bool, options: Options) -> Vec<String> {
        let body: Body<'_> = match serde_json::from_str(raw) {
            Ok(body) => body,
            Err(error) => return vec![format!("the body cannot be read: {error}")],
        };
        let mut found = Vec::new();
        if body.model.is_empty() {
            found.push("`model` is missing".to_owned());
        }
        if body.store != Some(false) {
            found.push("`store` is not false".to_owned());
        }
        if body.stream != Some(true) {
            found.push("`stream` is not true".to_owned());
        }
        check_tools(body.tools, options, &mut found);
        let items: Vec<Value> = body
            .input
            .iter()
            .map(|raw| serde_json::from_str(raw.get()).unwrap_or(Value::Null))
            .collect();
        check_pairs(&items, &mut found);
        check_sizes(&items, options.item_cap, &mut found);
        let previous = self.previous.get(&body.prompt_cache_key);
        if let Some(previous) = previous.filter(|_| !new_window) {
            check_growth(previous, &body, &mut found);
        }
        if found.is_empty() {
            let previous = Previous {
                instructions: body.instructions.get().to_owned(),
                tools: body.tools.get().to_owned(),
                input: body.input.iter().map(|raw| raw.get().to_owned()).collect(),
            };
            self.previous.insert(body.prompt_cache_key, previous);
        }
        found
    }
}

fn check_tools(tools: &RawValue, options: Options, found: &mut Vec<String>) {
    let Ok(tools) = serde_json::from_str::<Vec<Value>>(tools.get()) else {
        found.push("`tools` is no list".to_owned());
        return;
    };
    for (index, tool) in tools.iter().enumerate() {
        let kind = tool["type"].as_str().unwrap_or("");
        if kind.is_empty() {
            found.push(format!("tools[{index}] has no type"));
        } else if options.functions_only && kind != "function" {
            found.push(format!("tools[{index}].type is `{kind}`, not `function`"));
        }
    }
}

/// Each call has one output of the matching form after it, and no output is without a call.
fn check_pairs(items: &[Value], found: &mut Vec<String>) {
    let mut calls: HashMap<&str, (&str, bool)> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        let form = match kind {
            "function_call" | "function_call_output" => "function",
            "custom_tool_call" | "custom_tool_call_output" => "custom",
            _ => continue,
        };
        let Some(id) = item["call_id"].as_str() else {
            found.push(format!("input[{index}] has no call_id"));
            continue;
        };
        if !kind.ends_with("_output") {
            if calls.insert(id, (form, false)).is_some() {
                found.push(format!("input[{index}]: call `{id}` is there twice"));
            }
            let arguments = item["arguments"].as_str().unwrap_or("");
            let is_json = serde_json::from_str::<Value>(arguments).is_ok();
            if form == "function" && !is_json {
                found.push(format!(
                    "input[{index}]: arguments of call `{id}` are no JSON"
                ));
            }
            continue;
        }
        if !matches!(item["output"], Value::String(_) | Value::Array(_)) {
            found.push(format!(
                "input[{index}]: output of call `{id}` is no text or list"
            ));
        }
        match calls.get_mut(id) {
            None => found.push(format!("input[{index}]: output without call `{id}`")),
            Some((call_form, _)) if *call_form != form => {
                found.push(format!(
                    "input[{index}]: output of call `{id}` has another form"
                ));
            }
            Some((_, true)) => {
                found.push(format!("input[{index}]: call `{id}` has a second output"));
            }
            Some((_, answered)) => *answered = true,
        }
    }
    let mut open: Vec<&str> = calls
        .iter()
        .filter(|(_, (_, answered))| !answered)
        .map(|(id, _)| *id)
        .collect();
    open.sort_unstable();
    for id in open {
        found.push(format!("call `{id}` has no output"));
    }
}

/// What the model wrote is as long as it is; all else has a cap.
fn check_sizes(items: &[Value], cap: usize, found: &mut Vec<String>) {
    for (index, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        let is_ours =
            kind.ends_with("_output") || (kind == "message" && item["role"] != "assistant");
        let size = text_size(item);
        if is_ours && size > cap {
            found.push(format!(
                "input[{index}] ({kind}) has {size} bytes of text, over {cap}"
            ));
        }
    }
}

/// Bytes of all texts in a value, images apart.
fn text_size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(text_size).sum(),
        Value::Object(object) => object
            .iter()
            .filter(|(key, _)| *key != "image_url")
            .map(|(_, value)| text_size(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// A conversation only grows, and what stands before it stays the same.
fn check_growth(previous: &Previous, body: &Body<'_>, found: &mut Vec<String>) {
    if previous.instructions != body.instructions.get() {
        found.push("`instructions` are not those of the request before".to_owned());
    }
    if previous.tools != body.tools.get() {
        found.push("`tools` are not those of the request before".to_owned());
    }
    if body.input.len() < previous.input.len() {
        found.push(format!(
            "`input` has {} items, the request before had {}",
            body.input.len(),
            previous.input.len()
        ));
    }
    let pairs = previous.input.iter().zip(&body.input).enumerate();
    for (index, (before, now)) in pairs {
        if before != now.get() {
            found.push(format!(
                "input[{index}] is not what the request before had: {before} became {now}"
            ));
            break;
        }
    }
}

#[cfg(test)]
mod tests;
