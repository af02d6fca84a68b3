//! Which addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address it is, unless anybody on the internet could reach it as well.
///
/// The ranges are those of the IANA special-purpose registries for IPv4 and IPv6 (RFC 6890 and
/// its updates), and an address on which a cloud serves its machines alone.
pub(super) fn kind_unless_public(address: IpAddr) -> Option<&'static str> {
    match address.to_canonical() {
        IpAddr::V4(address) => kind_of_v4(address),
        IpAddr::V6(address) => kind_of_v6(address),
    }
}

fn kind_of_v4(address: Ipv4Addr) -> Option<&'static str> {
    Some(match address.octets() {
        [0, ..] => "an unspecified address",
        [127, ..] => "a loopback address",
        // Clouds tell their machines secrets at 169.254.169.254.
        [169, 254, ..] => "a link-local or metadata address",
        // Azure's host, for its machines.
        [168, 63, 129, 16] => "a metadata address",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "a private address",
        [100, 64..=127, ..] => "a carrier's private address",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "a documentation address",
        [192, 0, 0, _] | [192, 88, 99, _] | [198, 18..=19, ..] => "a special-purpose address",
        [224..=239, ..] => "a multicast address",
        [240..=255, ..] => "a reserved address",
        _ => return None,
    })
}

fn kind_of_v6(address: Ipv6Addr) -> Option<&'static str> {
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        kind_of_v4(Ipv4Addr::new(a, b, c, d))
    };
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "an unspecified address",
        [0, 0, 0, 0, 0, 0, 0, 1] => "a loopback address",
        [0xfc00..=0xfdff, ..] => "a unique local address",
        [0xfe80..=0xfebf, ..] => "a link-local address",
        [0xff00..=0xffff, ..] => "a multicast address",
        // The well-known prefix of NAT64 (RFC 6052) and 6to4 (RFC 3056) lead to IPv4.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            return embedded(high, low);
        }
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "a documentation address",
        [0x2001, 0..=0x1ff, ..] => "a special-purpose address",
        // Global unicast (RFC 4291, section 2.4, as IANA gives it out).
        [0x2000..=0x3fff, ..] => return None,
        _ => "a reserved address",
    })
}
