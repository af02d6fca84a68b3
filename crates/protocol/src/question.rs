//! Questions of the model to a person, with choices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CallId, RequestId};

/// Questions that are asked together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionRequest {
    /// Names them in the answer.
    pub request_id: RequestId,
    /// The call that waits for the answers.
    pub call_id: CallId,
    /// One to three questions.
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Names it in the answers.
    pub id: String,
    /// What it is about, in a word or two.
    pub header: String,
    /// The question.
    pub question: String,
    /// Answers to choose from. A person may always give another one.
    pub options: Vec<QuestionOption>,
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// The answers, by the ids of the questions.
pub type QuestionAnswers = BTreeMap<String, Vec<String>>;
