//! The variables that commands get from their sandbox, and those that it keeps from them.

use std::ffi::{OsStr, OsString};

use agent_protocol::SandboxLevel;

use crate::policy::SandboxPolicy;

/// The variables that name the proxy of a list of hosts, and what is reached past it.
pub const PROXY_VARIABLES: [&str; 8] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

type Variable = (OsString, OsString);

/// The variables that tell a command about its sandbox. They are information, never believed.
/// `port` is that of the proxy, where there is one.
pub(crate) fn own(level: SandboxLevel, policy: &SandboxPolicy, port: Option<u16>) -> Vec<Variable> {
    let mut variables = vec![("AGENT_SANDBOX".into(), level.as_str().into())];
    match (policy.proxied_hosts(), port) {
        (Some(list), Some(port)) => {
            let http = format!("http://127.0.0.1:{port}");
            let no_proxy = list.own_loopback().join(",");
            // Not `socks5h`, which the port speaks as well: httpx fails at its start where its
            // library for SOCKS is missing.
            let values = [&http, &http, &http, &no_proxy];
            let values = values.into_iter().flat_map(|value| [value, value]);
            for (name, value) in PROXY_VARIABLES.iter().zip(values) {
                variables.push((name.into(), value.into()));
            }
            variables.push(("NODE_USE_ENV_PROXY".into(), "1".into()));
        }
        (None, _) | (_, None) if policy.cuts_network() => {
            variables.push(("AGENT_SANDBOX_NETWORK_DISABLED".into(), "1".into()));
        }
        (None, _) | (_, None) => {}
    }
    variables
}

/// The variables that a command gets: the given ones without those that lead outside, and the
/// sandbox's own in the place of others of their names.
pub(crate) fn with_own<'a>(
    given: &'a [Variable],
    own: &'a [Variable],
    policy: &SandboxPolicy,
) -> impl Iterator<Item = &'a Variable> {
    let is_cut = policy.cuts_network();
    let kept = given.iter().filter(move |(name, _)| {
        own.iter().all(|(other, _)| other != name) && !(is_cut && leads_outside(name))
    });
    kept.chain(own)
}

/// Variables that name sockets of the host: agents, message buses and displays.
const OUTWARD: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AUTH_SOCK",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];

/// Whether a variable is kept from commands that do not share the machine's network.
fn leads_outside(name: &OsStr) -> bool {
    OUTWARD.iter().any(|outward| name == *outward)
}
