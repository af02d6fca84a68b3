//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A coding agent for the terminal and for CI.
#[derive(Debug, Parser)]
#[command(name = "agent", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Something to begin with, in quotes.
    pub(crate) prompt: Option<String>,
    #[command(flatten)]
    pub(crate) chat: ChatArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Goes on with a saved session; without an id or `--last`, lets you choose one.
    Resume(ChatResumeArgs),
    /// Does one task without a person.
    #[command(visible_alias = "e", after_help = EXIT_CODES)]
    Exec(Box<ExecArgs>),
    /// Applies the last diff of a session to the checkout here, with `git apply --3way`.
    Apply(ApplyArgs),
    /// Runs a command under the sandbox policy.
    Sandbox(SandboxArgs),
    /// Says how well this machine can confine commands, and what is missing.
    Doctor(DoctorArgs),
    /// Shows the main job offline: a scripted model fixes a failing test in a scratch repository.
    Demo,
    /// Tells about the program itself.
    Debug(DebugArgs),
}

const EXIT_CODES: &str = "\
Exit codes:
  0    the turn completed
  1    the turn failed: model or provider error, retries used up, empty answer
  2    usage or configuration error, before any request
  3    with --fail-on-declined: completed, but a step was declined
  4    the answer does not satisfy --output-schema
  5    a budget was reached (--max-turns, --max-tokens, --timeout)
  6    no usable sandbox, and full access was not asked for
  129, 130, 141, 143   hang-up, interrupt, closed stdout, terminate

Standard input:
  With a prompt argument, a file or a pipe that writes within 200 ms is appended as a <stdin>
  block. Without one, or with `-`, standard input is the prompt.";

/// Options that every way of working takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct CommonArgs {
    /// Sets a configuration key; the value is TOML, or else text (repeatable).
    #[arg(short = 'c', long = "config", value_name = "KEY=VALUE", global = true)]
    pub(crate) overrides: Vec<String>,
    /// Turns a feature on.
    #[arg(long, value_name = "FEATURE", global = true)]
    pub(crate) enable: Vec<String>,
    /// Turns a feature off.
    #[arg(long, value_name = "FEATURE", global = true)]
    pub(crate) disable: Vec<String>,
    /// The model.
    #[arg(short, long, global = true)]
    pub(crate) model: Option<String>,
    /// The profile: `[profiles.NAME]` of the configuration, or `NAME.config.toml` beside it.
    #[arg(short, long, value_name = "NAME", global = true)]
    pub(crate) profile: Option<String>,
    /// What commands may touch.
    #[arg(short, long, value_name = "MODE", global = true)]
    pub(crate) sandbox: Option<SandboxModeArg>,
    /// When a person is asked.
    #[arg(short, long, value_name = "POLICY", global = true)]
    pub(crate) ask_for_approval: Option<ApprovalArg>,
    /// No sandbox and no questions. Only for machines that are isolated already.
    #[arg(
        long,
        alias = "yolo",
        global = true,
        conflicts_with_all = ["sandbox", "ask_for_approval"]
    )]
    pub(crate) dangerously_bypass_approvals_and_sandbox: bool,
    /// The directory to work in.
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub(crate) cd: Option<PathBuf>,
    /// A further directory that may be written (repeatable).
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Takes unknown configuration keys as errors.
    #[arg(long, global = true)]
    pub(crate) strict_config: bool,
}

/// Options of the chat.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChatArgs {
    /// An image to begin with (repeatable).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) image: Vec<PathBuf>,
    /// Appends lines only: no cursor movement, words instead of signs. For screen readers and
    /// simple terminals; `TERM=dumb` means the same.
    #[arg(long)]
    pub(crate) plain: bool,
}

/// `agent apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// The session.
    #[arg(required_unless_present = "last")]
    pub(crate) id: Option<String>,
    /// Takes the session that was used last, wherever it was.
    #[arg(long, conflicts_with = "id")]
    pub(crate) last: bool,
}

/// `agent resume`.
#[derive(Debug, Args)]
pub(crate) struct ChatResumeArgs {
    /// Goes on with the session of this directory that was used last.
    #[arg(long)]
    pub(crate) last: bool,
    /// Lets you choose among the sessions of all directories.
    #[arg(long, conflicts_with = "last")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) chat: ChatArgs,
    /// The session's id, unless `--last` is given; then something to say, in quotes.
    #[arg(value_name = "ID|PROMPT")]
    pub(crate) words: Vec<String>,
}

/// `-s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxModeArg {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

/// `-a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApprovalArg {
    Untrusted,
    OnRequest,
    Never,
}

/// `agent exec`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = false)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field an option of the command line"
)]
pub(crate) struct ExecArgs {
    /// What to do; `-` or none takes it from standard input.
    pub(crate) prompt: Option<String>,
    /// Prints events as JSON lines on standard output.
    #[arg(long, alias = "experimental-json", global = true)]
    pub(crate) json: bool,
    /// Writes the last message to a file as well.
    #[arg(short, long, value_name = "FILE", global = true)]
    pub(crate) output_last_message: Option<PathBuf>,
    /// A JSON Schema that the answer must satisfy.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) output_schema: Option<PathBuf>,
    /// An image beside the prompt (repeatable).
    #[arg(short, long, value_name = "FILE", global = true)]
    pub(crate) image: Vec<PathBuf>,
    /// Runs outside git repositories and trusted directories, too.
    #[arg(long, global = true)]
    pub(crate) skip_git_repo_check: bool,
    /// Saves no session.
    #[arg(long, global = true)]
    pub(crate) ephemeral: bool,
    /// Does not read the configuration file.
    #[arg(long, global = true)]
    pub(crate) ignore_user_config: bool,
    /// Whether progress is coloured.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorArg,
    /// What is done with standard input beside a prompt.
    #[arg(long, value_name = "MODE", default_value = "auto", global = true)]
    pub(crate) stdin: StdinArg,
    /// The most requests to the model.
    #[arg(long, value_name = "N", global = true)]
    pub(crate) max_turns: Option<u64>,
    /// The most tokens, in and out.
    #[arg(long, value_name = "N", global = true)]
    pub(crate) max_tokens: Option<u64>,
    /// The most time.
    #[arg(long, value_name = "SECONDS", global = true)]
    pub(crate) timeout: Option<u64>,
    /// Exits with 3 when a step needed an approval that could not be asked for.
    #[arg(long, global = true)]
    pub(crate) fail_on_declined: bool,
    /// Accepted for callers that pass it; nothing depends on it.
    #[arg(long, hide = true, global = true)]
    pub(crate) thread_source: Option<String>,
    /// Accepted for callers that pass it; nothing depends on it.
    #[arg(long, hide = true, global = true)]
    pub(crate) cyber_access_program: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<ExecCommand>,
}

/// `agent exec …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ExecCommand {
    /// Goes on with a saved session.
    Resume(ResumeArgs),
}

/// `agent exec resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Goes on with the session of this directory that was used last.
    #[arg(long)]
    pub(crate) last: bool,
    /// The session's id, unless `--last` is given; then the prompt.
    pub(crate) words: Vec<String>,
}

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    Always,
    Never,
    Auto,
}

/// `--stdin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StdinArg {
    Auto,
    Wait,
    None,
}

/// `agent sandbox`.
#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    /// Says what commands may do with a path, or whether they reach a host, and which rule decides;
    /// runs nothing (repeatable). A name without a slash that does not exist is a host.
    #[arg(long, value_name = "PATH|HOST", conflicts_with = "command")]
    pub(crate) explain: Vec<String>,
    /// The command and its arguments.
    #[arg(last = true, required_unless_present = "explain", value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// `agent doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `agent debug`.
#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    #[command(subcommand)]
    pub(crate) command: DebugCommand,
}

/// `agent debug …`.
#[derive(Debug, Subcommand)]
pub(crate) enum DebugCommand {
    /// The events of `exec --json`.
    Events {
        /// Prints the JSON Schema of one line.
        #[arg(long, required = true)]
        schema: bool,
    },
}
