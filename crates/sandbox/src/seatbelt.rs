//! The Seatbelt profile that enforces a policy on macOS, written from facts alone.
//!
//! [`profile`] is pure: it looks at no file and runs everywhere, so that its tests do. `facts` does
//! the looking, `names` writes the patterns for protected names, `explain` decides about one path
//! by the same facts. This module starts nothing.
//!
//! Three things are relied on throughout:
//! - Of several rules that match, the last one counts. Each part of the profile therefore stands
//!   behind the parts that it restricts, and names the operation of the rule that it takes back.
//! - Seatbelt compares the path that the kernel knows, with links followed and in the spelling of
//!   the disk. All paths of [`Facts`] are canonical already: `/private/tmp`, never `/tmp`.
//! - No path is ever a part of the text. Each is passed beside it as a parameter, and what the text
//!   takes of a name is made of letters, digits and brackets (`names`).

mod explain;
mod facts;
mod names;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::git_dirs::nested::Scanner;
use crate::policy::SandboxPolicy;
pub(crate) use explain::explain;
pub(crate) use facts::facts;

/// The program that puts a profile on itself and becomes the command (sandbox-exec(1)).
pub(crate) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What a profile is made from. Every path is canonical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Directories that commands may write.
    pub(crate) writable: Vec<PathBuf>,
    /// Names inside them that must stay as they are, whether they exist or not.
    pub(crate) protected: Vec<Protected>,
    /// Files and directories that may not be read.
    pub(crate) hidden: Vec<PathBuf>,
    /// The agent's own directory, if there is one.
    pub(crate) agent_home: Option<AgentHome>,
    /// What is reached over the network.
    pub(crate) network: Network,
}

/// A name that must stay as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Protected {
    /// The innermost directory above it that exists.
    pub(crate) directory: PathBuf,
    /// The rest of the path: one component, or several that do not exist.
    pub(crate) below: PathBuf,
}

/// The agent's own directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentHome {
    pub(crate) path: PathBuf,
    /// What of it can be read.
    pub(crate) shown: Vec<PathBuf>,
}

/// What commands reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Nothing, not even their own loopback interface: it is that of the machine.
    Nothing,
    /// The proxy on this port of the loopback interface.
    Proxy(u16),
    /// What the agent itself reaches, but for sockets with a path.
    Everything,
}

/// A profile and the paths that it refers to by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) text: String,
    pub(crate) parameters: Vec<PathBuf>,
}

impl Profile {
    /// The arguments of `sandbox-exec` before the command.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec!["-p".into(), OsString::from(&self.text)];
        for (number, path) in self.parameters.iter().enumerate() {
            let mut definition = OsString::from(format!("P{number}="));
            definition.push(path);
            arguments.extend(["-D".into(), definition]);
        }
        arguments.push("--".into());
        arguments
    }
}

/// The command line that runs `argv` under a policy; `port` is that of the proxy. Full access has no
/// profile.
pub(crate) fn command_line(
    policy: &SandboxPolicy,
    (scanner, port): (&mut Scanner, Option<u16>),
    argv: &[OsString],
) -> Vec<OsString> {
    if !policy.confines() {
        return argv.to_vec();
    }
    let profile = profile(&facts(&policy.resolve(), scanner, port));
    let mut line = vec![OsString::from(SANDBOX_EXEC)];
    line.extend(profile.arguments());
    line.extend_from_slice(argv);
    line
}

/// What ordinary programs need, whatever the policy. `defined?` guards operations that not every
/// version knows: one unknown word makes the whole profile invalid.
const BASE: &str = r#"(version 1)
(deny default)
; These are not part of the default.
(deny process-info*)
(if (defined? 'nvram*) (deny nvram*))

; Processes: whatever is started stays in this sandbox.
(allow process-fork)
(allow process-exec*)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
; The arguments and variables of other processes, those of the agent among them.
(deny sysctl-read (sysctl-name-prefix "kern.procargs"))
(allow ipc-posix-sem)
(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))

; Services: users and groups, notifications, the log. None that opens programs or keychains.
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.logd")
  (global-name "com.apple.bsd.dirhelper"))

; Files: everything can be read but for what later rules take back.
(allow file-read*)
(if (defined? 'file-test-existence) (allow file-test-existence))
(if (defined? 'file-map-executable) (allow file-map-executable))
(allow file-write-data
  (literal "/dev/null")
  (literal "/dev/zero")
  (subpath "/dev/fd"))

; Terminals: that of the command, and those that it opens itself.
(deny file-read* (regex "^/dev/(tty|pty|cu[.])"))
(allow file-read-metadata (regex "^/dev/(tty|pty|cu[.])"))
(allow pseudo-tty)
(allow file-read* file-write-data (literal "/dev/tty") (literal "/dev/ptmx"))
(allow file-read* file-write*
  (require-all (regex "^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (regex "^/dev/(tty|ttys[0-9]+|ptmx|null|zero|u?random)$"))
"#;

/// Writes the profile of a confined command.
pub(crate) fn profile(facts: &Facts) -> Profile {
    let mut writer = Writer {
        text: BASE.to_owned(),
        parameters: Vec::new(),
    };
    // A directory inside the agent's own is writable all the same; one around it is not there.
    let (inner, outer): (Vec<&Path>, Vec<&Path>) = facts
        .writable
        .iter()
        .map(PathBuf::as_path)
        .partition(|root| facts.is_in_agent_home(root));
    writer.writable("Writable directories", &outer);
    if let Some(home) = &facts.agent_home {
        writer.agent_home(home, &inner);
    }
    writer.writable("Writable directories inside the agent's own", &inner);
    writer.protected(&facts.protected);
    writer.pinned(&facts.pinned());
    writer.hidden(&facts.hidden);
    writer.network(facts.network);
    Profile {
        text: writer.text,
        parameters: writer.parameters,
    }
}

impl Facts {
    /// Whether a path is inside the agent's own directory, not that directory itself.
    fn is_in_agent_home(&self, path: &Path) -> bool {
        let home = self.agent_home.as_ref();
        home.is_some_and(|home| path != home.path && path.starts_with(&home.path))
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|root| path.starts_with(root))
    }

    /// Directories whose names must stay: the writable ones, and those between them and what is
    /// protected or hidden. By another name no rule would know what is in them.
    fn pinned(&self) -> BTreeSet<PathBuf> {
        let directories = self.protected.iter().map(|entry| entry.directory.as_path());
        let above_hidden = self.hidden.iter().filter_map(|path| path.parent());
        let home = self.agent_home.iter().map(|home| home.path.as_path());
        let roots = self.writable.iter().map(PathBuf::as_path);
        let starts = directories.chain(above_hidden).chain(home).chain(roots);
        starts
            .flat_map(Path::ancestors)
            .filter(|path| self.is_writable(path))
            .map(Path::to_owned)
            .collect()
    }
}

/// The profile that is being written.
struct Writer {
    text: String,
    parameters: Vec<PathBuf>,
}

impl Writer {
    /// The expression that stands for a path.
    fn parameter(&mut self, path: &Path) -> String {
        let known = self.parameters.iter().position(|other| other == path);
        let number = known.unwrap_or_else(|| {
            self.parameters.push(path.to_owned());
            self.parameters.len() - 1
        });
        format!("(param \"P{number}\")")
    }

    fn heading(&mut self, words: &str) {
        let _ = writeln!(self.text, "\n; {words}.");
    }

    /// One rule for several paths; none for no path, which would be a rule for all of them.
    fn rule<P: AsRef<Path>>(&mut self, action: &str, filter: &str, paths: &[P]) {
        if paths.is_empty() {
            return;
        }
        let _ = write!(self.text, "({action}");
        for path in paths {
            let parameter = self.parameter(path.as_ref());
            let _ = write!(self.text, "\n  ({filter} {parameter})");
        }
        self.text.push_str(")\n");
    }

    /// Closes directories to reading and writing, also under the name that the volume of the user's
    /// data has beside the usual one, in case that counts. To writing nothing is open there.
    fn closed<P: AsRef<Path>>(&mut self, paths: &[P]) {
        self.rule("deny file-read* file-write* file-link", "subpath", paths);
        self.text.push_str("(deny file-read*");
        for path in paths {
            let parameter = self.parameter(path.as_ref());
            let _ = write!(
                self.text,
                "\n  (subpath (string-append \"{DATA_VOLUME}\" {parameter}))"
            );
        }
        self.text.push_str(")\n");
    }

    fn writable(&mut self, heading: &str, roots: &[&Path]) {
        if !roots.is_empty() {
            self.heading(heading);
            self.rule("allow file-read* file-write* file-link", "subpath", roots);
            self.rule("deny file-write-setugid", "subpath", roots);
        }
    }

    fn agent_home(&mut self, home: &AgentHome, writable: &[&Path]) {
        self.heading("The agent's own directory");
        self.closed(&[&home.path]);
        self.rule("allow file-read*", "subpath", &home.shown);
        // Who looks for what is open passes through the directories above it.
        let open = home.shown.iter().map(PathBuf::as_path);
        let open = open.chain(writable.iter().copied());
        let above = open.flat_map(|path| path.ancestors().skip(1));
        let mut above: Vec<_> = above
            .filter(|above| above.starts_with(&home.path))
            .collect();
        above.push(&home.path);
        above.sort_unstable();
        above.dedup();
        self.rule("allow file-read-metadata", "literal", &above);
    }

    fn protected(&mut self, protected: &[Protected]) {
        if protected.is_empty() {
            return;
        }
        self.heading("Protected names, in any spelling that the disk may take for them");
        self.text.push_str("(deny file-write* file-link");
        let directories: BTreeSet<_> = protected.iter().map(|entry| &entry.directory).collect();
        for directory in directories {
            let below = protected
                .iter()
                .filter(|entry| entry.directory == *directory)
                .map(|entry| names::pattern(&entry.below))
                .collect::<BTreeSet<_>>();
            let below = Vec::from_iter(below).join("|");
            let parameter = self.parameter(directory);
            let _ = write!(
                self.text,
                "\n  (regex (string-append \"^\" (regex-quote {parameter}) \"/({below})(/|$)\"))"
            );
        }
        self.text.push_str(")\n");
    }

    fn pinned(&mut self, pinned: &BTreeSet<PathBuf>) {
        if !pinned.is_empty() {
            self.heading("Directories that keep their names");
            let pinned: Vec<_> = pinned.iter().collect();
            self.rule("deny file-write-unlink", "literal", &pinned);
        }
    }

    fn hidden(&mut self, hidden: &[PathBuf]) {
        if !hidden.is_empty() {
            self.heading("What may not be read, nor be moved to where it could be");
            self.closed(hidden);
            // That it is there can be seen, as on Linux.
            self.rule("allow file-read-metadata", "literal", hidden);
        }
    }

    fn network(&mut self, network: Network) {
        // Sockets with a path count as network: agents, container daemons, displays.
        self.heading("The network, and sockets with a path");
        self.text.push_str("(deny network*)\n");
        match network {
            Network::Nothing => {}
            Network::Proxy(port) => {
                let _ = writeln!(
                    self.text,
                    "(allow network-outbound (remote tcp \"localhost:{port}\"))"
                );
            }
            Network::Everything => self.text.push_str(SHARED_NETWORK),
        }
    }
}

/// Where the volume of the user's data is mounted; usual paths lead there by firm links.
const DATA_VOLUME: &str = "/System/Volumes/Data";

/// The network of the machine, with what looks names up and checks certificates.
const SHARED_NETWORK: &str = r#"(allow network-outbound (remote ip "*:*"))
(allow network-bind network-inbound (local ip "*:*"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow system-socket)
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.dnssd.service")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))
"#;

#[cfg(test)]
mod tests;
