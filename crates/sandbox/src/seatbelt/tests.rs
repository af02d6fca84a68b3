use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use agent_protocol::SandboxMode;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::explain::Answer;
use crate::git_dirs::nested::Scanner;
use crate::policy::SandboxPolicy;

fn protected(directory: impl Into<PathBuf>, below: impl Into<PathBuf>) -> Protected {
    Protected {
        directory: directory.into(),
        below: below.into(),
    }
}

fn read_only() -> Facts {
    Facts {
        writable: Vec::new(),
        protected: Vec::new(),
        hidden: vec!["/Users/me/.ssh".into()],
        agent_home: Some(AgentHome {
            path: "/Users/me/.agent".into(),
            shown: vec![
                "/Users/me/.agent/AGENTS.md".into(),
                "/Users/me/.agent/outputs/1".into(),
            ],
        }),
        network: Network::Nothing,
    }
}

fn workspace_write() -> Facts {
    Facts {
        writable: vec![
            "/Users/me/project".into(),
            "/private/tmp".into(),
            "/Users/me/.agent/work".into(),
        ],
        protected: vec![
            protected("/Users/me/project", ".agent"),
            protected("/Users/me/project/.git", "config"),
            protected("/Users/me/project/.git", "info/attributes"),
        ],
        hidden: vec!["/Users/me/.ssh".into(), "/Users/me/project/keys/own".into()],
        network: Network::Proxy(47128),
        ..read_only()
    }
}

/// Compares what comes after the part that is the same for all, and the parameters.
#[track_caller]
fn check(facts: &Facts, expected: &Expect) {
    let profile = profile(facts);
    let own = profile.text.strip_prefix(BASE).unwrap();
    let parameters = profile.parameters.iter().enumerate();
    let parameters = parameters.map(|(number, path)| format!("P{number} = {path:?}\n"));
    expected.assert_eq(&format!("{own}\n{}", parameters.collect::<String>()));
}

#[test]
fn read_only_writes_nothing_and_hides_secrets() {
    check(
        &read_only(),
        &expect![[r#"

            ; The agent's own directory.
            (deny file-read* file-write* file-link
              (subpath (param "P0")))
            (deny file-read*
              (subpath (string-append "/System/Volumes/Data" (param "P0"))))
            (allow file-read*
              (subpath (param "P1"))
              (subpath (param "P2")))
            (allow file-read-metadata
              (literal (param "P0"))
              (literal (param "P3")))

            ; What may not be read, nor be moved to where it could be.
            (deny file-read* file-write* file-link
              (subpath (param "P4")))
            (deny file-read*
              (subpath (string-append "/System/Volumes/Data" (param "P4"))))
            (allow file-read-metadata
              (literal (param "P4")))

            ; The network, and sockets with a path.
            (deny network*)

            P0 = "/Users/me/.agent"
            P1 = "/Users/me/.agent/AGENTS.md"
            P2 = "/Users/me/.agent/outputs/1"
            P3 = "/Users/me/.agent/outputs"
            P4 = "/Users/me/.ssh"
        "#]],
    );
}

#[test]
fn workspace_write_opens_roots_and_takes_back_what_is_protected_in_them() {
    check(
        &workspace_write(),
        &expect![[r#"

            ; Writable directories.
            (allow file-read* file-write* file-link
              (subpath (param "P0"))
              (subpath (param "P1")))
            (deny file-write-setugid
              (subpath (param "P0"))
              (subpath (param "P1")))

            ; The agent's own directory.
            (deny file-read* file-write* file-link
              (subpath (param "P2")))
            (deny file-read*
              (subpath (string-append "/System/Volumes/Data" (param "P2"))))
            (allow file-read*
              (subpath (param "P3"))
              (subpath (param "P4")))
            (allow file-read-metadata
              (literal (param "P2"))
              (literal (param "P5")))

            ; Writable directories inside the agent's own.
            (allow file-read* file-write* file-link
              (subpath (param "P6")))
            (deny file-write-setugid
              (subpath (param "P6")))

            ; Protected names, in any spelling that the disk may take for them.
            (deny file-write* file-link
              (regex (string-append "^" (regex-quote (param "P0")) "/([.][aA][gG][eE][nN]([tT]|[^/]*[^ -~][^/]*))(/|$)"))
              (regex (string-append "^" (regex-quote (param "P7")) "/(([iI]|[^/]*[^ -~][^/]*)[nN]([fF]|[^/]*[^ -~][^/]*)[oO]/[aA]([tT][tT]|[^/]*[^ -~][^/]*)[rR]([iI]|[^/]*[^ -~][^/]*)[bB][uU]([tT]|[^/]*[^ -~][^/]*)[eE]([sS]|[^/]*[^ -~][^/]*)|[cC][oO][nN]([fF][iI]|[^/]*[^ -~][^/]*)[gG])(/|$)")))

            ; Directories that keep their names.
            (deny file-write-unlink
              (literal (param "P6"))
              (literal (param "P0"))
              (literal (param "P7"))
              (literal (param "P8"))
              (literal (param "P1")))

            ; What may not be read, nor be moved to where it could be.
            (deny file-read* file-write* file-link
              (subpath (param "P9"))
              (subpath (param "P10")))
            (deny file-read*
              (subpath (string-append "/System/Volumes/Data" (param "P9")))
              (subpath (string-append "/System/Volumes/Data" (param "P10"))))
            (allow file-read-metadata
              (literal (param "P9"))
              (literal (param "P10")))

            ; The network, and sockets with a path.
            (deny network*)
            (allow network-outbound (remote tcp "localhost:47128"))

            P0 = "/Users/me/project"
            P1 = "/private/tmp"
            P2 = "/Users/me/.agent"
            P3 = "/Users/me/.agent/AGENTS.md"
            P4 = "/Users/me/.agent/outputs/1"
            P5 = "/Users/me/.agent/outputs"
            P6 = "/Users/me/.agent/work"
            P7 = "/Users/me/project/.git"
            P8 = "/Users/me/project/keys"
            P9 = "/Users/me/.ssh"
            P10 = "/Users/me/project/keys/own"
        "#]],
    );
}

#[test]
fn an_open_network_still_refuses_sockets_with_a_path() {
    let facts = Facts {
        hidden: Vec::new(),
        agent_home: None,
        network: Network::Everything,
        ..read_only()
    };
    check(
        &facts,
        &expect![[r#"

        ; The network, and sockets with a path.
        (deny network*)
        (allow network-outbound (remote ip "*:*"))
        (allow network-bind network-inbound (local ip "*:*"))
        (allow network-outbound (literal "/private/var/run/mDNSResponder"))
        (allow system-socket)
        (allow mach-lookup
          (global-name "com.apple.SystemConfiguration.configd")
          (global-name "com.apple.SystemConfiguration.DNSConfiguration")
          (global-name "com.apple.dnssd.service")
          (global-name "com.apple.trustd")
          (global-name "com.apple.trustd.agent"))

    "#]],
    );
}

#[test]
fn full_access_has_no_profile() {
    let argv = vec![OsString::from("true")];
    let policy = SandboxPolicy::new(SandboxMode::DangerFullAccess, "/");
    let mut scanner = Scanner::default();
    assert_eq!(command_line(&policy, (&mut scanner, None), &argv), argv);
    let policy = SandboxPolicy::new(SandboxMode::ReadOnly, "/");
    let line = command_line(&policy, (&mut scanner, None), &argv);
    let words: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
    assert_eq!(words[..2], ["/usr/bin/sandbox-exec", "-p"]);
    assert_eq!(words[words.len() - 2..], ["--", "true"]);
}

#[test]
fn a_rule_that_restricts_stands_behind_what_it_restricts() {
    let text = profile(&workspace_write()).text;
    let order = [
        "(deny default)",
        "(allow file-read*)\n",
        "(allow file-read* file-write* file-link\n  (subpath (param \"P0\"))",
        "; The agent's own directory.",
        "; Writable directories inside the agent's own.",
        "; Protected names",
        "; Directories that keep their names.",
        "; What may not be read",
        "(deny network*)",
        "(allow network-outbound",
    ];
    let places: Vec<_> = order
        .iter()
        .map(|part| text.find(part).expect(part))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(text.matches("(allow file-write*").count(), 0);
    assert_eq!(
        text.matches("(allow file-read* file-write*\n  (require-all")
            .count(),
        1
    );
    assert_eq!(
        text.matches("(allow file-read* file-write* file-link")
            .count(),
        2
    );
}

#[test]
fn hostile_paths_are_parameters_only() {
    let hostile: [&[u8]; 6] = [
        b"/a\") (allow default) (\"",
        b"/back\\slash\\\"",
        b"/line\nfeed;comment",
        b"/((((",
        b"/not-utf8-\xff\xfe",
        b"/=P0=\x01\x7f",
    ];
    let paths = hostile.map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)));
    let facts = Facts {
        writable: paths.to_vec(),
        protected: paths.iter().map(|path| protected(path, ".agent")).collect(),
        hidden: paths.iter().map(|path| path.join("hidden")).collect(),
        agent_home: None,
        network: Network::Nothing,
    };
    let profile = profile(&facts);
    let plain = profile
        .text
        .bytes()
        .all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte));
    assert!(plain && !profile.text.contains('\\'), "{}", profile.text);
    assert_eq!(profile.text.matches("(allow default)").count(), 0);
    let arguments = profile.arguments();
    for path in &paths {
        let number = profile
            .parameters
            .iter()
            .position(|other| other == path)
            .unwrap();
        let mut definition = OsString::from(format!("P{number}="));
        definition.push(path);
        assert!(arguments.contains(&definition));
    }
}

/// Whether the pattern for `name` matches the whole relative path `candidate`, byte by byte.
#[expect(
    clippy::disallowed_methods,
    reason = "grep knows POSIX extended regular expressions, and this crate has no matcher"
)]
fn matches(name: &str, candidate: &str) -> bool {
    let pattern = format!("^{}(/|$)", names::pattern(Path::new(name)));
    let mut grep = std::process::Command::new("grep")
        .args(["-E", "-a", "-q", &pattern])
        .env("LC_ALL", "C")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = grep.stdin.take().unwrap();
    writeln!(stdin, "{candidate}").unwrap();
    drop(stdin);
    grep.wait().unwrap().success()
}

#[test]
fn a_protected_name_is_known_in_every_spelling_of_the_disk() {
    for (name, candidate) in [
        (".agent", ".AGENT"),
        (".agents", ".agent\u{17f}"),
        (".git/hooks", ".git/hoo\u{212a}\u{17f}/post-commit"),
        (".git/config", ".GIT/con\u{fb01}g"),
        (".git/info/attributes", ".git/INFO/attribute\u{17f}"),
        ("h\u{e4}ken", "ha\u{308}ken"),
        ("my hooks", "MY hooks/x"),
    ] {
        assert!(matches(name, candidate), "{name} {candidate:?}");
    }
    for (name, candidate) in [
        (".agent", ".agents"),
        (".agent", "xagent"),
        (".git/config", ".git/configuration"),
        (".git/config", ".git/conflicts"),
        (".git/hooks", ".git/objects/hooks"),
        (".codex", "f\u{fc}r.md"),
    ] {
        assert!(!matches(name, candidate), "{name} {candidate:?}");
    }
}

/// The strings of a profile, and whether its parentheses balance outside of them.
fn strings(text: &str) -> (Vec<String>, bool) {
    let mut strings = Vec::new();
    let mut depth = 0_i32;
    let mut is_balanced = true;
    for line in text.lines().filter(|line| !line.starts_with(';')) {
        let parts: Vec<_> = line.split('"').collect();
        // A string never goes on in the next line.
        is_balanced &= parts.len() % 2 == 1;
        for (number, part) in parts.into_iter().enumerate() {
            if number % 2 == 1 {
                strings.push(part.to_owned());
                continue;
            }
            for byte in part.bytes() {
                depth += i32::from(byte == b'(') - i32::from(byte == b')');
                is_balanced &= depth >= 0;
            }
        }
    }
    (strings, is_balanced && depth == 0)
}

fn hostile_name() -> impl Strategy<Value = OsString> {
    let piece = prop_oneof![
        Just(b"\") (allow default) (\"".to_vec()),
        Just(b"\\\"".to_vec()),
        Just(b"\n;".to_vec()),
        Just(b"(param \"P0\")".to_vec()),
        prop::collection::vec(any::<u8>(), 1..6),
    ];
    let pieces = prop::collection::vec(piece, 1..4);
    pieces.prop_map(|pieces| {
        let mut name = pieces.concat();
        name.retain(|byte| !matches!(byte, 0 | b'/'));
        name.push(b'x');
        OsString::from_vec(name)
    })
}

fn hostile_path() -> impl Strategy<Value = PathBuf> {
    let names = prop::collection::vec(hostile_name(), 1..4);
    names.prop_map(|names| Path::new("/").join(PathBuf::from_iter(names)))
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let paths = || prop::collection::vec(hostile_path(), 0..4);
    let names = prop::collection::vec(hostile_name(), 0..4);
    let home = prop::option::of((hostile_path(), prop::collection::vec(hostile_name(), 0..3)));
    let network = prop_oneof![
        Just(Network::Nothing),
        any::<u16>().prop_map(Network::Proxy),
        Just(Network::Everything),
    ];
    let parts = (paths(), names, paths(), home, network);
    parts.prop_map(|(writable, names, hidden, home, network)| Facts {
        protected: writable
            .iter()
            .flat_map(|root| names.iter().map(move |name| protected(root, name)))
            .collect(),
        writable,
        hidden,
        agent_home: home.map(|(path, shown)| AgentHome {
            shown: shown.iter().map(|name| path.join(name)).collect(),
            path,
        }),
        network,
    })
}

proptest! {
    #[test]
    fn no_path_reaches_the_text(facts in any_facts()) {
        let profile = profile(&facts);
        let (found, is_balanced) = strings(&profile.text);
        prop_assert!(is_balanced, "{}", profile.text);
        prop_assert!(!profile.text.contains('\\') && profile.text.is_ascii());
        let (mut known, _) = strings(BASE);
        known.extend(strings(SHARED_NETWORK).0);
        known.push(DATA_VOLUME.to_owned());
        for string in found.iter().filter(|string| !known.contains(string)) {
            let number = string.strip_prefix('P').and_then(|rest| rest.parse::<usize>().ok());
            let is_parameter = number.is_some_and(|number| number < profile.parameters.len());
            let is_pattern = string == "^" || string.ends_with(")(/|$)");
            let is_port = string.strip_prefix("localhost:").is_some_and(|port| port.parse::<u16>().is_ok());
            prop_assert!(is_parameter || is_pattern || is_port, "{string:?}");
            let may_be = |byte: u8| byte.is_ascii_alphanumeric() || b" /()[]|^$~*+._-:".contains(&byte);
            prop_assert!(string.bytes().all(may_be), "{string:?}");
        }
        let hidden = facts.hidden.iter();
        for path in facts.writable.iter().chain(hidden) {
            prop_assert!(profile.parameters.contains(path));
        }
    }
}

/// A project with a repository, one below it, and a link in the place of its hooks.
fn stage() -> (tempfile::TempDir, PathBuf) {
    let stage = tempfile::tempdir().unwrap();
    let project = stage.path().canonicalize().unwrap().join("project");
    fs::create_dir_all(project.join(".git/objects")).unwrap();
    fs::create_dir_all(project.join(".git/refs")).unwrap();
    fs::create_dir_all(project.join("sub/.git/hooks")).unwrap();
    fs::create_dir_all(project.join("shared hooks")).unwrap();
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(project.join(".git/config"), "").unwrap();
    symlink("../shared hooks", project.join(".git/hooks")).unwrap();
    (stage, project)
}

fn facts_of(project: &Path) -> Facts {
    let mut policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, project);
    policy.temporary_roots.clear();
    facts(&policy.resolve(), &mut Scanner::default(), None)
}

#[test]
fn what_git_would_execute_is_protected_whether_it_exists_or_not() {
    let (_stage, project) = stage();
    let facts = facts_of(&project);
    for (directory, below) in [
        ("", ".agent"),
        ("", ".codex"),
        (".git", "config"),
        (".git", "commondir"),
        (".git", "info/attributes"),
        (".git", "hooks"),
        ("", "shared hooks"),
        ("sub/.git", "hooks"),
        ("sub/.git", "config"),
    ] {
        let directory = project.join(directory).components().collect::<PathBuf>();
        let wanted = protected(directory, below);
        assert!(
            facts.protected.contains(&wanted),
            "{wanted:?}\n{:#?}",
            facts.protected
        );
    }
    let pinned = facts.pinned();
    for directory in ["", ".git", "sub", "sub/.git"] {
        assert!(
            pinned.contains(&project.join(directory)),
            "{directory}: {pinned:?}"
        );
    }
    assert!(!pinned.contains(project.parent().unwrap()));
}

#[test]
fn explanations_follow_the_same_facts() {
    let facts = workspace_write();
    let answers = |path: &str| {
        let explanation = explain(&facts, Path::new(path));
        (explanation.read.answer, explanation.write.answer)
    };
    let (yes, no) = (Answer::Allowed, Answer::Denied);
    for (path, expected) in [
        ("/etc/hosts", (yes, no)),
        ("/Users/me/project/src/main.rs", (yes, yes)),
        ("/Users/me/project/.git/config", (yes, no)),
        ("/Users/me/project/.git/index", (yes, yes)),
        ("/Users/me/project/keys/own", (no, no)),
        ("/Users/me/.ssh/id", (no, no)),
        ("/Users/me/.agent/config.toml", (no, no)),
        ("/Users/me/.agent/AGENTS.md", (yes, no)),
        ("/Users/me/.agent/work/file", (yes, yes)),
    ] {
        assert_eq!(answers(path), expected, "{path}");
    }
}
