//! The path of one call, the same for every tool: decide whether it may run, show that it
//! begins, run it, show how it ended.

use std::sync::Arc;

use agent_protocol::{
    ApprovalPolicy, ApprovalSubject, CallId, Event, ItemStatus, NoticeEvent, SandboxMode, TurnItem,
};
use tokio_util::sync::CancellationToken;

use crate::consent::{Answer, Asker, Consent};
use crate::events::{EventSink, ItemEvents};
use crate::session::Session;
use crate::tool::{
    DecisionContext, Effect, Person, PreparedCall, Requirement, ToolContext, ToolOutcome,
};

/// Takes calls down the path. Cheap to clone; each call gets its own.
#[derive(Clone)]
pub(super) struct Orchestrator {
    decision: DecisionContext,
    interactive: bool,
    max_output_tokens: usize,
    consent: Arc<Consent>,
    sink: EventSink,
    cancel: CancellationToken,
}

/// What became of a call.
#[derive(Debug)]
pub(super) struct CallReport {
    pub(super) outcome: ToolOutcome,
    /// It did nothing, and would do nothing again.
    pub(super) is_refused: bool,
}

impl CallReport {
    /// A call whose own code failed. It ends this call, not the session.
    pub(super) fn broken() -> Self {
        Self {
            outcome: ToolOutcome::text(
                "this tool call failed because of a fault in the program; try another way",
            ),
            is_refused: false,
        }
    }
}

/// Whether a call may run.
enum Verdict {
    /// It may.
    Run { approved: Option<ApprovalSubject> },
    /// It may not.
    Refuse(Refusal),
}

impl Orchestrator {
    pub(super) fn new(session: &Session, sink: &EventSink, cancel: &CancellationToken) -> Self {
        let settings = &session.settings;
        Self {
            decision: DecisionContext {
                cwd: settings.cwd.clone(),
                environment: Arc::clone(&session.environment),
                commands: Arc::clone(&session.commands),
                approval_policy: settings.approval_policy,
                sandbox_mode: settings.sandbox_mode,
                denies_reads: !settings.sandbox.denied_reads.is_empty(),
            },
            interactive: settings.interactive,
            max_output_tokens: settings.max_output_tokens,
            consent: Arc::clone(&session.consent),
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
        let asker = Asker {
            call_id: call_id.clone(),
            sink: self.sink.clone(),
            cancel: self.cancel.clone(),
        };
        let approved = match self.decide(&*call, &asker).await {
            Verdict::Run { approved } => approved,
            Verdict::Refuse(refusal) => return self.decline(&events, &*call, refusal).await,
        };
        if let Some(item) = call.item(ItemStatus::InProgress) {
            events.started(item).await;
        }
        let context = ToolContext {
            call_id,
            cwd: self.decision.cwd.clone(),
            environment: Arc::clone(&self.decision.environment),
            commands: Arc::clone(&self.decision.commands),
            events: events.clone(),
            cancel: self.cancel.clone(),
            max_output_tokens: self.max_output_tokens,
            approved,
            person: Person {
                consent: Arc::clone(&self.consent),
                asker,
            },
        };
        tracing::debug!(call = %context.call_id, "call begins");
        let call_id = context.call_id.clone();
        let outcome = call.run(context).await;
        for warning in self.decision.environment.take_warnings() {
            self.sink.warn(warning).await;
        }
        tracing::debug!(call = %call_id, "call ended");
        if let Some(item) = &outcome.item {
            events.completed(item.clone()).await;
        }
        let is_refused = matches!(
            &outcome.item,
            Some(TurnItem::FileChange(change)) if change.status == ItemStatus::Failed
        );
        CallReport {
            outcome,
            is_refused,
        }
    }

    /// Whether a call may run; asks where someone must say so.
    async fn decide(&self, call: &dyn PreparedCall, asker: &Asker) -> Verdict {
        let (subject, reason) = match call.requirement(&self.decision) {
            Requirement::Skip => return Verdict::Run { approved: None },
            Requirement::Forbidden { reason } => {
                return Verdict::Refuse(Refusal {
                    what: reason.clone(),
                    output: reason,
                });
            }
            Requirement::NeedsApproval { subject, reason } => (subject, reason),
        };
        let may_ask = self.interactive && self.decision.approval_policy != ApprovalPolicy::Never;
        if !may_ask {
            return Verdict::Refuse(self.unasked(&subject, reason.as_deref()));
        }
        let what = describe(&subject);
        let approved = Some(subject.clone());
        let output = match self.consent.ask(asker, subject, reason).await {
            Answer::Granted => return Verdict::Run { approved },
            Answer::Declined { note: None } => {
                format!("declined: the user did not allow {what}. Work without it.")
            }
            Answer::Declined { note: Some(note) } => {
                format!("declined: the user did not allow {what}. The user says: {note}")
            }
            Answer::Cancelled => super::ABORTED.to_owned(),
        };
        Verdict::Refuse(Refusal { what, output })
    }

    /// The answer to a question that cannot be asked: no, with the reason.
    fn unasked(&self, subject: &ApprovalSubject, reason: Option<&str>) -> Refusal {
        let mut what = describe(subject);
        if self.decision.sandbox_mode == SandboxMode::ReadOnly {
            what.push_str(
                " (the sandbox is `read-only`; `-s workspace-write` opens the workspace)",
            );
        }
        let why = if self.decision.approval_policy == ApprovalPolicy::Never {
            "the approval policy is `never`, so nobody is asked"
        } else {
            "nobody is there to be asked in this run"
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
            is_refused: true,
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
        ApprovalSubject::Command {
            command, sandboxed, ..
        } => {
            let shown: String = command.chars().take(200).collect();
            let place = if *sandboxed { "in" } else { "outside" };
            format!("running `{shown}` {place} the sandbox")
        }
        ApprovalSubject::Patch { paths, .. } => {
            let paths: Vec<String> = paths.iter().map(|p| format!("`{}`", p.display())).collect();
            format!("changing {} outside the writable roots", paths.join(", "))
        }
    }
}
