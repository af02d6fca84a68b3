//! One answer of the model: asking for it, taking its events, starting its calls, and asking
//! again when it was cut off.

use agent_model::{ErrorClass, ModelError, ModelEvent, ModelRequest, ModelStream, RetryState};
use agent_protocol::{
    ContentPart, Event, ItemDelta, NoticeEvent, ReasoningPart, ResponseItem, Role, SerializedItem,
    TokenUsage, TurnItem,
};
use agent_rollout::{EventRecord, ItemMetadata, TokenCountInfo};

use super::calls::{Calls, Finished, ToolCall};
use super::drafts::Drafts;
use super::{Turn, TurnStop, failure};
use crate::events::ItemEvents;
use crate::history::recorded_form;
use crate::tool::ToolPayload;

/// All requests of one sampling, where nobody watches; somebody who does can stop it.
const MAX_REQUESTS_UNATTENDED: u32 = 6;

/// What an answer came to.
#[derive(Debug, Default)]
pub(super) struct Sampled {
    /// The model wants to see outputs.
    pub(super) wants_follow_up: bool,
    /// It has said something.
    pub(super) says_something: bool,
}

/// Why there is no whole answer.
enum SampleError {
    Cancelled,
    Model(ModelError),
    Fatal(agent_protocol::TurnFailure),
}

/// An answer while it arrives: what it comes to, and what is being shown of it.
struct Answer {
    sampled: Sampled,
    drafts: Drafts,
    message: Option<(ItemEvents, String)>,
    reasoning: Option<(ItemEvents, String)>,
}

impl Turn<'_> {
    /// Asks until there is a whole answer, as often as the provider's limits allow.
    pub(super) async fn sample_with_retry(&mut self) -> Result<Sampled, TurnStop> {
        let max_requests = if self.session.settings.interactive {
            u32::MAX
        } else {
            MAX_REQUESTS_UNATTENDED
        };
        let mut retries = RetryState::new(&self.session.settings.retries, max_requests);
        loop {
            let err = match self.sample_once().await {
                Ok(sampled) => return Ok(sampled),
                Err(SampleError::Cancelled) => return Err(TurnStop::Cancelled),
                Err(SampleError::Fatal(failure)) => return Err(TurnStop::Failed(failure)),
                Err(SampleError::Model(err)) => err,
            };
            let Some(retry) = retries.next(&err) else {
                return Err(TurnStop::Failed(failure(&err)));
            };
            tracing::warn!(error = %err, class = ?err.class(), attempt = retry.attempt, "asking again");
            let notice = NoticeEvent::Retry {
                attempt: retry.attempt,
                limit: retry.limit,
                delay_ms: u64::try_from(retry.delay.as_millis()).unwrap_or(u64::MAX),
                reason: err.to_string(),
            };
            self.sink.emit(Event::Notice(notice)).await;
            tokio::select! {
                () = self.control.cancel.cancelled() => return Err(TurnStop::Cancelled),
                () = tokio::time::sleep(retry.delay) => {}
            }
        }
    }

    /// Sends one request and takes its answer. Calls start as they arrive; all of them have
    /// ended when this returns.
    async fn sample_once(&mut self) -> Result<Sampled, SampleError> {
        let request = self.request();
        tracing::debug!(items = request.input.len(), "asking the model");
        self.n_requests += 1;
        self.session.n_responses += 1;
        let cancel = self.control.cancel.clone();
        self.session.environment.expect_commands();
        let opened = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(SampleError::Cancelled),
            opened = self.session.settings.provider.open(&request) => opened,
        };
        drop(request);
        let stream = opened.map_err(SampleError::Model)?;
        let mut calls = Calls::new(self.session, &self.sink, &cancel);
        let end = self.take_answer(stream, &mut calls).await;
        if matches!(end, Err(SampleError::Cancelled | SampleError::Fatal(_))) {
            for finished in calls.stop().await {
                self.record_output(finished).await;
            }
            self.session.close_open_calls(super::ABORTED).await;
        }
        end
    }

    /// Takes events and outputs as they come until both have ended.
    async fn take_answer(
        &mut self,
        mut stream: ModelStream,
        calls: &mut Calls,
    ) -> Result<Sampled, SampleError> {
        let cancel = self.control.cancel.clone();
        let mut answer = Answer {
            sampled: Sampled::default(),
            drafts: Drafts::new(&self.sink),
            message: None,
            reasoning: None,
        };
        let mut streaming = true;
        let mut broken = None;
        while streaming || !calls.is_empty() {
            // Each branch is cancel-safe: a branch that loses has consumed nothing.
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    answer.drafts.discard().await;
                    self.keep_partial(&mut answer).await;
                    return Err(SampleError::Cancelled);
                }
                Some(mut finished) = calls.next(), if !calls.is_empty() => {
                    let repeated = finished
                        .refused
                        .and_then(|call| self.repeats.refused(call, &mut finished.output));
                    let fatal = finished.fatal.clone().or(repeated);
                    self.record_output(finished).await;
                    if let Some(failure) = fatal {
                        answer.drafts.discard().await;
                        return Err(SampleError::Fatal(failure));
                    }
                }
                () = answer.drafts.time_to_tell(), if answer.drafts.have_news() => {
                    answer.drafts.tell().await;
                }
                event = stream.next(), if streaming => match event {
                    Some(Ok(event)) => {
                        self.take_event(event, calls, &mut answer).await;
                    }
                    end => {
                        streaming = false;
                        broken = end.and_then(Result::err);
                        answer.drafts.discard().await;
                    }
                },
            }
        }
        match broken {
            None => Ok(answer.sampled),
            Some(err) => {
                self.end_broken(&err, &mut answer).await;
                Err(SampleError::Model(err))
            }
        }
    }

    fn request(&self) -> ModelRequest {
        let session = &self.session;
        ModelRequest {
            model: session.settings.model.clone(),
            instructions: session.settings.instructions.clone(),
            input: session.history.for_request(),
            tools: session.router.json().clone(),
            prompt_cache_key: session.cache_key.clone(),
            reasoning_effort: session.settings.reasoning_effort.clone(),
            reasoning_summary: session.settings.reasoning_summary.clone(),
            verbosity: session.settings.verbosity.clone(),
            output_schema: self.output_schema.clone(),
            parallel_tool_calls: true,
        }
    }

    async fn take_event(&mut self, event: ModelEvent, calls: &mut Calls, answer: &mut Answer) {
        match event {
            ModelEvent::Created { .. } => {}
            ModelEvent::ToolCallStarted {
                item_id,
                call_id,
                name,
                form,
            } => {
                if let Some(draft) = self.session.router.draft(&name, form) {
                    answer.drafts.begin(item_id, call_id, draft);
                }
            }
            ModelEvent::ToolInputDelta { item_id, text } => {
                answer.drafts.push(item_id.as_deref(), &text);
            }
            ModelEvent::MessageStarted => {
                self.begin_message(answer).await;
            }
            ModelEvent::MessageDelta { text } => {
                let (events, whole) = self.begin_message(answer).await;
                whole.push_str(&text);
                events.delta(ItemDelta::Message { text }).await;
            }
            ModelEvent::ReasoningPartAdded => {
                if let Some((_, whole)) = &mut answer.reasoning {
                    whole.push_str("\n\n");
                }
            }
            ModelEvent::ReasoningDelta { text } => self.reasoning_delta(answer, text).await,
            ModelEvent::RawReasoningDelta { text } => {
                if self.session.settings.config.show_raw_agent_reasoning {
                    self.reasoning_delta(answer, text).await;
                }
            }
            ModelEvent::ItemDone { item, serialized } => {
                self.take_item(item, serialized, calls, answer).await;
            }
            ModelEvent::Completed { usage, .. } => self.count(usage).await,
        }
    }

    /// The message that is being said, shown from now on.
    async fn begin_message<'s>(&self, answer: &'s mut Answer) -> &'s mut (ItemEvents, String) {
        if answer.message.is_none() {
            let events = self.sink.item();
            events
                .started(TurnItem::AgentMessage {
                    text: String::new(),
                })
                .await;
            answer.message = Some((events, String::new()));
        }
        answer
            .message
            .get_or_insert_with(|| (self.sink.item(), String::new()))
    }

    async fn reasoning_delta(&self, answer: &mut Answer, text: String) {
        if self.session.settings.hide_reasoning {
            return;
        }
        if answer.reasoning.is_none() {
            let events = self.sink.item();
            let item = TurnItem::Reasoning {
                text: String::new(),
            };
            events.started(item).await;
            answer.reasoning = Some((events, String::new()));
        }
        if let Some((events, whole)) = &mut answer.reasoning {
            whole.push_str(&text);
            events.delta(ItemDelta::Reasoning { text }).await;
        }
    }

    /// Records a finished item, shows it, and starts it where it is a call.
    async fn take_item(
        &mut self,
        item: ResponseItem,
        serialized: SerializedItem,
        calls: &mut Calls,
        answer: &mut Answer,
    ) {
        answer.drafts.end(&item).await;
        let call_before = ToolCall::of(&item);
        let (item, serialized) = recorded_form(item, serialized, &self.session.history);
        let metadata = self.metadata();
        self.session.record(serialized, metadata).await;
        match &item {
            ResponseItem::Message {
                role: Role::Assistant,
                content,
                ..
            } => {
                let text = message_text(content);
                answer.sampled.says_something |= !text.trim().is_empty();
                self.end_message(answer, text).await;
            }
            ResponseItem::Reasoning { .. } => self.end_reasoning(answer, &item).await,
            ResponseItem::FunctionCall { .. } | ResponseItem::CustomToolCall { .. } => {
                answer.sampled.wants_follow_up = true;
                // What runs is the call as the model wrote it, under the id as it was recorded.
                if let (Some(call), Some(recorded)) = (call_before, ToolCall::of(&item)) {
                    let complaint = calls.push(call.under(recorded.call_id), &self.session.router);
                    if let Some(complaint) = complaint {
                        self.sink.warn(complaint).await;
                    }
                }
            }
            ResponseItem::Message { .. }
            | ResponseItem::FunctionCallOutput { .. }
            | ResponseItem::CustomToolCallOutput { .. }
            | ResponseItem::Unknown => answer.sampled.says_something = true,
        }
    }

    async fn end_message(&mut self, answer: &mut Answer, text: String) {
        let (events, _) = match answer.message.take() {
            Some(begun) => begun,
            None => (self.sink.item(), String::new()),
        };
        self.last_message = Some(text.clone());
        events.completed(TurnItem::AgentMessage { text }).await;
    }

    async fn end_reasoning(&mut self, answer: &mut Answer, item: &ResponseItem) {
        let begun = answer.reasoning.take();
        let ResponseItem::Reasoning {
            summary, content, ..
        } = item
        else {
            return;
        };
        let mut text = joined(summary);
        if self.session.settings.config.show_raw_agent_reasoning && text.is_empty() {
            text = joined(content.as_deref().unwrap_or_default());
        }
        if text.is_empty() || self.session.settings.hide_reasoning {
            return;
        }
        let events = begun.map_or_else(|| self.sink.item(), |(events, _)| events);
        events.completed(TurnItem::Reasoning { text }).await;
    }

    async fn record_output(&mut self, finished: Finished) {
        if let Some(items) = finished.plan {
            self.show_plan(items).await;
        }
        self.diff.record(finished.edits);
        let metadata = self.metadata();
        let item = ResponseItem::call_output(finished.form, finished.call_id, finished.output);
        self.session.record_own(&item, metadata).await;
    }

    async fn show_plan(&mut self, items: Vec<agent_protocol::TodoItem>) {
        let item = TurnItem::TodoList {
            items: items.clone(),
        };
        if let Some((events, shown)) = &mut self.plan {
            *shown = items;
            events.updated(item).await;
        } else {
            let events = self.sink.item();
            events.started(item).await;
            self.plan = Some((events, items));
        }
    }

    fn metadata(&self) -> ItemMetadata {
        ItemMetadata {
            response: Some(self.session.n_responses),
            fragment: None,
        }
    }

    async fn count(&mut self, usage: Option<TokenUsage>) {
        let Some(request) = usage else { return };
        self.usage += request;
        self.session.total_usage += request;
        self.session.last_request_tokens = Some(request.total());
        let record = EventRecord::TokenCount {
            info: TokenCountInfo {
                total_token_usage: self.session.total_usage,
                last_token_usage: request,
            },
        };
        self.session.record_event(&record).await;
        let notice = NoticeEvent::Usage {
            request,
            turn: self.usage,
        };
        self.sink.emit(Event::Notice(notice)).await;
    }

    /// An answer broke off. What was half said is taken back where it will be said again, and
    /// kept where it will not.
    async fn end_broken(&mut self, err: &ModelError, answer: &mut Answer) {
        if let Some((events, _)) = answer.reasoning.take() {
            events.discarded().await;
        }
        if matches!(err.class(), ErrorClass::Incomplete { .. }) {
            self.keep_partial(answer).await;
        } else if let Some((events, _)) = answer.message.take() {
            events.discarded().await;
        }
    }

    /// Records a message that was cut off, so that what the user saw is not lost.
    async fn keep_partial(&mut self, answer: &mut Answer) {
        let Some((events, text)) = answer.message.take() else {
            return;
        };
        if text.is_empty() {
            events.discarded().await;
            return;
        }
        let item = ResponseItem::text_message(Role::Assistant, text.clone());
        let metadata = self.metadata();
        self.session.record_own(&item, metadata).await;
        self.last_message = Some(text.clone());
        events.completed(TurnItem::AgentMessage { text }).await;
    }
}

/// The paragraphs of reasoning.
fn joined(parts: &[ReasoningPart]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        ReasoningPart::SummaryText { text }
        | ReasoningPart::ReasoningText { text }
        | ReasoningPart::Text { text } => Some(text.as_str()),
        ReasoningPart::Unknown => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The text of a message; a refusal counts as text.
fn message_text(content: &[ContentPart]) -> String {
    let parts = content.iter().filter_map(|part| match part {
        ContentPart::OutputText { text } | ContentPart::InputText { text } => Some(text.as_str()),
        ContentPart::Refusal { refusal } => Some(refusal.as_str()),
        ContentPart::InputImage { .. } | ContentPart::Unknown => None,
    });
    parts.collect()
}

impl ToolCall {
    /// The call in an item, if it is one.
    fn of(item: &ResponseItem) -> Option<Self> {
        match item {
            ResponseItem::FunctionCall {
                call_id,
                name,
                arguments,
                ..
            } => Some(Self {
                call_id: call_id.clone(),
                name: name.clone(),
                payload: ToolPayload::Function {
                    arguments: arguments.clone(),
                },
            }),
            ResponseItem::CustomToolCall {
                call_id,
                name,
                input,
                ..
            } => Some(Self {
                call_id: call_id.clone(),
                name: name.clone(),
                payload: ToolPayload::Custom {
                    input: input.clone(),
                },
            }),
            ResponseItem::Message { .. }
            | ResponseItem::Reasoning { .. }
            | ResponseItem::FunctionCallOutput { .. }
            | ResponseItem::CustomToolCallOutput { .. }
            | ResponseItem::Unknown => None,
        }
    }
}
