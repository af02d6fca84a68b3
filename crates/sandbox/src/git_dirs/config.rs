//! Git's configuration files, as far as they name further files. Nothing is run or evaluated:
//! conditions of includes always hold.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{normal, read_small};

/// How many files are read on behalf of one repository or one home directory.
const FILE_LIMIT: usize = 32;

/// One `key = value`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// In lower case, without its subsection.
    pub(super) section: Vec<u8>,
    /// In lower case.
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
}

impl Setting {
    pub(super) fn is(&self, section: &str, key: &str) -> bool {
        self.section == section.as_bytes() && self.key == key.as_bytes()
    }
}

/// Every setting of a file. What git would reject is read somehow.
pub(super) fn parse(text: &[u8]) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut section = Vec::new();
    let mut bytes = text
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(text)
        .iter()
        .copied()
        .peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'#' | b';' => while bytes.next_if(|byte| *byte != b'\n').is_some() {},
            b'[' => section = header(&mut bytes),
            byte if byte.is_ascii_alphanumeric() => {
                let mut key = vec![byte];
                while let Some(byte) = bytes.next_if(|byte| !b"=\n#;".contains(byte)) {
                    key.push(byte);
                }
                let value = match bytes.next_if_eq(&b'=') {
                    Some(_) => value(&mut bytes),
                    None => b"true".to_vec(),
                };
                settings.push(Setting {
                    section: section.clone(),
                    key: key.trim_ascii().to_ascii_lowercase(),
                    value,
                });
            }
            _ => {}
        }
    }
    settings
}

/// The section of a header, without its subsection.
fn header(bytes: &mut impl Iterator<Item = u8>) -> Vec<u8> {
    let mut name = Vec::new();
    let (mut in_name, mut quoted) = (true, false);
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quoted => drop(bytes.next()),
            b'"' => {
                quoted = !quoted;
                in_name = false;
            }
            b']' | b'\n' if !quoted => break,
            b' ' | b'\t' | b'.' => in_name = false,
            _ if in_name => name.push(byte.to_ascii_lowercase()),
            _ => {}
        }
    }
    name
}

fn value(bytes: &mut impl Iterator<Item = u8>) -> Vec<u8> {
    let mut value = Vec::new();
    let mut quoted = false;
    // What of the value is not blank, or blank within quotes.
    let mut length = 0;
    let mut comment = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => break,
            _ if comment => {}
            b'#' | b';' if !quoted => comment = true,
            b'"' => quoted = !quoted,
            b'\\' => match bytes.next() {
                Some(b'\n') | None => {}
                Some(b'\r') => drop(bytes.next()),
                Some(escaped) => {
                    value.push(match escaped {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'b' => 8,
                        other => other,
                    });
                    length = value.len();
                }
            },
            b' ' | b'\t' | b'\r' if !quoted => {
                if !value.is_empty() {
                    value.push(byte);
                }
            }
            _ => {
                value.push(byte);
                length = value.len();
            }
        }
    }
    value.truncate(length);
    value
}

/// What configuration files name.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// The files themselves and those that they include.
    pub(super) files: Vec<PathBuf>,
    /// Directories of hooks; relative ones are meant from the work tree.
    pub(super) hooks: Vec<PathBuf>,
}

/// Reads files and what they include.
pub(super) fn follow(files: Vec<PathBuf>, homes: &[PathBuf]) -> Named {
    let mut named = Named {
        files,
        hooks: Vec::new(),
    };
    let mut n_read = 0;
    while let Some(file) = named.files.get(n_read).cloned() {
        n_read += 1;
        if n_read > FILE_LIMIT {
            break;
        }
        let base = file.parent().unwrap_or(Path::new("/"));
        for setting in parse(&read_small(&file).unwrap_or_default()) {
            if setting.is("core", "hookspath") {
                named.hooks.extend(expanded(&setting.value, homes));
            } else if setting.is("include", "path") || setting.is("includeif", "path") {
                for path in expanded(&setting.value, homes) {
                    let path = normal(&base.join(path));
                    if !named.files.contains(&path) {
                        named.files.push(path);
                    }
                }
            }
        }
    }
    named
}

/// A path as it is written, under each of the home directories if it begins with `~/`.
fn expanded(value: &[u8], homes: &[PathBuf]) -> Vec<PathBuf> {
    let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(bytes));
    match value.strip_prefix(b"~/") {
        Some(rest) => homes.iter().map(|home| home.join(path(rest))).collect(),
        None if value.is_empty() || value.starts_with(b"~") => Vec::new(),
        None => vec![path(value)],
    }
}

/// Sections and keys that make git execute nothing.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "symlinks",
            "precomposeunicode",
            "autocrlf",
            "eol",
        ],
    ),
    ("remote", &["url", "fetch", "mirror", "tagopt", "pushurl"]),
    ("branch", &["remote", "merge", "rebase", "description"]),
    ("submodule", &["url", "active", "branch"]),
    ("user", &["name", "email"]),
    ("commit", &["gpgsign"]),
    ("init", &["defaultbranch"]),
    ("extensions", &["objectformat", "refstorage"]),
];

/// Whether nothing in a configuration makes git execute anything. That of a submodule names its
/// work tree.
pub(super) fn is_harmless(text: &[u8], is_module: bool) -> bool {
    parse(text).iter().all(|setting| {
        is_module && setting.is("core", "worktree")
            || HARMLESS
                .iter()
                .any(|(section, keys)| keys.iter().any(|key| setting.is(section, key)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_git_reads_them() {
        let text = b"[core] hooksPath = a b # c\n\tHOOKSPATH = \"q # ; \\\"x\\\\y\" ; d\n\
            hookspath = con\\\ntinued\n[remote \"x]\"] url = u\n[Include]path=../i\nkey\n";
        let values: Vec<_> = parse(text)
            .into_iter()
            .map(|setting| {
                let text = |bytes| String::from_utf8(bytes).unwrap_or_default();
                format!(
                    "{}.{}={}",
                    text(setting.section),
                    text(setting.key),
                    text(setting.value)
                )
            })
            .collect();
        assert_eq!(
            values,
            [
                "core.hookspath=a b",
                "core.hookspath=q # ; \"x\\y",
                "core.hookspath=continued",
                "remote.url=u",
                "include.path=../i",
                "include.key=true",
            ]
        );
    }

    #[test]
    fn only_known_settings_are_harmless() {
        assert!(is_harmless(
            b"[core]\n\tbare = true\n[user] name = x\n",
            false
        ));
        assert!(is_harmless(b"[core]\n\tworktree = .\n", true));
        assert!(!is_harmless(b"[core]\n\tfsmonitor = x\n", true));
        assert!(!is_harmless(b"[core]\n\tworktree = .\n", false));
        assert!(!is_harmless(b"[remote \"o\"]\n\tuploadpack = x\n", false));
    }
}
