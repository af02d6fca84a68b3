//! Takes off what models put around a patch: blank lines, Markdown fences, heredocs, indentation.

/// How many wrappers may be nested.
pub(crate) const MAX_DEPTH: usize = 4;

/// The lines of the patch itself. Text that is not wrapped comes back as it is.
pub(crate) fn unwrap(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines: Vec<&str> = text.lines().collect();
    trim_blank(&mut lines);
    for _ in 0..MAX_DEPTH {
        let [first, .., last] = lines.as_slice() else {
            break;
        };
        let Some(opening) = Opening::of(first).filter(|opening| opening.is_closed_by(last)) else {
            break;
        };
        lines.pop();
        lines.remove(0);
        if opening.strips_tabs() {
            for line in &mut lines {
                *line = line.trim_start_matches('\t');
            }
        }
        trim_blank(&mut lines);
    }
    dedent(&mut lines);
    lines
}

fn trim_blank(lines: &mut Vec<&str>) {
    let blank = |line: &&str| line.trim().is_empty();
    while lines.last().is_some_and(blank) {
        lines.pop();
    }
    let n_blank = lines.iter().take_while(|line| blank(line)).count();
    lines.drain(..n_blank);
}

/// A line that begins a wrapper, if another one ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Three or more backticks or tildes, perhaps with a language.
    Fence { mark: char, n_marks: usize },
    /// `<<EOF` with any delimiter and quoting, perhaps after `apply_patch` or `cat`.
    Heredoc {
        delimiter: String,
        /// `<<-`: a shell takes all tabs off the start of lines, so no line can mean them.
        strips_tabs: bool,
    },
}

impl Opening {
    /// What a line begins.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let fence = ['`', '~'].into_iter().find_map(|mark| {
            let info = line.trim().trim_start_matches(mark);
            let n_marks = line.trim().len() - info.len();
            (n_marks >= 3 && !info.contains(mark)).then_some(Self::Fence { mark, n_marks })
        });
        fence.or_else(|| heredoc(line))
    }

    /// Whether tabs at the start of the lines within are not a part of them.
    pub(crate) fn strips_tabs(&self) -> bool {
        matches!(
            self,
            Self::Heredoc {
                strips_tabs: true,
                ..
            }
        )
    }

    /// Whether a line ends it.
    pub(crate) fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        match self {
            Self::Fence { mark, n_marks } => {
                line.len() >= *n_marks && line.trim_start_matches(*mark).is_empty()
            }
            Self::Heredoc { delimiter, .. } => line == delimiter,
        }
    }
}

/// The heredoc that a line begins.
fn heredoc(line: &str) -> Option<Opening> {
    let (command, rest) = line.split_once("<<")?;
    let known = ["", "apply_patch", "applypatch", "cat", "apply_patch -"];
    if !known.contains(&command.trim()) {
        return None;
    }
    let strips_tabs = rest.starts_with('-');
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim();
    let (delimiter, after) = split_delimiter(rest);
    let piped = after.trim().strip_prefix('|').map(str::trim);
    let nothing_else = after.trim().is_empty()
        || (command.trim() == "cat" && matches!(piped, Some("apply_patch" | "applypatch")));
    (nothing_else && !delimiter.is_empty()).then(|| Opening::Heredoc {
        delimiter: delimiter.to_owned(),
        strips_tabs,
    })
}

/// The delimiter without its quotes, and what follows it.
fn split_delimiter(rest: &str) -> (&str, &str) {
    for quote in ['\'', '"'] {
        if let Some(quoted) = rest.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or(("", ""));
        }
    }
    let rest = rest.strip_prefix('\\').unwrap_or(rest);
    let end = rest
        .find(|character: char| character.is_whitespace() || "|;&<>()'\"".contains(character))
        .unwrap_or(rest.len());
    rest.split_at(end)
}

/// If every line has the indentation of the first, takes it off: no line could mean it.
fn dedent(lines: &mut [&str]) {
    let Some(first) = lines.first() else {
        return;
    };
    let indent = first
        .get(..first.len() - first.trim_start().len())
        .unwrap_or("");
    let all = lines
        .iter()
        .all(|line| line.trim().is_empty() || line.starts_with(indent));
    if all {
        for line in lines {
            *line = line.strip_prefix(indent).unwrap_or("");
        }
    }
}
