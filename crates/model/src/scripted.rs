//! A model that says what a file tells it to: for demonstrations and tests without a network.
//!
//! The file is JSON: a list of steps, or an object whose key `steps` holds the list. Each request
//! is answered by the next step. A step is a list of items, or an object that has more to say:
//!
//! ```json
//! [
//!   [{"reasoning": "The test fails; look at it."},
//!    {"call": {"name": "exec_command", "arguments": {"cmd": "cargo test"}}}],
//!   {"items": [{"message": "Now the fix."}, {"custom": {"name": "apply_patch", "input": "*** …"}}],
//!    "delay_ms": 20,
//!    "usage": {"input_tokens": 1200, "output_tokens": 80}}
//! ]
//! ```
//!
//! Items: `message` and `reasoning` are texts, `call` has `name` and `arguments` (an object, or a
//! text that is sent as it is), `custom` has `name` and `input`. Messages and reasoning arrive word
//! by word, with `delay_ms` (default 0) between the words. A request after the last step fails.
//! Call ids are `call_S_I` for item I of step S, both from 0.

mod format;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};

use crate::{ErrorClass, ModelError, ModelEvent, ModelProvider, ModelRequest, ModelStream, Phase};

use format::Step;

/// A model that follows a script.
#[derive(Debug)]
pub struct ScriptedProvider {
    name: String,
    steps: Vec<Step>,
    next: AtomicUsize,
}

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The text is no list of steps.
    #[error("the script `{origin}` is no list of steps: {problem}")]
    Shape {
        /// The file, or what stands for it.
        origin: String,
        /// What is wrong.
        problem: String,
    },
    /// A step is wrong.
    #[error("step {step} of the script `{origin}`: {problem}")]
    Step {
        /// The file, or what stands for it.
        origin: String,
        /// Which step, from 1.
        step: usize,
        /// What is wrong.
        problem: String,
    },
}

impl ScriptedProvider {
    /// Reads a script from a text.
    pub fn from_json(json: &str) -> Result<Self, ScriptError> {
        Self::named("script", json)
    }

    /// Reads a script from a file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let json = std::fs::read_to_string(path).map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::named(&path.display().to_string(), &json)
    }

    fn named(origin: &str, json: &str) -> Result<Self, ScriptError> {
        Ok(Self {
            name: "scripted".to_owned(),
            steps: format::parse(origin, json)?,
            next: AtomicUsize::new(0),
        })
    }

    /// How many steps have not been asked for.
    pub fn steps_left(&self) -> usize {
        let asked = self.next.load(Ordering::Relaxed);
        self.steps.len().saturating_sub(asked)
    }

    fn answer(&self) -> Result<ModelStream, ModelError> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(step) = self.steps.get(index) else {
            let message = format!(
                "the script has {} steps, and this is request {}",
                self.steps.len(),
                index + 1
            );
            return Err(ModelError::new(ErrorClass::Script, Phase::Request, message));
        };
        let delay = step.delay;
        let events = stream::iter(step.events(index));
        Ok(ModelStream::new(events.then(move |event| async move {
            let is_delta = matches!(
                event,
                Ok(ModelEvent::MessageDelta { .. } | ModelEvent::ReasoningDelta { .. })
            );
            if is_delta && !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            event
        })))
    }
}

impl ModelProvider for ScriptedProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn open<'a>(&'a self, _: &'a ModelRequest) -> BoxFuture<'a, Result<ModelStream, ModelError>> {
        std::future::ready(self.answer()).boxed()
    }
}

#[cfg(test)]
mod tests;
