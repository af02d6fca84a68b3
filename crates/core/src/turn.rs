//! One turn, from the user's words to the end of the answer.
//!
//! The regular task is the outer loop (the user may steer while the turn runs), [`run_turn`]
//! the inner one (the model may want tools). However a turn ends, each recorded call has a
//! recorded output.

mod calls;
mod diff;
mod drafts;
mod images;
mod orchestrator;
mod repeats;
mod sample;

use std::sync::{Arc, Mutex, PoisonError};

use agent_context::{TurnInterrupted, render};
use agent_model::{ErrorClass, ModelError};
use agent_protocol::{
    ContentPart, Event, FailureKind, NoticeEvent, TodoItem, TokenUsage, TurnEvent, TurnFailure,
    TurnId, TurnItem, UserInput,
};
use agent_rollout::{EventRecord, Record, SandboxPolicyRecord, TurnContext};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::events::{EventSink, ItemEvents};
use crate::session::Session;
use diff::TurnDiff;
use repeats::Repeats;

/// The output that a call gets when the turn is stopped before it has one.
const ABORTED: &str = "aborted by user";

/// How a turn is influenced from outside.
pub(crate) struct TurnControl {
    cancel: CancellationToken,
    steered: mpsc::UnboundedReceiver<Vec<UserInput>>,
    cause: Cause,
}

/// Why a turn was told to stop. The first cause counts.
#[derive(Clone, Default)]
pub(crate) struct Cause(Arc<Mutex<Option<StopCause>>>);

/// A reason to stop a turn.
#[derive(Debug, Clone)]
pub(crate) enum StopCause {
    /// The user wants it.
    Interrupted,
    /// A limit was reached or something is broken.
    Failed(TurnFailure),
}

impl Cause {
    /// Notes the cause and stops the turn.
    pub(crate) fn stop(&self, cancel: &CancellationToken, cause: StopCause) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get_or_insert(cause);
        drop(noted);
        cancel.cancel();
    }

    fn take(&self) -> StopCause {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.take().unwrap_or(StopCause::Interrupted)
    }
}

impl TurnControl {
    pub(crate) fn new(
        cancel: CancellationToken,
        steered: mpsc::UnboundedReceiver<Vec<UserInput>>,
    ) -> Self {
        Self {
            cancel,
            steered,
            cause: Cause::default(),
        }
    }

    pub(crate) fn cause(&self) -> Cause {
        self.cause.clone()
    }
}

/// What the user said too late for the turn to read it.
#[derive(Debug)]
pub(crate) enum Unread {
    /// There is nothing of the kind.
    Nothing,
    /// It begins the next turn.
    Next(Vec<UserInput>),
    /// The turn was stopped; the user decides.
    Return(Vec<UserInput>),
}

/// Why a turn did not complete.
#[derive(Debug)]
enum TurnStop {
    /// It was told to stop; the cause is in [`TurnControl`].
    Cancelled,
    /// It cannot go on.
    Failed(TurnFailure),
}

/// A turn while it runs.
struct Turn<'a> {
    session: &'a mut Session,
    control: TurnControl,
    sink: EventSink,
    output_schema: Option<Value>,
    n_requests: u64,
    usage: TokenUsage,
    last_message: Option<String>,
    plan: Option<(ItemEvents, Vec<TodoItem>)>,
    diff: TurnDiff,
    repeats: Repeats,
}

/// Runs a whole turn and tells how it ended.
pub(crate) async fn run_regular_task(
    session: &mut Session,
    control: TurnControl,
    input: Vec<UserInput>,
    output_schema: Option<Value>,
) -> Unread {
    let turn_id = TurnId(Uuid::now_v7());
    let sink = session.sink.for_turn(turn_id);
    let mut turn = Turn {
        session,
        control,
        sink,
        output_schema,
        n_requests: 0,
        usage: TokenUsage::default(),
        last_message: None,
        plan: None,
        diff: TurnDiff::default(),
        repeats: Repeats::default(),
    };
    tracing::info!(turn = %turn_id, model = %turn.session.settings.model, "turn started");
    turn.session.commands.begin_turn();
    turn.sink.turn(TurnEvent::Started).await;
    let started = EventRecord::TaskStarted {
        turn_id: turn_id.to_string(),
    };
    turn.session.record_event(&started).await;
    let end = turn.run(turn_id, input).await;
    turn.finish(turn_id, end).await
}

impl Turn<'_> {
    async fn run(&mut self, turn_id: TurnId, input: Vec<UserInput>) -> Result<(), TurnStop> {
        self.record_settings(turn_id).await;
        self.session.record_context().await;
        self.record_input(input).await?;
        loop {
            self.run_turn().await?;
            if !self.take_steering().await? {
                return Ok(());
            }
        }
    }

    /// Asks the model until it wants no more tools and the user has nothing to add.
    async fn run_turn(&mut self) -> Result<(), TurnStop> {
        loop {
            self.check_budget()?;
            let sampled = self.sample_with_retry().await?;
            let steered = self.take_steering().await?;
            if sampled.wants_follow_up || steered {
                continue;
            }
            if !sampled.says_something {
                return Err(TurnStop::Failed(TurnFailure {
                    kind: FailureKind::Model,
                    message: "the model gave an empty response".to_owned(),
                    hint: Some("try again, or choose another model with `-m`".to_owned()),
                }));
            }
            return Ok(());
        }
    }

    async fn record_settings(&mut self, turn_id: TurnId) {
        let settings = &self.session.settings;
        let context = TurnContext {
            turn_id: Some(turn_id.to_string()),
            cwd: settings.cwd.clone(),
            approval_policy: Some(settings.approval_policy),
            sandbox_policy: Some(SandboxPolicyRecord {
                mode: settings.sandbox_mode,
            }),
            model: settings.model.clone(),
            effort: settings.reasoning_effort.clone(),
            summary: settings.reasoning_summary.clone(),
        };
        self.session.write(&Record::TurnContext(&context)).await;
    }

    async fn record_input(&mut self, input: Vec<UserInput>) -> Result<(), TurnStop> {
        let mut content = Vec::new();
        let mut message = String::new();
        let mut n_images = 0;
        for part in input {
            match part {
                UserInput::Text { text } => {
                    message.push_str(&text);
                    content.push(ContentPart::InputText { text });
                }
                UserInput::LocalImage { path } => {
                    n_images += 1;
                    let parts = images::content(&path, n_images).map_err(|err| {
                        TurnStop::Failed(TurnFailure {
                            kind: FailureKind::Internal,
                            message: err.to_string(),
                            hint: Some("give a PNG, JPEG, GIF or WebP file".to_owned()),
                        })
                    })?;
                    content.extend(parts);
                }
            }
        }
        self.session.record_user(content).await;
        self.session
            .record_event(&EventRecord::UserMessage { message })
            .await;
        Ok(())
    }

    /// Records what the user said meanwhile. Whether there was anything.
    async fn take_steering(&mut self) -> Result<bool, TurnStop> {
        let mut any = false;
        while let Ok(input) = self.control.steered.try_recv() {
            any = true;
            let event = TurnEvent::Steered {
                input: input.clone(),
            };
            self.record_input(input).await?;
            self.sink.turn(event).await;
        }
        Ok(any)
    }

    fn check_budget(&self) -> Result<(), TurnStop> {
        let limits = &self.session.settings.limits;
        let reached = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        let (what, option) = if reached(limits.max_requests, self.n_requests) {
            ("requests", "--max-turns")
        } else if reached(limits.max_tokens, self.usage.total()) {
            ("tokens", "--max-tokens")
        } else {
            return Ok(());
        };
        Err(TurnStop::Failed(TurnFailure {
            kind: FailureKind::Budget,
            message: format!("the limit on {what} of the turn was reached"),
            hint: Some(format!("raise it with `{option} N`")),
        }))
    }

    /// Completes what is open, records the end and tells it.
    async fn finish(mut self, turn_id: TurnId, end: Result<(), TurnStop>) -> Unread {
        self.session.close_open_calls(ABORTED).await;
        self.stop_commands(&end).await;
        if let Some((events, items)) = self.plan.take() {
            events.completed(TurnItem::TodoList { items }).await;
        }
        self.tell_diff(turn_id).await;
        let turn_id = turn_id.to_string();
        let cause = match end {
            Ok(()) => None,
            Err(TurnStop::Failed(failure)) => Some(StopCause::Failed(failure)),
            Err(TurnStop::Cancelled) => Some(self.control.cause.take()),
        };
        let (record, event) = match cause {
            None => (
                EventRecord::TaskComplete {
                    turn_id,
                    last_agent_message: self.last_message.clone(),
                    error: None,
                },
                TurnEvent::Completed {
                    usage: self.usage,
                    last_message: self.last_message.take(),
                },
            ),
            Some(StopCause::Failed(failure)) => (
                EventRecord::TaskComplete {
                    turn_id,
                    last_agent_message: self.last_message.take(),
                    error: Some(failure.message.clone()),
                },
                TurnEvent::Failed(failure),
            ),
            Some(StopCause::Interrupted) => {
                self.session.record_notice(&render(&TurnInterrupted)).await;
                let record = EventRecord::TurnAborted {
                    turn_id,
                    reason: "interrupted".to_owned(),
                };
                (record, TurnEvent::Interrupted)
            }
        };
        self.session.record_event(&record).await;
        self.session.log.sync();
        tracing::info!(requests = self.n_requests, end = ?event, "turn ended");
        let unread = self.unread(&event);
        self.sink.turn(event).await;
        unread
    }

    /// Where nobody watches, nothing outlives the turn; else only an interruption ends what the
    /// turn started.
    async fn stop_commands(&self, end: &Result<(), TurnStop>) {
        let commands = &self.session.commands;
        if !self.session.settings.interactive {
            commands.stop_all("the turn ended").await;
        } else if matches!(end, Err(TurnStop::Cancelled)) {
            commands.stop_turn("the turn was interrupted").await;
        }
    }

    /// Records and tells what the patches of the turn changed.
    async fn tell_diff(&mut self, turn_id: TurnId) {
        let diff = std::mem::take(&mut self.diff);
        let settings = &self.session.settings;
        let root = settings.project.root.as_ref().unwrap_or(&settings.cwd);
        let root = root.clone();
        // Comparing large files takes a while.
        let finished = tokio::task::spawn_blocking(move || diff.finish(&root)).await;
        let Ok(Some(diff)) = finished else { return };
        let record = EventRecord::TurnDiff {
            turn_id: Some(turn_id.to_string()),
            unified_diff: diff.text.clone(),
            left_out: diff.left_out.clone(),
        };
        self.session.record_event(&record).await;
        let notice = NoticeEvent::TurnDiff {
            unified_diff: diff.text,
            left_out: diff.left_out,
        };
        self.sink.emit(Event::Notice(notice)).await;
    }

    fn unread(&mut self, end: &TurnEvent) -> Unread {
        let steered = &mut self.control.steered;
        let unread = std::iter::from_fn(|| steered.try_recv().ok());
        let unread: Vec<UserInput> = unread.flatten().collect();
        match end {
            _ if unread.is_empty() => Unread::Nothing,
            TurnEvent::Completed { .. } => Unread::Next(unread),
            TurnEvent::Started
            | TurnEvent::Steered { .. }
            | TurnEvent::Failed(_)
            | TurnEvent::Interrupted => Unread::Return(unread),
        }
    }
}

/// What a model error means for the turn.
fn failure(err: &ModelError) -> TurnFailure {
    let kind = if err.class() == &ErrorClass::ContextWindow {
        FailureKind::ContextWindow
    } else {
        FailureKind::Model
    };
    TurnFailure {
        kind,
        message: err.to_string(),
        hint: tool_form_hint(err).or_else(|| err.hint()),
    }
}

/// Some servers take only tools of the type `function` and say so with a 400.
fn tool_form_hint(err: &ModelError) -> Option<String> {
    let message = err.to_string().to_lowercase();
    let names_form = message.contains("function") || message.contains("custom");
    let about_tools = names_form && (message.contains("tool") || message.contains("supported"));
    (err.class() == &ErrorClass::InvalidRequest && about_tools).then(|| {
        "if the server takes only function tools, set `function_tools_only = true` for the \
         provider in config.toml"
            .to_owned()
    })
}
