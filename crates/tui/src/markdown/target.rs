//! Addresses that a link may lead to.

use std::fmt::Write as _;

/// Schemes that a terminal may be asked to open.
const SCHEMES: &[&str] = &["http", "https", "mailto", "file"];
/// Longer addresses are dropped: terminals cut OSC 8 off at about this many bytes.
const MAX_TARGET: usize = 2048;

/// The address in printable ASCII, what else it holds percent-encoded; `None` if it is of a
/// scheme that nobody should follow from here.
pub fn link_target(url: &str) -> Option<String> {
    let (scheme, _) = url.split_once(':')?;
    if !SCHEMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme))
    {
        return None;
    }
    let mut target = String::with_capacity(url.len());
    for byte in url.bytes() {
        if byte.is_ascii_graphic() {
            target.push(char::from(byte));
        } else {
            let _ = write!(target, "%{byte:02X}");
        }
    }
    (target.len() <= MAX_TARGET).then_some(target)
}
