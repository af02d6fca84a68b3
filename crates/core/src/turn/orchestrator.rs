//! The path of one call, the same for every tool: decide whether it may run, show that it
//! begins, run it, show how it ended.

use std::sync::Arc;

use agent_protocol::{
    ApprovalPolicy, ApprovalSubject, CallId, Event, ItemStatus, NoticeEvent, SandboxMode,
};
use tokio_util::sync::CancellationToken;

use crate::environment::Environment;
use crate::events::{EventSink, ItemEvents};
use crate::settings::ThreadSettings;
use crate::tool::{DecisionContext, Effect, PreparedCall, Requirement, ToolContext, ToolOutcome};

/// Takes calls down the path. Cheap to clone; each call gets its own.
#[derive(Clone)]
pub(super) struct Orchestrator {
    decision: DecisionContext,
    interactive: bool,
    max_output_tokens: usize,
    sink: EventSink,
    cancel: CancellationToken,
}

/// What became of a call.
#[derive(Debug)]
pub(super) struct CallReport {
    pub(super) outcome: ToolOutcome,
}

impl CallReport {
    /// A call whose own code failed. It ends this call, not the session.
    pub(super) fn broken() -> Self {
        Self {
            outcome: ToolOutcome::text(
                "this tool call failed because of a fault in the program; try another way",
            ),
        }
    }
}

impl Orchestrator {
    pub(super) fn new(
        settings: &ThreadSettings,
        environment: &Arc<dyn Environment>,
        sink: &EventSink,
        cancel: &CancellationToken,
    ) -> Self {
        Self {
            decision: DecisionContext {
                cwd: settings.cwd.clone(),
                environment: Arc::clone(environment),
                approval_policy: settings.approval_policy,
                sandbox_mode: settings.sandbox_mode,
            },
            interactive: settings.interactive,
            max_output_tokens: settings.max_output_tokens,
            sink: sink.clone(),
            cancel: cancel.clone(),
        }
    }

    /// Whether a call may run beside others.
    pub(super) fn effect(&self, call: &dyn PreparedCall) -> Effect {
        call.effect(&self.decision)
    }

    /// Takes a call down the path.
    pub(super) async fn execute(self, call_id: CallId, call: Box<dyn PreparedCall>) -> CallReport {
        let events = self.sink.item();
        if let Some(refusal) = self.decide(&*call) {
            return self.decline(&events, &*call, refusal).await;
        }
        if let Some(item) = call.item(ItemStatus::InProgress) {
            events.started(item).await;
        }
        let context = ToolContext {
            call_id,
            cwd: self.decision.cwd.clone(),
            environment: Arc::clone(&self.decision.environment),
            events: events.clone(),
            cancel: self.cancel.clone(),
            max_output_tokens: self.max_output_tokens,
        };
        tracing::debug!(call = %context.call_id, "call begins");
        let call_id = context.call_id.clone();
        let outcome = call.run(context).await;
        tracing::debug!(call = %call_id, "call ended");
        if let Some(item) = &outcome.item {
            events.completed(item.clone()).await;
        }
        CallReport { outcome }
    }

    /// Why a call may not run, if it may not.
    fn decide(&self, call: &dyn PreparedCall) -> Option<Refusal> {
        match call.requirement(&self.decision) {
            Requirement::Skip => None,
            Requirement::Forbidden { reason } => Some(Refusal {
                what: reason.clone(),
                output: reason,
            }),
            Requirement::NeedsApproval { subject, reason } => {
                Some(self.unasked(&subject, reason.as_deref()))
            }
        }
    }

    /// The answer to a question that cannot be asked: no, with the reason.
    fn unasked(&self, subject: &ApprovalSubject, reason: Option<&str>) -> Refusal {
        let mut what = describe(subject);
        if self.decision.sandbox_mode == SandboxMode::ReadOnly {
            what.push_str(
                " (the sandbox is `read-only`; `-s workspace-write` opens the workspace)",
            );
        }
        let why = match (self.decision.approval_policy, self.interactive) {
            (ApprovalPolicy::Never, _) => "the approval policy is `never`, so nobody is asked",
            (_, false) => "nobody is there to be asked in this run",
            (_, true) => "this version cannot ask",
        };
        let mode = self.decision.sandbox_mode;
        let limits = match mode {
            SandboxMode::DangerFullAccess => String::new(),
            SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite => {
                format!(
                    " The sandbox is `{mode}`; work inside it, or tell the user what is needed."
                )
            }
        };
        let reason = reason
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        Refusal {
            output: format!("declined: {what}{reason} needs an approval, and {why}.{limits}"),
            what,
        }
    }

    async fn decline(
        &self,
        events: &ItemEvents,
        call: &dyn PreparedCall,
        refusal: Refusal,
    ) -> CallReport {
        if let Some(item) = call.item(ItemStatus::InProgress) {
            events.started(item).await;
        }
        if let Some(item) = call.item(ItemStatus::Declined) {
            events.completed(item).await;
        }
        let notice = NoticeEvent::Declined { what: refusal.what };
        self.sink.emit(Event::Notice(notice)).await;
        CallReport {
            outcome: ToolOutcome::text(refusal.output),
        }
    }
}

/// A call that does not run.
struct Refusal {
    /// For people.
    what: String,
    /// For the model.
    output: String,
}

fn describe(subject: &ApprovalSubject) -> String {
    match subject {
        ApprovalSubject::Command { command, .. } => {
            let shown: String = command.chars().take(200).collect();
            format!("running `{shown}` outside the sandbox")
        }
        ApprovalSubject::Patch { paths } => {
            let paths: Vec<String> = paths.iter().map(|p| format!("`{}`", p.display())).collect();
            format!("changing {} outside the writable roots", paths.join(", "))
        }
    }
}
