//! Patterns that match a name in every spelling that a disk may take for it.
//!
//! Disks of macOS ignore case as a rule, and so does what later reads `.GIT/Config`. Some letters
//! outside ASCII are the same to it as one or several of ASCII (Unicode case folding: U+212A is a
//! `k`, U+017F an `s`, U+FB01 `fi`). A pattern may match too much, which refuses a write; it must
//! not match too little. It holds nothing of the name but ASCII letters and digits, and no
//! character that ends a string.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Letters of which something outside ASCII is another spelling, alone or several at once.
const FOLDED_TO: &[u8] = b"fiklst";

/// What may stand for a run of them: anything with a character outside printable ASCII.
const FOREIGN: &str = "[^/]*[^ -~][^/]*";

/// The pattern for a relative path, as a POSIX extended regular expression without anchors.
pub(super) fn pattern(path: &Path) -> String {
    let components = path.iter().map(|name| component(name.as_bytes()));
    components.collect::<Vec<_>>().join("/")
}

fn component(name: &[u8]) -> String {
    // How such a name is composed is the disk's affair.
    if !name.iter().all(u8::is_ascii) {
        return "[^/]+".to_owned();
    }
    let mut pattern = String::new();
    let is_folded = |byte: &u8| FOLDED_TO.contains(&byte.to_ascii_lowercase());
    for run in name.chunk_by(|left, right| is_folded(left) == is_folded(right)) {
        let letters: String = run.iter().map(|byte| one(*byte)).collect();
        let _ = if run.first().is_some_and(is_folded) {
            write!(pattern, "({letters}|{FOREIGN})")
        } else {
            write!(pattern, "{letters}")
        };
    }
    pattern
}

fn one(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => {
            let (lower, upper) = (byte.to_ascii_lowercase(), byte.to_ascii_uppercase());
            format!("[{}{}]", char::from(lower), char::from(upper))
        }
        b'0'..=b'9' | b'_' => char::from(byte).to_string(),
        b'.' => "[.]".to_owned(),
        b'-' => "[-]".to_owned(),
        _ => "[^/]".to_owned(),
    }
}
