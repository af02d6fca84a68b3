//! Collects the text of one block in its styles.

use std::sync::Arc;

use ratatui_core::style::Style;

use super::target::{find_url, link_target};
use crate::look::Theme;
use crate::text::Piece;

/// The text of the block so far, and the styles that are open.
#[derive(Debug)]
pub(super) struct Inline {
    pieces: Vec<Piece>,
    /// Outside any mark.
    base: Style,
    /// Of addresses that were found in the text.
    link: Style,
    /// For each open mark the style of what is in it, and where that leads.
    open: Vec<(Style, Option<Arc<str>>)>,
}

impl Inline {
    pub(super) fn new(theme: &Theme) -> Self {
        Self {
            pieces: Vec::new(),
            base: theme.text,
            link: theme.link,
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
        let pieces = std::mem::take(&mut self.pieces);
        let mut linked = Vec::with_capacity(pieces.len());
        for piece in pieces {
            self.link_urls(piece, &mut linked);
        }
        linked
    }

    /// Web addresses in plain text lead where they say. Done last, because the parser gives out
    /// an address in parts.
    fn link_urls(&self, piece: Piece, out: &mut Vec<Piece>) {
        let mut rest = piece.text.as_str();
        while piece.target.is_none()
            && let Some(url) = find_url(rest)
        {
            let (before, _) = rest.split_at(url.start);
            let (upto, after) = rest.split_at(url.end);
            let url = upto.get(url.start..).unwrap_or_default();
            if !before.is_empty() {
                out.push(Piece::new(before, piece.style));
            }
            out.push(Piece {
                text: url.to_owned(),
                style: piece.style.patch(self.link),
                target: link_target(url).map(Arc::from),
            });
            rest = after;
        }
        if rest.len() == piece.text.len() {
            out.push(piece);
        } else if !rest.is_empty() {
            out.push(Piece::new(rest, piece.style));
        }
    }

    fn current(&self) -> (Style, Option<Arc<str>>) {
        self.open.last().cloned().unwrap_or((self.base, None))
    }
}
