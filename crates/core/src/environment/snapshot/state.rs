//! The state of a shell, as its dump says it, and the script that leads from one state to
//! another. Text is quoted by the shell that printed it and never by this program, but for names.

use std::collections::BTreeMap;

use super::shell::{Kind, Loader, MAX_STATE_BYTES};

/// A part of a state. They are given in this order: functions after variables, because they may
/// have the names of commands; aliases later, because functions are parsed; options last, because
/// they change how everything else is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Module,
    Limit,
    Umask,
    Variable,
    Function,
    FunctionFlags,
    Alias,
    Option,
}

/// What a shell has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The command that makes each thing.
    parts: BTreeMap<(Part, String), String>,
    /// What cannot be given to another shell.
    fixed: BTreeMap<String, String>,
}

/// Why a dump says nothing, or a state cannot be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unusable {
    /// The shell never came to the dump.
    NotBegun,
    /// The dump is cut off or has something in it that does not belong there.
    Unreadable,
    /// The profile sets traps.
    Traps,
    /// It sets the arguments of the script.
    Arguments,
    /// It opens or redirects descriptors.
    Descriptors,
    /// It sets more than a state may hold.
    TooLarge,
}

/// Variables that shells make themselves, or that tell where they are.
const OWN_OF_BASH: &[&str] = &[
    "BASH",
    "BASHOPTS",
    "BASHPID",
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_CMDS",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COMP_WORDBREAKS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "OLDPWD",
    "PIPESTATUS",
    "PPID",
    "PWD",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "UID",
    "_",
];
const OWN_OF_ZSH: &[&str] = &[
    "COLUMNS",
    "EGID",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "GID",
    "HISTCMD",
    "LINENO",
    "LINES",
    "OLDPWD",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
    "TTY",
    "TTYIDLE",
    "UID",
    "USERNAME",
    "ZSH_ARGZERO",
    "ZSH_EVAL_CONTEXT",
    "ZSH_EXECUTION_STRING",
    "ZSH_NAME",
    "ZSH_SCRIPT",
    "ZSH_SUBSHELL",
    "_",
    "argv",
    "pipestatus",
    "signals",
    "zsh_eval_context",
];

/// Options that only the start of a shell decides.
const FIXED_OPTIONS: &[&str] = &["login", "login_shell", "restricted_shell"];

impl State {
    /// Reads what a shell printed: anything, the mark, pairs of a name and a text, the mark.
    ///
    /// # Errors
    /// When there is no whole dump in it.
    pub(super) fn read(kind: Kind, printed: &[u8], mark: &str) -> Result<Self, Unusable> {
        let begin = format!("{mark}\0");
        let at = find(printed, begin.as_bytes()).ok_or(Unusable::NotBegun)?;
        let body = printed.get(at + begin.len()..).unwrap_or_default();
        let end = find(body, format!("\0{mark}").as_bytes()).ok_or(Unusable::Unreadable)?;
        let body = body.get(..end).unwrap_or_default();
        let body = std::str::from_utf8(body).map_err(|_| Unusable::Unreadable)?;
        let mut state = Self::default();
        let mut words = body.split('\0');
        while let Some(section) = words.next() {
            let text = words.next().ok_or(Unusable::Unreadable)?;
            state
                .take(kind, section, text)
                .ok_or(Unusable::Unreadable)?;
        }
        state
            .is_whole(kind)
            .then_some(state)
            .ok_or(Unusable::Unreadable)
    }

    fn take(&mut self, kind: Kind, section: &str, text: &str) -> Option<()> {
        let text = text.trim_end_matches('\n');
        let (section, name) = section.split_once(':').unwrap_or((section, ""));
        match section {
            "options" => text.lines().try_for_each(|line| self.option(line)),
            "modules" => {
                text.lines()
                    .for_each(|line| self.put(Part::Module, line, line.to_owned()));
                Some(())
            }
            "limits" => text.lines().try_for_each(|line| self.limit(line)),
            "umask" => {
                self.put(Part::Umask, "", format!("builtin umask {text}"));
                Some(())
            }
            "variables" => statements(text).try_for_each(|statement| {
                let name = declared(statement)?;
                self.variable(kind, name, statement);
                Some(())
            }),
            "variable" => {
                self.variable(kind, name, text);
                Some(())
            }
            "function" => {
                self.put(Part::Function, name, text.to_owned());
                Some(())
            }
            "flags" => text.lines().try_for_each(|line| {
                let (flags, name) = line.strip_prefix("declare -f")?.split_once(' ')?;
                let command = format!("builtin declare -f{flags} {}", quoted(name));
                self.put(Part::FunctionFlags, name, command);
                Some(())
            }),
            "aliases" => statements(text).try_for_each(|statement| {
                let (name, _) = statement.strip_prefix("alias ")?.split_once('=')?;
                let name = name.strip_prefix("-- ").unwrap_or(name);
                self.put(Part::Alias, name, format!("builtin {statement}"));
                Some(())
            }),
            "alias" => {
                self.put(Part::Alias, name, format!("builtin {text}"));
                Some(())
            }
            fixed => {
                let name = fixed.strip_prefix('=')?;
                // In its POSIX mode bash lists signals without a trap as well.
                let lines = text.lines().filter(|line| !line.starts_with("trap -- - "));
                self.fixed.insert(name.to_owned(), lines.collect());
                Some(())
            }
        }
    }

    fn put(&mut self, part: Part, name: &str, command: String) {
        self.parts.insert((part, name.to_owned()), command);
    }

    fn has(&self, part: Part, name: &str) -> bool {
        self.parts.contains_key(&(part, name.to_owned()))
    }

    fn variable(&mut self, kind: Kind, name: &str, statement: &str) {
        let own = match kind {
            Kind::Bash => OWN_OF_BASH,
            Kind::Zsh => OWN_OF_ZSH,
        };
        if !own.contains(&name) {
            self.put(Part::Variable, name, statement.to_owned());
        }
    }

    fn option(&mut self, line: &str) -> Option<()> {
        let is_word = |word: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            !word.is_empty() && word.chars().all(plain)
        };
        let words: Vec<&str> = line.split(' ').collect();
        let [command, flag, name] = words.as_slice() else {
            return None;
        };
        let known = matches!(
            (*command, *flag),
            ("set", "-o" | "+o") | ("shopt", "-s" | "-u")
        );
        if !known || !is_word(name) {
            return None;
        }
        let name = name.strip_prefix("no").unwrap_or(name);
        if !FIXED_OPTIONS.contains(&name) {
            self.put(
                Part::Option,
                &format!("{command} {name}"),
                format!("builtin {line}"),
            );
        }
        Some(())
    }

    /// `LETTER S|H VALUE`; soft ones are given first, so that hard ones can be lowered.
    fn limit(&mut self, line: &str) -> Option<()> {
        let (letter, rest) = line.split_once(' ')?;
        let (which, value) = rest.split_once(' ')?;
        if !value.is_empty() {
            let order = u8::from(which != "S");
            let command = format!("builtin ulimit -{which} -{letter} {value}");
            self.put(Part::Limit, &format!("{letter}{order}"), command);
        }
        Some(())
    }

    /// Whether the dump had everything that a shell has.
    fn is_whole(&self, kind: Kind) -> bool {
        let functions = |part| {
            self.parts
                .keys()
                .filter(|(other, _)| *other == part)
                .count()
        };
        let witness = match kind {
            Kind::Bash => "IFS",
            Kind::Zsh => "ZSH_VERSION",
        };
        let same = kind == Kind::Zsh || functions(Part::Function) == functions(Part::FunctionFlags);
        let fixed = ["traps", "arguments", "descriptors"];
        same && self.has(Part::Variable, witness)
            && self.has(Part::Umask, "")
            && fixed.iter().all(|name| self.fixed.contains_key(*name))
    }

    /// Whether the shell has a variable.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.has(Part::Variable, name)
    }

    /// Takes variables out that a profile has no say in.
    pub(super) fn forget_variables(&mut self, names: &[&str]) {
        self.parts
            .retain(|(part, name), _| *part != Part::Variable || !names.contains(&name.as_str()));
    }

    /// The names of variables that differ from those of `before`.
    pub(super) fn changed_variables<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = &'a str> {
        self.changed(before)
            .filter_map(|((part, name), _)| (*part == Part::Variable).then_some(name.as_str()))
    }

    fn changed<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (&'a (Part, String), &'a String)> {
        let parts = self.parts.iter();
        parts.filter(|(key, command)| before.parts.get(key) != Some(command))
    }

    /// The script that makes this state of the state of a shell without a profile.
    ///
    /// # Errors
    /// When something differs that a script cannot give.
    pub(super) fn script_from(&self, before: &Self, kind: Kind) -> Result<String, Unusable> {
        for (name, text) in &self.fixed {
            if before.fixed.get(name) != Some(text) {
                return Err(match name.as_str() {
                    "traps" => Unusable::Traps,
                    "arguments" => Unusable::Arguments,
                    _ => Unusable::Descriptors,
                });
            }
        }
        let mut script = Loader::forget();
        for (part, name) in before.parts.keys() {
            if !self.has(*part, name)
                && let Some(command) = removal(*part)
            {
                script.extend([command, " ", &quoted(name), "\n"]);
            }
        }
        let mut options = Vec::new();
        let mut defines = false;
        for (key, command) in self.changed(before) {
            let (part, name) = key;
            match part {
                Part::Option => {
                    options.push(command.as_str());
                    continue;
                }
                Part::Variable => {
                    let old = before.parts.get(key).map(String::as_str);
                    if let Some(first) = old.and_then(|old| bare(kind, old, command)) {
                        script.extend([first, " ", &quoted(name), "\n"]);
                    }
                }
                // Without flags the command would print the function.
                Part::FunctionFlags if command.starts_with("builtin declare -f ") => continue,
                Part::Function if kind == Kind::Bash && !defines => {
                    defines = true;
                    // Functions may have been written with it.
                    script.push_str("builtin shopt -s extglob\n");
                }
                Part::Module
                | Part::Limit
                | Part::Umask
                | Part::Function
                | Part::FunctionFlags
                | Part::Alias => {}
            }
            script.push_str(command);
            script.push('\n');
        }
        if defines && let Some(own) = self.parts.get(&(Part::Option, "shopt extglob".to_owned())) {
            options.push(own);
        }
        // In one line, so that the shell reads nothing under half of them.
        script.push_str(&options.join("; "));
        script.push('\n');
        if script.len() > MAX_STATE_BYTES {
            return Err(Unusable::TooLarge);
        }
        Ok(script)
    }
}

/// How a thing that the profile removed is removed again.
fn removal(part: Part) -> Option<&'static str> {
    match part {
        Part::Variable => Some("unset"),
        Part::Function => Some("unset -f"),
        Part::Alias => Some("unalias"),
        Part::Module | Part::Limit | Part::Umask | Part::FunctionFlags | Part::Option => None,
    }
}

/// What takes attributes from a variable that it has no more: declaring it again only adds some.
fn bare(kind: Kind, before: &str, now: &str) -> Option<&'static str> {
    let attributes = |statement: &str| statement.split(' ').nth(1).map(str::to_owned);
    match kind {
        Kind::Bash => (attributes(before) != attributes(now)).then_some("unset -v"),
        // Some variables would lose their meaning by being unset.
        Kind::Zsh => {
            let is_exported = |statement: &str| statement.starts_with("export ");
            (is_exported(before) && !is_exported(now)).then_some("typeset +x")
        }
    }
}

/// The name in a statement like `declare -x NAME="value"`.
fn declared(statement: &str) -> Option<&str> {
    let (_flags, rest) = statement.strip_prefix("declare -")?.split_once(' ')?;
    let name = rest.split('=').next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// Divides text that bash printed at the ends of lines outside of quotes.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = end_of_statement(rest);
        let statement = rest.get(..end)?;
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(statement)
    })
}

fn end_of_statement(text: &str) -> usize {
    #[derive(Clone, Copy, PartialEq)]
    enum Quotes {
        None,
        Single,
        Double,
        Escaped,
    }
    let mut quotes = Quotes::None;
    let mut bytes = text.bytes().enumerate();
    let mut last = b' ';
    while let Some((at, byte)) = bytes.next() {
        match (quotes, byte) {
            (Quotes::None, b'\n') => return at,
            (Quotes::None, b'\'') if last == b'$' => quotes = Quotes::Escaped,
            (Quotes::None, b'\'') => quotes = Quotes::Single,
            (Quotes::None, b'"') => quotes = Quotes::Double,
            (Quotes::Single | Quotes::Escaped, b'\'') | (Quotes::Double, b'"') => {
                quotes = Quotes::None;
            }
            (Quotes::None | Quotes::Double | Quotes::Escaped, b'\\') => {
                bytes.next();
            }
            _ => {}
        }
        last = byte;
    }
    text.len()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', r"'\''"))
}
