//! The calls of one answer: which run side by side, which wait, and how they are stopped.
//!
//! Calls begin in the order in which they were made. One without effect may run beside others
//! of its kind; one with an effect waits for all before it, and all after it wait for it.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use agent_protocol::{CallForm, CallId, FailureKind, OutputPayload, TodoItem, TurnFailure};
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::orchestrator::{CallReport, Orchestrator};
use crate::events::EventSink;
use crate::router::ToolRouter;
use crate::session::Session;
use crate::tool::{Effect, FileEdit, PreparedCall, ToolPayload};

/// How long calls may take to end after they were asked to.
const GRACE: Duration = Duration::from_secs(3);

/// The longest text of one output, in tokens, whatever a tool returns.
const MAX_OUTPUT_TOKENS: usize = 12_000;

/// How much of the reason is shown to people when a call cannot be read.
const MAX_SHOWN_CHARS: usize = 300;

/// A call as the model made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolCall {
    pub(super) call_id: CallId,
    pub(super) name: String,
    pub(super) payload: ToolPayload,
}

impl ToolCall {
    /// A number that equal calls share.
    fn fingerprint(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        self.name.hash(&mut hash);
        match &self.payload {
            ToolPayload::Function { arguments } => arguments.hash(&mut hash),
            ToolPayload::Custom { input } => input.hash(&mut hash),
        }
        hash.finish()
    }

    /// The same call under another id.
    pub(super) fn under(self, call_id: CallId) -> Self {
        Self { call_id, ..self }
    }
}

/// A call that has its output.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) call_id: CallId,
    pub(super) form: CallForm,
    pub(super) output: OutputPayload,
    pub(super) plan: Option<Vec<TodoItem>>,
    pub(super) edits: Vec<FileEdit>,
    /// It was refused and did nothing; a number that equal calls share.
    pub(super) refused: Option<u64>,
    pub(super) fatal: Option<TurnFailure>,
}

/// The calls of one answer.
pub(super) struct Calls {
    orchestrator: Orchestrator,
    cancel: CancellationToken,
    waiting: VecDeque<Waiting>,
    running: JoinSet<CallReport>,
    known: HashMap<Id, Known>,
    /// Calls that got their output without running.
    answered: VecDeque<Finished>,
    mutating: bool,
}

struct Waiting {
    known: Known,
    prepared: Box<dyn PreparedCall>,
}

/// What must be known of a running call to answer it even if it breaks.
struct Known {
    call_id: CallId,
    form: CallForm,
    fingerprint: u64,
    effect: Effect,
}

impl Calls {
    pub(super) fn new(session: &Session, sink: &EventSink, cancel: &CancellationToken) -> Self {
        let cancel = cancel.child_token();
        Self {
            orchestrator: Orchestrator::new(session, sink, &cancel),
            cancel,
            waiting: VecDeque::new(),
            running: JoinSet::new(),
            known: HashMap::new(),
            answered: VecDeque::new(),
            mutating: false,
        }
    }

    /// Whether every call has been handed out.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty() && self.answered.is_empty()
    }

    /// Takes a call and starts it as soon as its turn has come.
    ///
    /// A call that cannot be read has its output at once; the answer is what people are told.
    pub(super) fn push(&mut self, call: ToolCall, router: &ToolRouter) -> Option<String> {
        let form = call.payload.form();
        let fingerprint = call.fingerprint();
        match router.prepare(&call.name, &call.payload) {
            Err(output) => {
                let shown: String = output.chars().take(MAX_SHOWN_CHARS).collect();
                self.answered.push_back(Finished {
                    call_id: call.call_id,
                    form,
                    output: OutputPayload::Text(output),
                    plan: None,
                    edits: Vec::new(),
                    refused: Some(fingerprint),
                    fatal: None,
                });
                Some(format!("a tool call of the model failed: {shown}"))
            }
            Ok(prepared) => {
                let known = Known {
                    call_id: call.call_id,
                    form,
                    fingerprint,
                    effect: self.orchestrator.effect(&*prepared),
                };
                self.waiting.push_back(Waiting { known, prepared });
                self.start_ready();
                None
            }
        }
    }

    fn start_ready(&mut self) {
        while let Some(front) = self.waiting.front() {
            let may_start = match front.known.effect {
                Effect::ReadOnly => !self.mutating,
                Effect::Mutating => self.running.is_empty(),
            };
            if !may_start {
                return;
            }
            let Some(Waiting { known, prepared }) = self.waiting.pop_front() else {
                return;
            };
            self.mutating = known.effect == Effect::Mutating;
            let work = self
                .orchestrator
                .clone()
                .execute(known.call_id.clone(), prepared);
            let handle = self.running.spawn(work);
            self.known.insert(handle.id(), known);
        }
    }

    /// The next output. `None` when all calls have been handed out.
    ///
    /// # Cancel safety
    /// A call that is dropped has consumed nothing.
    pub(super) async fn next(&mut self) -> Option<Finished> {
        if let Some(finished) = self.answered.pop_front() {
            return Some(finished);
        }
        let joined = self.running.join_next_with_id().await?;
        let (id, report) = match joined {
            Ok((id, report)) => (id, report),
            Err(err) => {
                tracing::error!(error = %err, "a tool call broke");
                (err.id(), CallReport::broken())
            }
        };
        let known = self.known.remove(&id)?;
        if known.effect == Effect::Mutating {
            self.mutating = false;
        }
        self.start_ready();
        Some(known.finish(report))
    }

    /// Asks all calls to end and waits for their outputs; what does not end in time is broken
    /// off, and the session gives it an output.
    pub(super) async fn stop(&mut self) -> Vec<Finished> {
        self.cancel.cancel();
        self.waiting.clear();
        let mut outputs = Vec::new();
        let all = async {
            while let Some(finished) = self.next().await {
                outputs.push(finished);
            }
        };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            self.running.abort_all();
        }
        outputs
    }
}

impl Known {
    fn finish(self, report: CallReport) -> Finished {
        Finished {
            call_id: self.call_id,
            form: self.form,
            output: within_cap(report.outcome.output),
            plan: report.outcome.plan,
            edits: report.outcome.edits,
            refused: report.is_refused.then_some(self.fingerprint),
            fatal: report.outcome.fatal.map(|fatal| TurnFailure {
                kind: FailureKind::Sandbox,
                message: fatal.message,
                hint: fatal.hint,
            }),
        }
    }
}

/// No item is larger than its cap, whatever a tool does.
fn within_cap(output: OutputPayload) -> OutputPayload {
    match output {
        OutputPayload::Text(text) => {
            let n_lines = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
            let n_bytes = text.len() as u64;
            let shortened =
                agent_process::shorten_for_model(&text, n_bytes, n_lines, MAX_OUTPUT_TOKENS);
            OutputPayload::Text(shortened.text)
        }
        parts @ OutputPayload::Parts(_) => parts,
    }
}
