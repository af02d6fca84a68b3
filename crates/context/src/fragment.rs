//! A fragment is a text that the program puts into the conversation. Each kind has a role and a
//! hard cap; the one renderer here keeps the cap and says when it cut.

use std::fmt::Write as _;

use agent_protocol::{FragmentKind, ResponseItem, Role};

/// A kind of injected text.
pub trait Fragment {
    /// Stored beside the item.
    const KIND: FragmentKind;
    /// Who seems to speak.
    const ROLE: Role;
    /// The longest that the text may be.
    const MAX_BYTES: usize;

    /// Appends the text.
    fn write_body(&self, out: &mut String);
}

/// A fragment as it goes into the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// What kind it is.
    pub kind: FragmentKind,
    /// The message.
    pub item: ResponseItem,
}

/// Renders a fragment, cut to its cap at a character boundary with a mark that says so.
pub fn render<F: Fragment>(fragment: &F) -> Rendered {
    let mut text = String::new();
    fragment.write_body(&mut text);
    cut(&mut text, F::MAX_BYTES);
    Rendered {
        kind: F::KIND,
        item: ResponseItem::text_message(F::ROLE, text),
    }
}

/// Shortens a text that is over the cap and says how much is gone.
fn cut(text: &mut String, max_bytes: usize) {
    if text.len() <= max_bytes {
        return;
    }
    let keep = text.floor_char_boundary(max_bytes.saturating_sub(CUT_MARK_ROOM));
    let n_cut = text.len() - keep;
    text.truncate(keep);
    let _ = write!(text, "\n[{n_cut} bytes cut off here]");
}

/// Room kept for the mark, so that the whole stays under the cap.
const CUT_MARK_ROOM: usize = 48;
