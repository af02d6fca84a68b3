//! One plain line for the model when the sandbox is the probable reason of a failure.

use agent_protocol::{SandboxLevel, SandboxMode};

use crate::policy::SandboxPolicy;

/// What a command's failure looks like from outside.
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    /// Its exit code, 128 + n for signal n.
    pub exit_code: i32,
    /// The end of its output.
    pub output: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    ReadOnly,
    Permission,
    Operation,
    Network,
}

/// Texts of the C library and of usual programs, lower case.
const TEXTS: &[(&str, Kind)] = &[
    ("read-only file system", Kind::ReadOnly),
    ("erofs", Kind::ReadOnly),
    // git(1), where `.git/config` is a mount.
    ("could not write config file", Kind::ReadOnly),
    ("permission denied", Kind::Permission),
    ("eacces", Kind::Permission),
    ("permissionerror", Kind::Permission),
    ("operation not permitted", Kind::Operation),
    ("eperm", Kind::Operation),
    ("network is unreachable", Kind::Network),
    ("enetunreach", Kind::Network),
    ("could not resolve", Kind::Network),
    ("couldn't resolve host", Kind::Network),
    ("temporary failure in name resolution", Kind::Network),
    ("temporary failure resolving", Kind::Network),
    ("name or service not known", Kind::Network),
    ("getaddrinfo", Kind::Network),
    ("eai_again", Kind::Network),
    ("enotfound", Kind::Network),
    ("failed to lookup address", Kind::Network),
    ("no such host", Kind::Network),
    ("connection refused", Kind::Network),
    ("econnrefused", Kind::Network),
    ("failed to connect", Kind::Network),
    ("could not connect", Kind::Network),
];

/// Says which rule of the sandbox probably made a command fail, if one did.
///
/// A successful command is explained only by a text that the sandbox is nearly alone in causing;
/// a failed one needs a typical text in its output as well. Without confinement the answer is
/// always `None`.
pub fn explain_denial(
    failure: Failure<'_>,
    policy: &SandboxPolicy,
    level: SandboxLevel,
) -> Option<String> {
    if !policy.confines() || level == SandboxLevel::None {
        return None;
    }
    let output = failure.output.to_lowercase();
    let kind = TEXTS
        .iter()
        .filter(|(text, _)| output.contains(text))
        .map(|(_, kind)| *kind)
        .find(|kind| *kind != Kind::Network || !policy.network.is_shared())?;
    if failure.exit_code == 0 && kind != Kind::ReadOnly {
        return None;
    }
    Some(match kind {
        Kind::ReadOnly => writing(policy),
        Kind::Permission if level == SandboxLevel::NoNamespaces => writing(policy),
        Kind::Permission => "the sandbox may have denied this: secrets under the home directory \
             and the agent's own records cannot be read"
            .to_owned(),
        Kind::Operation if level == SandboxLevel::NoNamespaces && !policy.network.is_shared() => {
            "the sandbox may have denied this: the network and unix sockets are off, and so are \
             privileged system calls; processes outside cannot be signalled"
                .to_owned()
        }
        // What Seatbelt says to everything.
        Kind::Operation if cfg!(target_os = "macos") => format!(
            "{}; nor can secrets be read, or what is outside be reached or signalled",
            writing(policy)
        ),
        Kind::Operation => "the sandbox may have denied this: tracing, mounts, namespaces and \
             other privileged system calls are off, and processes outside cannot be signalled"
            .to_owned(),
        Kind::Network => network(policy, level),
    })
}

fn writing(policy: &SandboxPolicy) -> String {
    if policy.mode == SandboxMode::ReadOnly {
        return "the sandbox probably denied this: it is read-only, nothing can be written".into();
    }
    let roots = std::iter::once(&policy.workspace)
        .chain(&policy.writable_roots)
        .chain(&policy.temporary_roots)
        .map(|root| format!("`{}`", root.display()));
    let roots = roots.collect::<Vec<_>>().join(", ");
    format!(
        "the sandbox probably denied this: only {roots} can be written, and in them not git's \
         `hooks` and `config`, `.agent`, `.agents` and `.codex`"
    )
}

fn network(policy: &SandboxPolicy, level: SandboxLevel) -> String {
    if let Some(list) = policy.network.hosts().filter(|_| cfg!(target_os = "macos")) {
        return format!(
            "the sandbox probably denied this: of the network only {list} is reached, through the \
             proxy that `HTTPS_PROXY` and `ALL_PROXY` name"
        );
    }
    if let Some(list) = policy.network.hosts() {
        return format!(
            "the sandbox probably denied this: of the network only {list} and this session's own \
             servers on localhost are reached, the former through the proxy that `HTTPS_PROXY` and \
             `ALL_PROXY` name; what does not use it finds no network"
        );
    }
    let scope = if cfg!(target_os = "macos") || level == SandboxLevel::NoNamespaces {
        "the network is off"
    } else {
        "the network is off, except for servers that this session's commands started on localhost"
    };
    format!("the sandbox probably denied this: {scope}")
}

#[cfg(test)]
mod tests;
