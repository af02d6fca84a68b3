//! Addresses that a link may lead to.

use std::fmt::Write as _;
use std::ops::Range;

/// Schemes that a terminal may be asked to open.
const SCHEMES: &[&str] = &["http", "https", "mailto", "file"];
/// Longer addresses are dropped: terminals cut OSC 8 off at about this many bytes.
const MAX_TARGET: usize = 2048;

/// The address in printable ASCII, what else it holds percent-encoded; `None` if it is of a
/// scheme that nobody should follow from here.
pub(super) fn link_target(url: &str) -> Option<String> {
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

/// Marks that end a sentence or a part of it.
const MARKS: &[char] = &['.', ',', ':', ';', '!', '?'];

/// The first web address that stands in plain text, without the marks of the sentence behind it.
pub(super) fn find_url(text: &str) -> Option<Range<usize>> {
    let mut searched = 0;
    while let Some(found) = text.get(searched..)?.find("http") {
        let start = searched + found;
        searched = start + "http".len();
        let (before, url) = text.split_at_checked(start)?;
        let is_word = before
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric);
        let scheme = ["https://", "http://"]
            .into_iter()
            .find(|scheme| url.starts_with(scheme));
        let (Some(scheme), false) = (scheme, is_word) else {
            continue;
        };
        let ends = |c: char| !c.is_ascii_graphic() || matches!(c, '<' | '>' | '"' | '`' | '\'');
        // No further than an address may be long, so that the cost stays linear.
        let (url, _) = url.split_at(url.floor_char_boundary(MAX_TARGET + 1));
        let url = url.get(..url.find(ends).unwrap_or(url.len()))?;
        let mut url = url.trim_end_matches(MARKS);
        // A bracket belongs to the sentence unless the address opened it.
        let n_opened = url.matches('(').count();
        let mut n_closed = url.matches(')').count();
        while n_closed > n_opened
            && let Some(inner) = url.strip_suffix(')')
        {
            url = inner.trim_end_matches(MARKS);
            n_closed -= 1;
        }
        if url.len() > scheme.len() && url.len() <= MAX_TARGET {
            return Some(start..start + url.len());
        }
        searched = searched.max(start + url.len());
    }
    None
}
