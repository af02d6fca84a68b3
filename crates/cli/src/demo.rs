//! `agent demo`: the main job offline. A scripted model fixes a failing test in a scratch
//! repository with the real loop: real commands in the real sandbox, a real patch, a real
//! session on disk.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use agent_config::Override;
use agent_core::{ThreadManager, ThreadOptions};
use agent_exec::{ColorChoice, ExecOptions, ExecThread, Format, StdinMode};
use anyhow::Context;

use crate::args::CommonArgs;
use crate::config::{self, UserFile};
use crate::{exec, home};

/// What the user of the demonstration says.
const PROMPT: &str = "The test in this repository fails. Find out why, fix the program, and show \
     that the test passes.";

/// What the model says and does.
const STEPS: &str = include_str!("demo/steps.json");

/// The program, its test and its data. Only a POSIX shell is needed.
const FILES: [(&str, &str); 3] = [
    ("total.sh", include_str!("demo/total.sh")),
    ("test.sh", include_str!("demo/test.sh")),
    ("README.md", include_str!("demo/README.md")),
];

/// Runs it.
pub(crate) fn run(common: &CommonArgs) -> anyhow::Result<ExitCode> {
    let variables = home::variables();
    let agent_home = home::agent_home(&variables)?;
    let scratch = scratch_repository()?;
    let steps = scratch.root.join("steps.json");
    std::fs::write(&steps, STEPS).with_context(|| format!("cannot write `{}`", steps.display()))?;
    let loaded = config::read(common, &agent_home, UserFile::Ignore, settings(&steps))?;
    let manager = ThreadManager::new(
        agent_home.clone(),
        loaded.config,
        variables,
        agent_tools::tools,
        env!("CARGO_PKG_VERSION"),
    );
    let code = exec::drive(
        &manager,
        exec_options(),
        ThreadOptions::unattended(scratch.repository.clone()),
    )?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    let fixed = std::fs::read_to_string(scratch.repository.join("total.sh"))?;
    if !fixed.contains("total + price") {
        // The script says what a model would have said; what happened is on the disk.
        anyhow::bail!("the demonstration went wrong: `total.sh` is not fixed; see above for why");
    }
    epilogue(&scratch, &agent_home)?;
    Ok(code)
}

/// A directory that stays, so that people can look at it.
struct Scratch {
    root: PathBuf,
    repository: PathBuf,
    has_git: bool,
}

fn scratch_repository() -> anyhow::Result<Scratch> {
    let root = tempfile::Builder::new()
        .prefix("agent-demo-")
        .tempdir()
        .context("cannot make a scratch directory")?
        .keep();
    let repository = root.join("prices");
    std::fs::create_dir(&repository)
        .with_context(|| format!("cannot make `{}`", repository.display()))?;
    for (name, text) in FILES {
        let path = repository.join(name);
        std::fs::write(&path, text)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let has_git = commit_all(&repository);
    Ok(Scratch {
        root,
        repository,
        has_git,
    })
}

/// Commits the files, where git is there. The demonstration works without it, too.
fn commit_all(repository: &Path) -> bool {
    let identity = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"];
    let init: &[&str] = &["init", "-q", "."];
    let add: &[&str] = &["add", "-A"];
    let commit: &[&str] = &["commit", "-q", "-m", "a program and its test"];
    [init, add, commit].into_iter().all(|arguments| {
        let status = git(repository)
            .args(identity)
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    })
}

/// git in the scratch repository, away from variables and hooks that belong to another one.
#[expect(
    clippy::disallowed_methods,
    reason = "git on files that this program has just written itself, before and after the run"
)]
fn git(repository: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.hooksPath=/dev/null"])
        .current_dir(repository)
        .stdin(Stdio::null());
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command
}

fn settings(steps: &Path) -> Vec<Override> {
    let steps = steps.to_string_lossy().into_owned();
    vec![
        Override::new("model", "scripted"),
        Override::new("model_provider", "demo"),
        Override::new("model_providers.demo.name", "demo, no network"),
        Override::new("model_providers.demo.kind", "scripted"),
        Override::new("model_providers.demo.steps", steps),
        Override::new("sandbox_mode", "workspace-write"),
    ]
}

fn exec_options() -> ExecOptions {
    ExecOptions {
        prompt: Some(PROMPT.to_owned()),
        stdin: StdinMode::None,
        format: Format::Human,
        color: ColorChoice::Auto,
        no_color: home::no_color(),
        output_last_message: None,
        output_schema: None,
        images: Vec::new(),
        fail_on_declined: false,
        thread: ExecThread::New,
        warnings: Vec::new(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// What has happened, where it is, and how to go on.
fn epilogue(scratch: &Scratch, agent_home: &Path) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if scratch.has_git {
        let diff = git(&scratch.repository)
            .args(["--no-pager", "diff", "--no-ext-diff", "--no-color"])
            .output()
            .context("cannot run `git diff`")?;
        writeln!(out, "\nWhat changed (git diff):\n")?;
        out.write_all(&diff.stdout)?;
    }
    let home = agent_home.join("sessions");
    writeln!(
        out,
        "\n\
         That was a scripted model. Everything else was real: the commands ran in the sandbox,\n\
         the patch was applied, the session was recorded.\n\n\
         \x20 repository  {repository}\n\
         \x20             run its test yourself: (cd {repository} && sh test.sh)\n\
         \x20 session     {home}\n\n\
         To work with a real model, in a repository of yours:\n\n\
         \x20 export OPENAI_API_KEY=...\n\
         \x20 agent exec -s workspace-write \"describe what you want done\"\n\n\
         or name another endpoint in {config}:\n\n\
         \x20 model = \"NAME\"\n\
         \x20 model_provider = \"mine\"\n\
         \x20 [model_providers.mine]\n\
         \x20 base_url = \"http://127.0.0.1:8080/v1\"\n\
         \x20 env_key = \"MY_KEY\"      # leave out where no key is needed",
        repository = scratch.repository.display(),
        home = home.display(),
        config = agent_home.join("config.toml").display(),
    )?;
    Ok(())
}
