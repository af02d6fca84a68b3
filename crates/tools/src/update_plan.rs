//! `update_plan`: shows the user the steps of the work.

use std::sync::Arc;

use agent_core::tool::{DecisionContext, Effect, Requirement, Tool, ToolContext, ToolOutcome};
use agent_protocol::{ItemStatus, TodoItem, TurnItem};
use schemars::JsonSchema;
use serde::Deserialize;

/// The tool.
pub(crate) struct UpdatePlan;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// Why the plan changed, in one sentence.
    #[expect(dead_code, reason = "models write it; nobody is shown it yet")]
    explanation: Option<String>,
    /// The whole plan, in order.
    plan: Vec<Step>,
}

/// A step.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Step {
    /// What is to be done, in a few words.
    step: String,
    /// Where it stands. At most one step is `in_progress`.
    status: Status,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Tool for UpdatePlan {
    const NAME: &'static str = "update_plan";
    const DESCRIPTION: &'static str = "Shows the user a plan of the work, or its progress. Give \
        the whole plan each time; at most one step may be in progress.";
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

    async fn run(self: Arc<Self>, args: Args, _: ToolContext) -> ToolOutcome {
        let items = args.plan.into_iter().map(|step| TodoItem {
            text: step.step,
            completed: step.status == Status::Completed,
            in_progress: step.status == Status::InProgress,
        });
        ToolOutcome {
            plan: Some(items.collect()),
            ..ToolOutcome::text("Plan updated")
        }
    }
}
