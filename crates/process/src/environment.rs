//! The environment that commands get: filtered, without secrets, and made for programs that
//! nobody watches.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Which variables are passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentPolicy {
    /// What is passed on to begin with.
    pub inherit: Inherit,
    /// Pass on names that look like secrets as well.
    pub keep_secrets: bool,
    /// Patterns of names that are left out; `*` and `?` are wild, case does not matter.
    pub exclude: Vec<String>,
    /// Where not empty, patterns of the only names that are passed on.
    pub include_only: Vec<String>,
    /// Variables that are set in the end.
    pub set: BTreeMap<String, String>,
    /// The agent's own keys: never passed on, whatever else is said.
    pub own_keys: Vec<String>,
}

/// What is passed on to begin with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Inherit {
    /// Everything.
    #[default]
    All,
    /// What programs rely on.
    Core,
    /// Nothing.
    None,
}

/// An environment for commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Names and values.
    pub variables: Vec<(OsString, OsString)>,
    /// Names that were withheld because they look like secrets, sorted.
    pub withheld: Vec<String>,
}

/// The names that `Inherit::Core` passes on.
const CORE: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR",
    "TZ", "USER",
];

/// Parts of names that hold secrets as a rule.
const SECRET_PARTS: &[&str] = &["KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Keys of model providers, which no command needs.
const PROVIDER_KEYS: &[&str] = &[
    "AGENT_API_KEY",
    "ANTHROPIC_API_KEY",
    "CODEX_API_KEY",
    "OPENAI_API_KEY",
];

/// Set for every command: nothing pages, edits, prompts or colours, because nobody is there.
const UNATTENDED: &[(&str, &str)] = &[
    ("COLORTERM", ""),
    ("EDITOR", "true"),
    ("GH_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
    ("VISUAL", "true"),
];

/// Whether a variable of this name holds a secret as a rule.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
}

impl EnvironmentPolicy {
    /// Filters the variables of the agent itself.
    pub fn prepare(&self, own: impl Iterator<Item = (OsString, OsString)>) -> Prepared {
        let mut kept = BTreeMap::new();
        let mut withheld = Vec::new();
        for (name, value) in own {
            match self.decide(&name) {
                Decision::Pass => {
                    kept.insert(name, value);
                }
                Decision::Withhold => withheld.push(name.to_string_lossy().into_owned()),
                Decision::LeaveOut => {}
            }
        }
        for (name, value) in UNATTENDED {
            kept.insert(name.into(), value.into());
        }
        let is_utf8 = |name: &str| {
            let value = kept.get(OsStr::new(name));
            value.is_some_and(|value| !value.is_empty())
        };
        if !["LC_ALL", "LC_CTYPE", "LANG"].into_iter().any(is_utf8) {
            kept.insert("LANG".into(), "C.UTF-8".into());
        }
        for (name, value) in &self.set {
            kept.insert(name.into(), value.into());
        }
        withheld.sort();
        Prepared {
            variables: kept.into_iter().collect(),
            withheld,
        }
    }

    fn decide(&self, name: &OsStr) -> Decision {
        let name = name.to_string_lossy();
        let own = |key: &str| key.eq_ignore_ascii_case(&name);
        if self.own_keys.iter().any(|key| own(key)) || PROVIDER_KEYS.iter().any(|key| own(key)) {
            return Decision::Withhold;
        }
        let matches = |patterns: &[String]| patterns.iter().any(|pattern| glob(pattern, &name));
        let inherited = match self.inherit {
            Inherit::All => true,
            Inherit::Core => CORE.contains(&&*name),
            Inherit::None => false,
        };
        if !inherited || matches(&self.exclude) {
            return Decision::LeaveOut;
        }
        if !self.keep_secrets && looks_secret(&name) {
            return Decision::Withhold;
        }
        if !self.include_only.is_empty() && !matches(&self.include_only) {
            return Decision::LeaveOut;
        }
        Decision::Pass
    }
}

enum Decision {
    Pass,
    Withhold,
    LeaveOut,
}

/// Whether a name fits a pattern with `*` and `?`, case aside.
fn glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let name: Vec<char> = name.to_lowercase().chars().collect();
    glob_chars(&pattern, &name)
}

fn glob_chars(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            (0..=name.len()).any(|n_skipped| glob_chars(rest, name.split_at(n_skipped).1))
        }
        (Some(('?', rest)), Some((_, name))) => glob_chars(rest, name),
        (Some((wanted, rest)), Some((found, name))) => wanted == found && glob_chars(rest, name),
        (None, Some(_)) | (Some(_), None) => false,
    }
}
