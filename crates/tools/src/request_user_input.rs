//! `request_user_input`: asks the user, with choices. Offered only where somebody can answer.

use std::sync::Arc;

use agent_core::tool::{DecisionContext, Effect, Requirement, Tool, ToolContext, ToolOutcome};
use agent_protocol::{ItemStatus, Question as Asked, QuestionAnswers, QuestionOption, TurnItem};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The most questions that are asked together.
const MAX_QUESTIONS: usize = 3;

/// The tool.
pub(crate) struct RequestUserInput;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// One to three short questions.
    questions: Vec<Question>,
}

/// A question.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(
    clippy::struct_field_names,
    reason = "models know the arguments by these names"
)]
pub(crate) struct Question {
    /// Names the question in the answer.
    id: String,
    /// What it is about, in one or two words.
    header: String,
    /// The question, in one sentence.
    question: String,
    /// Two or three answers to choose from, the best first. The user may write another one.
    #[serde(default)]
    options: Vec<Choice>,
}

/// An answer to choose.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Choice {
    /// The answer, in a few words.
    label: String,
    /// What choosing it means, in one sentence.
    #[serde(default)]
    description: String,
}

impl Tool for RequestUserInput {
    const NAME: &'static str = "request_user_input";
    const DESCRIPTION: &'static str = "Asks the user up to three short questions and waits for \
        the answers. Use it only when the work cannot go on well without a decision of the user.";
    type Args = Args;

    fn effect(&self, _: &Args, _: &DecisionContext) -> Effect {
        Effect::ReadOnly
    }

    fn requirement(&self, _: &Args, _: &DecisionContext) -> Requirement {
        Requirement::Skip
    }

    fn item(&self, _: &Args, _: ItemStatus) -> Option<TurnItem> {
        None
    }

    async fn run(self: Arc<Self>, args: Args, context: ToolContext) -> ToolOutcome {
        if args.questions.is_empty() || args.questions.len() > MAX_QUESTIONS {
            return ToolOutcome::text(format!(
                "request_user_input failed: ask one to {MAX_QUESTIONS} questions, not {}",
                args.questions.len()
            ));
        }
        let questions = args.questions.into_iter().map(asked).collect();
        match context.person.ask(questions).await {
            Some(answers) => ToolOutcome::text(told(answers)),
            None => ToolOutcome::text(
                "the user did not answer; go on with your best judgement, or stop and say what \
                 you need",
            ),
        }
    }
}

fn asked(question: Question) -> Asked {
    let options = question.options.into_iter().map(|choice| QuestionOption {
        label: choice.label,
        description: choice.description,
    });
    Asked {
        id: question.id,
        header: question.header,
        question: question.question,
        options: options.collect(),
    }
}

/// The answers in the form that models know: `{"answers":{"ID":{"answers":["…"]}}}`.
fn told(answers: QuestionAnswers) -> String {
    let answers: Map<String, Value> = answers
        .into_iter()
        .map(|(id, answers)| (id, json!({ "answers": answers })))
        .collect();
    json!({ "answers": answers }).to_string()
}
