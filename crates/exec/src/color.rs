//! Whether and how human output is coloured. Colours only add to words.

use std::io::IsTerminal;

/// What the option `--color` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// Always.
    Always,
    /// Never.
    Never,
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
}

/// Styles text, or leaves it plain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    enabled: bool,
}

impl Paint {
    /// For standard error. `no_color` is whether the variable `NO_COLOR` is set and not empty.
    pub(crate) fn for_stderr(choice: ColorChoice, no_color: bool) -> Self {
        let enabled = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => !no_color && std::io::stderr().is_terminal(),
        };
        Self { enabled }
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.style("2", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.style("1", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.style("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.style("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.style("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.style("36", text)
    }

    /// SGR parameters (ECMA-48), the sixteen colours only, so that the terminal's theme counts.
    fn style(self, parameters: &str, text: &str) -> String {
        if self.enabled && !text.is_empty() {
            format!("\x1b[{parameters}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
