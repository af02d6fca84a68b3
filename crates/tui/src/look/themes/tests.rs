use super::*;

/// Relative luminance (WCAG 2.2).
fn luminance(color: Color) -> f64 {
    let Color::Rgb(red, green, blue) = color else {
        panic!("{color} is not of this table");
    };
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)
}

/// Contrast ratio (WCAG 2.2), from 1 to 21.
fn contrast(one: Color, other: Color) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// All styles that text is shown in, by name.
fn styles(theme: &Theme) -> [(&'static str, Style); 20] {
    [
        ("text", theme.text),
        ("dim", theme.dim),
        ("accent", theme.accent),
        ("selected", theme.selected),
        ("user", theme.user),
        ("heading", theme.heading),
        ("code", theme.code),
        ("link", theme.link),
        ("quote", theme.quote),
        ("success", theme.success),
        ("warning", theme.warning),
        ("error", theme.error),
        ("added", theme.added),
        ("removed", theme.removed),
        ("keyword", theme.syntax.keyword),
        ("string", theme.syntax.string),
        ("comment", theme.syntax.comment),
        ("constant", theme.syntax.constant),
        ("function", theme.syntax.function),
        ("kind", theme.syntax.kind),
    ]
}

#[test]
fn contrast_is_that_of_the_standard() {
    assert!((contrast(rgb(0), rgb(0xff_ff_ff)) - 21.0).abs() < 1e-9);
    assert!((contrast(rgb(0x77_77_77), rgb(0xff_ff_ff)) - 4.48).abs() < 0.01);
}

#[test]
fn every_text_can_be_read_on_its_background() {
    let mut n_measured = 0;
    for named in THEMES {
        let Some(background) = named.background else {
            continue;
        };
        for (style_name, style) in styles(&named.theme) {
            let least = match (named.name, style_name) {
                ("high-contrast", _) => 7.0,
                (_, "dim") => 3.0,
                _ => 4.5,
            };
            let ratio = contrast(style.fg.unwrap(), style.bg.unwrap_or(background));
            assert!(ratio >= least, "{} {style_name}: {ratio:.2}", named.name);
            n_measured += 1;
        }
    }
    assert_eq!(n_measured, 60);
}

#[test]
fn every_theme_is_found_by_its_name() {
    assert_eq!(Theme::NAMES.len(), THEMES.len());
    for (name, named) in Theme::NAMES.iter().zip(THEMES) {
        assert_eq!(*name, named.name);
        assert_eq!(Theme::named(name), Some(named.theme));
    }
    assert_eq!(Theme::named("nightfall"), None);
}
