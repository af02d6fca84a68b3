//! What a line of Markdown begins: just enough of the block grammar (`CommonMark` 0.31, tables of
//! GFM) to see where one block ends for certain. Parsing proper is the library's.

/// Characters by which an HTML block of the kinds that may hold blank lines begins, and what
/// ends it (`CommonMark` 0.31, 4.6, kinds 1 to 5).
const RAW_HTML: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<?", "?>"),
    ("<![CDATA[", "]]>"),
];

/// Tags that begin an HTML block even behind a paragraph, of those that models write.
const HTML_BLOCKS: &[&str] = &[
    "details", "summary", "div", "p", "table", "tr", "td", "th", "ul", "ol", "li", "h1", "h2",
    "h3", "h4", "center", "section",
];

/// A fence of a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// Columns before it; as many are taken off each line of code.
    pub(super) indent: usize,
}

impl Fence {
    /// The fence that a line opens, and the text behind it.
    pub(super) fn opens(line: &str) -> Option<(Self, &str)> {
        let (indent, rest) = split_indent(line);
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        let is_fence = indent < 4 && length >= 3 && !(mark == '`' && info.contains('`'));
        let fence = Self {
            mark,
            length,
            indent,
        };
        is_fence.then_some((fence, info.trim()))
    }

    /// Whether a line ends the block.
    pub(super) fn closed_by(self, line: &str) -> bool {
        let (indent, rest) = split_indent(line);
        let after = rest.trim_start_matches(self.mark);
        indent < 4 && rest.len() - after.len() >= self.length && after.trim().is_empty()
    }

    /// The line of code without the indent of the fence.
    pub(super) fn code(self, line: &str) -> &str {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        line.get(spaces.min(self.indent)..).unwrap_or(line)
    }
}

/// The mark of a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marker {
    /// The character that tells lists apart: `-`, `*`, `+`, `.` or `)`.
    pub(super) kind: char,
    /// The column that the item's content begins at.
    pub(super) content: usize,
    /// It may end a paragraph: it has content and, if numbered, begins at 1.
    pub(super) interrupts: bool,
}

/// The list item that a line begins.
pub(super) fn marker(line: &str) -> Option<Marker> {
    let (indent, rest) = split_indent(line);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let kind = rest.get(digits..)?.chars().next()?;
    let known = match digits {
        0 => matches!(kind, '-' | '*' | '+'),
        1..=9 => matches!(kind, '.' | ')'),
        _ => false,
    };
    if !known || indent > 3 || is_rule(line) {
        return None;
    }
    let after = rest.get(digits + 1..)?;
    if !after.is_empty() && !after.starts_with([' ', '\t']) {
        return None;
    }
    let (gap, content) = split_indent(after);
    let gap = if content.is_empty() || gap > 4 {
        1
    } else {
        gap
    };
    Some(Marker {
        kind,
        content: indent + digits + 1 + gap,
        interrupts: !content.is_empty() && (digits == 0 || rest.get(..digits) == Some("1")),
    })
}

/// Columns of white space at the beginning, and the rest.
pub(super) fn split_indent(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches([' ', '\t']);
    let mut columns = 0;
    for byte in line.bytes().take(line.len() - rest.len()) {
        columns = if byte == b'\t' {
            columns / 4 * 4 + 4
        } else {
            columns + 1
        };
    }
    (columns, rest)
}

/// Whether nothing is on the line.
pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|b| matches!(b, b' ' | b'\t'))
}

/// Whether the line is a thematic break. Below a paragraph, look for [`is_underline`] first.
pub(super) fn is_rule(line: &str) -> bool {
    let (indent, rest) = split_indent(line);
    let Some(mark) = rest.chars().next().filter(|c| matches!(c, '-' | '*' | '_')) else {
        return false;
    };
    indent < 4
        && rest.matches(mark).count() >= 3
        && rest.chars().all(|c| c == mark || matches!(c, ' ' | '\t'))
}

/// Whether the line makes a heading of the paragraph above it.
pub(super) fn is_underline(line: &str) -> bool {
    let (indent, rest) = split_indent(line);
    let rest = rest.trim_end();
    let all = |mark: char| !rest.is_empty() && rest.chars().all(|c| c == mark);
    indent < 4 && (all('=') || all('-'))
}

/// Whether the line is a heading with `#`.
pub(super) fn is_heading(line: &str) -> bool {
    let (indent, rest) = split_indent(line);
    let after = rest.trim_start_matches('#');
    let level = rest.len() - after.len();
    indent < 4 && (1..=6).contains(&level) && (after.is_empty() || after.starts_with([' ', '\t']))
}

/// Whether the line begins a quotation.
pub(super) fn is_quote(line: &str) -> bool {
    let (indent, rest) = split_indent(line);
    indent < 4 && rest.starts_with('>')
}

/// Whether the line is the second one of a table.
pub(super) fn is_delimiter_row(line: &str) -> bool {
    let (indent, rest) = split_indent(line);
    indent < 4
        && rest.contains('|')
        && rest.contains('-')
        && rest
            .chars()
            .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// What ends an HTML block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlEnd {
    /// A line that holds this, in any case.
    Mark(&'static str),
    /// A blank line.
    Blank,
}

impl HtmlEnd {
    /// Whether this line is the last one of the block.
    pub(super) fn is_in(self, line: &str) -> bool {
        match self {
            Self::Mark(mark) => line.to_ascii_lowercase().contains(mark),
            Self::Blank => is_blank(line),
        }
    }
}

/// The HTML block that a line begins, even behind a paragraph.
pub(super) fn html(line: &str) -> Option<HtmlEnd> {
    let (indent, rest) = split_indent(line);
    if indent > 3 || !rest.starts_with('<') {
        return None;
    }
    let begins = |start: &str| {
        let head = rest.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    if let Some((_, end)) = RAW_HTML.iter().find(|(start, _)| begins(start)) {
        return Some(HtmlEnd::Mark(end));
    }
    let name = rest.trim_start_matches(['<', '/']);
    let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    HTML_BLOCKS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
        .then_some(HtmlEnd::Blank)
}
