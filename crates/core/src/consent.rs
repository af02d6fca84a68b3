//! Questions to a person: what waits for an answer, and what was allowed for the session.
//!
//! One [`Consent`] belongs to a session. Calls ask and wait; the session hands in the answers
//! that its face gives. An answer that nobody waits for does nothing.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_protocol::{
    ApprovalChoice, ApprovalEvent, ApprovalRequest, ApprovalSubject, CallId, Event, Question,
    QuestionAnswers, QuestionEvent, QuestionRequest, RequestId,
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::events::EventSink;

/// What a person said to an approval request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Yes.
    Granted,
    /// No, perhaps with a word to the model.
    Declined { note: Option<String> },
    /// The turn ended before there was an answer.
    Cancelled,
}

/// Who asks: the call, where its events go, and what ends the waiting.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) call_id: CallId,
    pub(crate) sink: EventSink,
    pub(crate) cancel: CancellationToken,
}

/// What waits for answers, and what needs none any more.
#[derive(Debug, Default)]
pub(crate) struct Consent(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next_request: u64,
    granted: HashSet<Key>,
    approvals: BTreeMap<RequestId, WaitingApproval>,
    questions: BTreeMap<RequestId, oneshot::Sender<Option<QuestionAnswers>>>,
}

#[derive(Debug)]
struct WaitingApproval {
    keys: Vec<Key>,
    answer: oneshot::Sender<Answer>,
}

/// What an approval for the session is remembered by: a command as it is written and where it
/// runs, or one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Command {
        command: String,
        cwd: PathBuf,
        sandboxed: bool,
    },
    File(PathBuf),
}

fn keys(subject: &ApprovalSubject) -> Vec<Key> {
    match subject {
        ApprovalSubject::Command {
            command,
            cwd,
            sandboxed,
        } => vec![Key::Command {
            command: command.clone(),
            cwd: cwd.clone(),
            sandboxed: *sandboxed,
        }],
        ApprovalSubject::Patch { paths, .. } => paths.iter().cloned().map(Key::File).collect(),
    }
}

impl Consent {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, unless all of it was allowed for the session already, and waits for the answer.
    ///
    /// # Cancel safety
    /// When dropped before it returns, the question stays open in the face; calls are cancelled
    /// by their token instead.
    pub(crate) async fn ask(
        &self,
        asker: &Asker,
        subject: ApprovalSubject,
        reason: Option<String>,
    ) -> Answer {
        let keys = keys(&subject);
        let (answer, answered) = oneshot::channel();
        let Some(request_id) = self.expect(keys, answer) else {
            return Answer::Granted;
        };
        let request = ApprovalRequest {
            request_id,
            call_id: asker.call_id.clone(),
            subject,
            reason,
            choices: vec![
                ApprovalChoice::Once,
                ApprovalChoice::ForSession,
                ApprovalChoice::Decline,
                ApprovalChoice::Stop,
            ],
        };
        let requested = Event::Approval(ApprovalEvent::Requested(request));
        asker.sink.emit(requested).await;
        let answer = tokio::select! {
            biased;
            answer = answered => answer.unwrap_or(Answer::Cancelled),
            () = asker.cancel.cancelled() => Answer::Cancelled,
        };
        self.state().approvals.remove(&request_id);
        let resolved = Event::Approval(ApprovalEvent::Resolved { request_id });
        asker.sink.emit(resolved).await;
        answer
    }

    /// Notes that an answer is waited for; `None` when there is nothing to ask.
    fn expect(&self, keys: Vec<Key>, answer: oneshot::Sender<Answer>) -> Option<RequestId> {
        let mut state = self.state();
        if !keys.is_empty() && keys.iter().all(|key| state.granted.contains(key)) {
            return None;
        }
        let request_id = state.new_request();
        state
            .approvals
            .insert(request_id, WaitingApproval { keys, answer });
        Some(request_id)
    }

    /// Hands in an answer. A yes for the session answers all that it covers.
    pub(crate) fn answer(
        &self,
        request_id: RequestId,
        choice: &ApprovalChoice,
        note: Option<String>,
    ) {
        let mut state = self.state();
        let Some(waiting) = state.approvals.remove(&request_id) else {
            return;
        };
        let answer = match choice {
            ApprovalChoice::Once => Answer::Granted,
            ApprovalChoice::ForSession => {
                state.granted.extend(waiting.keys.iter().cloned());
                Answer::Granted
            }
            ApprovalChoice::Decline => Answer::Declined { note },
            ApprovalChoice::Stop => Answer::Cancelled,
        };
        // Nobody waits any more when the turn has ended in this moment.
        waiting.answer.send(answer).ok();
        if *choice == ApprovalChoice::ForSession {
            state.grant_covered();
        }
    }

    /// Asks the model's questions and waits for the answers; `None` when there are none.
    ///
    /// # Cancel safety
    /// As [`Consent::ask`].
    pub(crate) async fn question(
        &self,
        asker: &Asker,
        questions: Vec<Question>,
    ) -> Option<QuestionAnswers> {
        let (reply, replied) = oneshot::channel();
        let request_id = {
            let mut state = self.state();
            let request_id = state.new_request();
            state.questions.insert(request_id, reply);
            request_id
        };
        let request = QuestionRequest {
            request_id,
            call_id: asker.call_id.clone(),
            questions,
        };
        let requested = Event::Question(QuestionEvent::Asked(request));
        asker.sink.emit(requested).await;
        let answers = tokio::select! {
            biased;
            answers = replied => answers.ok().flatten(),
            () = asker.cancel.cancelled() => None,
        };
        self.state().questions.remove(&request_id);
        let resolved = Event::Question(QuestionEvent::Resolved { request_id });
        asker.sink.emit(resolved).await;
        answers
    }

    /// Hands in answers to questions.
    pub(crate) fn reply(&self, request_id: RequestId, answers: Option<QuestionAnswers>) {
        if let Some(reply) = self.state().questions.remove(&request_id) {
            reply.send(answers).ok();
        }
    }
}

impl State {
    fn new_request(&mut self) -> RequestId {
        let request_id = RequestId(self.next_request);
        self.next_request += 1;
        request_id
    }

    /// Answers what waits and is covered by what was allowed meanwhile.
    fn grant_covered(&mut self) {
        let waiting = std::mem::take(&mut self.approvals);
        for (request_id, approval) in waiting {
            if approval.keys.iter().all(|key| self.granted.contains(key)) {
                approval.answer.send(Answer::Granted).ok();
            } else {
                self.approvals.insert(request_id, approval);
            }
        }
    }
}
