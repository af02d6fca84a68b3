//! The configuration of a run: the file, `-c` overrides, and the options that stand for keys.

use std::path::Path;

use agent_config::{Layer, Loaded, Override, load};

use crate::args::{ApprovalArg, CommonArgs, SandboxModeArg};
use crate::say;

/// Whether the user's file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserFile {
    Read,
    Ignore,
}

/// Reads the configuration.
pub(crate) fn read(
    common: &CommonArgs,
    home: &Path,
    user_file: UserFile,
    more: Vec<Override>,
) -> anyhow::Result<Loaded> {
    let broken = |err: agent_config::ConfigError| say::usage_from(&err, None);
    let layer = match user_file {
        UserFile::Read => Layer::from_file(&home.join("config.toml")).map_err(broken)?,
        UserFile::Ignore => Layer::default(),
    };
    let mut overrides = more;
    for argument in &common.overrides {
        overrides.push(Override::parse(argument).map_err(broken)?);
    }
    overrides.extend(from_options(common));
    let loaded = load(layer, common.profile.as_deref(), &overrides, home).map_err(broken)?;
    match loaded.warnings.first() {
        Some(warning) if common.strict_config => Err(say::usage(
            warning.clone(),
            "correct the key, or leave out `--strict-config`",
        )),
        Some(_) | None => Ok(loaded),
    }
}

/// Options that are a shorter way to write a key. They win over `-c`.
fn from_options(common: &CommonArgs) -> Vec<Override> {
    let mut overrides = Vec::new();
    for feature in &common.enable {
        overrides.push(Override::new(&format!("features.{feature}"), true));
    }
    for feature in &common.disable {
        overrides.push(Override::new(&format!("features.{feature}"), false));
    }
    if let Some(model) = &common.model {
        overrides.push(Override::new("model", model.as_str()));
    }
    let bypass = common.dangerously_bypass_approvals_and_sandbox;
    let sandbox = common
        .sandbox
        .or(bypass.then_some(SandboxModeArg::DangerFullAccess));
    if let Some(mode) = sandbox {
        let word = match mode {
            SandboxModeArg::ReadOnly => "read-only",
            SandboxModeArg::WorkspaceWrite => "workspace-write",
            SandboxModeArg::DangerFullAccess => "danger-full-access",
        };
        overrides.push(Override::new("sandbox_mode", word));
    }
    let approval = common
        .ask_for_approval
        .or(bypass.then_some(ApprovalArg::Never));
    if let Some(policy) = approval {
        let word = match policy {
            ApprovalArg::Untrusted => "untrusted",
            ApprovalArg::OnRequest => "on-request",
            ApprovalArg::Never => "never",
        };
        overrides.push(Override::new("approval_policy", word));
    }
    overrides
}
