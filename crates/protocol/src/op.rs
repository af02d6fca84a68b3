//! What a face asks a thread to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalChoice, RequestId};

/// One request to a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Op {
    /// Starts a turn; while one runs, steers it.
    UserTurn {
        /// What the user says, in order.
        input: Vec<UserInput>,
        /// A JSON Schema that the final answer must satisfy.
        output_schema: Option<Value>,
    },
    /// Stops the running turn. Its commands are ended, its open calls get an output.
    Interrupt,
    /// Answers a question.
    Answer {
        /// The question.
        request_id: RequestId,
        /// The answer.
        choice: ApprovalChoice,
    },
    /// Ends the thread: what runs is stopped, the rollout is completed.
    Shutdown,
}

/// A part of what the user says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UserInput {
    /// Text.
    Text {
        /// The text as typed.
        text: String,
    },
    /// An image file on this machine.
    LocalImage {
        /// Where it is.
        path: PathBuf,
    },
}
