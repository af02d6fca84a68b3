//! A command below `sandbox-exec`, started by this process itself.
//!
//! It begins a session of its own and is ended with all processes of that session and all their
//! descendants. A process that has left the session *and* whose parents have ended is found by
//! nothing: macOS has no pid namespaces and no subreapers. It stays in its sandbox, but it stays.

mod members;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::sync::watch;

use super::{CommandEnd, CommandSpec, SpawnError};
use crate::finding::Finding;
use crate::hosts::HostDenial;
use crate::proxy::DenialLog;
use crate::sys;

/// How often it is looked whether something of a command is left: nothing tells.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The first processes of the commands of one holder, none of them reaped, so that their ids are
/// theirs.
pub(crate) type Leaders = Arc<Mutex<HashSet<Pid>>>;

/// Ends the commands of a holder.
pub(crate) fn end_all(leaders: &Leaders) {
    // Held, so that none is reaped meanwhile.
    let leaders = leaders.lock().unwrap_or_else(PoisonError::into_inner);
    for leader in leaders.iter() {
        members::kill_all(*leader);
    }
}

/// What is refused from a mark on.
pub(crate) type Denials = Option<(Arc<DenialLog>, u64)>;

/// A command that was started. Dropping it ends all of it that can be found.
#[derive(Debug)]
pub struct SandboxedCommand {
    leader: Pid,
    leaders: Leaders,
    end: watch::Receiver<Option<CommandEnd>>,
    gone: bool,
    denials: Denials,
    /// Its end lets the first process be reaped; behind all else, so that it is dropped last.
    _unreaped: mpsc::Sender<()>,
}

/// A command with all that was decided about it.
pub(crate) struct Start {
    pub(crate) spec: CommandSpec,
    /// With `sandbox-exec` in front, where it is confined.
    pub(crate) line: Vec<OsString>,
    /// The whole environment.
    pub(crate) env: Vec<(OsString, OsString)>,
}

impl SandboxedCommand {
    /// Starts a command. Blocks for as long as that takes.
    pub(crate) fn start(
        start: Start,
        leaders: Leaders,
        denials: Denials,
    ) -> Result<Self, SpawnError> {
        check(&start)?;
        let set_up = |source| SpawnError::SetUp { source };
        let (unreaped, reap) = mpsc::channel();
        let (sender, end) = watch::channel(None);
        let child = spawn(start)?;
        let leader = i32::try_from(child.id()).map_err(|error| set_up(io::Error::other(error)))?;
        let leader = Pid::from_raw(leader);
        let followed = std::thread::Builder::new()
            .name("command".to_owned())
            .spawn(move || follow(child, leader, &sender, &reap));
        if let Err(source) = followed {
            members::kill_all(leader);
            return Err(set_up(source));
        }
        let mut all = leaders.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(leader);
        drop(all);
        Ok(Self {
            leader,
            leaders,
            end,
            gone: false,
            denials,
            _unreaped: unreaped,
        })
    }

    /// Waits for the end of the command's own process; what it left behind may go on.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn wait(&mut self) -> Result<CommandEnd, SpawnError> {
        let end = self.end.wait_for(Option::is_some).await;
        let end = end.ok().and_then(|end| *end);
        // Nobody waits for it any more, which only a failed thread explains.
        Ok(end.unwrap_or(CommandEnd::Signaled(libc::SIGKILL)))
    }

    /// Whether processes of the command are left, as far as they can be found.
    pub fn has_leftovers(&mut self) -> bool {
        if !self.gone && self.end.borrow().is_some() && members::of(self.leader).is_empty() {
            self.gone = true;
        }
        !self.gone
    }

    /// Waits until nothing of the command is left.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn gone(&mut self) {
        drop(self.wait().await);
        while self.has_leftovers() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Asks all its processes to end, by SIGTERM.
    pub fn terminate(&self) {
        members::signal_all(self.leader, Signal::SIGTERM);
    }

    /// Ends all its processes and waits until they are gone.
    ///
    /// # Cancel safety
    /// They end also when the future is dropped.
    pub async fn kill(&mut self) {
        if !self.gone {
            members::kill_all(self.leader);
            self.gone().await;
        }
    }

    /// Nothing: what is protected is held by the profile.
    pub fn findings(&self) -> &[Finding] {
        &[]
    }

    /// The destinations that the proxy has refused while it ran, each different denial once. With
    /// commands side by side another one may have asked for them.
    pub fn refused_hosts(&self) -> Vec<HostDenial> {
        let log = self.denials.as_ref();
        log.map(|(log, mark)| log.since(*mark)).unwrap_or_default()
    }
}

impl Drop for SandboxedCommand {
    fn drop(&mut self) {
        if !self.gone {
            members::kill_all(self.leader);
        }
        let mut leaders = self.leaders.lock().unwrap_or_else(PoisonError::into_inner);
        leaders.remove(&self.leader);
    }
}

/// Tells the end of a command's first process and reaps it once nobody needs its id.
fn follow(
    mut child: Child,
    leader: Pid,
    end: &watch::Sender<Option<CommandEnd>>,
    reap: &mpsc::Receiver<()>,
) {
    let told = sys::wait_without_reaping(leader).unwrap_or_else(|error| {
        tracing::debug!(%error, "cannot wait for a command");
        CommandEnd::Signaled(libc::SIGKILL)
    });
    end.send_replace(Some(told));
    // Nothing is ever sent; the channel ends with the command.
    let _ = reap.recv();
    drop(child.wait());
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the holder of macOS, which starts the commands"
)]
fn spawn(start: Start) -> Result<Child, SpawnError> {
    let Start { spec, line, env } = start;
    let mut words = line.iter();
    let mut command = Command::new(words.next().map(OsString::as_os_str).unwrap_or_default());
    command
        .args(words)
        .env_clear()
        .envs(env)
        .current_dir(&spec.cwd)
        .stdin(spec.stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(spec.stdout)
        .stderr(spec.stderr);
    sys::begin_session(&mut command);
    let is_confined = line.len() != spec.argv.len();
    let program = spec.argv.first().map(PathBuf::from).unwrap_or_default();
    command
        .spawn()
        .map_err(|source| match source.raw_os_error() {
            Some(libc::E2BIG) => SpawnError::TooLarge,
            Some(_) | None if is_confined => SpawnError::SetUp { source },
            Some(libc::ENOENT) => SpawnError::NotFound { program },
            Some(_) | None => SpawnError::NotExecutable { program, source },
        })
}

/// Finds what `sandbox-exec` could only say in words.
fn check(start: &Start) -> Result<(), SpawnError> {
    let Start { spec, line, env } = start;
    let has_nul = |bytes: &[u8]| bytes.contains(&0);
    if has_nul(spec.cwd.as_os_str().as_bytes())
        || line.iter().any(|word| has_nul(word.as_bytes()))
        || env
            .iter()
            .any(|(name, value)| has_nul(name.as_bytes()) || has_nul(value.as_bytes()))
    {
        return Err(SpawnError::InteriorNul);
    }
    let directory = |source| SpawnError::Directory {
        cwd: spec.cwd.clone(),
        source,
    };
    let metadata = spec.cwd.metadata().map_err(directory)?;
    if !metadata.is_dir() {
        return Err(directory(io::ErrorKind::NotADirectory.into()));
    }
    let program = spec.argv.first().map(PathBuf::from).unwrap_or_default();
    match find_program(&program, spec, env) {
        Found::Executable => Ok(()),
        Found::Other => Err(SpawnError::NotExecutable {
            program,
            source: io::ErrorKind::PermissionDenied.into(),
        }),
        Found::Nothing => Err(SpawnError::NotFound { program }),
    }
}

/// What a search for a program ends with.
enum Found {
    Executable,
    Other,
    Nothing,
}

/// Looks a program up as execvp(3) will.
fn find_program(program: &Path, spec: &CommandSpec, env: &[(OsString, OsString)]) -> Found {
    let name = program.as_os_str().as_bytes();
    let path = env.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(&b"/usr/bin:/bin"[..], |(_, value)| value.as_bytes());
    let directories: Vec<&Path> = if name.contains(&b'/') {
        vec![Path::new("")]
    } else {
        let parts = path.split(|byte| *byte == b':');
        parts
            .map(|part| Path::new(std::ffi::OsStr::from_bytes(part)))
            .collect()
    };
    let mut found = Found::Nothing;
    for directory in directories {
        match spec.cwd.join(directory).join(program).metadata() {
            Ok(metadata) if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 => {
                return Found::Executable;
            }
            Ok(_) => found = Found::Other,
            Err(_) => {}
        }
    }
    found
}
