//! Which failures are explained, and which are not.

use agent_protocol::{SandboxLevel, SandboxMode};

use super::{Failure, explain_denial};
use crate::hosts::HostList;
use crate::policy::{NetworkAccess, SandboxPolicy};

#[track_caller]
fn check(exit_code: i32, output: &str, expected: Option<&str>) {
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, "/w");
    let failure = Failure { exit_code, output };
    let actual = explain_denial(failure, &policy, SandboxLevel::Full);
    match expected {
        None => assert_eq!(actual, None),
        Some(words) => assert!(actual.as_ref().unwrap().contains(words), "{actual:?}"),
    }
}

#[test]
fn typical_failures() {
    check(
        1,
        "sh: 1: cannot create /x: Read-only file system",
        Some("only `/w`, `/tmp`"),
    );
    check(
        0,
        "touch: /x: Read-only file system\nrc=1",
        Some("only `/w`"),
    );
    check(1, "cat: /h/.netrc: Permission denied", Some("secrets"));
    check(1, "unshare: Operation not permitted", Some("privileged"));
    check(
        6,
        "curl: (6) Could not resolve host: example.com",
        Some("the network is off"),
    );
    check(
        1,
        "dial tcp 1.2.3.4:443: connect: Network is unreachable",
        Some("the network is off"),
    );
}

#[test]
fn other_failures_and_successes() {
    check(1, "error: expected `;`", None);
    check(0, "cat: x: Permission denied", None);
    check(0, "all tests passed", None);
    check(127, "sh: 1: foo: not found", None);
}

#[test]
fn without_confinement_nothing_is_explained() {
    let policy = SandboxPolicy::new(SandboxMode::DangerFullAccess, "/w");
    let failure = Failure {
        exit_code: 1,
        output: "Read-only file system",
    };
    assert_eq!(explain_denial(failure, &policy, SandboxLevel::None), None);
}

#[test]
fn with_the_network_on_its_failures_are_its_own() {
    let mut policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, "/w");
    policy.network = NetworkAccess::On;
    let failure = Failure {
        exit_code: 7,
        output: "curl: (7) Failed to connect: Connection refused",
    };
    assert_eq!(explain_denial(failure, &policy, SandboxLevel::Full), None);
}

#[test]
fn with_a_list_of_hosts_it_and_the_way_there_are_named() {
    let mut policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, "/w");
    let failure = Failure {
        exit_code: 6,
        output: "curl: (6) Could not resolve host: z.org",
    };
    policy.network = NetworkAccess::Hosts(HostList::parse(&["x.org", "*.y.org:443"]).unwrap());
    let said = explain_denial(failure, &policy, SandboxLevel::Full).unwrap();
    assert!(said.contains("only `x.org`, `*.y.org:443` and"), "{said}");
    assert!(said.contains("`HTTPS_PROXY`"), "{said}");
}
