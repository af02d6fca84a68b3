//! Decides what commands may do with a path, from the facts that a profile is made from.

use std::path::{Path, PathBuf};

use super::{Facts, Protected};
use crate::explain::{Answer, Explanation, Verdict};

/// What commands may do with `path`, which is absolute and has its links followed.
pub(crate) fn explain(facts: &Facts, path: &Path) -> Explanation {
    let read = read(facts, path);
    let write = match read.answer {
        Answer::Denied => read.clone(),
        Answer::Allowed | Answer::Undone | Answer::Reported => write(facts, path),
    };
    Explanation { read, write }
}

fn read(facts: &Facts, path: &Path) -> Verdict {
    if let Some(entry) = covering(&facts.hidden, path) {
        let rule = format!(
            "`{}` is a secret or named by `deny_read` or `.agentignore`",
            entry.display()
        );
        return Verdict::new(Answer::Denied, rule);
    }
    if let Some(home) = &facts.agent_home
        && path.starts_with(&home.path)
        && covering(&home.shown, path).is_none()
        && !in_inner_root(facts, path)
    {
        let rule = format!("the agent keeps its records in `{}`", home.path.display());
        return Verdict::new(Answer::Denied, rule);
    }
    Verdict::new(Answer::Allowed, "no rule is against it")
}

fn write(facts: &Facts, path: &Path) -> Verdict {
    let denied = |rule: String| Verdict::new(Answer::Denied, rule);
    let roots = facts.writable.iter().filter(|root| path.starts_with(root));
    let Some(root) = roots.max_by_key(|root| root.as_os_str().len()) else {
        return denied("it is in no writable directory".to_owned());
    };
    if let Some(home) = &facts.agent_home
        && path.starts_with(&home.path)
        && !in_inner_root(facts, path)
    {
        return denied("it is in the agent's own directory".to_owned());
    }
    let holds = |entry: &&Protected| path.starts_with(entry.directory.join(&entry.below));
    if let Some(entry) = facts.protected.iter().find(holds) {
        let name = entry.directory.join(&entry.below);
        return denied(format!("`{}` is protected", name.display()));
    }
    if facts.pinned().contains(path) {
        let rule = "what is in this directory may change, its name may not";
        return Verdict::new(Answer::Allowed, rule);
    }
    Verdict::new(Answer::Allowed, format!("it is in `{}`", root.display()))
}

/// Whether a writable directory inside the agent's own contains the path.
fn in_inner_root(facts: &Facts, path: &Path) -> bool {
    let mut roots = facts.writable.iter();
    roots.any(|root| facts.is_in_agent_home(root) && path.starts_with(root))
}

fn covering<'a>(entries: &'a [PathBuf], path: &Path) -> Option<&'a PathBuf> {
    entries.iter().find(|entry| path.starts_with(entry))
}
