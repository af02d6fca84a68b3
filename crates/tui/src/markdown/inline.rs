//! Collects the text of one block in its styles.

use std::sync::Arc;

use ratatui_core::style::Style;

use crate::text::Piece;

/// The text of the block so far, and the styles that are open.
#[derive(Debug)]
pub(super) struct Inline {
    pieces: Vec<Piece>,
    /// Outside any mark.
    base: Style,
    /// For each open mark the style of what is in it, and where that leads.
    open: Vec<(Style, Option<Arc<str>>)>,
}

impl Inline {
    pub(super) fn new(base: Style) -> Self {
        Self {
            pieces: Vec::new(),
            base,
            open: Vec::new(),
        }
    }

    /// The style of the blocks that follow.
    pub(super) fn set_base(&mut self, base: Style) {
        self.base = base;
    }

    /// A mark begins.
    pub(super) fn start(&mut self, style: Style) {
        let (outer, target) = self.current();
        self.open.push((outer.patch(style), target));
    }

    /// A link begins; one that leads nowhere looks like one all the same.
    pub(super) fn start_link(&mut self, style: Style, target: Option<String>) {
        let (outer, _) = self.current();
        self.open.push((outer.patch(style), target.map(Arc::from)));
    }

    /// The mark ends that began last.
    pub(super) fn end(&mut self) {
        self.open.pop();
    }

    /// Text in the styles that are open.
    pub(super) fn text(&mut self, text: &str) {
        self.styled(text, Style::new());
    }

    /// Text in one more style.
    pub(super) fn styled(&mut self, text: &str, extra: Style) {
        let (style, target) = self.current();
        let style = style.patch(extra);
        match self.pieces.last_mut() {
            Some(last) if last.style == style && last.target == target => last.text.push_str(text),
            _ => self.pieces.push(Piece {
                text: text.to_owned(),
                style,
                target,
            }),
        }
    }

    /// Whether there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What was collected; the next block begins.
    pub(super) fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    fn current(&self) -> (Style, Option<Arc<str>>) {
        self.open.last().cloned().unwrap_or((self.base, None))
    }
}
