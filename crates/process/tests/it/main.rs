//! What commands get, and what is kept of what they print.
#![cfg(test)]

use std::ffi::OsString;

use agent_process::{Capture, EnvironmentPolicy, Inherit, shorten_for_model};
use proptest::prelude::*;

fn capture(max_bytes: usize, pieces: &[&[u8]]) -> agent_process::Captured {
    let mut capture = Capture::new(max_bytes);
    for piece in pieces {
        capture.push(piece);
    }
    capture.captured()
}

fn names(policy: &EnvironmentPolicy, own: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let own = own
        .iter()
        .map(|(k, v)| (OsString::from(k), OsString::from(v)));
    let prepared = policy.prepare(own);
    let unattended = [
        "COLORTERM",
        "EDITOR",
        "GH_PAGER",
        "GIT_EDITOR",
        "GIT_PAGER",
        "GIT_SEQUENCE_EDITOR",
        "GIT_TERMINAL_PROMPT",
        "NO_COLOR",
        "PAGER",
        "TERM",
        "VISUAL",
    ];
    let names = prepared.variables.into_iter();
    let names = names.map(|(name, value)| format!("{}={}", name.display(), value.display()));
    let names = names.filter(|line| !unattended.iter().any(|name| line.starts_with(name)));
    (names.collect(), prepared.withheld)
}

#[test]
fn short_output_is_kept_whole() {
    let captured = capture(100, &[b"one\n", b"two\n"]);
    assert_eq!(captured.text, "one\ntwo\n");
    assert_eq!(
        (captured.n_bytes, captured.n_lines, captured.n_omitted),
        (8, 2, 0)
    );
}

#[test]
fn the_middle_of_long_output_is_counted() {
    let captured = capture(8, &[b"abcdef", b"ghijklmnop"]);
    assert_eq!(captured.text, "abcd\n... 8 bytes omitted ...\nmnop");
    let cut_characters = capture(8, &["aéé漢漢漢漢漢😀".as_bytes()]);
    assert_eq!(cut_characters.text, "aé\n... 16 bytes omitted ...\n😀");
}

#[test]
fn the_last_lines_reach_the_model() {
    let text = format!("{}\nerror: linker failed\n", "a".repeat(50_000));
    let shortened = shorten_for_model(&text, text.len() as u64, 2, 1000);
    assert!(shortened.text.starts_with(
        "Warning: truncated output (original token count: 12506)\nTotal output lines: 2\n\naaa"
    ));
    assert!(shortened.text.contains("a…11506 tokens truncated…a"));
    assert!(shortened.text.ends_with("error: linker failed\n"));
    assert!(shortened.text.len() < 4200);
}

#[test]
fn secrets_are_withheld_and_named() {
    let own = [
        ("PATH", "/bin"),
        ("GITHUB_TOKEN", "t"),
        ("my_secret", "s"),
        ("MOCK_KEY", "k"),
        ("OPENAI_API_KEY", "k"),
        ("KEYBOARD", "us"),
        ("LANG", "de_DE.UTF-8"),
    ];
    let (kept, withheld) = names(&EnvironmentPolicy::default(), &own);
    assert_eq!(kept, ["LANG=de_DE.UTF-8", "PATH=/bin"]);
    assert_eq!(
        withheld,
        [
            "GITHUB_TOKEN",
            "KEYBOARD",
            "MOCK_KEY",
            "OPENAI_API_KEY",
            "my_secret"
        ]
    );
}

#[test]
fn own_keys_stay_even_when_secrets_are_kept() {
    let policy = EnvironmentPolicy {
        keep_secrets: true,
        own_keys: vec!["PROVIDER_PASS".to_owned()],
        ..EnvironmentPolicy::default()
    };
    let own = [
        ("PROVIDER_PASS", "p"),
        ("AGENT_API_KEY", "k"),
        ("A_TOKEN", "t"),
    ];
    let (kept, withheld) = names(&policy, &own);
    assert_eq!(kept, ["A_TOKEN=t", "LANG=C.UTF-8"]);
    assert_eq!(withheld, ["AGENT_API_KEY", "PROVIDER_PASS"]);
}

#[test]
fn patterns_choose() {
    let policy = EnvironmentPolicy {
        exclude: vec!["aws_*".to_owned()],
        include_only: vec!["A*".to_owned(), "P?TH".to_owned()],
        set: [("X".to_owned(), "1".to_owned())].into(),
        ..EnvironmentPolicy::default()
    };
    let own = [
        ("AWS_REGION", "r"),
        ("ABC", "1"),
        ("PATH", "/"),
        ("HOME", "/"),
    ];
    assert_eq!(
        names(&policy, &own).0,
        ["ABC=1", "LANG=C.UTF-8", "PATH=/", "X=1"]
    );
    let core = EnvironmentPolicy {
        inherit: Inherit::Core,
        ..EnvironmentPolicy::default()
    };
    assert_eq!(names(&core, &own).0, ["HOME=/", "LANG=C.UTF-8", "PATH=/"]);
}

#[test]
fn words_and_values_tell_secrets_as_well() {
    let own = [
        ("GITHUB_PAT", "x"),
        ("DB_PASS", "x"),
        ("MYSQL_PWD", "x"),
        ("DATABASE_URL", "postgres://u:p@host/db"),
        ("HTTPS_PROXY", "http://proxy:3128"),
        ("PATHS", "x"),
        ("PWD", "/"),
        ("SSH_AUTH_SOCK", "/s"),
        ("COMPASS", "n"),
    ];
    let (kept, withheld) = names(&EnvironmentPolicy::default(), &own);
    assert_eq!(
        kept,
        [
            "COMPASS=n",
            "HTTPS_PROXY=http://proxy:3128",
            "LANG=C.UTF-8",
            "PATHS=x",
            "PWD=/",
            "SSH_AUTH_SOCK=/s"
        ]
    );
    assert_eq!(
        withheld,
        ["DATABASE_URL", "DB_PASS", "GITHUB_PAT", "MYSQL_PWD"]
    );
}

#[test]
fn a_hostile_pattern_ends() {
    let policy = EnvironmentPolicy {
        exclude: vec![format!("{}z", "*a".repeat(40))],
        ..EnvironmentPolicy::default()
    };
    let name = "a".repeat(80);
    assert_eq!(names(&policy, &[(&name, "1")]).0[1], format!("{name}=1"));
}

proptest! {
    #[test]
    fn memory_is_bounded_and_bytes_are_counted(pieces in proptest::collection::vec("[a-zé漢😀\n]{0,40}", 0..20), max in 8usize..64) {
        let bytes: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
        let captured = capture(max, &bytes);
        let whole = pieces.concat();
        prop_assert_eq!(captured.n_bytes, whole.len() as u64);
        if captured.n_omitted == 0 {
            prop_assert_eq!(captured.text, whole);
        } else {
            let has_broken = captured.text.contains(char::REPLACEMENT_CHARACTER);
            prop_assert!(!has_broken);
        }
    }
}
