//! The themes by name. The only place with colours of 24 bits: those of the terminal itself
//! fit every background, these are each made for one, against which a test measures them.

use ratatui_core::style::{Color, Modifier, Style};

use super::{SyntaxStyles, Theme};

/// A theme that can be chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedTheme {
    /// How the configuration spells it.
    pub name: &'static str,
    /// The background that it is made for; none if it fits any.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "contrast is checked against it")
    )]
    pub background: Option<Color>,
    /// Its styles.
    pub theme: Theme,
}

/// All themes.
pub(crate) const THEMES: &[NamedTheme] = &[
    NamedTheme {
        name: "ansi",
        background: None,
        theme: Theme::ANSI,
    },
    NamedTheme {
        name: "monochrome",
        background: None,
        theme: Theme::MONOCHROME,
    },
    NamedTheme {
        name: "dark",
        background: Some(rgb(0x1a_1c_22)),
        theme: DARK.theme(),
    },
    NamedTheme {
        name: "light",
        background: Some(rgb(0xff_ff_ff)),
        theme: LIGHT.theme(),
    },
    NamedTheme {
        name: "high-contrast",
        background: Some(rgb(0x00_00_00)),
        theme: HIGH_CONTRAST.theme(),
    },
];

/// The colours of a theme, as `0xRRGGBB`.
struct Palette {
    text: u32,
    dim: u32,
    accent: u32,
    user: u32,
    heading: u32,
    code: u32,
    link: u32,
    quote: u32,
    success: u32,
    warning: u32,
    error: u32,
    keyword: u32,
    string: u32,
    comment: u32,
    constant: u32,
    function: u32,
    kind: u32,
}

const DARK: Palette = Palette {
    text: 0xd8_db_e2,
    dim: 0x8b_93_a1,
    accent: 0x5c_c8_d7,
    user: 0xf5_f7_fa,
    heading: 0xea_c5_7a,
    code: 0x86_d3_df,
    link: 0x7f_ac_fa,
    quote: 0xb4_bb_c8,
    success: 0x8f_ca_73,
    warning: 0xe6_b4_6c,
    error: 0xf5_83_8f,
    keyword: 0xc7_98_ee,
    string: 0xa4_d4_9e,
    comment: 0x8b_93_a1,
    constant: 0xf0_aa_7c,
    function: 0x86_ae_fb,
    kind: 0xf2_cd_78,
};

const LIGHT: Palette = Palette {
    text: 0x22_27_2e,
    dim: 0x63_6b_76,
    accent: 0x0b_66_77,
    user: 0x00_00_00,
    heading: 0x5f_35_ad,
    code: 0x0b_66_77,
    link: 0x07_50_a8,
    quote: 0x50_58_62,
    success: 0x12_63_2c,
    warning: 0x7a_4c_00,
    error: 0xb0_24_1c,
    keyword: 0x99_20_87,
    string: 0x0c_5c_38,
    comment: 0x5a_62_6c,
    constant: 0x90_36_00,
    function: 0x55_30_9c,
    kind: 0x0b_54_8a,
};

const HIGH_CONTRAST: Palette = Palette {
    text: 0xff_ff_ff,
    dim: 0xc4_c4_c4,
    accent: 0x00_ff_ff,
    user: 0xff_ff_00,
    heading: 0xff_ff_ff,
    code: 0x7d_f9_ff,
    link: 0x9c_c7_ff,
    quote: 0xe0_e0_e0,
    success: 0x5c_ff_5c,
    warning: 0xff_d7_00,
    error: 0xff_9a_9a,
    keyword: 0xff_a8_ff,
    string: 0x9d_ff_9d,
    comment: 0xc4_c4_c4,
    constant: 0xff_c8_80,
    function: 0x9c_c7_ff,
    kind: 0xff_ff_9d,
};

impl Palette {
    const fn theme(&self) -> Theme {
        Theme {
            text: color(self.text),
            dim: color(self.dim),
            accent: color(self.accent),
            selected: color(self.accent).add_modifier(Modifier::BOLD),
            user: color(self.user).add_modifier(Modifier::BOLD),
            heading: color(self.heading).add_modifier(Modifier::BOLD),
            code: color(self.code),
            link: color(self.link).add_modifier(Modifier::UNDERLINED),
            quote: color(self.quote).add_modifier(Modifier::ITALIC),
            success: color(self.success),
            warning: color(self.warning),
            error: color(self.error),
            added: color(self.success),
            removed: color(self.error),
            syntax: SyntaxStyles {
                keyword: color(self.keyword),
                string: color(self.string),
                comment: color(self.comment),
                constant: color(self.constant),
                function: color(self.function),
                kind: color(self.kind),
            },
        }
    }
}

const fn color(hex: u32) -> Style {
    Style::new().fg(rgb(hex))
}

const fn rgb(hex: u32) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color::Rgb(red, green, blue)
}

#[cfg(test)]
mod tests;
