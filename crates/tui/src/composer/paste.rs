//! What becomes of a bracketed paste: text, a folded element, or an image.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_terminal_text::sanitize;

use super::rich_text::{Content, RichText};

/// Pastes with more characters are folded.
const MAX_CHARS: usize = 1_000;
/// Pastes with more lines are folded.
const MAX_LINES: usize = 10;
/// Endings of pictures that models take.
const IMAGE_ENDINGS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp"];

/// Text as it is kept: lines end with line feeds, and of the other C0 controls and DEL only the
/// tab is left.
pub(super) fn normalized(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars()
        .filter(|character| is_kept(*character))
        .collect()
}

/// Whether a character may be part of the text.
pub(super) fn is_kept(character: char) -> bool {
    matches!(character, '\n' | '\t') || !character.is_ascii_control()
}

/// The element for a paste that is too long to be shown; `None` for a short one.
pub(super) fn folded(text: &str, number: usize) -> Option<RichText> {
    let n_chars = text.chars().count();
    let n_lines = text.lines().count();
    if n_chars <= MAX_CHARS && n_lines <= MAX_LINES {
        return None;
    }
    Some(paste_element(text, number))
}

/// The element for a paste.
pub(super) fn paste_element(text: &str, number: usize) -> RichText {
    let n_lines = text.lines().count();
    let size = if n_lines > 1 {
        format!("+{n_lines} lines")
    } else {
        format!("{} characters", text.chars().count())
    };
    let label = format!("[Pasted text #{number} {size}]");
    RichText::element(label, Content::Paste(Arc::from(text)))
}

/// The element for an image.
pub(super) fn image_element(path: PathBuf, number: usize) -> RichText {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = sanitize(&name).replace(['\n', '\t'], " ");
    RichText::element(format!("[Image #{number} {name}]"), Content::Image(path))
}

/// The path of a picture, when the paste is nothing else: as terminals write what is dropped
/// onto them (plain, quoted, with backslashes, or as a `file://` address).
pub(super) fn image_path(text: &str, is_file: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let text = text.trim();
    if text.is_empty() || text.contains('\n') {
        return None;
    }
    let quoted = ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let candidates = match (quoted, text.strip_prefix("file://")) {
        (Some(inner), _) => vec![inner.to_owned()],
        (None, Some(address)) => vec![url_path(address)?],
        // A name may hold backslashes of its own.
        (None, None) => vec![text.to_owned(), unescaped(text)],
    };
    let mut paths = candidates.into_iter().map(PathBuf::from);
    paths.find(|path| is_image(path) && is_file(path))
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    IMAGE_ENDINGS.iter().any(|image| ending == *image)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let character = match character {
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        plain.push(character);
    }
    plain
}

/// The path of a `file://` address on this machine (RFC 8089).
fn url_path(address: &str) -> Option<String> {
    let path = address.strip_prefix("localhost").unwrap_or(address);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}
