//! What is said about a decision: to the model, to the client of the proxy, to people.

use std::fmt;

use super::{Destination, Host, HostEntry, HostList, Refusal};

/// A destination that was refused, and why. Displayed as one line for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostDenial {
    /// None where it could not be told which one was meant.
    pub(crate) destination: Option<Destination>,
    pub(crate) refusal: Refusal,
}

impl HostDenial {
    pub(crate) fn new(destination: &Destination, refusal: Refusal) -> Self {
        let destination = Some(destination.clone());
        Self {
            destination,
            refusal,
        }
    }

    pub(crate) fn unclear(refusal: Refusal) -> Self {
        Self {
            destination: None,
            refusal,
        }
    }

    /// What would have to be listed.
    fn missing(&self) -> Option<Destination> {
        let destination = self.destination.clone()?;
        Some(match self.refusal {
            Refusal::Leads { to, .. } => Destination {
                host: Host::Address(to),
                ..destination
            },
            Refusal::NotListed | Refusal::OtherPort | Refusal::Unclear(_) => destination,
        })
    }

    fn rule(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_address = self
            .destination
            .as_ref()
            .is_some_and(|destination| matches!(destination.host, Host::Address(_)));
        match &self.refusal {
            Refusal::NotListed if is_address => f.write_str(
                "it is not in the list `network` of the configuration, and an address is reached \
                 only if it is listed itself",
            ),
            Refusal::NotListed => {
                f.write_str("it is not in the list `network` of the configuration")
            }
            Refusal::OtherPort => f.write_str(
                "the list `network` of the configuration has this host for other ports only",
            ),
            Refusal::Leads { to, kind } => write!(
                f,
                "the name is in the list `network` of the configuration but leads to `{to}`, \
                 {kind}, which is reached only if it is listed itself"
            ),
            Refusal::Unclear(_) => f.write_str(
                "it is no host name or address in its usual spelling, so it cannot be compared \
                 with the list `network` of the configuration",
            ),
        }
    }
}

impl fmt::Display for HostDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.destination, &self.refusal) {
            (Some(destination), _) => write!(f, "the sandbox refused `{destination}`: ")?,
            (None, Refusal::Unclear(text)) => write!(f, "the sandbox refused `{text}`: ")?,
            (None, _) => f.write_str("the sandbox refused a connection: ")?,
        }
        self.rule(f)?;
        match self.missing() {
            Some(missing) => write!(
                f,
                "; if the task needs it, ask the user to add `\"{missing}\"` to `network`"
            ),
            None => Ok(()),
        }
    }
}

impl HostList {
    /// What the list says of `HOST` or `HOST:PORT`, a line for each port that matters.
    pub fn explain(&self, subject: &str) -> Vec<String> {
        let bare = Host::parse(subject).map(|host| (host, None));
        let parsed = bare.or_else(|_| {
            Destination::parse(subject, None).map(|found| (found.host, Some(found.port)))
        });
        let (host, port) = match parsed {
            Ok(parsed) => parsed,
            Err(refusal) => return vec![denied(&HostDenial::unclear(refusal))],
        };
        if let Some(port) = port {
            let destination = Destination { host, port };
            return vec![match self.decide(&destination) {
                Ok(entry) => reached(&destination, entry, "on this port"),
                Err(refusal) => denied(&HostDenial::new(&destination, refusal)),
            }];
        }
        self.explain_all_ports(&host)
    }

    fn explain_all_ports(&self, host: &Host) -> Vec<String> {
        let at = |port| Destination {
            host: host.clone(),
            port,
        };
        let mut listed: Vec<u16> = self.entries.iter().filter_map(|entry| entry.port).collect();
        listed.sort_unstable();
        listed.dedup();
        // What is said of a port that no entry has is said of all such ports.
        let unlisted = (1..=u16::MAX).find(|port| !listed.contains(port));
        let others = at(unlisted.unwrap_or(u16::MAX));
        let refusal = match self.decide(&others) {
            Ok(entry) => return vec![reached(&others, entry, "on every port")],
            Err(refusal) => refusal,
        };
        let mut lines = Vec::new();
        for port in listed {
            if let Ok(entry) = self.decide(&at(port)) {
                lines.push(reached(&at(port), entry, &format!("on port {port}")));
            }
        }
        if lines.is_empty() {
            let denial = HostDenial::new(&others, refusal);
            lines.push(format!("denied: `{host}` on every port: {}", Rule(&denial)));
        } else {
            lines.push("denied: on every other port".to_owned());
        }
        lines
    }
}

struct Rule<'a>(&'a HostDenial);

impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.rule(f)
    }
}

fn denied(denial: &HostDenial) -> String {
    format!("denied: {}", Rule(denial))
}

fn reached(destination: &Destination, entry: &HostEntry, ports: &str) -> String {
    let limit = match &destination.host {
        Host::Address(_) => "",
        host if host.is_localhost() => "; it is the loopback of this machine",
        Host::Name(_) => {
            "; not where the name leads to a loopback, private or other special address that is \
             not listed itself"
        }
    };
    format!("reached {ports}, through the proxy: `network` has `{entry}`{limit}")
}
