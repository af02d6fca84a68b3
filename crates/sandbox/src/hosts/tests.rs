use std::net::IpAddr;

use proptest::prelude::*;

use super::{Destination, Host, HostList, Refusal};

fn list(entries: &[&str]) -> HostList {
    HostList::parse(entries).unwrap()
}

/// Which of these destinations the list allows.
fn allowed<'a>(entries: &[&str], destinations: &[&'a str]) -> Vec<&'a str> {
    let list = list(entries);
    let mut allowed = destinations.to_vec();
    allowed.retain(|text| {
        let destination = Destination::parse(text, Some(80));
        destination.is_ok_and(|destination| list.decide(&destination).is_ok())
    });
    allowed
}

#[test]
fn a_name_is_that_name_on_every_port_in_every_spelling() {
    let tried = [
        "example.org",
        "EXAMPLE.org.",
        "example.org:1",
        "a.example.org",
        "xexample.org",
        "example.org.evil",
        "example.org..",
        ".example.org",
        "example.or",
    ];
    assert_eq!(
        allowed(&["Example.ORG"], &tried),
        ["example.org", "EXAMPLE.org.", "example.org:1"]
    );
    assert_eq!(allowed(&["example.org."], &tried).len(), 3);
}

#[test]
fn a_port_is_that_port() {
    let tried = [
        "example.org:443",
        "example.org",
        "example.org:4430",
        "example.org:0443",
    ];
    assert_eq!(allowed(&["example.org:443"], &tried), ["example.org:443"]);
}

#[test]
fn a_star_is_every_name_below_and_not_the_name() {
    let tried = [
        "a.example.org",
        "b.a.example.org.",
        "example.org",
        "aexample.org",
        ".example.org",
        "a.example.org.evil",
        "1.2.3.4",
    ];
    assert_eq!(
        allowed(&["*.example.org"], &tried),
        ["a.example.org", "b.a.example.org."]
    );
    assert_eq!(
        allowed(&["*.example.org:1"], &["a.example.org:1", "a.example.org"]).len(),
        1
    );
}

#[test]
fn addresses_only_when_they_are_listed_themselves() {
    let tried = [
        "127.0.0.1:8080",
        "127.0.0.1:81",
        "[::1]:8080",
        "[0:0::1]:8080",
        "[::ffff:127.0.0.1]:8080",
        "[::ffff:7f00:1]:8080",
        "127.1:8080",
        "0x7f.1:8080",
        "2130706433:8080",
        "0177.0.0.1:8080",
        "127.0.0.1.:8080",
        "127.0.0.01:8080",
        "0x7f000001:8080",
        "[::1%lo]:8080",
        "::1:8080",
        "127.0.0.1 :8080",
        "[127.0.0.1]:8080",
        "1.2.3.4:8080",
    ];
    assert_eq!(
        allowed(&["127.0.0.1:8080"], &tried),
        [
            "127.0.0.1:8080",
            "[::ffff:127.0.0.1]:8080",
            "[::ffff:7f00:1]:8080"
        ]
    );
    assert_eq!(
        allowed(&["[::1]:8080"], &tried),
        ["[::1]:8080", "[0:0::1]:8080"]
    );
    assert_eq!(allowed(&["*.example"], &tried), [] as [&str; 0]);
}

#[test]
fn wrong_entries_say_what_is_right() {
    for (entry, said) in [
        ("*", "network = \"on\""),
        ("*:443", "network = \"on\""),
        ("https://u@example.org/x", "the host alone, `example.org`"),
        ("example.org/x", "the host alone, `example.org`"),
        ("10.0.0.0/8", "one by one"),
        ("::1", "`[::1]`"),
        ("[::ffff:10.0.0.1]:80", "write `10.0.0.1`"),
        ("127.1", "all four numbers"),
        ("0x7f000001", "all four numbers"),
        ("example.org:", "from 1 to 65535"),
        ("example.org:0", "from 1 to 65535"),
        ("example.org:080", "from 1 to 65535"),
        ("example.org:65536", "from 1 to 65535"),
        ("example.org:+80", "from 1 to 65535"),
        ("a*.example.org", "`*.host`"),
        ("a.*.org", "`*.host`"),
        ("*.*.org", "is no host"),
        ("*.10.0.0.1", "one by one"),
        ("bücher.example", "`xn--`"),
        ("", "is no host"),
        ("two words", "is no host"),
        ("u@example.org", "is no host"),
        ("-x.org", "is no host"),
        ("a..org", "is no host"),
        ("[::1", "is no host"),
    ] {
        let problem = HostList::parse(&[entry]).unwrap_err().to_string();
        assert!(problem.contains(said), "{entry}: {problem}");
        assert!(problem.contains(&format!("`{entry}`")), "{problem}");
    }
    assert!(HostList::parse(&["*.10.0.0.1"]).is_err());
}

/// What is said of a name that is listed and leads to an address.
fn leads(entries: &[&str], name: &str, address: &str) -> Result<(), Refusal> {
    let destination = Destination::parse(name, Some(80)).unwrap();
    let list = list(entries);
    list.decide(&destination).unwrap();
    list.decide_address(&destination, address.parse().unwrap())
}

#[test]
fn a_name_leads_to_no_special_address() {
    let special = [
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.9.9.9",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.9",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::2",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1::808:808",
        "2002:7f00:1::",
        "2002:a00:1::",
        "2001::1",
        "2001:db8::1",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "5f00::1",
    ];
    for address in special {
        let refused = leads(&["x.org", "localhost:1"], "x.org", address);
        assert!(matches!(refused, Err(Refusal::Leads { .. })), "{address}");
    }
    let public = [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.0.1",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.1.2.3",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00::1",
        "64:ff9b::808:808",
        "2002:808:808::",
        "::ffff:8.8.8.8",
        "2001:200::1",
    ];
    for address in public {
        assert_eq!(leads(&["x.org"], "x.org", address), Ok(()), "{address}");
    }
}

#[test]
fn a_special_address_counts_when_it_is_listed_with_the_port() {
    let entries = ["x.org", "10.0.0.1:80", "[fd00::1]"];
    assert_eq!(leads(&entries, "x.org:80", "10.0.0.1"), Ok(()));
    assert_eq!(leads(&entries, "x.org:80", "::ffff:10.0.0.1"), Ok(()));
    assert_eq!(leads(&entries, "x.org:9", "fd00::1"), Ok(()));
    assert!(leads(&entries, "x.org:81", "10.0.0.1").is_err());
    assert!(leads(&entries, "x.org:80", "10.0.0.2").is_err());
}

#[test]
fn localhost_is_the_loopback_and_no_other_special_address() {
    assert_eq!(
        leads(&["localhost:80"], "LOCALHOST:80", "127.0.0.1"),
        Ok(())
    );
    assert_eq!(leads(&["localhost:80"], "localhost:80", "::1"), Ok(()));
    assert!(leads(&["localhost:80"], "localhost:80", "10.0.0.1").is_err());
    assert!(leads(&["*.localhost"], "x.localhost", "127.0.0.1").is_err());
}

#[test]
fn own_servers_are_reached_by_what_is_not_listed() {
    assert_eq!(
        list(&["x.org"]).own_loopback(),
        ["localhost", "127.0.0.1", "::1"]
    );
    assert_eq!(
        list(&["127.0.0.1:8080"]).own_loopback(),
        ["localhost", "::1"]
    );
    assert_eq!(
        list(&["localhost", "[::1]:1"]).own_loopback(),
        ["127.0.0.1"]
    );
}

#[test]
fn explanations_name_the_entry_and_the_limits() {
    let list = list(&["*.x.org:443", "*.x.org:80", "y.org", "localhost:8080"]);
    let explain = |subject: &str| list.explain(subject).join("\n");
    let said = explain("a.x.org");
    assert!(said.starts_with("reached on port 80, through the proxy: `network` has `*.x.org:80`"));
    assert!(said.contains("\nreached on port 443"), "{said}");
    assert!(said.ends_with("\ndenied: on every other port"), "{said}");
    assert!(explain("a.x.org:443").contains("on this port"));
    assert!(explain("a.x.org:1").contains("for other ports only"));
    assert!(explain("Y.org.").contains("on every port"));
    assert!(explain("y.org").contains("private"));
    assert!(
        explain("x.org").contains("`x.org` on every port"),
        "{}",
        explain("x.org")
    );
    assert!(explain("10.0.0.1").contains("only if it is listed itself"));
    assert!(explain("127.1:80").contains("usual spelling"));
    assert!(explain("localhost:8080").contains("the loopback of this machine"));
}

#[test]
fn a_list_travels_as_texts() {
    let list = list(&["A.org.", "*.b.org:1", "[0::1]:8080", "10.0.0.1"]);
    let json = serde_json::to_string(&list).unwrap();
    assert_eq!(json, r#"["a.org","*.b.org:1","[::1]:8080","10.0.0.1"]"#);
    assert_eq!(serde_json::from_str::<HostList>(&json).unwrap(), list);
    assert!(serde_json::from_str::<HostList>(r#"["*"]"#).is_err());
}

/// Spellings of an address that a C library would read as one and that are not its usual one.
fn odd_spelling(address: u32, form: u8) -> String {
    let [a, b, c, d] = address.to_be_bytes();
    match form % 8 {
        0 => format!("{address}"),
        1 => format!("0x{address:x}"),
        2 => format!("0{address:o}"),
        3 => format!("{a}.{}", address & 0xff_ffff),
        4 => format!("{a}.{b}.{}", address & 0xffff),
        5 => format!("0x{a:x}.{b}.{c}.{d}"),
        6 => format!("{a}.{b}.{c}.0{d:o}"),
        _ => format!("{a}.{b}.{c}.{d}."),
    }
}

proptest! {
    #[test]
    fn odd_spellings_are_never_allowed(address: u32, form: u8, port: u16) {
        let usual = std::net::Ipv4Addr::from(address).to_string();
        let list = list(&[usual.as_str(), "*.org"]);
        let text = format!("{}:{port}", odd_spelling(address, form));
        let allowed = Destination::parse(&text, None).is_ok_and(|it| list.decide(&it).is_ok());
        prop_assert!(!allowed, "{text}");
    }

    #[test]
    fn the_decision_is_one_of_the_normalised_destination(
        name in "[a-z]{1,3}(\\.[a-z]{1,3}){0,2}",
        upper: bool,
        dot: bool,
        port in 1_u16..5,
        entry in "(\\*\\.)?[a-c]{1,2}(\\.[a-c]){0,2}(:[1-4])?",
    ) {
        let list = list(&[&entry]);
        let mut odd = if upper { name.to_uppercase() } else { name.clone() };
        if dot { odd.push('.'); }
        let decide = |name: &str| {
            let destination = Destination::parse(&format!("{name}:{port}"), None).unwrap();
            list.decide(&destination).map(ToString::to_string)
        };
        prop_assert_eq!(decide(&odd), decide(&name));
        // And what the destination says of itself is read as the same.
        let destination = Destination::parse(&odd, Some(port)).unwrap();
        prop_assert_eq!(Destination::parse(&destination.to_string(), None), Ok(destination));
    }

    #[test]
    fn any_text_is_a_host_in_one_spelling_or_none(text: String) {
        if let Ok(host) = Host::parse(&text) {
            prop_assert_eq!(Host::parse(&host.to_string()), Ok(host));
        }
        drop(HostList::parse(&[&text]).map(|list| list.explain(&text)));
    }

    #[test]
    fn an_address_is_public_in_each_form_or_in_none(address: u32) {
        let v4 = std::net::Ipv4Addr::from(address);
        let usual = super::address::kind_unless_public(IpAddr::V4(v4));
        let mapped = super::address::kind_unless_public(IpAddr::V6(v4.to_ipv6_mapped()));
        prop_assert_eq!(usual, mapped);
    }
}
