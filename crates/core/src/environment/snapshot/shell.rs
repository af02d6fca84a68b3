//! What is particular to a shell: the script that prints its state, and how another shell of the
//! kind is made to take a state over before it reads its script.
//!
//! Both shells read a file before a script, `$BASH_ENV` and `$ZDOTDIR/.zshenv`. That file is a
//! constant of this program; the state comes in variables, because commands share no descriptors
//! with the agent and a file could be altered or hold secrets. So the script itself stays as it
//! was written, with its line numbers, and finds aliases and options when it is parsed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The directory of the files that shells read first, in the agent's home. Commands see what is
/// in `shims` and cannot write there.
const DIRECTORY: &str = "shims/shell";

/// The variables that a state comes in; the system limits one variable to 128 KiB.
const PIECES: [&str; 5] = [
    "AGENT_SHELL_STATE_0",
    "AGENT_SHELL_STATE_1",
    "AGENT_SHELL_STATE_2",
    "AGENT_SHELL_STATE_3",
    "AGENT_SHELL_STATE_4",
];

/// The most of a state that one variable holds, in bytes.
const PIECE_BYTES: usize = 110_000;

/// The largest state, in bytes. Arguments and variables together may take 2 MiB as a rule.
pub(super) const MAX_STATE_BYTES: usize = 512 << 10;

/// How a shell that printed its state ends, so that it can be told from one that a profile ended.
pub(super) const DUMPED: i32 = 86;

/// A shell whose state can be taken and given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Bash under its own name; as `sh` it reads no file before a script.
    Bash,
    /// Zsh.
    Zsh,
}

impl Kind {
    /// The kind of a shell, by its name.
    pub(super) fn of(shell: &Path) -> Option<Self> {
        match shell.file_name().and_then(OsStr::to_str)? {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            _ => None,
        }
    }

    /// The script that prints the state of its shell between marks.
    pub(super) fn dump_script(self, mark: &str) -> String {
        let script = match self {
            Self::Bash => include_str!("dump.bash"),
            Self::Zsh => include_str!("dump.zsh"),
        };
        script.replace("@MARK@", mark)
    }

    /// The files that a login shell of the kind may read.
    pub(super) fn profiles(
        self,
        home: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<PathBuf> {
        let mut files = vec![
            PathBuf::from("/etc/profile"),
            PathBuf::from("/etc/environment"),
        ];
        files.extend(entries(Path::new("/etc/profile.d")));
        match self {
            Self::Bash => {
                files.extend(["/etc/bash.bashrc", "/etc/bashrc"].map(PathBuf::from));
                let own = [
                    ".bash_profile",
                    ".bash_login",
                    ".profile",
                    ".bashrc",
                    ".bash_aliases",
                ];
                files.extend(own.map(|name| home.join(name)));
                files.extend(variable("BASH_ENV").map(PathBuf::from));
            }
            Self::Zsh => {
                let own = variable("ZDOTDIR").map_or_else(|| home.to_owned(), PathBuf::from);
                for name in ["zshenv", "zprofile", "zshrc", "zlogin"] {
                    files.push(Path::new("/etc").join(name));
                    files.push(Path::new("/etc/zsh").join(name));
                    files.push(own.join(format!(".{name}")));
                }
                files.push(home.join(".profile"));
            }
        }
        files
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The file that a shell reads before its script, and the variable that leads to it.
#[derive(Debug, Clone)]
pub(super) struct Loader {
    name: &'static str,
    value: OsString,
}

impl Loader {
    /// Writes the file where it is missing or different.
    ///
    /// # Errors
    /// When it cannot be written, or the shell would not find it under its path.
    pub(super) fn prepare(kind: Kind, agent_home: &Path) -> io::Result<Self> {
        let directory = agent_home.join(DIRECTORY);
        let (name, file, forget) = match kind {
            Kind::Bash => ("BASH_ENV", "bash", "unset BASH_ENV"),
            Kind::Zsh => ("ZDOTDIR", ".zshenv", "unset ZDOTDIR"),
        };
        let pieces = PIECES.map(|piece| format!("${{{piece}-}}")).concat();
        let content = format!(
            "# Read before the script of a command: what the login profile set. Written by agent.\n\
             {forget}\neval \"{pieces}\"\n"
        );
        let path = directory.join(file);
        let path_text = path.to_str().unwrap_or("\"");
        // Bash expands the name of the file.
        if !path.is_absolute() || path_text.contains(['"', '$', '`', '\\']) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        if !fs::read(&path).is_ok_and(|old| old == content.as_bytes()) {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&directory)?;
            let new = directory.join(format!(".{name}.{}", std::process::id()));
            fs::File::create(&new)?.write_all(content.as_bytes())?;
            fs::rename(&new, &path)?;
        }
        let value = match kind {
            Kind::Bash => path.into_os_string(),
            Kind::Zsh => directory.into_os_string(),
        };
        Ok(Self { name, value })
    }

    /// Makes the shell that gets these variables take over a state.
    pub(super) fn load(&self, state: &str, variables: &mut Vec<(OsString, OsString)>) {
        variables.retain(|(name, _)| name != self.name);
        variables.push((self.name.into(), self.value.clone()));
        let mut rest = state;
        for piece in PIECES {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            variables.push((piece.into(), head.into()));
            rest = tail;
        }
    }

    /// The variable that leads to the file. Where a shell still has it, it did not read the file.
    pub(super) fn variable(&self) -> &'static str {
        self.name
    }

    /// What a state says first, so that nothing of it stays in the environment.
    pub(super) fn forget() -> String {
        format!("unset {}\n", PIECES.join(" "))
    }
}
