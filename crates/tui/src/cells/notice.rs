//! The plan, and what the program itself has to say.

use agent_protocol::TodoItem;
use ratatui_core::style::Modifier;

use super::{branch, marked};
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, Piece, flow, indent, inner_width, spaces, width};

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    /// Worth knowing.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something failed.
    Error,
}

/// Something that the program says, and what to do about it.
pub(crate) fn notice(kind: NoticeKind, text: &str, hint: Option<&str>, look: &Look) -> Vec<Row> {
    let theme = &look.theme;
    let (mark, style) = match kind {
        NoticeKind::Info => (look.glyphs.bullet, theme.dim),
        NoticeKind::Warning => (look.glyphs.warning, theme.warning),
        NoticeKind::Error => (look.glyphs.failed, theme.error),
    };
    let text_style = match kind {
        NoticeKind::Info => theme.text,
        NoticeKind::Warning | NoticeKind::Error => style,
    };
    let mut rows = marked(
        mark,
        style,
        &[Piece::new(text.trim_end(), text_style)],
        look,
    );
    if let Some(hint) = hint {
        let pieces = [Piece::new(hint.trim_end(), theme.dim)];
        rows.append(&mut branch(&pieces, look, Break::Words));
    }
    rows
}

/// The user stopped the turn.
pub(crate) fn interrupted(look: &Look) -> Vec<Row> {
    let hint = Some("Say what to do instead.");
    notice(NoticeKind::Warning, "Interrupted.", hint, look)
}

/// The model's plan.
pub(crate) fn plan(items: &[TodoItem], look: &Look) -> Vec<Row> {
    let theme = &look.theme;
    let bold = theme.text.add_modifier(Modifier::BOLD);
    let mut rows = marked(
        look.glyphs.bullet,
        theme.accent,
        &[Piece::new("Plan", bold)],
        look,
    );
    let margin = spaces(2);
    let room = inner_width(&margin, look.width);
    for item in items {
        let (glyph, mark_style, style) = if item.completed {
            (look.glyphs.done, theme.success, theme.dim)
        } else if item.in_progress {
            (look.glyphs.doing, theme.accent, bold)
        } else {
            (look.glyphs.open, theme.dim, theme.text)
        };
        let first = [ratatui_core::text::Span::styled(
            format!("{glyph} "),
            mark_style,
        )];
        let rest = [spaces(width(glyph) + 1)];
        let frame = Frame {
            width: room,
            first: &first,
            rest: &rest,
        };
        let below = flow(&[Piece::new(item.text.trim(), style)], frame, Break::Words);
        rows.append(&mut indent(below, &margin, &margin, look.width));
    }
    rows
}
