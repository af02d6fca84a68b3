//! `agent doctor`: what this machine grants of the sandbox, by really asking for it.

use std::process::ExitCode;

use agent_core::Variables;
use agent_exec::ExitStatus;
use agent_protocol::{SandboxLevel, SandboxMode};
use agent_sandbox::{
    Holder, HolderOptions, LevelRefusal, LevelReport, SandboxError, SandboxPolicy,
};
use agent_terminal_text::sanitize;
use serde_json::{Value, json};

use crate::args::{CommonArgs, DoctorArgs};
use crate::{home, sandbox, say};

/// Switches of the kernel that decide about namespaces.
const SWITCHES: [&str; 4] = [
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/kernel/osrelease",
];

/// Runs it. The exit code is 6 where commands would be refused.
pub(crate) fn run(common: &CommonArgs, args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let variables: Variables = home::variables();
    let setting = sandbox::setting(common, variables)?;
    // What full access is without can be told by asking for the sandbox all the same.
    let policy = SandboxPolicy {
        mode: match setting.policy.mode {
            SandboxMode::DangerFullAccess => SandboxMode::WorkspaceWrite,
            mode @ (SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite) => mode,
        },
        ..setting.policy.clone()
    };
    let report = report(&policy)?;
    if args.json {
        say::data(&as_json(&report, setting.policy.mode).to_string());
    } else {
        for line in lines(&report, setting.policy.mode) {
            say::data(&line);
        }
    }
    Ok(
        if report.level == SandboxLevel::None || report.refusal.is_some() {
            ExitCode::from(ExitStatus::NoSandbox.code())
        } else {
            ExitCode::SUCCESS
        },
    )
}

fn report(policy: &SandboxPolicy) -> anyhow::Result<LevelReport> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let holder = runtime.block_on(Holder::start(policy, HolderOptions::default()));
    match holder {
        Ok(holder) => Ok(holder.report().clone()),
        Err(SandboxError::Unavailable { report }) => Ok(report),
        Err(err) => Err(err.into()),
    }
}

/// The switches that exist here, with their values.
fn kernel() -> Vec<(&'static str, String)> {
    let value = |path: &&'static str| {
        let text = std::fs::read_to_string(path).ok()?;
        Some((*path, text.trim().to_owned()))
    };
    SWITCHES.iter().filter_map(value).collect()
}

fn as_json(report: &LevelReport, mode: SandboxMode) -> Value {
    let missing = report.missing.iter().map(|missing| {
        json!({
            "layer": missing.layer.name(),
            "reason": missing.reason,
            "cost": missing.layer.cost(),
        })
    });
    let kernel = kernel().into_iter();
    let kernel = kernel.map(|(path, value)| (path.to_owned(), Value::from(value)));
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "sandbox": {
            "mode": mode.as_str(),
            "level": report.level.as_str(),
            "landlock_version": report.landlock_version,
            "own_network": report.own_network,
            "inside_another_sandbox": report.inherited,
            "refusal": report.refusal.map(LevelRefusal::reason),
            "missing": missing.collect::<Vec<_>>(),
        },
        "kernel": kernel.collect::<serde_json::Map<_, _>>(),
    })
}

fn lines(report: &LevelReport, mode: SandboxMode) -> Vec<String> {
    let yes = |holds: bool| if holds { "yes" } else { "no" };
    let landlock = match report.landlock_version {
        0 => "none".to_owned(),
        version => format!("version {version}"),
    };
    let mut lines = vec![
        format!("agent {}", env!("CARGO_PKG_VERSION")),
        format!("sandbox mode     {mode}"),
        format!("sandbox level    {}", report.level),
        format!("Landlock         {landlock}"),
        format!("own network      {}", yes(report.own_network)),
        format!("nested           {}", yes(report.inherited)),
    ];
    if let Some(refusal) = report.refusal {
        lines.push(format!("commands         refused: {}", refusal.reason()));
    }
    for missing in &report.missing {
        lines.push(format!(
            "missing          {}: {}",
            missing.layer.name(),
            sanitize(&missing.reason)
        ));
        lines.push(format!("                 costs: {}", missing.layer.cost()));
    }
    if report.missing.is_empty() {
        lines.push("missing          nothing".to_owned());
    }
    for (path, value) in kernel() {
        lines.push(format!("kernel           {path} = {}", sanitize(&value)));
    }
    lines
}
