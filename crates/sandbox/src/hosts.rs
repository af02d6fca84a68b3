//! The list of hosts that commands may reach: how entries are written and what they allow.
//!
//! Pure: it opens and looks up nothing. The proxy and `agent sandbox --explain` ask the same
//! functions, [`HostList::decide`] before a name is looked up and [`HostList::decide_address`] for
//! what it leads to.

mod address;
mod explain;
mod parse;

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

pub use explain::HostDenial;
pub use parse::HostEntryError;

/// The hosts that commands may reach, by name and port. Written and sent as a list of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct HostList {
    entries: Vec<HostEntry>,
}

/// One entry: which hosts, and which port of them (all without one).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HostEntry {
    pattern: Pattern,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Pattern {
    /// Exactly this host.
    Is(Host),
    /// Every name below this one, at any depth; not the name itself.
    Below(String),
}

/// A host in its one spelling: two texts that mean the same are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Host {
    /// A name in lower-case ASCII without a dot at the end.
    Name(String),
    /// An address. One of IPv6 that stands for one of IPv4 (RFC 4291, section 2.5.5.2) is that.
    Address(IpAddr),
}

/// A host and a port of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Destination {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// Why a destination is not reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No entry names the host.
    NotListed,
    /// The host is listed, for other ports only.
    OtherPort,
    /// The name is allowed, but leads to an address that is not on the public internet.
    Leads {
        /// Where it leads.
        to: IpAddr,
        /// What kind of address that is, with its article.
        kind: &'static str,
    },
    /// It cannot be told which host is meant. The text was shortened for display.
    Unclear(String),
}

impl HostList {
    /// Reads the entries as people write them.
    ///
    /// # Errors
    /// For the first entry that is none.
    pub fn parse(entries: &[impl AsRef<str>]) -> Result<Self, HostEntryError> {
        let entries = entries.iter().map(|entry| parse::entry(entry.as_ref()));
        let entries = entries.collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in their usual spelling.
    pub fn entries(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(ToString::to_string)
    }

    /// Which entry lets commands reach a destination.
    pub(crate) fn decide(&self, destination: &Destination) -> Result<&HostEntry, Refusal> {
        let mut refusal = Refusal::NotListed;
        for entry in &self.entries {
            if !entry.names(&destination.host) {
                continue;
            }
            if entry.port.is_none_or(|port| port == destination.port) {
                return Ok(entry);
            }
            refusal = Refusal::OtherPort;
        }
        Err(refusal)
    }

    /// Whether an address may be connected to that an allowed destination leads to. A name can lead
    /// anywhere, so that one on the public internet is taken, or one that is listed itself.
    pub(crate) fn decide_address(
        &self,
        destination: &Destination,
        address: IpAddr,
    ) -> Result<(), Refusal> {
        let address = address.to_canonical();
        let itself = Destination {
            host: Host::Address(address),
            port: destination.port,
        };
        let Some(kind) = address::kind_unless_public(address) else {
            return Ok(());
        };
        let is_named_loopback = destination.host.is_localhost() && address.is_loopback();
        if is_named_loopback || self.decide(&itself).is_ok() {
            Ok(())
        } else {
            Err(Refusal::Leads { to: address, kind })
        }
    }

    /// The spellings of the loopback that are not listed. Commands reach their own loopback by
    /// these, past the proxy; the listed ones lead through it, to that of the machine.
    pub(crate) fn own_loopback(&self) -> Vec<&'static str> {
        let mut own = parse::LOOPBACK.to_vec();
        own.retain(|text| {
            let host = Host::parse(text);
            !self
                .entries
                .iter()
                .any(|entry| host.as_ref().is_ok_and(|host| entry.names(host)))
        });
        own
    }
}

impl TryFrom<Vec<String>> for HostList {
    type Error = HostEntryError;

    fn try_from(entries: Vec<String>) -> Result<Self, Self::Error> {
        Self::parse(&entries)
    }
}

impl From<HostList> for Vec<String> {
    fn from(list: HostList) -> Self {
        list.entries().collect()
    }
}

impl fmt::Display for HostList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, entry) in self.entries.iter().enumerate() {
            let comma = if idx == 0 { "" } else { ", " };
            write!(f, "{comma}`{entry}`")?;
        }
        Ok(())
    }
}

impl HostEntry {
    /// Whether it names the host, whatever the port.
    fn names(&self, host: &Host) -> bool {
        match (&self.pattern, host) {
            (Pattern::Is(listed), host) => listed == host,
            (Pattern::Below(parent), Host::Name(name)) => {
                let above = name.strip_suffix(parent.as_str());
                above.is_some_and(|above| above.len() > 1 && above.ends_with('.'))
            }
            (Pattern::Below(_), Host::Address(_)) => false,
        }
    }
}

impl fmt::Display for HostEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Pattern::Is(host) => write!(f, "{host}")?,
            Pattern::Below(name) => write!(f, "*.{name}")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl Host {
    /// Whether it is the one name that always means the machine itself (RFC 6761, section 6.3).
    pub(crate) fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost")
    }
}

/// As in a URI (RFC 3986, section 3.2.2): addresses of IPv6 in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests;
