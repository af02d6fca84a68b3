//! `agent apply ID`: gives the last diff of a session to `git apply --3way` here.
//!
//! A copy of the index takes the diff first, and git looks at the working tree: only what fits as a
//! whole touches it.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use agent_rollout::{Found, TurnDiff, find_by_id, find_latest, last_turn_diff};
use anyhow::Context as _;

use crate::args::{ApplyArgs, CommonArgs};
use crate::{exec, home, say};

/// How `git apply` is called; line ends are taken as they are.
const APPLY: [&str; 3] = ["apply", "--3way", "--whitespace=nowarn"];

/// Runs it. Exit code 1 says that the diff was not applied.
pub(crate) fn run(common: &CommonArgs, args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let agent_home = home::agent_home(&home::variables())?;
    let cwd = exec::cwd(common)?;
    let session = session(&agent_home, args)?;
    let diff = last_turn_diff(&session.path)?;
    let Some(diff) = diff else {
        return Err(say::usage(
            format!(
                "no turn of the session `{}` changed files by a patch",
                session.id
            ),
            "what its commands changed is not kept; look at its transcript with `agent resume ID`",
        ));
    };
    let root = top_level(&cwd)?;
    for file in &diff.left_out {
        say::warning(&format!("not in the diff: {file}"));
    }
    if diff.unified_diff.is_empty() {
        return Ok(failed(
            "all files that the turn changed are left out of its diff; nothing was changed",
            "copy them from where the session worked",
        ));
    }
    apply(&root, &diff)
}

fn session(agent_home: &Path, args: &ApplyArgs) -> anyhow::Result<Found> {
    let found = match &args.id {
        Some(id) => find_by_id(agent_home, id),
        None => find_latest(agent_home, None),
    };
    found.map_err(|err| {
        let hint =
            "`agent exec` prints the id of its session, and the files under `sessions/` in the \
                    agent's home have it in their names; `--last` takes the last one"
                .to_owned();
        say::usage_from(&err, Some(hint))
    })
}

/// The root of the working tree around `cwd`.
fn top_level(cwd: &Path) -> anyhow::Result<PathBuf> {
    let output = git(cwd, &["rev-parse", "--show-toplevel"])
        .output()
        .context("cannot run `git`")?;
    if !output.status.success() {
        return Err(say::usage(
            format!(
                "`{}` is in no working tree of git: {}",
                cwd.display(),
                said(&output)
            ),
            "go to a checkout of the repository, or name one with `-C DIR`",
        ));
    }
    Ok(path(&output.stdout))
}

fn apply(root: &Path, diff: &TurnDiff) -> anyhow::Result<ExitCode> {
    let index = index_copy(root)?;
    let mut trial = git(root, &APPLY);
    trial.arg("--cached").env("GIT_INDEX_FILE", index.path());
    let mut output = fed(trial, &diff.unified_diff)?;
    if output.status.success() {
        let mut check = git(root, &APPLY);
        check.arg("--check");
        output = fed(check, &diff.unified_diff)?;
    }
    if !output.status.success() {
        return Ok(failed(
            &format!(
                "the diff does not fit `{}`, and nothing was changed:\n{}",
                root.display(),
                said(&output)
            ),
            "commit or stash what was changed in these files, or go to the commit that the session \
             began with",
        ));
    }
    output = fed(git(root, &APPLY), &diff.unified_diff)?;
    if !output.status.success() {
        return Ok(failed(
            &format!(
                "the diff fits `{}`, but git stopped while it wrote; nothing is staged, but some \
                 files may have changed:\n{}",
                root.display(),
                said(&output)
            ),
            "`git status` shows the files, and `git restore FILE` takes a change back",
        ));
    }
    let output = fed(git(root, &["apply", "--numstat"]), &diff.unified_diff)?;
    say::data(&format!("applied and staged in `{}`:", root.display()));
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        say::data(&agent_terminal_text::sanitize(line));
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(message: &str, hint: &str) -> ExitCode {
    let code = say::error(&anyhow::anyhow!("{message}"));
    say::hint(hint);
    code
}

/// A copy of the index, which a trial may change.
fn index_copy(root: &Path) -> anyhow::Result<tempfile::NamedTempFile> {
    let output = git(root, &["rev-parse", "--git-path", "index"])
        .output()
        .context("cannot run `git`")?;
    let path = root.join(path(&output.stdout));
    let copy = tempfile::NamedTempFile::new().context("cannot make a temporary file")?;
    match std::fs::copy(&path, copy.path()) {
        // A repository without a commit may have none yet. Git takes a missing one as empty.
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => {
            std::fs::remove_file(copy.path())?;
        }
        result => {
            result.with_context(|| format!("cannot copy `{}`", path.display()))?;
        }
    }
    Ok(copy)
}

fn fed(mut command: Command, input: &str) -> anyhow::Result<Output> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot run `git`")?;
    if let Some(mut stdin) = child.stdin.take() {
        // Git may refuse before it has read everything; its status says so.
        let _result = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().context("cannot run `git`")
}

/// git of the user, on the user's own repository: its configuration holds, its language does not.
#[expect(
    clippy::disallowed_methods,
    reason = "the user asks for git on their own repository; no thread has been started"
)]
fn git(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// A path as git prints it: any bytes, and a line end.
fn path(printed: &[u8]) -> PathBuf {
    let bytes = printed.strip_suffix(b"\n").unwrap_or(printed);
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Why git refused, one reason a line, without what it tells of its attempts.
fn said(output: &Output) -> String {
    let all = String::from_utf8_lossy(&output.stderr);
    let is_reason = |line: &&str| line.starts_with("error:") || line.ends_with("with conflicts.");
    let reasons: Vec<&str> = all.lines().filter(is_reason).collect();
    if reasons.is_empty() {
        return all.trim_end().to_owned();
    }
    reasons.join("\n")
}
