//! What the model sees of an output: at most so many tokens, the first and the last half.

/// Bytes that stand for one token; the estimate that limits are made with.
const BYTES_PER_TOKEN: usize = 4;

/// An output that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// The text; when it was cut, it begins with a warning and has a mark in the middle.
    pub text: String,
    /// The tokens of the whole.
    pub n_tokens: usize,
    /// Whether the middle was cut out.
    pub is_cut: bool,
}

/// Cuts the middle out of a text that has more than `max_tokens`. `n_bytes` and `n_lines` are
/// those of the whole output, of which `text` may already be a part.
pub fn shorten_for_model(text: &str, n_bytes: u64, n_lines: u64, max_tokens: usize) -> Shortened {
    let n_bytes = usize::try_from(n_bytes).unwrap_or(usize::MAX);
    let n_tokens = n_bytes.max(text.len()).div_ceil(BYTES_PER_TOKEN);
    let max_bytes = max_tokens.saturating_mul(BYTES_PER_TOKEN);
    if text.len() <= max_bytes {
        return Shortened {
            text: text.to_owned(),
            n_tokens,
            is_cut: false,
        };
    }
    let head = text.floor_char_boundary(max_bytes / 2);
    let tail = text.ceil_char_boundary(text.len() - max_bytes / 2);
    let n_cut = n_tokens.saturating_sub(max_tokens);
    let (first, rest) = text.split_at(head);
    let last = rest.split_at(tail - head).1;
    Shortened {
        text: format!(
            "Warning: truncated output (original token count: {n_tokens})\n\
             Total output lines: {n_lines}\n\n\
             {first}…{n_cut} tokens truncated…{last}"
        ),
        n_tokens,
        is_cut: true,
    }
}
