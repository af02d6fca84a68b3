//! Reading instruction files of a repository that may be hostile. The agent itself reads them,
//! outside the sandbox, and their text goes to the model: a link must not lead to what commands
//! may not read, nor to the agent's own environment.

use std::cell::OnceCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use agent_context::DocRead;
use agent_sandbox::SandboxPolicy;
use rustix::fs::OFlags;

/// No instruction file is read beyond this, in bytes; the budget cuts much earlier.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Where the kernel tells about processes and devices.
const KERNEL_FILES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Reads instruction files.
pub(super) struct DocReader<'a> {
    policy: &'a SandboxPolicy,
    /// Looked up when there is a file to judge: most turns have none.
    hidden: OnceCell<Vec<PathBuf>>,
}

impl<'a> DocReader<'a> {
    /// What the policy hides from commands is hidden here as well.
    pub(super) fn new(policy: &'a SandboxPolicy) -> Self {
        Self {
            policy,
            hidden: OnceCell::new(),
        }
    }

    /// Reads one file. A directory, pipe or device of that name is no instruction.
    pub(super) fn read(&self, path: &Path) -> DocRead {
        match self.try_read(path) {
            Ok(Some(text)) => DocRead::Text(text),
            Ok(None) => DocRead::Missing,
            Err(err) if is_missing(&err) => DocRead::Missing,
            Err(err) => DocRead::Unreadable(err.to_string()),
        }
    }

    fn try_read(&self, path: &Path) -> io::Result<Option<String>> {
        // A pipe without a writer must not be waited for.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(path)?;
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let real = real_path(&file)?;
        if self.is_hidden(path, &real) {
            return Err(io::Error::other(format!(
                "it leads to `{}`, which is not read",
                real.display()
            )));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Whether an opened file is one that commands could not read either. The user's own
    /// instructions are in the agent's home, and are meant to be read.
    fn is_hidden(&self, asked: &Path, real: &Path) -> bool {
        let home = &self.policy.agent_home;
        let in_home = home.canonicalize().is_ok_and(|home| real.starts_with(home));
        let own = asked.parent() == Some(home);
        let is_below = |path: &PathBuf| real.starts_with(path);
        let hidden = || {
            self.hidden
                .get_or_init(|| self.policy.resolved_hidden_paths())
        };
        (in_home && !own)
            || hidden().iter().any(is_below)
            || KERNEL_FILES.iter().any(|path| real.starts_with(path))
    }
}

/// Where an open file is, links followed: what was opened, not what is there now (proc(5)).
fn real_path(file: &File) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn is_missing(err: &io::Error) -> bool {
    matches!(
        err.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
