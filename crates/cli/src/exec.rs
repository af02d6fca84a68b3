//! `agent exec`: from the command line to the exec face.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use agent_core::{Resume, ThreadManager, ThreadOptions, TurnLimits, Variables};
use agent_exec::{ColorChoice, ExecError, ExecOptions, ExecThread, Format, StdinMode};

use crate::args::{ColorArg, CommonArgs, ExecArgs, ExecCommand, ResumeArgs, StdinArg};
use crate::config::{self, UserFile};
use crate::{home, log, say};

/// The variable by which an SDK says who it is.
const ORIGINATOR: &str = "CODEX_INTERNAL_ORIGINATOR_OVERRIDE";

/// Runs it. With `--json`, an error before the first event is a line on standard output, too.
pub(crate) fn run(common: &CommonArgs, args: ExecArgs) -> anyhow::Result<ExitCode> {
    let json = args.json;
    let result = run_task(common, args);
    if let (true, Err(err)) = (json, &result) {
        say::data(&agent_exec::error_line(&format!("{err:#}")));
    }
    result
}

fn run_task(common: &CommonArgs, args: ExecArgs) -> anyhow::Result<ExitCode> {
    let variables = home::variables();
    let agent_home = home::agent_home(&variables)?;
    let log_warning = log::start(&agent_home, &variables);
    let user_file = if args.ignore_user_config {
        UserFile::Ignore
    } else {
        UserFile::Read
    };
    let loaded = config::read(common, &agent_home, user_file, Vec::new())?;
    let mut warnings = loaded.warnings;
    warnings.extend(log_warning);
    let cwd = cwd(common)?;
    let options = thread_options(common, &args, &variables, cwd);
    let manager = ThreadManager::new(
        agent_home,
        loaded.config,
        variables,
        agent_tools::tools,
        env!("CARGO_PKG_VERSION"),
    );
    if !args.skip_git_repo_check {
        check_place(&manager, &options)?;
    }
    let exec = exec_options(args, warnings, &options)?;
    drive(&manager, exec, options)
}

/// Runs one task to its end.
pub(crate) fn drive(
    manager: &ThreadManager,
    exec: ExecOptions,
    options: ThreadOptions,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let status = runtime.block_on(agent_exec::run(manager, exec, options));
    // Nothing is left that would have to be waited for; a blocked read must not keep us.
    runtime.shutdown_background();
    match status {
        Ok(status) => Ok(ExitCode::from(status.code())),
        Err(err @ ExecError::Signals(_)) => Err(err.into()),
        Err(err) => Err(say::usage_from(&err, err.hint())),
    }
}

/// Where to work: `--cd`, or where the program was started.
pub(crate) fn cwd(common: &CommonArgs) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir();
    match (&common.cd, here) {
        (Some(dir), Ok(here)) => Ok(here.join(dir)),
        (Some(dir), Err(_)) if dir.is_absolute() => Ok(dir.clone()),
        (None, Ok(here)) => Ok(here),
        (_, Err(err)) => Err(say::usage(
            format!("the current directory cannot be used: {err}"),
            "it may have been deleted; go to another one or give one with `--cd DIR`",
        )),
    }
}

fn thread_options(
    common: &CommonArgs,
    args: &ExecArgs,
    variables: &Variables,
    cwd: PathBuf,
) -> ThreadOptions {
    let mut options = ThreadOptions::unattended(cwd);
    options.ephemeral = args.ephemeral;
    options.writable_roots.clone_from(&common.add_dir);
    options.limits = TurnLimits {
        max_requests: args.max_turns,
        max_tokens: args.max_tokens,
        timeout: args.timeout.map(Duration::from_secs),
    };
    if let Some(originator) = variables.get(ORIGINATOR) {
        options.originator = originator.to_string_lossy().into_owned();
    }
    options
}

/// Without a person, the agent works where changes can be seen and undone, or where the user
/// said so.
fn check_place(manager: &ThreadManager, options: &ThreadOptions) -> anyhow::Result<()> {
    // A directory that is not there is told where the thread starts.
    if manager.is_project(&options.cwd) || !options.cwd.is_dir() {
        return Ok(());
    }
    Err(say::usage(
        format!(
            "`{}` is neither in a git repository nor a trusted directory",
            options.cwd.display()
        ),
        "go to a repository, or add `--skip-git-repo-check`",
    ))
}

fn exec_options(
    args: ExecArgs,
    warnings: Vec<String>,
    options: &ThreadOptions,
) -> anyhow::Result<ExecOptions> {
    let (thread, prompt) = match args.command {
        None => (ExecThread::New, args.prompt),
        Some(ExecCommand::Resume(resume)) => {
            let (which, prompt) = resume_words(resume)?;
            (ExecThread::Resume(which), prompt.or(args.prompt))
        }
    };
    let relative_to_cwd = |path: PathBuf| options.cwd.join(path);
    Ok(ExecOptions {
        prompt,
        stdin: match args.stdin {
            StdinArg::Auto => StdinMode::Auto,
            StdinArg::Wait => StdinMode::Wait,
            StdinArg::None => StdinMode::None,
        },
        format: if args.json {
            Format::Json
        } else {
            Format::Human
        },
        color: match args.color {
            ColorArg::Always => ColorChoice::Always,
            ColorArg::Never => ColorChoice::Never,
            ColorArg::Auto => ColorChoice::Auto,
        },
        no_color: home::no_color(),
        output_last_message: args.output_last_message,
        output_schema: args.output_schema,
        images: args.image.into_iter().map(relative_to_cwd).collect(),
        fail_on_declined: args.fail_on_declined,
        thread,
        warnings,
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// `resume ID [PROMPT]` or `resume --last [PROMPT]`.
fn resume_words(args: ResumeArgs) -> anyhow::Result<(Resume, Option<String>)> {
    let mut words = args.words.into_iter();
    let which = if args.last {
        Resume::Last
    } else {
        let id = words.next().ok_or_else(|| {
            say::usage(
                "which session? Neither an id nor `--last` was given",
                "agent exec resume --last \"go on\"",
            )
        })?;
        Resume::Id(id)
    };
    let prompt = words.next();
    match words.next() {
        Some(word) => Err(say::usage(
            format!("unexpected argument `{word}`"),
            "put the prompt in quotes",
        )),
        None => Ok((which, prompt)),
    }
}
