//! The log: a file, and only when `AGENT_LOG` asks for it.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;

use agent_core::Variables;
use tracing_subscriber::EnvFilter;

/// Starts logging to `HOME/log/agent.log` with the filter in `AGENT_LOG`. Returns what to warn
/// of when that is not possible.
pub(crate) fn start(home: &Path, variables: &Variables) -> Option<String> {
    let filter = variables.get("AGENT_LOG")?.to_string_lossy().into_owned();
    let warn = |why: &dyn std::fmt::Display| Some(format!("there is no log: {why}"));
    let filter = match EnvFilter::try_new(&filter) {
        Ok(filter) => filter,
        Err(err) => return warn(&format!("AGENT_LOG is `{filter}`: {err}")),
    };
    let directory = home.join("log");
    let opened = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory)
        .and_then(|()| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(directory.join("agent.log"))
        });
    let file = match opened {
        Ok(file) => file,
        Err(err) => return warn(&format!("`{}`: {err}", directory.display())),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .init();
    None
}
