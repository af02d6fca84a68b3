//! A screen as SVG 1.1: one text element for each stretch of one style.

use std::fmt::Write as _;

use agent_test_support::{Glyph, Ink};

/// Width and height of a cell, and the size of the letters, in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
const LETTERS: f64 = 14.0;
/// Room around the screen, in pixels.
const MARGIN: f64 = 14.0;

/// The colours of a terminal.
pub(super) struct Palette {
    /// Its name, which is that of the theme as well.
    pub(super) name: &'static str,
    foreground: &'static str,
    background: &'static str,
    sixteen: [&'static str; 16],
}

impl Palette {
    /// Light letters on a dark ground.
    pub(super) const DARK: Self = Self {
        name: "dark",
        foreground: "#d6d8de",
        background: "#1a1c22",
        sixteen: [
            "#1a1c22", "#e06c75", "#98c379", "#d9b66a", "#6cb0f2", "#c792ea", "#5fc3c8", "#c8ccd4",
            "#6b7280", "#f08b93", "#b1d996", "#edcd86", "#8cc4f7", "#d9b0f3", "#84d8dc", "#ffffff",
        ],
    };

    /// Dark letters on a light ground.
    pub(super) const LIGHT: Self = Self {
        name: "light",
        foreground: "#24292f",
        background: "#ffffff",
        sixteen: [
            "#24292f", "#b42318", "#1a7f37", "#8a5a00", "#0b5cad", "#7c3aad", "#0a6f78", "#6e7781",
            "#57606a", "#a40e26", "#116329", "#6a4500", "#0a4c8f", "#652d90", "#085a62", "#8c959f",
        ],
    };

    fn ink(&self, ink: Ink, own: &str, other: &str) -> String {
        match ink {
            Ink::Default => own.to_owned(),
            Ink::Opposite => other.to_owned(),
            Ink::Numbered(number) => {
                let color = self.sixteen.get(usize::from(number));
                color.map_or_else(|| own.to_owned(), |color| (*color).to_owned())
            }
            Ink::Exact(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        }
    }
}

/// How a stretch of text looks.
#[derive(Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a cell has these independent attributes"
)]
struct Style {
    foreground: String,
    background: String,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
}

/// Cells of one row and style, without a gap.
struct Stretch {
    column: usize,
    row: usize,
    n_cells: usize,
    text: String,
    style: Style,
}

/// Draws a screen.
pub(super) fn draw(glyphs: &[Glyph], (columns, rows): (u16, u16), palette: &Palette) -> String {
    let last_row = glyphs.iter().map(|glyph| glyph.row + 1).max().unwrap_or(1);
    let rows = last_row.min(usize::from(rows));
    let width = f64::from(columns) * CELL.0 + 2.0 * MARGIN;
    let height = cells(rows) * CELL.1 + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"{}\"/>\n<g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, \
         monospace\" font-size=\"{LETTERS}\" xml:space=\"preserve\">\n",
        palette.background
    );
    for stretch in stretches(glyphs, palette) {
        stretch.draw(&mut out, palette);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn stretches(glyphs: &[Glyph], palette: &Palette) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for glyph in glyphs {
        let style = Style {
            foreground: palette.ink(glyph.foreground, palette.foreground, palette.background),
            background: palette.ink(glyph.background, palette.background, palette.foreground),
            bold: glyph.bold,
            dim: glyph.dim,
            italic: glyph.italic,
            underlined: glyph.underlined,
        };
        if let Some(last) = stretches.last_mut()
            && last.row == glyph.row
            && last.column + last.n_cells == glyph.column
            && last.style == style
        {
            last.n_cells += 1;
            last.text.push_str(&glyph.text);
            continue;
        }
        stretches.push(Stretch {
            column: glyph.column,
            row: glyph.row,
            n_cells: 1,
            text: glyph.text.clone(),
            style,
        });
    }
    stretches
}

impl Stretch {
    fn draw(&self, out: &mut String, palette: &Palette) {
        let x = MARGIN + cells(self.column) * CELL.0;
        let y = MARGIN + cells(self.row) * CELL.1;
        let width = cells(self.n_cells) * CELL.0;
        let style = &self.style;
        if style.background != palette.background {
            let (height, fill) = (CELL.1, &style.background);
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{fill}\"/>"
            );
        }
        let mut attributes = String::new();
        if style.bold {
            attributes.push_str(" font-weight=\"bold\"");
        }
        if style.dim {
            attributes.push_str(" opacity=\"0.65\"");
        }
        if style.italic {
            attributes.push_str(" font-style=\"italic\"");
        }
        if style.underlined {
            attributes.push_str(" text-decoration=\"underline\"");
        }
        let baseline = y + LETTERS;
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{baseline:.1}\" textLength=\"{width:.1}\" fill=\"{}\"{attributes}>{}</text>",
            style.foreground,
            escaped(&self.text)
        );
    }
}

/// A count of cells, for arithmetic with pixels.
fn cells(n: usize) -> f64 {
    f64::from(u16::try_from(n).unwrap_or(u16::MAX))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
