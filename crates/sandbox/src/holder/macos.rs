//! The holder of macOS: a part of this process, which starts each command by `sandbox-exec`.
//!
//! What is weaker than on Linux, beside what is said of commands:
//! - it was written without a Mac to try it on;
//! - no process stands between the agent and its commands: they end with their holder, but if the
//!   agent itself is killed they go on;
//! - commands share the loopback interface and the process list of the machine, so that with the
//!   network off they reach not even servers of their own, and a list of hosts is served by a port
//!   that any program of this machine can use;
//! - all sockets with a path are refused, also those of the commands themselves;
//! - what a hard link from before leads to is written under the name that is open.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use agent_protocol::SandboxLevel;

use super::{HolderOptions, SandboxError, followed};
use crate::command::{CommandSpec, Leaders, SandboxedCommand, SpawnError, Start, end_all};
use crate::explain::{Answer, Explanation, Verdict};
use crate::git_dirs::nested::Scanner;
use crate::level::{Layer, LevelRefusal, LevelReport};
use crate::policy::SandboxPolicy;
use crate::proxy::{self, Proxy};
use crate::terminal::{self, Terminal};
use crate::{seatbelt, variables};

/// The file name of `argv[0]` that is the holder's on Linux.
pub const PERSONALITY: &str = "agent-sandbox";

/// Refuses: here the holder is no program of its own.
pub fn run_personality(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    drop(args);
    ExitCode::from(2)
}

/// Starts commands under one policy. Dropping it ends all of them that can be found.
#[derive(Debug)]
pub struct Holder {
    report: LevelReport,
    policy: SandboxPolicy,
    proxy: Option<Proxy>,
    /// What is known of the directories in the roots.
    scanner: Arc<Mutex<Scanner>>,
    leaders: Leaders,
}

impl Holder {
    /// Tries the sandbox with a program that does nothing. `options` do not matter here.
    ///
    /// # Errors
    /// When the system refuses the profile: nothing runs then.
    ///
    /// # Cancel safety
    /// When the future is dropped nothing is left but that program, which ends at once.
    pub async fn start(
        policy: &SandboxPolicy,
        options: HolderOptions,
    ) -> Result<Self, SandboxError> {
        drop(options);
        let set_up = |source| SandboxError::SetUp { source };
        let proxy = match policy.proxied_hosts() {
            None => None,
            Some(list) => {
                let listener = proxy::listen().map_err(set_up)?;
                Some(Proxy::start(listener, list.clone()).map_err(set_up)?)
            }
        };
        let mut holder = Self {
            report: LevelReport::nothing(),
            policy: policy.clone(),
            proxy,
            scanner: Arc::default(),
            leaders: Leaders::default(),
        };
        if policy.confines() {
            let line = holder.line(vec!["/usr/bin/true".into()]);
            match blocking(move || try_out(&line())).await.map_err(set_up)? {
                Ok(()) => holder.report.level = SandboxLevel::Seatbelt,
                Err(reason) => {
                    holder.report.miss(Layer::Seatbelt, reason);
                    holder.report.refusal = Some(LevelRefusal::AnySandbox);
                    let report = holder.report.clone();
                    return Err(SandboxError::Unavailable { report });
                }
            }
        }
        Ok(holder)
    }

    /// How much of the policy is enforced.
    pub fn level(&self) -> SandboxLevel {
        self.report.level
    }

    /// The level with its reasons.
    pub fn report(&self) -> &LevelReport {
        &self.report
    }

    /// Starts a command. When this returns, `sandbox-exec` is about to become its program.
    ///
    /// # Cancel safety
    /// When the future is dropped, a command that was started already ends.
    pub async fn spawn(&self, spec: CommandSpec) -> Result<SandboxedCommand, SpawnError> {
        let set_up = |source| SpawnError::SetUp { source };
        let own = variables::own(self.report.level, &self.policy, self.port());
        let env = variables::with_own(&spec.env, &own, &self.policy);
        let env = env.cloned().collect();
        let line = self.line(spec.argv.clone());
        let leaders = Arc::clone(&self.leaders);
        let log = self.proxy.as_ref().map(Proxy::log);
        // What is refused from here on may be its doing; that of others meanwhile looks the same.
        let denials = log.map(|log| (Arc::clone(log), log.now()));
        let started = blocking(move || {
            let line = line();
            SandboxedCommand::start(Start { spec, line, env }, leaders, denials)
        });
        started.await.map_err(set_up)?
    }

    /// A new terminal, and the command's end of it, for its standard streams.
    ///
    /// # Errors
    /// When there can be none.
    pub async fn open_terminal(&self) -> io::Result<(Terminal, OwnedFd)> {
        std::future::ready(terminal::open_pair().and_then(Terminal::new)).await
    }

    /// Nothing is compared after commands here, so that nothing the agent makes is undone.
    pub async fn expect_change(&self, _path: &Path) -> Result<(), SpawnError> {
        std::future::ready(Ok(())).await
    }

    /// What commands may do with a path, and by which rule. A path that does not exist is taken as
    /// one that a command would make.
    pub async fn explain(&self, path: &Path) -> Result<Explanation, SpawnError> {
        if !self.policy.confines() {
            let full = || Verdict::new(Answer::Allowed, "the mode is `danger-full-access`");
            return Ok(Explanation {
                read: full(),
                write: full(),
            });
        }
        let (policy, scanner) = (self.policy.clone(), Arc::clone(&self.scanner));
        let (path, port) = (PathBuf::from(path), self.port());
        let explained = blocking(move || {
            let mut scanner = scanner.lock().unwrap_or_else(PoisonError::into_inner);
            let facts = seatbelt::facts(&policy.resolve(), &mut scanner, port);
            seatbelt::explain(&facts, &followed(&path))
        });
        explained
            .await
            .map_err(|source| SpawnError::SetUp { source })
    }

    /// Ends everything that can be found.
    pub async fn shutdown(self) {
        drop(blocking(move || drop(self)).await);
    }

    fn port(&self) -> Option<u16> {
        self.proxy.as_ref().map(Proxy::port)
    }

    /// What makes the whole command line; it looks at the disk.
    fn line(&self, argv: Vec<OsString>) -> impl FnOnce() -> Vec<OsString> + Send + 'static {
        let (policy, port) = (self.policy.clone(), self.port());
        let scanner = Arc::clone(&self.scanner);
        move || {
            let mut scanner = scanner.lock().unwrap_or_else(PoisonError::into_inner);
            seatbelt::command_line(&policy, (&mut scanner, port), &argv)
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        end_all(&self.leaders);
    }
}

/// Does something that blocks where it blocks nobody.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(io::Error::other)
}

/// Whether the system takes the profile; what it says if not.
#[expect(
    clippy::disallowed_methods,
    reason = "this starts a program of the system that does nothing"
)]
fn try_out(line: &[OsString]) -> Result<(), String> {
    let mut words = line.iter();
    let program = words.next().ok_or("there is no command line")?;
    let output = std::process::Command::new(program)
        .args(words)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{}`: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = said.trim().chars().take(500).collect();
    Err(format!(
        "`{}` failed ({}): {said}",
        program.display(),
        output.status
    ))
}
