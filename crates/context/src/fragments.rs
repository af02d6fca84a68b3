//! The fragments.

use std::fmt::Write as _;
use std::path::PathBuf;

use agent_protocol::{ApprovalPolicy, FragmentKind, Role, SandboxMode};

use crate::Fragment;

/// What the sandbox and the approval policy allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// What commands may touch.
    pub sandbox_mode: SandboxMode,
    /// Directories that may be written, beside the workspace.
    pub writable_roots: Vec<PathBuf>,
    /// What of the network commands reach.
    pub network: Network,
    /// When a person is asked.
    pub approval_policy: ApprovalPolicy,
    /// Whether a person can be asked at all.
    pub interactive: bool,
}

/// What of the network commands reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// A loopback of their own.
    Off,
    /// All of it.
    On,
    /// These entries of a list of hosts, through a proxy, and a loopback of their own.
    Hosts(Vec<String>),
}

/// How many entries of a list of hosts are told.
const MAX_HOSTS: usize = 40;

impl Fragment for Permissions {
    const KIND: FragmentKind = FragmentKind::Permissions;
    const ROLE: Role = Role::Developer;
    const MAX_BYTES: usize = 8 * 1024;

    fn write_body(&self, out: &mut String) {
        out.push_str("<permissions>\n");
        self.write_sandbox(out);
        self.write_approvals(out);
        out.push_str("</permissions>");
    }
}

impl Permissions {
    fn write_sandbox(&self, out: &mut String) {
        let _ = writeln!(out, "Sandbox: `{}`.", self.sandbox_mode);
        match self.sandbox_mode {
            SandboxMode::ReadOnly => {
                out.push_str("Commands and patches can read files but write none.\n");
            }
            SandboxMode::WorkspaceWrite => {
                out.push_str(
                    "Commands and patches can write in the workspace, in `/tmp` and in `$TMPDIR`",
                );
                for root in &self.writable_roots {
                    let _ = write!(out, ", in `{}`", root.display());
                }
                out.push_str(
                    "; everything else is read-only. Inside them `.git/hooks`, `.git/config`, \
                     `.agent`, `.agents` and `.codex` are read-only too. Private keys and \
                     credentials in the home directory cannot be read.\n",
                );
            }
            SandboxMode::DangerFullAccess => {
                out.push_str("Commands run without a sandbox.\n");
                return;
            }
        }
        self.write_network(out);
        out.push_str(
            "The kernel enforces this. When something is denied, do not try to get around it: \
             find a way inside the limits or tell the user what is missing.\n",
        );
    }

    fn write_network(&self, out: &mut String) {
        let hosts = match &self.network {
            Network::On => return out.push_str("Commands reach the network.\n"),
            Network::Off => {
                return out.push_str(
                    "Commands have no network beyond a loopback of their own; servers that they \
                     start there reach each other.\n",
                );
            }
            Network::Hosts(hosts) => hosts,
        };
        out.push_str("Of the network, commands reach only ");
        for (idx, host) in hosts.iter().take(MAX_HOSTS).enumerate() {
            let comma = if idx == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}`{host}`");
        }
        if let Some(n_more @ 1..) = hosts.len().checked_sub(MAX_HOSTS) {
            let _ = write!(out, " and {n_more} more that are listed");
        }
        out.push_str(
            ", through the proxy that `HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY` name; what does \
             not use it finds no network. Servers that they start on a loopback of their own reach \
             each other. Another host has to be added to `network` in the configuration by the \
             user.\n",
        );
    }

    fn write_approvals(&self, out: &mut String) {
        let _ = write!(out, "Approvals: `{}`. ", self.approval_policy);
        out.push_str(match (self.approval_policy, self.interactive) {
            (ApprovalPolicy::Never, _) => {
                "Nobody is asked; what would need an approval is declined at once.\n"
            }
            (_, false) => {
                "Nobody is there to be asked in this run; what would need an approval is declined \
                 at once.\n"
            }
            (ApprovalPolicy::OnRequest | ApprovalPolicy::Granular(_), true) => {
                "The user is asked when something has to leave the sandbox: run the command with \
                 `sandbox_permissions` set to `require_escalated` and a one-sentence \
                 `justification`. Ask only for what cannot be done inside.\n"
            }
            (ApprovalPolicy::Untrusted, true) => {
                "The user is asked before every command that is not a harmless read.\n"
            }
        });
    }
}

/// Instructions from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeveloperInstructions {
    /// The text as configured.
    pub text: String,
}

impl Fragment for DeveloperInstructions {
    const KIND: FragmentKind = FragmentKind::DeveloperInstructions;
    const ROLE: Role = Role::Developer;
    const MAX_BYTES: usize = 32 * 1024;

    fn write_body(&self, out: &mut String) {
        out.push_str(&self.text);
    }
}

/// Where the model works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The directory that commands start in.
    pub cwd: PathBuf,
    /// The shell's name.
    pub shell: String,
    /// Year, month, day.
    pub current_date: String,
    /// The time zone's name.
    pub timezone: String,
}

impl Fragment for Environment {
    const KIND: FragmentKind = FragmentKind::Environment;
    const ROLE: Role = Role::User;
    const MAX_BYTES: usize = 8 * 1024;

    fn write_body(&self, out: &mut String) {
        let lines = [
            ("cwd", self.cwd.display().to_string()),
            ("shell", self.shell.clone()),
            ("current_date", self.current_date.clone()),
            ("timezone", self.timezone.clone()),
        ];
        out.push_str("<environment_context>\n");
        for (name, value) in lines {
            let value = crate::escape_invisible(&value).text;
            let value = value.replace('<', "&lt;").replace('\n', "&#10;");
            let _ = writeln!(out, "  <{name}>{value}</{name}>");
        }
        out.push_str("</environment_context>");
    }
}

/// A command that the user ran, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserShellCommand {
    /// The script.
    pub command: String,
    /// How it ended and what it printed.
    pub output: String,
}

impl Fragment for UserShellCommand {
    const KIND: FragmentKind = FragmentKind::UserShellCommand;
    const ROLE: Role = Role::User;
    const MAX_BYTES: usize = 40 * 1024;

    fn write_body(&self, out: &mut String) {
        let Self { command, output } = self;
        let _ = write!(
            out,
            "<user_shell_command>\nThe user ran this command:\n{command}\n\n{output}\n\
             </user_shell_command>"
        );
    }
}

/// The user stopped the turn before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnInterrupted;

impl Fragment for TurnInterrupted {
    const KIND: FragmentKind = FragmentKind::TurnInterrupted;
    const ROLE: Role = Role::User;
    const MAX_BYTES: usize = 1024;

    fn write_body(&self, out: &mut String) {
        out.push_str(
            "<turn_aborted>\nThe previous turn was stopped before it was done. Its commands were \
             ended and may have done half of their work; check before you go on.\n</turn_aborted>",
        );
    }
}
