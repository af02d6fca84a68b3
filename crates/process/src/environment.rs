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

/// Words between underscores that do.
const SECRET_WORDS: &[&str] = &[
    "AUTH",
    "CRED",
    "CREDS",
    "JWT",
    "PASS",
    "PASSPHRASE",
    "PAT",
    "PWD",
    "SESSION",
];

/// Names that look so and are not.
const NO_SECRETS: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "GDMSESSION",
    "GNOME_DESKTOP_SESSION_ID",
    "OLDPWD",
    "PWD",
    "SESSION_MANAGER",
    "SSH_AUTH_SOCK",
    "TERM_SESSION_ID",
    "XDG_SESSION_CLASS",
    "XDG_SESSION_DESKTOP",
    "XDG_SESSION_ID",
    "XDG_SESSION_TYPE",
];

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
    let is_word = |word: &str| SECRET_WORDS.contains(&word);
    !NO_SECRETS.contains(&name.as_str())
        && (SECRET_PARTS.iter().any(|part| name.contains(part)) || name.split('_').any(is_word))
}

/// Whether a value is an address with a password in it (RFC 3986, userinfo).
pub fn holds_password(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let mut rest = &*value;
    while let Some((_, after)) = rest.split_once("://") {
        let authority = after.split(['/', '?', '#', ' ']).next().unwrap_or(after);
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        if user.is_some_and(|user| {
            user.split_once(':')
                .is_some_and(|(_, word)| !word.is_empty())
        }) {
            return true;
        }
        rest = after;
    }
    false
}

impl EnvironmentPolicy {
    /// Filters the variables of the agent itself.
    pub fn prepare(&self, own: impl Iterator<Item = (OsString, OsString)>) -> Prepared {
        let mut kept = BTreeMap::new();
        let mut withheld = Vec::new();
        for (name, value) in own {
            match self.decide(&name, &value) {
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

    fn decide(&self, name: &OsStr, value: &OsStr) -> Decision {
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
        if !self.keep_secrets && (looks_secret(&name) || holds_password(value)) {
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

/// Goes through both once; at a mismatch the last `*` takes one character more.
fn glob_chars(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), name.get(n)) {
            (Some('*'), _) => {
                star = Some((p, n));
                p += 1;
            }
            (None, None) => return true,
            (Some(wanted), Some(found)) if *wanted == '?' || wanted == found => {
                p += 1;
                n += 1;
            }
            (Some(_), None) => return false,
            (Some(_) | None, Some(_)) => {
                let Some((star_p, star_n)) = star else {
                    return false;
                };
                star = Some((star_p, star_n + 1));
                (p, n) = (star_p + 1, star_n + 1);
            }
        }
    }
}
