//! The last steps of a process that becomes a command.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::sys::stat::Mode;
use nix::unistd::{chdir, execve, setsid};

use super::confine::Confinement;
use crate::control::{CommandShape, Stage};
use crate::sys;

/// A command as it came over the wire: strings for `execve`, and its descriptors.
pub(crate) struct Command {
    pub(crate) cwd: CString,
    pub(crate) argv: Vec<CString>,
    pub(crate) env: Vec<CString>,
    pub(crate) stdio: Stdio,
    pub(crate) session: Session,
}

/// What the command reads from and writes to.
pub(crate) enum Stdio {
    /// That of this process.
    Inherited,
    /// These; without stdin it reads nothing.
    Given {
        stdin: Option<OwnedFd>,
        stdout: OwnedFd,
        stderr: OwnedFd,
    },
}

/// Whether the command is cut off from the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Session {
    /// A session of its own. A terminal given as stdin becomes its controlling terminal.
    Own,
    /// That of this process.
    Shared,
}

/// A step that failed, with the error of the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) errno: i32,
}

impl Failure {
    fn at<E: Into<io::Error>>(stage: Stage) -> impl FnOnce(E) -> Self {
        move |error| Self {
            stage,
            errno: error.into().raw_os_error().unwrap_or(libc::EIO),
        }
    }
}

/// Divides a payload: the directory, the arguments, the environment, each ended by a NUL.
pub(crate) fn split_payload(
    shape: CommandShape,
    payload: &[u8],
) -> Option<(CString, Vec<CString>, Vec<CString>)> {
    let mut strings = payload
        .split_inclusive(|byte| *byte == 0)
        .map(|bytes| CStr::from_bytes_with_nul(bytes).map(CStr::to_owned));
    let cwd = strings.next()?.ok()?;
    let argv: Vec<_> = strings
        .by_ref()
        .take(shape.n_arguments)
        .collect::<Result<_, _>>()
        .ok()?;
    let env = strings.collect::<Result<_, _>>().ok()?;
    (argv.len() == shape.n_arguments && !argv.is_empty()).then_some((cwd, argv, env))
}

/// Turns this process into the command. Returns only if that fails.
pub(crate) fn become_command(command: Command, confinement: Option<&Confinement>) -> Failure {
    match prepare(command, confinement) {
        Ok(program) => exec(&program),
        Err(failure) => failure,
    }
}

struct Program {
    argv: Vec<CString>,
    env: Vec<CString>,
}

fn prepare(command: Command, confinement: Option<&Confinement>) -> Result<Program, Failure> {
    let set_up = |errno: Errno| Failure::at(Stage::SetUp)(errno);
    sys::default_signal_actions();
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None).map_err(set_up)?;
    if command.session == Session::Own {
        setsid().map_err(set_up)?;
    }
    if let Stdio::Given {
        stdin,
        stdout,
        stderr,
    } = command.stdio
    {
        let has_stdin = stdin.is_some();
        let stdin = match stdin {
            Some(stdin) => stdin,
            None => open(
                "/dev/null",
                OFlag::O_RDONLY | OFlag::O_CLOEXEC,
                Mode::empty(),
            )
            .map_err(set_up)?,
        };
        place([&stdin, &stdout, &stderr]).map_err(Failure::at(Stage::SetUp))?;
        if has_stdin && command.session == Session::Own {
            sys::take_controlling_terminal();
        }
    }
    sys::close_from_on_exec(3).map_err(Failure::at(Stage::SetUp))?;
    chdir(command.cwd.as_c_str()).map_err(Failure::at(Stage::Directory))?;
    if let Some(confinement) = confinement {
        confinement.apply().map_err(Failure::at(Stage::SetUp))?;
    }
    Ok(Program {
        argv: command.argv,
        env: command.env,
    })
}

/// Duplicates the three descriptors to 0, 1 and 2. All of them are above 2: the holder keeps
/// the low ones occupied.
fn place(fds: [&OwnedFd; 3]) -> io::Result<()> {
    for (fd, target) in fds.into_iter().zip(0..) {
        sys::duplicate_to(fd.as_raw_fd(), target)?;
    }
    Ok(())
}

/// Replaces this process by the program, which is looked up in the `PATH` of its environment.
fn exec(program: &Program) -> Failure {
    let failure = |errno: Errno| Failure {
        stage: Stage::Program,
        errno: errno as i32,
    };
    let Some(name) = program.argv.first() else {
        return failure(Errno::EINVAL);
    };
    let run = |path: &CStr| match execve(path, &program.argv, &program.env) {
        Ok(never) => match never {},
        Err(errno) => errno,
    };
    if name.as_bytes().contains(&b'/') {
        return failure(run(name));
    }
    let path = program
        .env
        .iter()
        .find_map(|entry| entry.as_bytes().strip_prefix(b"PATH="));
    let mut denied = None;
    for directory in path
        .unwrap_or(b"/usr/local/bin:/usr/bin:/bin")
        .split(|byte| *byte == b':')
    {
        let directory = Path::new(OsStr::from_bytes(directory));
        let candidate = directory.join(OsStr::from_bytes(name.as_bytes()));
        let Ok(candidate) = CString::new(candidate.as_os_str().as_bytes()) else {
            continue;
        };
        let errno = run(&candidate);
        // In a directory that is closed to us there is no such program for us.
        let missing = Path::new(OsStr::from_bytes(candidate.to_bytes()))
            .metadata()
            .is_err();
        if errno == Errno::EACCES && !missing {
            denied = Some(errno);
        } else if !matches!(errno, Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES) {
            return failure(errno);
        }
    }
    failure(denied.unwrap_or(Errno::ENOENT))
}
