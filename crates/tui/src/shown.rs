//! For tests: rows as text that a person can compare.

use std::fmt::Write as _;

use ratatui_core::style::Style;

use crate::look::{Glyphs, Look, Theme};
use crate::row::Row;
use crate::text::tests::assert_sound;

/// The terminal's colours at a width.
pub(crate) fn look(width: u16) -> Look {
    Look {
        width,
        theme: Theme::ANSI,
        glyphs: Glyphs::UNICODE,
        reduced_motion: true,
    }
}

/// The text of the rows. Fails on rows that may not exist.
#[track_caller]
pub(crate) fn plain(rows: &[Row], width: u16) -> String {
    assert_sound(rows, width);
    let mut shown = String::new();
    for row in rows {
        let text = row.text();
        assert_eq!(text.trim_end(), text, "spaces at the end");
        shown.push_str(&text);
        shown.push('\n');
    }
    shown
}

/// The text of the rows, with `{style|text}` for what is styled and `{text -> target}` below.
#[track_caller]
pub(crate) fn styled(rows: &[Row]) -> String {
    let mut shown = String::new();
    for row in rows {
        for span in &row.line.spans {
            if span.style == Style::new() {
                shown.push_str(&span.content);
            } else {
                let _ = write!(shown, "{{{}|{}}}", style_name(span.style), span.content);
            }
        }
        shown.push('\n');
        for link in &row.links {
            let _ = writeln!(shown, "  {:?} -> {}", link.columns, link.target);
        }
    }
    shown
}

fn style_name(style: Style) -> String {
    let mut words = Vec::new();
    if let Some(color) = style.fg {
        words.push(color.to_string().to_lowercase());
    }
    if let Some(color) = style.bg {
        words.push(format!("on {}", color.to_string().to_lowercase()));
    }
    for (name, _) in style.add_modifier.iter_names() {
        words.push(name.to_lowercase());
    }
    words.join(" ")
}
