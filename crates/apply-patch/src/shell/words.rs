//! The part of the shell's grammar whose meaning needs no shell: plain and quoted words, and
//! heredocs. Whatever a shell would expand is not understood.
//!
//! POSIX.1-2024, Shell Command Language, 2.2 (quoting) and 2.7.4 (here-documents).

/// Reads a script from its beginning.
pub(super) struct Scanner<'a> {
    rest: &'a str,
}

/// The first line of a heredoc.
pub(super) struct Heredoc {
    delimiter: String,
    pub(super) is_quoted: bool,
    strips_tabs: bool,
}

/// Characters that end a word.
const METACHARACTERS: &str = " \t\n;&|<>()";
/// Characters that mean something outside of quotes.
const SPECIAL: &str = "$`*?[]{}!#~=";

impl<'a> Scanner<'a> {
    pub(super) fn new(script: &'a str) -> Self {
        Self { rest: script }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes `token` after blanks, if it comes next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes what may stand between two commands of which the second follows the first.
    pub(super) fn take_separator(&mut self) -> bool {
        if self.take("&&") || self.take(";") || self.take("\n") {
            self.skip_lines();
            return true;
        }
        false
    }

    /// Skips blanks, empty lines and, where a line begins, comments.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
            if !self.rest.starts_with('#') {
                return;
            }
            self.rest = self
                .rest
                .find('\n')
                .map_or("", |at| self.rest.split_at(at).1);
        }
    }

    /// Skips `2>&1`, which changes nothing for a patch.
    pub(super) fn skip_redirection(&mut self) {
        self.take("2>&1");
    }

    /// The words up to the next operator or line end; `None` if one of them is not certain.
    pub(super) fn words(&mut self) -> Option<Vec<String>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            let next = self.rest.chars().next();
            // A number before `<` or `>` is a part of the redirection.
            if next.is_none_or(|next| METACHARACTERS.contains(next)) || self.is_redirection() {
                return Some(words);
            }
            words.push(self.word()?.0);
        }
    }

    /// `<<DELIMITER` or `<<-DELIMITER`.
    pub(super) fn heredoc_start(&mut self) -> Option<Heredoc> {
        // `<<<` is another thing.
        if !self.take("<<") || self.rest.starts_with('<') {
            return None;
        }
        let strips_tabs = self.rest.starts_with('-');
        self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
        self.skip_blanks();
        let (delimiter, is_quoted) = self.word()?;
        (!delimiter.is_empty()).then_some(Heredoc {
            delimiter,
            is_quoted,
            strips_tabs,
        })
    }

    /// The lines up to the delimiter, which must follow the end of this line.
    pub(super) fn heredoc_body(&mut self, heredoc: &Heredoc) -> Option<String> {
        self.skip_blanks();
        let lines = self.rest.strip_prefix("\r\n");
        let mut lines = lines.or_else(|| self.rest.strip_prefix('\n'))?;
        let mut body = String::new();
        while !lines.is_empty() {
            let (whole, rest) = match lines.find('\n') {
                Some(at) => lines.split_at(at + 1),
                None => (lines, ""),
            };
            lines = rest;
            let line = if heredoc.strips_tabs {
                whole.trim_start_matches('\t')
            } else {
                whole
            };
            if is_delimiter(line, &heredoc.delimiter, rest) {
                break;
            }
            body.push_str(line);
        }
        self.rest = lines;
        Some(body)
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\t']);
            self.rest = rest.strip_prefix("\\\n").unwrap_or(rest);
            if self.rest.len() == rest.len() {
                return;
            }
        }
    }

    fn is_redirection(&self) -> bool {
        let after = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        after.len() < self.rest.len() && after.starts_with(['<', '>'])
    }

    /// One word as the shell would hand it on, and whether a part of it was quoted.
    fn word(&mut self) -> Option<(String, bool)> {
        let mut word = String::new();
        let mut is_quoted = false;
        while let Some(next) = self.rest.chars().next() {
            if METACHARACTERS.contains(next) {
                break;
            }
            self.rest = self.rest.get(next.len_utf8()..).unwrap_or("");
            is_quoted |= matches!(next, '\'' | '"' | '\\');
            match next {
                '\'' => {
                    let (quoted, rest) = self.rest.split_once('\'')?;
                    word.push_str(quoted);
                    self.rest = rest;
                }
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    let escaped = self.rest.chars().next()?;
                    self.rest = self.rest.get(escaped.len_utf8()..).unwrap_or("");
                    // Before a line end it joins two lines.
                    if escaped != '\n' {
                        word.push(escaped);
                    }
                }
                '\r' | '\0' => return None,
                _ if SPECIAL.contains(next) => return None,
                _ => word.push(next),
            }
        }
        Some((word, is_quoted))
    }

    /// The rest of `"…"`, if nothing in it is expanded.
    fn double_quoted(&mut self, word: &mut String) -> Option<()> {
        loop {
            let at = self.rest.find(['"', '\\', '$', '`'])?;
            let (plain, rest) = self.rest.split_at(at);
            word.push_str(plain);
            let mut after = rest.chars();
            match after.next()? {
                '"' => {
                    self.rest = after.as_str();
                    return Some(());
                }
                '\\' => {
                    let escaped = after.next()?;
                    if !"\"\\$`\n".contains(escaped) {
                        word.push('\\');
                    }
                    if escaped != '\n' {
                        word.push(escaped);
                    }
                    self.rest = after.as_str();
                }
                _ => return None,
            }
        }
    }
}

/// Whether a line ends the heredoc. Models add blanks to the very last one.
fn is_delimiter(line: &str, delimiter: &str, rest: &str) -> bool {
    let bare = line.strip_suffix('\n').unwrap_or(line);
    let bare = bare.strip_suffix('\r').unwrap_or(bare);
    bare == delimiter || (rest.trim().is_empty() && bare.trim() == delimiter)
}
