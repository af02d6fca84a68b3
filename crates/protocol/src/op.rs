//! What a face asks a thread to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalChoice, ApprovalPolicy, QuestionAnswers, RequestId, SandboxMode};

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
        /// With a no: what the model should know.
        note: Option<String>,
    },
    /// Answers questions of the model.
    Reply {
        /// The questions.
        request_id: RequestId,
        /// The answers; `None` when nobody wants to answer.
        answers: Option<QuestionAnswers>,
    },
    /// Changes what turns from now on work with.
    Configure(SettingsChange),
    /// Runs a command of the user, outside the sandbox. The model sees it and its output with
    /// the next turn.
    UserCommand {
        /// A shell script.
        command: String,
    },
    /// Asks where the context window goes; answered by a notice.
    ReportContext,
    /// Asks how the working tree differs from the last commit; answered by a notice.
    ShowDiff,
    /// Asks what runs in the background; answered by a notice.
    ListCommands,
    /// Ends what runs in the background.
    StopCommands,
    /// Ends the thread: what runs is stopped, the rollout is completed.
    Shutdown,
}

/// Settings to change; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsChange {
    /// The model.
    pub model: Option<String>,
    /// How much the model should think; the words are the provider's. The inner `None` leaves it
    /// to the provider.
    pub reasoning_effort: Option<Option<String>>,
    /// When a person is asked.
    pub approval_policy: Option<ApprovalPolicy>,
    /// What commands may touch.
    pub sandbox_mode: Option<SandboxMode>,
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
