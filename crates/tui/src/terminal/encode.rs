//! Rows as the bytes that show them: SGR attributes (ECMA-48) and OSC 8 links.

use std::fmt::Write as _;

use ratatui_core::style::{Color, Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::row::{Link, Row};

/// Appends the bytes of a row: its text and styles, ended with plain style. Neither line end
/// nor cursor movement is among them.
pub(super) fn row(out: &mut String, row: &Row) {
    let mut pen = Pen {
        out,
        column: 0,
        links: &row.links,
        in_link: false,
    };
    for span in &row.line.spans {
        pen.span(&span.content, row.line.style.patch(span.style));
    }
    pen.end_link();
}

struct Pen<'a> {
    out: &'a mut String,
    column: usize,
    /// Links that have not begun yet, or the one that is open.
    links: &'a [Link],
    in_link: bool,
}

impl Pen<'_> {
    fn span(&mut self, text: &str, style: Style) {
        let styled = sgr(self.out, style);
        if self.links.is_empty() {
            // The usual case: no need to look at each grapheme.
            self.out.extend(text.chars().filter(|c| !c.is_control()));
        } else {
            for grapheme in text.graphemes(true) {
                self.grapheme(grapheme);
            }
        }
        if styled {
            self.out.push_str("\x1b[0m");
        }
    }

    fn grapheme(&mut self, grapheme: &str) {
        if let Some((link, rest)) = self.links.split_first()
            && self.in_link
            && self.column >= usize::from(link.columns.end)
        {
            self.end_link();
            self.links = rest;
        }
        if let Some(link) = self.links.first()
            && !self.in_link
            && link
                .columns
                .contains(&u16::try_from(self.column).unwrap_or(u16::MAX))
        {
            let _ = write!(self.out, "\x1b]8;;{}\x1b\\", printable(&link.target));
            self.in_link = true;
        }
        self.out
            .extend(grapheme.chars().filter(|c| !c.is_control()));
        self.column += grapheme.width();
    }

    fn end_link(&mut self) {
        if std::mem::take(&mut self.in_link) {
            self.out.push_str("\x1b]8;;\x1b\\");
        }
    }
}

/// An address without anything that could end the sequence it stands in.
fn printable(target: &str) -> String {
    target.chars().filter(char::is_ascii_graphic).collect()
}

/// Appends the sequence that begins a style. Whether there was anything to begin.
fn sgr(out: &mut String, style: Style) -> bool {
    let start = out.len();
    let mut put = |code: &str| {
        out.push_str(if out.len() == start { "\x1b[" } else { ";" });
        out.push_str(code);
    };
    for (modifier, code) in [
        (Modifier::BOLD, "1"),
        (Modifier::DIM, "2"),
        (Modifier::ITALIC, "3"),
        (Modifier::UNDERLINED, "4"),
        (Modifier::REVERSED, "7"),
        (Modifier::CROSSED_OUT, "9"),
    ] {
        if style.add_modifier.contains(modifier) {
            put(code);
        }
    }
    if let Some(code) = style.fg.and_then(|color| color_code(color, Ground::Fore)) {
        put(&code);
    }
    if let Some(code) = style.bg.and_then(|color| color_code(color, Ground::Back)) {
        put(&code);
    }
    let any = out.len() > start;
    if any {
        out.push('m');
    }
    any
}

#[derive(Clone, Copy)]
enum Ground {
    Fore,
    Back,
}

/// The SGR parameters of a colour; none for the terminal's own.
fn color_code(color: Color, ground: Ground) -> Option<String> {
    let (normal, bright, extended) = match ground {
        Ground::Fore => (30, 90, 38),
        Ground::Back => (40, 100, 48),
    };
    let basic = |index: u8| Some((normal + index).to_string());
    let light = |index: u8| Some((bright + index).to_string());
    match color {
        Color::Reset => None,
        Color::Black => basic(0),
        Color::Red => basic(1),
        Color::Green => basic(2),
        Color::Yellow => basic(3),
        Color::Blue => basic(4),
        Color::Magenta => basic(5),
        Color::Cyan => basic(6),
        Color::Gray => basic(7),
        Color::DarkGray => light(0),
        Color::LightRed => light(1),
        Color::LightGreen => light(2),
        Color::LightYellow => light(3),
        Color::LightBlue => light(4),
        Color::LightMagenta => light(5),
        Color::LightCyan => light(6),
        Color::White => light(7),
        Color::Rgb(red, green, blue) => Some(format!("{extended};2;{red};{green};{blue}")),
        Color::Indexed(index) => Some(format!("{extended};5;{index}")),
    }
}

#[cfg(test)]
mod tests;
