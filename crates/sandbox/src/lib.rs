//! Kernel-enforced limits for commands, and the holder that starts and ends them.
//!
//! A [`SandboxPolicy`] says what commands may touch. A [`Holder`] is a small process, forked from
//! this same program under the name [`PERSONALITY`], that enforces one policy with namespaces,
//! Landlock and seccomp, as far as the machine grants them ([`LevelReport`]), and from which
//! nothing survives: when the agent closes the control socket, or dies in whatever way, all its
//! commands end. A network that is a list of hosts ([`HostList`]) is a proxy in the agent's own
//! process. This crate does not decide which policy applies and asks nobody.
//!
//! All this is Linux. On macOS the [`Holder`] is a part of the agent and starts each command by
//! `sandbox-exec`, with a Seatbelt profile that `seatbelt` writes; what is weaker there stands in
//! `holder/macos.rs` and `command/macos.rs`. Nothing of it was ever run. On other systems this
//! crate does not build, so that nothing runs commands without limits by mistake.
//!
//! Known limits, beside those of the level that a machine grants:
//! - what a hard link or a descriptor from before the sandbox leads to stays reachable;
//! - a protected or hidden file that somebody outside replaces by renaming is closed again for
//!   the next command only, not for one that runs already;
//! - of sockets with a path that programs outside listen on, those are closed that the kernel lists
//!   for the holder's own network, or that a bounded look at the roots finds (two directories deep
//!   in projects, three in temporary directories, 100 directories at most), at the holder's start and again before each
//!   command while the network is off. One that appears while a command runs, or that was made in
//!   another network by a path that the look does not reach, can be connected to;
//! - of git, the work tree at each writable root is protected, with its submodules and linked
//!   worktrees, and repositories up to four directories further down, of the first 200 directories
//!   that are not of dependencies or build results; those in temporary directories are not;
//! - a new repository below another one is put aside after the command if it has hooks or settings
//!   beyond the plain ones or takes over tracked files, as far as that look reaches;
//! - of a list of hosts, what goes through a tunnel is not looked at: a listed host that serves many
//!   names can lead to another of them. What several commands are refused at the same time is told
//!   with each of them;
//! - the root directory itself cannot be a writable root ([`SandboxPolicy::unusable_roots`]);
//! - modes with the set-user-id or set-group-id bit are refused, also where they are there already
//!   (a `chmod` of a directory that passes its group on must leave the bit out);
//! - without namespaces, memory that programs of the same user share (System V, `/dev/shm`), their
//!   terminals and their scheduling are within reach;
//! - without namespaces, the metadata of all files (modes, times, extended attributes) can be
//!   changed by their owner, outside the roots too: Landlock does not cover it;
//! - without namespaces, what is made in a directory that holds a hidden path cannot be read by
//!   later commands of the same holder: what exists is what gets a rule;
//! - debuggers and tracers do not work inside, and 32-bit programs end at their first call.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "there is no sandbox for this system yet, and nothing here runs commands without one; \
     use Linux, on Windows that of WSL"
);

mod command;
#[cfg(target_os = "linux")]
mod control;
mod denial;
mod explain;
mod finding;
#[cfg_attr(
    target_os = "macos",
    expect(dead_code, reason = "only Linux looks at repositories after a command")
)]
mod git_dirs;
mod holder;
mod hosts;
mod ignore_file;
mod level;
mod oneshot;
#[cfg(target_os = "linux")]
mod personality;
mod policy;
#[cfg_attr(
    target_os = "macos",
    expect(dead_code, reason = "only Linux runs it on a thread of its own")
)]
mod proxy;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod secrets;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "macos")]
#[path = "sys/macos.rs"]
mod sys;
mod terminal;
mod variables;

pub use command::{CommandEnd, CommandSpec, SandboxedCommand, SpawnError};
pub use denial::{Failure, explain_denial};
pub use explain::{Answer, Explanation, Verdict};
pub use finding::{Finding, FindingAction};
pub use holder::{Holder, HolderOptions, SandboxError};
#[cfg(target_os = "macos")]
pub use holder::{PERSONALITY, run_personality};
pub use hosts::{HostDenial, HostEntryError, HostList};
pub use ignore_file::{IGNORE_FILE, IgnoreFileError, IgnoredPaths, ignored_paths};
pub use level::{Layer, LevelRefusal, LevelReport, MissingLayer};
pub use oneshot::{OneShot, OneShotEnd, OneShotError, run_command_in_sandbox};
#[cfg(target_os = "linux")]
pub use personality::{PERSONALITY, run_personality};
pub use policy::{NetworkAccess, SandboxPolicy, TemporaryOptions, toolchain_caches};
pub use secrets::account_home;
pub use terminal::Terminal;
pub use variables::PROXY_VARIABLES;
