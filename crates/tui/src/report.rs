//! What `/context` and `/status` show.

use std::fmt::Write as _;
use std::time::Duration;

use agent_protocol::{CommandInfo, ContextReport, ThreadInfo, TokenUsage};
use ratatui_core::text::{Line, Span};

use crate::cells;
use crate::look::Look;
use crate::row::Row;
use crate::text;

/// Rows of one script in a list.
const MAX_SCRIPT_ROWS: usize = 3;

/// Columns of the longest bar.
const BAR_COLUMNS: u64 = 24;

/// From so many columns on the bars are long and the items are counted.
const WIDE: u16 = 72;

/// What runs in the background: number, time and script.
pub(crate) fn commands(commands: &[CommandInfo], look: &Look) -> Vec<Row> {
    let title = Line::from(Span::styled("In the background", look.theme.heading));
    let mut rows = text::wrap(&title, look.width, &[], &[]);
    for command in commands {
        let took = cells::duration(Duration::from_millis(command.running_ms));
        let number = format!("  {:>4}  {took:>8}  ", command.session_id);
        let first = [Span::styled(number, look.theme.dim)];
        let rest = [Span::raw(" ".repeat(16))];
        let script = text::spelled_out(command.command.trim_end());
        let pieces = [text::Piece::new(script, look.theme.text)];
        let frame = text::Frame {
            width: look.width,
            first: &first,
            rest: &rest,
        };
        let mut lines = text::flow(&pieces, frame, text::Break::Words);
        lines.truncate(MAX_SCRIPT_ROWS);
        rows.append(&mut lines);
    }
    rows
}

/// Where the context window goes: a bar and numbers for each part.
pub(crate) fn context(report: &ContextReport, look: &Look) -> Vec<Row> {
    let total: u64 = report.parts.iter().map(|part| part.tokens).sum();
    let mut title = format!("Context, about {} tokens", text::short_count(total));
    if let Some(window) = report.window {
        let _ = write!(title, " of {}", text::short_count(window));
    }
    if let Some(last) = report.last_request_tokens {
        let _ = write!(title, "; the last request had {}", text::short_count(last));
    }
    let title = Line::from(Span::styled(title, look.theme.heading));
    let mut rows = text::wrap(&title, look.width, &[], &[]);
    let is_wide = look.width >= WIDE;
    let name_columns = if is_wide { 28 } else { 14 };
    let bar_columns = if is_wide { BAR_COLUMNS } else { 10 };
    let scale = report.window.unwrap_or(total).max(1);
    let mut add = |name: &str, tokens: u64, items: String| {
        let filled = (tokens * bar_columns).div_ceil(scale).min(bar_columns);
        let name = text::truncate(name, name_columns, look.glyphs.ellipsis);
        let bar_columns = usize::try_from(bar_columns).unwrap_or(0);
        let bar = look
            .glyphs
            .bar_full
            .repeat(usize::try_from(filled).unwrap_or(0));
        rows.push(Row::from(Line::from(vec![
            Span::styled(format!("  {name:<name_columns$}"), look.theme.text),
            Span::styled(
                format!("{:>8}  ", text::short_count(tokens)),
                look.theme.text,
            ),
            Span::styled(format!("{bar:<bar_columns$} "), look.theme.accent),
            Span::styled(if is_wide { items } else { String::new() }, look.theme.dim),
        ])));
    };
    for part in &report.parts {
        let items = match part.items {
            1 => String::new(),
            n => format!("{n} items"),
        };
        add(&part.name, part.tokens, items);
    }
    if let Some(window) = report.window {
        add("free", window.saturating_sub(total), String::new());
    }
    rows.iter()
        .map(|row| text::truncate_row(row, look))
        .collect()
}

/// What `/status` tells.
pub(crate) struct Status<'a> {
    pub(crate) info: &'a ThreadInfo,
    pub(crate) branch: Option<&'a str>,
    pub(crate) last_request: Option<TokenUsage>,
    pub(crate) theme: &'a str,
}

/// Model, place, limits and tokens.
pub(crate) fn status(status: &Status<'_>, look: &Look) -> Vec<Row> {
    let info = status.info;
    let mut rows = vec![Row::from(Span::styled("Status", look.theme.heading))];
    let mut add = |name: &str, value: &str| {
        let line = Line::from(Span::styled(text::spelled_out_line(value), look.theme.text));
        let indent = [Span::styled(format!("  {name:<12}"), look.theme.dim)];
        let rest = [Span::raw(" ".repeat(14))];
        rows.extend(text::wrap(&line, look.width, &indent, &rest));
    };
    let effort = info.reasoning_effort.as_deref().unwrap_or("default");
    add(
        "model",
        &format!("{} ({}), effort {effort}", info.model, info.provider),
    );
    add("directory", &info.cwd.display().to_string());
    add("branch", status.branch.unwrap_or("none"));
    add("sandbox", &info.sandbox_mode.to_string());
    add("approvals", &info.approval_policy.to_string());
    if let Some(usage) = status.last_request {
        let text = format!(
            "{} in ({} cached), {} out",
            text::short_count(usage.input_tokens),
            text::short_count(usage.cached_input_tokens),
            text::short_count(usage.output_tokens)
        );
        add("tokens", &text);
    }
    add("theme", status.theme);
    match &info.rollout_path {
        Some(path) => add("session", &path.display().to_string()),
        None => add("session", "not on disk yet"),
    }
    rows
}
