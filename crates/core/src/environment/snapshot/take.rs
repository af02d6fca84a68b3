//! Takes the state of a login shell: in a holder of its own, so that the profile runs under the
//! policy of commands and everything that it leaves behind ends with the holder.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use agent_process::{holds_password, looks_secret};
use agent_sandbox::{
    CommandEnd, CommandSpec, Holder, HolderOptions, PROXY_VARIABLES, SandboxPolicy,
    SandboxedCommand,
};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::Instant;
use uuid::Uuid;

use super::shell::{DUMPED, Kind, Loader};
use super::state::{State, Unusable};

/// How long a profile may run.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(10);

/// How long what was printed is read once nothing is left that could print.
const DRAIN: Duration = Duration::from_secs(1);

/// The most that is kept of what a shell prints, in bytes.
const MAX_PRINTED: usize = 4 << 20;

/// How much is read at once, in bytes.
const READ_BYTES: usize = 16 << 10;

/// The most that is told of what a profile complains about, in characters.
const MAX_COMPLAINT: usize = 200;

/// How commands run.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) kind: Kind,
    pub(super) shell: PathBuf,
    pub(super) policy: SandboxPolicy,
    /// Whether what was taken is written to the disk.
    pub(super) is_kept: bool,
    /// Their environment, as they get it.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// Their home directory.
    pub(super) home: PathBuf,
}

/// What a login shell has that another one has not.
#[derive(Debug)]
pub(super) struct Taken {
    /// The script that gives it.
    pub(super) script: String,
    /// Whether it has something in it that must not be on the disk.
    pub(super) is_secret: bool,
    /// What the profile complained about.
    pub(super) complaint: Option<String>,
}

/// Why there is no state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// Commands cannot be run either, and say so themselves.
    NoShell,
    /// The profile had not ended after [`TIME_LIMIT`].
    NeverEnds,
    /// The profile ends the shell, with this status.
    EndsShell(i32),
    /// There is a state that cannot be given to another shell.
    Unusable(Unusable),
}

/// Runs the profile.
pub(super) async fn take(setting: &Setting, loader: &Loader) -> Result<Taken, NotTaken> {
    let holder = Holder::start(&setting.policy, HolderOptions::default()).await;
    let holder = holder.map_err(|_| NotTaken::NoShell)?;
    let mut plain = setting.variables.clone();
    loader.load("", &mut plain);
    let (login, before) = tokio::join!(
        dump(setting, &holder, "-lc", setting.variables.clone()),
        dump(setting, &holder, "-c", plain),
    );
    holder.shutdown().await;
    let (mut login, mut before) = (login?, before?);
    if setting.policy.proxied_hosts().is_some() {
        // A proxy that the profile names is out of reach; the sandbox's own is the way out.
        login.state.forget_variables(&PROXY_VARIABLES);
        before.state.forget_variables(&PROXY_VARIABLES);
    }
    if before.state.has_variable(loader.variable()) {
        return Err(NotTaken::Unusable(Unusable::Unreadable));
    }
    let script = login.state.script_from(&before.state, setting.kind);
    let script = script.map_err(NotTaken::Unusable)?;
    let mut names = login.state.changed_variables(&before.state);
    Ok(Taken {
        is_secret: names.any(looks_secret) || holds_password(script.as_ref()),
        script,
        complaint: login.complaint,
    })
}

struct Dump {
    state: State,
    complaint: Option<String>,
}

async fn dump(
    setting: &Setting,
    holder: &Holder,
    flag: &str,
    variables: Vec<(OsString, OsString)>,
) -> Result<Dump, NotTaken> {
    let mark = Uuid::now_v7().simple().to_string();
    let script = setting.kind.dump_script(&mark);
    let (mut stdout, mut stderr);
    let run = {
        let (out, out_writer) = io::pipe().map_err(|_| NotTaken::NoShell)?;
        let (err, err_writer) = io::pipe().map_err(|_| NotTaken::NoShell)?;
        stdout = Printed::new(out)?;
        stderr = Printed::new(err)?;
        let cwd = if setting.home.is_dir() {
            setting.home.clone()
        } else {
            PathBuf::from("/")
        };
        let spec = CommandSpec {
            argv: vec![setting.shell.clone().into(), flag.into(), script.into()],
            env: variables,
            cwd,
            stdin: None,
            stdout: OwnedFd::from(out_writer),
            stderr: OwnedFd::from(err_writer),
        };
        holder.spawn(spec).await.map_err(|_| NotTaken::NoShell)?
    };
    let end = until_end(run, &mut stdout, &mut stderr)
        .await
        .ok_or(NotTaken::NeverEnds)?;
    let at_mark = stderr.text().find(&mark);
    match State::read(setting.kind, &stdout.bytes, &mark) {
        Ok(_) if at_mark.is_none() => Err(NotTaken::Unusable(Unusable::Descriptors)),
        Ok(state) => Ok(Dump {
            state,
            complaint: complaint(&stderr.text(), at_mark),
        }),
        Err(Unusable::NotBegun) if end.shell_code() != DUMPED && at_mark.is_none() => {
            Err(NotTaken::EndsShell(end.shell_code()))
        }
        Err(Unusable::NotBegun) => Err(NotTaken::Unusable(Unusable::Descriptors)),
        Err(unusable) => Err(NotTaken::Unusable(unusable)),
    }
}

/// Reads until the shell has ended; `None` when it did not. Nothing of it is left after that.
async fn until_end(
    mut shell: SandboxedCommand,
    stdout: &mut Printed,
    stderr: &mut Printed,
) -> Option<CommandEnd> {
    let limit = Instant::now() + TIME_LIMIT;
    let mut end = None;
    while end.is_none() {
        // Each branch is cancel-safe: what was read is kept, `wait` loses nothing.
        tokio::select! {
            () = stdout.read(), if stdout.open => {}
            () = stderr.read(), if stderr.open => {}
            ended = shell.wait() => end = Some(ended.ok()?),
            () = tokio::time::sleep_until(limit) => break,
        }
    }
    shell.kill().await;
    let rest = async { tokio::join!(stdout.read_all(), stderr.read_all()) };
    let _all = tokio::time::timeout(DRAIN, rest).await;
    end
}

/// What a shell has printed on one descriptor.
struct Printed {
    pipe: pipe::Receiver,
    bytes: Vec<u8>,
    open: bool,
}

impl Printed {
    fn new(reader: io::PipeReader) -> Result<Self, NotTaken> {
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader));
        Ok(Self {
            pipe: pipe.map_err(|_| NotTaken::NoShell)?,
            bytes: Vec::new(),
            open: true,
        })
    }

    /// Reads what is there. What is too much is not kept, so that no dump is found in it.
    async fn read(&mut self) {
        self.bytes.reserve(READ_BYTES);
        match self.pipe.read_buf(&mut self.bytes).await {
            Ok(0) | Err(_) => self.open = false,
            Ok(_) => self.bytes.truncate(MAX_PRINTED),
        }
    }

    async fn read_all(&mut self) {
        while self.open {
            self.read().await;
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The first line that a profile wrote to its standard error.
fn complaint(stderr: &str, end: Option<usize>) -> Option<String> {
    let said = stderr.get(..end?)?;
    let line = said.lines().find(|line| !line.trim().is_empty())?;
    let plain = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    Some(plain.take(MAX_COMPLAINT).collect())
}
