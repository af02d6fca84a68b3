//! Puts the names under which this program applies patches on the `PATH` of commands.
//!
//! A login shell may set `PATH` anew, so that its scripts put the directory first themselves.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use agent_apply_patch::PERSONALITIES;

/// The directory in the agent's home; commands may read it and not write it.
const DIRECTORY: &str = "shims";

/// Shells that take an assignment at the beginning of a script.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// A directory with links to this program.
#[derive(Debug)]
pub(crate) struct Shims {
    directory: PathBuf,
}

impl Shims {
    /// Makes the links where they are missing. `None` where they cannot be made: commands do
    /// without them then.
    pub(crate) fn prepare(agent_home: &Path) -> Option<Self> {
        let directory = agent_home.join(DIRECTORY);
        if !agent_home.is_absolute() || !fits_in_path(&directory) {
            return None;
        }
        match link_all(&directory) {
            Ok(()) => Some(Self { directory }),
            Err(err) => {
                tracing::warn!(directory = %directory.display(), error = %err, "no shims");
                None
            }
        }
    }

    /// Puts the directory first in the search path.
    pub(crate) fn put_first(&self, variables: &mut [(OsString, OsString)]) {
        let mut path = self.directory.clone().into_os_string();
        let old = variables.iter_mut().find(|(name, _)| name == "PATH");
        if let Some((_, old)) = old {
            if !old.is_empty() {
                path.push(":");
                path.push(&*old);
            }
            *old = path;
        }
    }

    /// The same command, in which a login shell finds the directory as well.
    pub(crate) fn in_login_shell(&self, argv: &[String]) -> Vec<String> {
        let mut argv = argv.to_vec();
        if let [shell, option, script] = argv.as_mut_slice()
            && option == "-lc"
            && is_shell(shell)
            && let Some(directory) = self.directory.to_str()
        {
            let directory = directory.replace('\'', r"'\''");
            // On the first line, so that the shell numbers lines as they were written.
            *script = format!("PATH='{directory}'\"${{PATH:+:$PATH}}\"; {script}");
        }
        argv
    }
}

/// A search path has no way to write a colon: what follows it would be a directory of its own, and
/// perhaps one that the workspace has.
fn fits_in_path(directory: &Path) -> bool {
    !directory.as_os_str().as_bytes().contains(&b':')
}

fn is_shell(program: &str) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| SHELLS.contains(&name))
}

fn link_all(directory: &Path) -> io::Result<()> {
    let program = in_place(std::env::current_exe()?);
    if PERSONALITIES
        .iter()
        .all(|name| leads_to(&directory.join(name), &program))
    {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    for name in PERSONALITIES {
        let link = directory.join(name);
        if leads_to(&link, &program) {
            continue;
        }
        // Another session may run the old link this very moment: it is never missing.
        let new = directory.join(format!(".{name}.{}", std::process::id()));
        let _left = fs::remove_file(&new);
        symlink(&program, &new)?;
        fs::rename(&new, &link)?;
    }
    Ok(())
}

/// Where a program is that was replaced while it ran, as in an upgrade: the kernel adds a word.
fn in_place(program: PathBuf) -> PathBuf {
    let bytes = program.as_os_str().as_bytes();
    match bytes.strip_suffix(b" (deleted)") {
        Some(old) if !program.exists() => PathBuf::from(OsStr::from_bytes(old)),
        Some(_) | None => program,
    }
}

fn leads_to(link: &Path, program: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| target == program)
}

#[cfg(test)]
mod tests;
