//! What a session says of this machine.

use std::ffi::OsString;
use std::path::PathBuf;

use agent_sandbox::SandboxPolicy;
use agent_workspace::Durability;

/// What this machine is to a session.
#[derive(Debug)]
pub struct LocalSettings {
    /// What commands may touch.
    pub policy: SandboxPolicy,
    /// The environment of commands.
    pub variables: Vec<(OsString, OsString)>,
    /// Names that were withheld from it.
    pub withheld: Vec<String>,
    /// The shell that scripts are for.
    pub shell: PathBuf,
    /// Whether it may be a login shell.
    pub allow_login_shell: bool,
    /// Whether what a login profile sets is kept for other sessions.
    pub keeps_shell_state: bool,
    /// Whether edits wait until they are on the disk.
    pub durability: Durability,
}
