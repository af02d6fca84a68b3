//! `exec_command`: runs a shell script in the sandbox. What has not ended after a while goes on in
//! the background, where `write_stdin` reaches it.

mod known_safe;
pub(crate) mod report;
mod shell;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_apply_patch::PatchCommand;
use agent_core::commands::{CommandLimits, NewCommand};
use agent_core::environment::{Command, Confinement, RunningCommand, SpawnError};
use agent_core::tool::{
    DecisionContext, Effect, Fatal, PreparedCall, Requirement, Tool, ToolContext, ToolError,
    ToolOutcome,
};
use agent_protocol::{
    ApprovalPolicy, ApprovalSubject, CommandExecution, CommandSource, ItemStatus, SandboxMode,
    TurnItem,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use crate::apply_patch;
use known_safe::is_known_safe;
use report::{ABORTED, Report};

/// How long a call waits for the end of its command.
const DEFAULT_YIELD_MS: u64 = 10_000;
const MIN_YIELD_MS: u64 = 250;
const MAX_YIELD_MS: u64 = 30_000;

/// The tool.
pub(crate) struct ExecCommand;

/// The arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// The shell script to run.
    cmd: String,
    /// The directory to run it in; the workspace if left out.
    workdir: Option<PathBuf>,
    /// The shell to run it with, by its absolute path; the user's shell if left out.
    shell: Option<String>,
    /// Whether the shell is a login shell, which reads the user's profile. Default: true.
    login: Option<bool>,
    /// Whether the command gets a terminal: for programs that ask for one or read input, which
    /// `write_stdin` types. Default: false, with an empty standard input.
    tty: Option<bool>,
    /// How many milliseconds to wait for its end, from 250 to 30000. Default: 10000. After that it
    /// goes on in the background under a session ID.
    yield_time_ms: Option<u64>,
    /// After so many milliseconds the command and all its processes are ended.
    timeout_ms: Option<u64>,
    /// The longest output that you want to see, in tokens; the middle is left out.
    max_output_tokens: Option<usize>,
    /// `require_escalated` asks to run outside the sandbox, which someone must approve.
    sandbox_permissions: Option<SandboxPermissions>,
    /// With `require_escalated`: why, in one sentence for the user.
    justification: Option<String>,
    #[serde(skip)]
    source: CommandSource,
    /// It runs outside the sandbox because somebody allowed that.
    #[serde(skip)]
    escalated: bool,
}

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SandboxPermissions {
    UseDefault,
    RequireEscalated,
}

impl Args {
    fn wants_escalation(&self, mode: SandboxMode) -> bool {
        self.sandbox_permissions == Some(SandboxPermissions::RequireEscalated)
            && mode != SandboxMode::DangerFullAccess
    }

    /// The command as people see it.
    fn written(&self) -> String {
        shell::written(self.shell.as_deref(), &self.cmd)
    }

    fn has_terminal(&self) -> bool {
        self.tty == Some(true)
    }

    /// After how long it is ended; the user's own commands run as long as they like.
    fn limit(&self, limits: CommandLimits) -> Option<Duration> {
        let default = limits.default_timeout;
        let default = default.filter(|_| self.source == CommandSource::Model);
        self.timeout_ms.map(Duration::from_millis).or(default)
    }

    /// How long the call waits; the user's own commands are waited for to their end.
    fn patience(&self) -> Option<Duration> {
        let ms = self.yield_time_ms.unwrap_or(DEFAULT_YIELD_MS);
        let ms = ms.clamp(MIN_YIELD_MS, MAX_YIELD_MS);
        (self.source == CommandSource::Model).then(|| Duration::from_millis(ms))
    }

    fn is_known_safe(&self) -> bool {
        shell::foreign(self.shell.as_deref()).is_none() && is_known_safe(&self.cmd)
    }

    fn approval(&self, context: &DecisionContext) -> Requirement {
        let escalates = self.wants_escalation(context.sandbox_mode);
        if escalates && context.denies_reads {
            return Requirement::Forbidden {
                reason: "running outside the sandbox is not available: `deny_read` or \
                         `.agentignore` names paths that only the sandbox keeps unread. Work \
                         inside the sandbox, or tell the user what is needed."
                    .to_owned(),
            };
        }
        let workdir = self.workdir.as_deref();
        Requirement::NeedsApproval {
            subject: ApprovalSubject::Command {
                command: self.written(),
                cwd: workdir.map_or_else(|| context.cwd.clone(), |dir| context.cwd.join(dir)),
                sandboxed: !escalates,
            },
            reason: self.justification.clone(),
        }
    }

    fn execution(&self, status: ItemStatus) -> CommandExecution {
        CommandExecution {
            command: self.written(),
            aggregated_output: String::new(),
            exit_code: None,
            status,
            duration_ms: None,
            source: self.source,
            escalated: self.escalated,
            session_id: None,
            is_input: false,
        }
    }
}

impl Tool for ExecCommand {
    const NAME: &'static str = "exec_command";
    const DESCRIPTION: &'static str = "Runs a shell script and returns its output and exit \
        status, or a session ID if it is still running after `yield_time_ms`: then it goes on, \
        and `write_stdin` gets more output or types into it.";
    type Args = Args;

    fn user_command(script: &str) -> Option<Args> {
        Some(Args {
            cmd: script.to_owned(),
            workdir: None,
            shell: None,
            login: None,
            tty: None,
            yield_time_ms: None,
            timeout_ms: None,
            max_output_tokens: None,
            sandbox_permissions: None,
            justification: None,
            source: CommandSource::User,
            escalated: false,
        })
    }

    fn in_truth(&self, args: &Args) -> Result<Option<Box<dyn PreparedCall>>, ToolError> {
        let shell = args.shell.as_deref().unwrap_or("sh").to_owned();
        let program = [shell, "-c".to_owned(), args.cmd.clone()];
        let workdir = args.workdir.as_deref().map(Path::to_string_lossy);
        PatchCommand::of(&program)
            .map(|patch| apply_patch::from_shell(patch, workdir.as_deref()))
            .transpose()
    }

    fn effect(&self, args: &Args, context: &DecisionContext) -> Effect {
        let is_confined = context.sandbox_mode == SandboxMode::ReadOnly
            && !args.wants_escalation(context.sandbox_mode);
        if is_confined || args.is_known_safe() {
            Effect::ReadOnly
        } else {
            Effect::Mutating
        }
    }

    fn requirement(&self, args: &Args, context: &DecisionContext) -> Requirement {
        let escalates = args.wants_escalation(context.sandbox_mode);
        let not_available = |policy: &str| Requirement::Forbidden {
            reason: format!(
                "running outside the sandbox is not available: the approval policy is `{policy}`. \
                 Work inside the sandbox, or tell the user what is needed."
            ),
        };
        match context.approval_policy {
            ApprovalPolicy::OnRequest if escalates => args.approval(context),
            ApprovalPolicy::Granular(allowed) if escalates && allowed.sandbox_approval => {
                args.approval(context)
            }
            policy if escalates => not_available(policy.as_str()),
            ApprovalPolicy::Untrusted if !args.is_known_safe() => args.approval(context),
            ApprovalPolicy::Untrusted
            | ApprovalPolicy::OnRequest
            | ApprovalPolicy::Granular(_)
            | ApprovalPolicy::Never => Requirement::Skip,
        }
    }

    fn item(&self, args: &Args, status: ItemStatus) -> Option<TurnItem> {
        Some(TurnItem::CommandExecution(args.execution(status)))
    }

    fn replayed(&self, args: &Args, output: &str) -> Option<TurnItem> {
        let execution = report::replayed(args, output);
        Some(TurnItem::CommandExecution(execution))
    }

    async fn run(self: Arc<Self>, mut args: Args, context: ToolContext) -> ToolOutcome {
        let is_model = args.source == CommandSource::Model;
        args.escalated = is_model && confinement(&context) == Confinement::None;
        let command = match command(&args, &context) {
            Ok(command) => command,
            Err(refusal) => return failed(&args, refusal),
        };
        match context.environment.spawn(command).await {
            Ok(running) => run(&args, &context, running).await,
            Err(err @ SpawnError::NoSandbox { .. }) => ToolOutcome {
                fatal: Some(Fatal {
                    message: err.to_string(),
                    hint: Some(
                        "run where the kernel allows user namespaces or Landlock, or ask for \
                         `-s danger-full-access` if this machine is already isolated"
                            .to_owned(),
                    ),
                }),
                ..failed(&args, err.to_string())
            },
            Err(err @ SpawnError::Sandbox { .. }) => failed(&args, err.to_string()),
            Err(err) => failed(&args, format!("exec_command failed: {err}")),
        }
    }
}

/// Watches a command until it ends or the call's patience does.
async fn run(args: &Args, context: &ToolContext, running: Box<dyn RunningCommand>) -> ToolOutcome {
    let (session, ended) = context.commands.start(NewCommand {
        running,
        execution: args.execution(ItemStatus::InProgress),
        events: context.events.clone(),
        limit: args.limit(context.commands.limits()),
        has_terminal: args.has_terminal(),
    });
    let deadline = args.patience().map(|patience| Instant::now() + patience);
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            session.ask_to_stop(ABORTED);
            session.gone().await;
        }
        () = session.ended_by(deadline) => {}
    }
    let report = Report {
        chunk: session.leave().await,
        session: &session,
        max_output_tokens: args.max_output_tokens,
        made_room: ended,
    };
    let outcome = report.outcome(context);
    if !report.goes_on() {
        context.commands.forget(session.id());
    }
    outcome
}

/// What is started for a call.
fn command(args: &Args, context: &ToolContext) -> Result<Command, String> {
    let default_shell = context.environment.default_shell().to_string_lossy();
    let shell = args
        .shell
        .clone()
        .unwrap_or_else(|| default_shell.into_owned());
    let login = args.login.unwrap_or(true) && context.environment.allows_login_shell();
    if args.login == Some(true) && !login {
        return Err("exec_command failed: the configuration forbids login shells".to_owned());
    }
    let flag = if login { "-lc" } else { "-c" };
    let workdir = args.workdir.as_deref();
    let program = vec![shell, flag.to_owned(), args.cmd.clone()];
    let cwd = workdir.map_or_else(|| context.cwd.clone(), |dir| context.cwd.join(dir));
    let command = Command::new(program, cwd, confinement(context)).map_err(|_patch| {
        "exec_command failed: this is a patch; send it with the `apply_patch` tool".to_owned()
    })?;
    Ok(if args.has_terminal() {
        command.in_terminal()
    } else {
        command
    })
}

/// Outside the sandbox only where someone said yes to that.
fn confinement(context: &ToolContext) -> Confinement {
    match context.approved {
        Some(ApprovalSubject::Command {
            sandboxed: false, ..
        }) => Confinement::None,
        Some(ApprovalSubject::Command { .. } | ApprovalSubject::Patch { .. }) | None => {
            Confinement::Policy
        }
    }
}

/// A command that did not start.
fn failed(args: &Args, output: String) -> ToolOutcome {
    let mut execution = args.execution(ItemStatus::Failed);
    execution.aggregated_output.clone_from(&output);
    ToolOutcome::text(output).with_item(TurnItem::CommandExecution(execution))
}
