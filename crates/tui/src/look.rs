//! How things look: the width, the styles and the glyphs that every view is given.

pub(crate) mod themes;

use ratatui_core::style::{Color, Modifier, Style};

/// What a view depends on beside its own state.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// Columns of the terminal, at least 1.
    pub width: u16,
    /// The styles.
    pub theme: Theme,
    /// Marks in front of things.
    pub glyphs: Glyphs,
    /// Nothing moves: no spinner, no cursor tricks.
    pub reduced_motion: bool,
}

impl Look {
    /// Whether the terminal only has lines: a line answers, not a key.
    pub(crate) fn is_plain(&self) -> bool {
        self.glyphs == Glyphs::PLAIN
    }
}

/// Styles by what they mean. Views use these and no colour of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// What matters less: hints, durations, reasoning.
    pub dim: Style,
    /// What stands out: the prompt mark, the selected entry, the spinner.
    pub accent: Style,
    /// The selected entry of a list, over its whole width.
    pub selected: Style,
    /// What the user said.
    pub user: Style,
    /// Headings of Markdown.
    pub heading: Style,
    /// Code within a line.
    pub code: Style,
    /// Links.
    pub link: Style,
    /// Quotations.
    pub quote: Style,
    /// Something went well.
    pub success: Style,
    /// Something to look at.
    pub warning: Style,
    /// Something failed.
    pub error: Style,
    /// A line that was added.
    pub added: Style,
    /// A line that was removed.
    pub removed: Style,
    /// The colours of code blocks.
    pub syntax: SyntaxStyles,
}

/// Styles of code blocks, by kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxStyles {
    /// Keywords and storage words.
    pub keyword: Style,
    /// Strings.
    pub string: Style,
    /// Comments.
    pub comment: Style,
    /// Numbers, constants, booleans.
    pub constant: Style,
    /// Names of functions.
    pub function: Style,
    /// Names of types, tags, attributes.
    pub kind: Style,
}

/// Marks in front of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Glyphs {
    /// Before the composer and what the user said.
    pub prompt: &'static str,
    /// Before the selected entry of a list. Where there are only lines none is: a mark like the
    /// prompt would pass for one.
    pub selected: &'static str,
    /// Before what the model said and did.
    pub bullet: &'static str,
    /// Before the first line of what belongs to the line above.
    pub branch: &'static str,
    /// A step of a plan that is done.
    pub done: &'static str,
    /// A step of a plan that is worked on.
    pub doing: &'static str,
    /// A step of a plan that waits.
    pub open: &'static str,
    /// Something failed.
    pub failed: &'static str,
    /// Something to look at.
    pub warning: &'static str,
    /// Text was left out.
    pub ellipsis: &'static str,
    /// Horizontal line.
    pub rule: &'static str,
    /// A part of a bar that is full.
    pub bar_full: &'static str,
    /// Vertical line beside quotations and between columns.
    pub bar: &'static str,
    /// Lines between two parts of a file were left out.
    pub skip: &'static str,
    /// Between two facts on one line, the spaces included.
    pub joint: &'static str,
}

impl Glyphs {
    /// For terminals that show Unicode.
    pub(crate) const UNICODE: Self = Self {
        prompt: "›",
        selected: "›",
        bullet: "•",
        branch: "└",
        done: "✔",
        doing: "▸",
        open: "□",
        failed: "✗",
        warning: "⚠",
        ellipsis: "…",
        rule: "─",
        bar_full: "█",
        bar: "│",
        skip: "⋮",
        joint: " · ",
    };

    /// Plain words and ASCII, for screen readers and simple terminals.
    pub(crate) const PLAIN: Self = Self {
        prompt: ">",
        selected: " ",
        bullet: "-",
        branch: " ",
        done: "[done]",
        doing: "[doing]",
        open: "[open]",
        failed: "failed:",
        warning: "warning:",
        ellipsis: "...",
        rule: "-",
        bar_full: "#",
        bar: "|",
        skip: "...",
        joint: ", ",
    };
}

impl Theme {
    /// The names of all themes, in the order of [`themes::THEMES`].
    pub(crate) const NAMES: &[&str] = &["ansi", "monochrome", "dark", "light", "high-contrast"];

    /// The theme of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let named = themes::THEMES.iter().find(|named| named.name == name)?;
        Some(named.theme)
    }

    /// The terminal's own sixteen colours, so that it fits every background.
    pub(crate) const ANSI: Self = Self {
        text: Style::new(),
        dim: Style::new().add_modifier(Modifier::DIM),
        accent: Style::new().fg(Color::Cyan),
        selected: Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD),
        user: Style::new().add_modifier(Modifier::BOLD),
        heading: Style::new().add_modifier(Modifier::BOLD),
        code: Style::new().fg(Color::Cyan),
        link: Style::new()
            .fg(Color::Blue)
            .add_modifier(Modifier::UNDERLINED),
        quote: Style::new().add_modifier(Modifier::ITALIC),
        success: Style::new().fg(Color::Green),
        warning: Style::new().fg(Color::Yellow),
        error: Style::new().fg(Color::Red),
        added: Style::new().fg(Color::Green),
        removed: Style::new().fg(Color::Red),
        syntax: SyntaxStyles {
            keyword: Style::new().fg(Color::Magenta),
            string: Style::new().fg(Color::Green),
            comment: Style::new().add_modifier(Modifier::DIM),
            constant: Style::new().fg(Color::Yellow),
            function: Style::new().fg(Color::Blue),
            kind: Style::new().fg(Color::Cyan),
        },
    };

    /// No colour at all (`NO_COLOR`): weight alone.
    pub(crate) const MONOCHROME: Self = Self {
        text: Style::new(),
        dim: Style::new().add_modifier(Modifier::DIM),
        accent: Style::new().add_modifier(Modifier::BOLD),
        selected: Style::new().add_modifier(Modifier::REVERSED),
        user: Style::new().add_modifier(Modifier::BOLD),
        heading: Style::new().add_modifier(Modifier::BOLD),
        code: Style::new().add_modifier(Modifier::BOLD),
        link: Style::new().add_modifier(Modifier::UNDERLINED),
        quote: Style::new().add_modifier(Modifier::ITALIC),
        success: Style::new(),
        warning: Style::new().add_modifier(Modifier::BOLD),
        error: Style::new().add_modifier(Modifier::BOLD),
        added: Style::new().add_modifier(Modifier::BOLD),
        removed: Style::new().add_modifier(Modifier::DIM),
        syntax: SyntaxStyles {
            keyword: Style::new().add_modifier(Modifier::BOLD),
            string: Style::new(),
            comment: Style::new().add_modifier(Modifier::DIM),
            constant: Style::new(),
            function: Style::new(),
            kind: Style::new(),
        },
    };
}
