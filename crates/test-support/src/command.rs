//! Runs the built binary as a shell would: with its own environment, streams and time limit.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Workspace;
use crate::fail::{OrFail, lock};

/// How long the streams may stay open after the program has ended.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// How often the running program is looked at.
const TICK: Duration = Duration::from_millis(2);

/// A command with the environment that tests want, in `work`.
pub(crate) fn clean_command(program: &Path, workspace: &Workspace) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests start the product from outside, as a shell does"
    )]
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", workspace.user_home())
        .env("AGENT_HOME", workspace.home())
        .env("TMPDIR", workspace.tmp())
        .env("LANG", "C.UTF-8")
        .env("MOCK_KEY", "x")
        .env("SHELL", "/bin/bash")
        .env("TERM", "dumb")
        .current_dir(workspace.work());
    command
}

enum Input {
    Null,
    Bytes(Vec<u8>),
    Open,
}

/// A run of the binary that is being prepared.
pub struct AgentCommand {
    command: Command,
    input: Input,
    timeout: Duration,
    check: fn(&Run),
}

impl AgentCommand {
    /// A run of `program` in a workspace, with a cleared environment and no standard input.
    pub fn new(program: impl AsRef<Path>, workspace: &Workspace) -> Self {
        let mut command = clean_command(program.as_ref(), workspace);
        command.process_group(0);
        Self {
            command,
            input: Input::Null,
            timeout: Duration::from_mins(1),
            check: |_| (),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.command.arg(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.command.env(name.into(), value.into());
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn without_env(mut self, name: impl Into<OsString>) -> Self {
        self.command.env_remove(name.into());
        self
    }

    /// Runs it elsewhere.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.command.current_dir(directory.into());
        self
    }

    /// Gives it these bytes on a pipe, which is then closed.
    #[must_use]
    pub fn stdin_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Input::Bytes(bytes.into());
        self
    }

    /// Gives it a pipe that nobody writes to and nobody closes.
    #[must_use]
    pub fn stdin_open(mut self) -> Self {
        self.input = Input::Open;
        self
    }

    /// Kills it after this time (60 s unless told).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Lets this judge the run when it has ended, beside what the test itself asserts.
    #[must_use]
    pub fn checked_by(mut self, check: fn(&Run)) -> Self {
        self.check = check;
        self
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(self) -> Run {
        self.spawn().wait()
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn(mut self) -> RunningAgent {
        let stdin = match self.input {
            Input::Null => Stdio::null(),
            Input::Bytes(_) | Input::Open => Stdio::piped(),
        };
        self.command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let program = self.command.get_program().display().to_string();
        let started = Instant::now();
        let mut child = self.command.spawn().or_fail(format!("start `{program}`"));
        let stdout = Captured::of(child.stdout.take());
        let stderr = Captured::of(child.stderr.take());
        let mut stdin = child.stdin.take();
        if let Input::Bytes(bytes) = self.input {
            let pipe = stdin.take();
            // The program may end without reading; that is for the test to judge.
            drop(thread::spawn(move || {
                pipe.map(|mut pipe| pipe.write_all(&bytes))
            }));
        }
        RunningAgent {
            child,
            stdin,
            stdout,
            stderr,
            started,
            timeout: self.timeout,
            check: self.check,
            peak_rss_kib: 0,
        }
    }
}

/// A run that has begun.
pub struct RunningAgent {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Captured,
    stderr: Captured,
    started: Instant,
    timeout: Duration,
    check: fn(&Run),
    peak_rss_kib: u64,
}

impl RunningAgent {
    /// Its process id, which is also its process group.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed on standard output so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// What it has printed on standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Closes an open standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Writes to an open standard input.
    #[track_caller]
    pub fn write_stdin(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            stdin.write_all(bytes).or_fail("write to standard input");
        }
    }

    /// Sends it a signal by name, for instance `INT`.
    pub fn signal(&self, name: &str) {
        send_signal(name, &self.pid().to_string());
    }

    /// Waits for its end; kills it and its group when its time is over.
    pub fn wait(mut self) -> Run {
        let mut timed_out = false;
        let status = loop {
            self.peak_rss_kib = self.peak_rss_kib.max(resident_peak(self.pid()));
            if let Some(status) = self.child.try_wait().or_fail("wait for the program") {
                break status;
            }
            if self.started.elapsed() > self.timeout {
                timed_out = true;
                send_signal("KILL", &format!("-{}", self.pid()));
                break self.child.wait().or_fail("wait for the program");
            }
            thread::sleep(TICK);
        };
        self.finish(status, timed_out)
    }

    fn finish(self, status: ExitStatus, timed_out: bool) -> Run {
        let duration = self.started.elapsed();
        let deadline = Instant::now() + PIPE_GRACE;
        let closed = [&self.stdout, &self.stderr].map(|stream| stream.wait(deadline));
        let stdout = self.stdout.text();
        let run = Run {
            code: status.code(),
            signal: status.signal(),
            events: stdout.lines().map_while(parse_event).collect(),
            stdout,
            stderr: self.stderr.text(),
            duration,
            timed_out,
            streams_held_open: closed.contains(&false),
            peak_rss_kib: self.peak_rss_kib,
        };
        (self.check)(&run);
        run
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The lines of standard output as JSON, up to the first that is none.
    pub events: Vec<Value>,
    /// How long it ran.
    pub duration: Duration,
    /// Whether it was killed because its time was over.
    pub timed_out: bool,
    /// Whether something that it started still held its streams 2 s after its end.
    pub streams_held_open: bool,
    /// The most memory that was seen, sampled every few milliseconds; 0 for a very short run.
    pub peak_rss_kib: u64,
}

impl Run {
    /// The events of one type, for instance `item.completed`.
    pub fn events_of(&self, kind: &str) -> Vec<&Value> {
        let events = self.events.iter();
        events.filter(|event| event["type"] == kind).collect()
    }

    /// Panics unless the exit code is this one and every line of standard output was an event
    /// (where there are events at all).
    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        let Self { stdout, stderr, .. } = self;
        assert_eq!(
            self.code,
            Some(code),
            "timed out: {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}",
            self.timed_out
        );
        self
    }
}

fn parse_event(line: &str) -> Option<Value> {
    serde_json::from_str(line).ok()
}

/// What a stream has brought so far.
struct Captured {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl Captured {
    fn of(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = channel();
        let sink = Arc::clone(&bytes);
        // It ends when the last writer has closed the stream, which may be after the test.
        drop(thread::spawn(move || {
            let mut chunk = vec![0; 64 * 1024];
            let mut stream = stream;
            while let Some(Ok(length)) = stream.as_mut().map(|stream| stream.read(&mut chunk)) {
                if length == 0 {
                    break;
                }
                lock(&sink).extend(chunk.iter().take(length));
            }
            drop(sender);
        }));
        Self { bytes, ended }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.bytes)).into_owned()
    }

    /// Whether the stream ended in time.
    fn wait(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        self.ended.recv_timeout(left) == Err(RecvTimeoutError::Disconnected)
    }
}

/// Sends a signal to a process, or to a group when the number is negative.
pub(crate) fn send_signal(name: &str, target: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests send signals from outside, as a shell does"
    )]
    let mut command = Command::new("kill");
    let sent = command
        .args(["-s", name, "--", target])
        .stderr(Stdio::null())
        .status();
    let _ = sent.or_fail("run kill");
}

fn resident_peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().split(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
