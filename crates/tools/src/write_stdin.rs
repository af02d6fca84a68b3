//! `write_stdin`: comes back to a command that runs in the background, to see more of its output or
//! to type into its terminal.

use std::sync::Arc;
use std::time::Duration;

use agent_core::commands::CommandSession;
use agent_core::tool::{DecisionContext, Effect, Requirement, Tool, ToolContext, ToolOutcome};
use agent_protocol::{
    ApprovalPolicy, ApprovalSubject, CommandExecution, CommandSource, ItemStatus, TurnItem,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use crate::exec_command::report::{ABORTED, Report};

/// How long is waited for what typed characters lead to.
const DEFAULT_YIELD_MS: u64 = 250;
const MAX_YIELD_MS: u64 = 30_000;
/// How long is waited for more output when nothing is typed.
const MIN_POLL_MS: u64 = 5_000;
/// The longest text that is typed at once, in bytes.
const MAX_CHARS: usize = 64 << 10;
/// What a terminal makes an interruption of.
const CONTROL_C: &str = "\u{3}";

/// The tool.
pub(crate) struct WriteStdin;

/// The arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// The session ID that `exec_command` returned.
    session_id: u64,
    /// What to type, control characters included (`\u0003` is Ctrl-C, `\n` is Enter). Left out or
    /// empty, it only waits for more output.
    chars: Option<String>,
    /// How many milliseconds to wait for output: with characters 250 unless given, at most 30000;
    /// without at least 5000, at most 300000. The end of the command ends the wait.
    yield_time_ms: Option<u64>,
    /// The longest output that you want to see, in tokens; the middle is left out.
    max_output_tokens: Option<usize>,
}

impl Args {
    fn chars(&self) -> &str {
        self.chars.as_deref().unwrap_or_default()
    }

    /// What people see when something is typed; mere looks are not shown.
    fn typing(&self, status: ItemStatus) -> Option<CommandExecution> {
        let chars = self.chars();
        (!chars.is_empty()).then(|| CommandExecution {
            command: format!("session {}: {chars:?}", self.session_id),
            aggregated_output: String::new(),
            exit_code: None,
            status,
            duration_ms: None,
            source: CommandSource::Model,
            escalated: false,
            session_id: Some(self.session_id),
            is_input: true,
        })
    }

    fn failed(&self, text: String) -> ToolOutcome {
        let typing = self.typing(ItemStatus::Failed);
        shown(ToolOutcome::text(text.clone()), typing, text)
    }

    fn patience(&self, max_wait: Duration) -> Duration {
        let ms = if self.chars().is_empty() {
            let wanted = self.yield_time_ms.unwrap_or(MIN_POLL_MS);
            wanted.max(MIN_POLL_MS)
        } else {
            let wanted = self.yield_time_ms.unwrap_or(DEFAULT_YIELD_MS);
            wanted.min(MAX_YIELD_MS)
        };
        Duration::from_millis(ms).min(max_wait)
    }
}

impl Tool for WriteStdin {
    const NAME: &'static str = "write_stdin";
    const DESCRIPTION: &'static str = "Waits for more output of a command that is still running, \
        or types into its terminal, and returns what it printed since you last saw it.";
    type Args = Args;

    fn effect(&self, args: &Args, _: &DecisionContext) -> Effect {
        if args.chars().is_empty() {
            Effect::ReadOnly
        } else {
            Effect::Mutating
        }
    }

    /// What is typed into a shell outside of the sandbox is a command outside of the sandbox.
    fn requirement(&self, args: &Args, context: &DecisionContext) -> Requirement {
        let chars = args.chars();
        let Some(session) = context.commands.get(args.session_id) else {
            return Requirement::Skip;
        };
        let escapes = session.execution().escalated;
        let is_asked = escapes || context.approval_policy == ApprovalPolicy::Untrusted;
        if chars.is_empty() || chars == CONTROL_C || !is_asked {
            return Requirement::Skip;
        }
        Requirement::NeedsApproval {
            subject: ApprovalSubject::Command {
                command: typed(&session, chars),
                cwd: context.cwd.clone(),
                sandboxed: !escapes,
            },
            reason: Some(format!("it is typed into session {}", session.id())),
        }
    }

    fn item(&self, args: &Args, status: ItemStatus) -> Option<TurnItem> {
        let execution = args.typing(status)?;
        Some(TurnItem::CommandExecution(execution))
    }

    async fn run(self: Arc<Self>, args: Args, context: ToolContext) -> ToolOutcome {
        let Some(session) = context.commands.get(args.session_id) else {
            return args.failed(unknown(&args, &context));
        };
        let deadline = Some(Instant::now() + args.patience(context.commands.limits().max_wait));
        let sent_and_waited = async {
            send(&session, args.chars()).await?;
            session.ended_by(deadline).await;
            Ok::<(), String>(())
        };
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                return args.failed(ABORTED.to_owned());
            }
            done = sent_and_waited => if let Err(reason) = done {
                return args.failed(format!("write_stdin failed: {reason}"));
            },
        }
        let report = Report {
            chunk: session.leave().await,
            session: &session,
            max_output_tokens: args.max_output_tokens,
            made_room: None,
        };
        let outcome = ToolOutcome::text(report.for_model(&context));
        if !report.goes_on() {
            context.commands.forget(session.id());
        }
        let typing = args.typing(ItemStatus::Completed);
        let printed = report.chunk.captured.text;
        shown(outcome, typing, printed)
    }
}

/// The command that typing amounts to, as people are asked about it. With the number, so that a
/// yes for the session is for no other command.
fn typed(session: &CommandSession, chars: &str) -> String {
    let command = &session.execution().command;
    format!("session {}: {command} <<< {chars:?}", session.id())
}

async fn send(session: &CommandSession, chars: &str) -> Result<(), String> {
    if chars.is_empty() {
        return Ok(());
    }
    if chars.len() > MAX_CHARS {
        return Err(format!(
            "more than {MAX_CHARS} bytes; write them to a file instead"
        ));
    }
    if chars == CONTROL_C && !session.has_terminal() {
        session.ask_to_stop("interrupted by `write_stdin`");
        return Ok(());
    }
    let written = session.write(chars.into()).await;
    written.map_err(|err| err.to_string())
}

/// The outcome with the step that people see, if they see one.
fn shown(outcome: ToolOutcome, typing: Option<CommandExecution>, printed: String) -> ToolOutcome {
    match typing {
        None => outcome,
        Some(typing) => outcome.with_item(TurnItem::CommandExecution(CommandExecution {
            aggregated_output: printed,
            ..typing
        })),
    }
}

fn unknown(args: &Args, context: &ToolContext) -> String {
    let running = context.commands.list();
    let ids: Vec<String> = running.iter().map(|c| c.session_id.to_string()).collect();
    let known = if ids.is_empty() {
        "no command is running".to_owned()
    } else {
        format!("running: {}", ids.join(", "))
    };
    format!(
        "write_stdin failed: Unknown process id {} ({known})",
        args.session_id
    )
}
