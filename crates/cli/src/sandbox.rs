//! `agent sandbox -- CMD`: runs a command under the policy that commands of the model get.

use std::process::ExitCode;

use agent_core::{ThreadManager, ThreadOptions};
use agent_exec::ExitStatus;
use agent_sandbox::{OneShot, OneShotError, SandboxError, run_command_in_sandbox};

use crate::args::{CommonArgs, SandboxArgs};
use crate::config::{self, UserFile};
use crate::{exec, home, say};

/// Runs it. The exit code is the command's; 6 says that there is no usable sandbox, 125, 126 and
/// 127 that the command did not run, as with env(1).
pub(crate) fn run(common: &CommonArgs, args: &SandboxArgs) -> anyhow::Result<ExitCode> {
    let variables = home::variables();
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

/// What is missing, and why.
fn unavailable(err: &SandboxError) -> String {
    let SandboxError::Unavailable { report } = err else {
        return err.to_string();
    };
    let reasons: Vec<&str> = report.missing.iter().map(|m| m.reason.as_str()).collect();
    format!("nothing was run: {err} ({})", reasons.join("; "))
}
