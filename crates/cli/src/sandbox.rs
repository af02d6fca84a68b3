//! `agent sandbox -- CMD`: runs a command under the policy that commands of the model get.

use std::path::Path;
use std::process::ExitCode;

use agent_core::{CommandSetting, ThreadManager, ThreadOptions, Variables};
use agent_exec::ExitStatus;
use agent_sandbox::{
    Holder, HolderOptions, NetworkAccess, OneShot, OneShotError, SandboxError, SandboxPolicy,
    run_command_in_sandbox,
};
use agent_terminal_text::sanitize;

use crate::args::{CommonArgs, SandboxArgs};
use crate::config::{self, UserFile};
use crate::{exec, home, say};

/// Runs it. The exit code is the command's; 6 says that there is no usable sandbox, 125, 126 and
/// 127 that the command did not run, as with env(1).
pub(crate) fn run(common: &CommonArgs, args: &SandboxArgs) -> anyhow::Result<ExitCode> {
    let variables = home::variables();
    let setting = setting(common, variables)?;
    if !args.explain.is_empty() {
        return explain(&setting.policy, &setting.cwd, &args.explain);
    }
    let command = OneShot {
        argv: args.command.clone(),
        env: setting.variables,
        cwd: setting.cwd,
    };
    match run_command_in_sandbox(&setting.policy, &command) {
        Ok(end) => {
            for finding in &end.findings {
                say::warning(&finding.to_string());
            }
            for denial in &end.refused_hosts {
                say::warning(&denial.to_string());
            }
            let code = u8::try_from(end.end.shell_code()).unwrap_or(u8::MAX);
            Ok(ExitCode::from(code))
        }
        Err(OneShotError::Sandbox(err @ SandboxError::Unavailable { .. })) => {
            say::warning(&unavailable(&err));
            Ok(ExitCode::from(ExitStatus::NoSandbox.code()))
        }
        Err(err) => {
            let code = err.exit_code();
            say::error(&err.into());
            Ok(ExitCode::from(code))
        }
    }
}

/// What commands of the model get here: policy, environment, directory. Tells the warnings.
pub(crate) fn setting(common: &CommonArgs, variables: Variables) -> anyhow::Result<CommandSetting> {
    let agent_home = home::agent_home(&variables)?;
    let loaded = config::read(common, &agent_home, UserFile::Read, Vec::new())?;
    let mut options = ThreadOptions::unattended(exec::cwd(common)?);
    options.writable_roots.clone_from(&common.add_dir);
    let version = env!("CARGO_PKG_VERSION");
    let tools = agent_tools::tools;
    let manager = ThreadManager::new(agent_home, loaded.config, variables, tools, version);
    let setting = manager
        .command_setting(&options)
        .map_err(|err| say::usage_from(&err, err.hint()))?;
    for warning in loaded.warnings.iter().chain(&setting.warnings) {
        say::warning(warning);
    }
    Ok(setting)
}

/// Says of each path or host what the policy says.
fn explain(policy: &SandboxPolicy, cwd: &Path, subjects: &[String]) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let holder = match Holder::start(policy, HolderOptions::default()).await {
            Ok(holder) => holder,
            Err(err @ SandboxError::Unavailable { .. }) => {
                say::warning(&unavailable(&err));
                return Ok(ExitCode::from(ExitStatus::NoSandbox.code()));
            }
            Err(err) => return Err(err.into()),
        };
        for subject in subjects {
            if is_path(subject, cwd) {
                let explanation = holder.explain(&cwd.join(subject)).await?;
                say::data(&in_one_line(subject));
                for (what, verdict) in [("read", explanation.read), ("write", explanation.write)] {
                    let (word, rule) = (verdict.answer.word(), in_one_line(&verdict.rule));
                    say::data(&format!("  {what:<6} {word}: {rule}"));
                }
            } else {
                say::data(&in_one_line(subject));
                for line in network(policy, subject) {
                    say::data(&format!("  {}", in_one_line(&line)));
                }
            }
        }
        say::data(&format!("level: {}", holder.level()));
        Ok(ExitCode::SUCCESS)
    })
}

/// A path could hold lines that look like answers.
fn in_one_line(text: &str) -> String {
    sanitize(text).replace(['\n', '\r'], "\u{fffd}")
}

/// A name without a slash that is no file here is taken as one of a host.
fn is_path(subject: &str, cwd: &Path) -> bool {
    let could_be_host = subject.contains('.') || subject.contains(':') || subject == "localhost";
    subject.contains('/')
        || subject.starts_with('.')
        || cwd.join(subject).symlink_metadata().is_ok()
        || !could_be_host
}

/// What the policy says of a host, by the decision that is enforced.
fn network(policy: &SandboxPolicy, subject: &str) -> Vec<String> {
    let line = match &policy.network {
        _ if !policy.confines() => "reached: the mode is `danger-full-access`",
        NetworkAccess::On => "reached: the network is on",
        NetworkAccess::Off => {
            "denied: the network is off (`network`); only what commands of the same session \
             serve on their own loopback is reached"
        }
        NetworkAccess::Hosts(list) => return list.explain(subject),
    };
    vec![line.to_owned()]
}

/// What is missing, and why.
fn unavailable(err: &SandboxError) -> String {
    let SandboxError::Unavailable { report } = err else {
        return err.to_string();
    };
    let reasons: Vec<&str> = report.missing.iter().map(|m| m.reason.as_str()).collect();
    format!("nothing was run: {err} ({})", reasons.join("; "))
}
