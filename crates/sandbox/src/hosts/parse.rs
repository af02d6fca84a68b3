//! From texts to hosts and entries. Everything that could be read in two ways is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Destination, Host, HostEntry, Pattern, Refusal};

/// The spellings by which programs mean their own loopback.
pub(super) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The longest name and the longest part of one, in bytes (RFC 1035, section 2.3.4).
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// How much of a text that is no host is told, in characters.
const MAX_TOLD: usize = 80;

/// Why a text is no entry of a list of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the entry `{entry}` {problem}")]
pub struct HostEntryError {
    /// The entry as it was written.
    pub entry: String,
    /// What is wrong with it and what is right, as the rest of a sentence.
    pub problem: String,
}

/// Reads an entry: `host`, `*.host`, an address (of IPv6 in brackets), each with `:port` or not.
pub(super) fn entry(text: &str) -> Result<HostEntry, HostEntryError> {
    parts_of(text).map_err(|problem| HostEntryError {
        entry: text.to_owned(),
        problem,
    })
}

fn parts_of(text: &str) -> Result<HostEntry, String> {
    if text == "*" || text.starts_with("*:") {
        return Err("would allow every host: write `network = \"on\"` for that".to_owned());
    }
    if let Some((_, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        return Err(format!(
            "is an address of a page: write the host alone, `{host}`"
        ));
    }
    if let Some((host, rest)) = text.split_once('/') {
        let is_network = host.parse::<IpAddr>().is_ok() && rest.parse::<u8>().is_ok();
        return Err(if is_network {
            "is a network: addresses are listed one by one".to_owned()
        } else {
            format!("has a path: write the host alone, `{host}`")
        });
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(format!(
            "is an IPv6 address: write it in brackets, `[{text}]`"
        ));
    }
    let (host, port) = split_port(text).ok_or_else(|| {
        "has no usable port: write `host:443`, with a number from 1 to 65535, or the host alone \
         for all ports"
            .to_owned()
    })?;
    if let Some(parent) = host.strip_prefix("*.") {
        return match Host::parse(parent) {
            Ok(Host::Name(parent)) => Ok(HostEntry {
                pattern: Pattern::Below(parent),
                port,
            }),
            Ok(Host::Address(_)) => Err("is no name: addresses are listed one by one".to_owned()),
            Err(_) => Err(no_host(parent)),
        };
    }
    if host.contains('*') {
        return Err(
            "has `*` in the wrong place: write `*.host` for all names below `host`".to_owned(),
        );
    }
    let is_bracketed = host.starts_with('[');
    match Host::parse(host) {
        Ok(Host::Address(address @ IpAddr::V4(_))) if is_bracketed => {
            Err(format!("stands for an IPv4 address: write `{address}`"))
        }
        Ok(host) => Ok(HostEntry {
            pattern: Pattern::Is(host),
            port,
        }),
        Err(_) => Err(no_host(host)),
    }
}

fn no_host(host: &str) -> String {
    if !host.is_ascii() {
        return "is not ASCII: write the name as it is looked up, which begins with `xn--`"
            .to_owned();
    }
    if ends_in_number(host.strip_suffix('.').unwrap_or(host)) {
        return "is no address: write all four numbers, as in `192.0.2.1`".to_owned();
    }
    "is no host: write a name, `*.name` or an address, with `:port` or without".to_owned()
}

/// Divides `host:port`; the brackets of an IPv6 address stay. `None` if the port is no port.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let after_address = text.rfind(']').map_or(0, |at| at + 1);
    let (head, tail) = text.split_at_checked(after_address)?;
    match tail.rsplit_once(':') {
        None => Some((text, None)),
        Some((name, port)) => {
            let host = text.get(..head.len() + name.len())?;
            Some((host, Some(parse_port(port)?)))
        }
    }
}

/// A decimal number from 1 to 65535, in its one spelling.
fn parse_port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

impl Host {
    /// Reads a name or an address, of IPv6 with brackets or without. Spellings of addresses that
    /// some resolvers know beside the usual ones (`127.1`, `0x7f.1`, `2130706433`) are no hosts.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let unclear = || Refusal::Unclear(shortened(text));
        let bracketed = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(inside) = bracketed {
            let address: Ipv6Addr = inside.parse().map_err(|_| unclear())?;
            return Ok(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Ok(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if is_name(name) && !ends_in_number(name) {
            Ok(Self::Name(name.to_ascii_lowercase()))
        } else {
            Err(unclear())
        }
    }
}

/// Letters, digits, hyphens and the underscore, which some names of services have.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(is_part)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

/// Whether resolvers could take it for an address: they do when the last part is a number, decimal
/// or hexadecimal (WHATWG URL Standard, "ends in a number"). No top-level domain is one.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    is_decimal
        || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl Destination {
    /// Reads `host:port`, with the port that is meant where none is written.
    pub(crate) fn parse(text: &str, default_port: Option<u16>) -> Result<Self, Refusal> {
        let unclear = || Refusal::Unclear(shortened(text));
        // Without brackets it would be guessed where an IPv6 address ends.
        if !text.starts_with('[') && text.matches(':').count() > 1 {
            return Err(unclear());
        }
        let (host, port) = split_port(text).ok_or_else(unclear)?;
        Ok(Self {
            host: Host::parse(host)?,
            port: port.or(default_port).ok_or_else(unclear)?,
        })
    }
}

/// A foreign text for display: nothing that is not printable ASCII, and not much of it.
fn shortened(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(MAX_TOLD)
        .map(|c| {
            if c.is_ascii_graphic() && c != '`' {
                c
            } else {
                '?'
            }
        })
        .collect();
    if text.chars().nth(MAX_TOLD).is_some() {
        shown.push_str("...");
    }
    shown
}
