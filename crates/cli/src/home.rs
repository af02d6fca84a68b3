//! The agent's own directory and the environment that the process was started with.

use std::path::PathBuf;

use agent_core::Variables;

use crate::say;

/// All variables of this process. They are read once and passed on as values.
pub(crate) fn variables() -> Variables {
    Variables(std::env::vars_os().collect())
}

/// `$AGENT_HOME`, or `~/.agent`.
pub(crate) fn agent_home(variables: &Variables) -> anyhow::Result<PathBuf> {
    let chosen = variables.get("AGENT_HOME").map(PathBuf::from);
    let default = || Some(PathBuf::from(variables.get("HOME")?).join(".agent"));
    let home = chosen.or_else(default).ok_or_else(|| {
        say::usage(
            "there is no place for configuration and sessions: neither AGENT_HOME nor HOME is set",
            "export AGENT_HOME=DIR",
        )
    })?;
    std::path::absolute(&home)
        .map_err(|err| anyhow::Error::from(err).context(format!("cannot use `{}`", home.display())))
}

/// Whether colour is unwanted: `NO_COLOR` is set, or the terminal has none.
pub(crate) fn no_color() -> bool {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    variable("NO_COLOR").is_some() || variable("TERM").is_some_and(|term| term == "dumb")
}
