//! Where a session stands: its beginning, and the end of each turn.

use std::time::Duration;

use agent_protocol::TokenUsage;
use ratatui_core::style::Modifier;

use super::{duration, marked};
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, Piece, flow, one_line, spelled_out_line};

/// What a session begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionHeader<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// The model.
    pub model: &'a str,
    /// The reasoning effort, if one was set.
    pub effort: Option<&'a str>,
    /// Where commands run.
    pub cwd: &'a str,
    /// The branch of the repository there.
    pub branch: Option<&'a str>,
    /// What commands may touch, as the configuration spells it.
    pub sandbox: &'a str,
    /// When a person is asked, as the configuration spells it.
    pub approval: &'a str,
}

/// Three lines at the top of a session.
pub(crate) fn session_header(header: &SessionHeader<'_>, look: &Look) -> Vec<Row> {
    let theme = &look.theme;
    let joint = look.glyphs.joint;
    let mut model = one_line(header.model);
    if let Some(effort) = header.effort {
        model = format!("{model} {}", one_line(effort));
    }
    let mut place = spelled_out_line(header.cwd);
    if let Some(branch) = header.branch {
        place = format!("{place}{joint}{}", spelled_out_line(branch));
    }
    let pieces = [
        Piece::new("agent", theme.accent.add_modifier(Modifier::BOLD)),
        Piece::new(format!(" {}{joint}", one_line(header.version)), theme.dim),
        Piece::new(model, theme.text),
        Piece::new(format!("\n{place}"), theme.text),
        Piece::new(
            format!(
                "\nsandbox {}{joint}approval {}",
                one_line(header.sandbox),
                one_line(header.approval)
            ),
            theme.dim,
        ),
    ];
    marked(look.glyphs.bullet, theme.accent, &pieces, look)
}

/// What a turn took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnFooter {
    /// How long it ran.
    pub elapsed: Duration,
    /// Its tokens.
    pub usage: TokenUsage,
}

/// One quiet line below a turn.
pub(crate) fn turn_footer(footer: &TurnFooter, look: &Look) -> Vec<Row> {
    let usage = &footer.usage;
    let joint = look.glyphs.joint;
    let mut text = duration(footer.elapsed);
    if usage.total() > 0 {
        text = format!("{text}{joint}{} in", grouped(usage.input_tokens));
        if usage.cached_input_tokens > 0 {
            text = format!("{text} ({} cached)", grouped(usage.cached_input_tokens));
        }
        text = format!("{text}{joint}{} out", grouped(usage.output_tokens));
    }
    let frame = Frame::bare(look.width);
    flow(&[Piece::new(text, look.theme.dim)], frame, Break::Words)
}

/// A number with commas between the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
