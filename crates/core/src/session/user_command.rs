//! Commands of the user's own: `!cmd`, and looking at the working tree.

use std::sync::Arc;

use agent_context::{UserShellCommand, render};
use agent_protocol::{
    ApprovalSubject, CallId, Event, ItemStatus, NoticeEvent, OutputPayload, TurnItem,
};
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::consent::Asker;
use crate::events::EventSink;
use crate::tool::{Person, PreparedCall, ToolContext, ToolOutcome};

/// Shows what differs from the last commit. Programs that the repository configures for showing
/// differences are not run; files that git does not know are named.
const DIFF: &str = "git --no-optional-locks -c core.fsmonitor=false diff --no-color --no-ext-diff \
    --no-textconv HEAD -- . || exit
    git --no-optional-locks -c core.fsmonitor=false ls-files -z --others --exclude-standard \
    | head -z -n 200 | xargs -0 -r -n 1 git --no-optional-locks diff --no-color --no-ext-diff \
    --no-textconv --no-index -- /dev/null";

/// No answer is longer than this for the user's own commands, in tokens.
const MAX_OUTPUT_TOKENS: usize = 10_000;

impl Session {
    /// Runs a command of the user, outside the sandbox, and shares what it printed with the
    /// model.
    pub(crate) async fn run_user_command(&mut self, command: String, cancel: CancellationToken) {
        let Some(call) = self.router.user_command(&command) else {
            self.sink.warn("there is no tool that runs commands").await;
            return;
        };
        let approved = Some(ApprovalSubject::Command {
            command: command.clone(),
            cwd: self.settings.cwd.clone(),
            sandboxed: false,
        });
        let outcome = self.run_shown(call, &self.sink, cancel, approved).await;
        if let OutputPayload::Text(output) = outcome.output {
            let fragment = UserShellCommand { command, output };
            self.record_notice(&render(&fragment)).await;
        }
    }

    /// Tells how the working tree differs from the last commit. The command that finds it out
    /// runs in the sandbox and is not shown.
    pub(crate) async fn show_diff(&mut self, cancel: CancellationToken) {
        let Some(call) = self.router.user_command(DIFF) else {
            self.sink.warn("there is no tool that runs commands").await;
            return;
        };
        let unseen = EventSink::to_nobody();
        let outcome = self.run_shown(call, &unseen, cancel, None).await;
        let text = match outcome.item {
            Some(TurnItem::CommandExecution(command)) => command.aggregated_output,
            Some(_) | None => String::new(),
        };
        let notice = NoticeEvent::Diff { text };
        self.sink.emit(Event::Notice(notice)).await;
    }

    async fn run_shown(
        &self,
        call: Box<dyn PreparedCall>,
        sink: &EventSink,
        cancel: CancellationToken,
        approved: Option<ApprovalSubject>,
    ) -> ToolOutcome {
        let events = sink.item();
        if let Some(item) = call.item(ItemStatus::InProgress) {
            events.started(item).await;
        }
        let call_id = CallId("user".to_owned());
        let context = ToolContext {
            call_id: call_id.clone(),
            cwd: self.settings.cwd.clone(),
            environment: Arc::clone(&self.environment),
            commands: Arc::clone(&self.commands),
            events: events.clone(),
            cancel: cancel.clone(),
            max_output_tokens: MAX_OUTPUT_TOKENS,
            approved,
            person: Person {
                consent: Arc::clone(&self.consent),
                asker: Asker {
                    call_id,
                    sink: sink.clone(),
                    cancel,
                },
            },
        };
        let outcome = call.run(context).await;
        if let Some(item) = &outcome.item {
            events.completed(item.clone()).await;
        }
        outcome
    }
}
