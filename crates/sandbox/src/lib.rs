//! Kernel-enforced limits for commands, and the holder that starts and ends them.
//!
//! A [`SandboxPolicy`] says what commands may touch. A [`Holder`] is a small process, forked from
//! this same program under the name [`PERSONALITY`], that enforces one policy with namespaces,
//! Landlock and seccomp, as far as the machine grants them ([`LevelReport`]), and from which
//! nothing survives: when the agent closes the control socket, or dies in whatever way, all its
//! commands end. This crate does not decide which policy applies and asks nobody.

mod command;
mod control;
mod denial;
mod git_dirs;
mod holder;
mod level;
mod oneshot;
mod personality;
mod policy;
mod secrets;
mod sys;

pub use command::{CommandEnd, CommandSpec, SandboxedCommand, SpawnError};
pub use denial::{Failure, explain_denial};
pub use holder::{Holder, HolderOptions, SandboxError};
pub use level::{Layer, LevelReport, MissingLayer};
pub use oneshot::{OneShot, OneShotEnd, OneShotError, run_command_in_sandbox};
pub use personality::findings::{Finding, FindingAction};
pub use personality::{PERSONALITY, run_personality};
pub use policy::{NetworkAccess, SandboxPolicy, TemporaryOptions, toolchain_caches};
