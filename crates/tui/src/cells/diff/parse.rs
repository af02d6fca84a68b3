//! Reads unified diffs, as `git diff` and the patch tool write them.

/// The changes of one file.
#[derive(Debug, Default)]
pub(in crate::cells) struct FileDiff<'a> {
    /// The file, by its new name unless it is gone.
    pub(in crate::cells) path: &'a str,
    pub(in crate::cells) lines: Vec<DiffLine<'a>>,
    pub(in crate::cells) n_added: usize,
    pub(in crate::cells) n_removed: usize,
}

impl FileDiff<'_> {
    /// `(+1 -2)`.
    pub(in crate::cells) fn counts(&self) -> String {
        format!("(+{} -{})", self.n_added, self.n_removed)
    }
}

/// A line to show.
#[derive(Debug)]
pub(in crate::cells) struct DiffLine<'a> {
    pub(in crate::cells) kind: LineKind,
    /// Its number in the new file, or in the old one if it was removed; 0 if it has none.
    pub(in crate::cells) number: usize,
    pub(in crate::cells) text: &'a str,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cells) enum LineKind {
    Added,
    Removed,
    Context,
    /// Lines between two hunks are left out.
    Gap,
    /// Something about the file, or no diff at all.
    Note,
}

/// The files of a diff, in order.
pub(in crate::cells) fn parse(diff: &str) -> Vec<FileDiff<'_>> {
    let mut parser = Parser::default();
    for line in diff.lines() {
        parser.line(line);
    }
    parser.files
}

/// Where in a diff we are.
#[derive(Default)]
struct Parser<'a> {
    files: Vec<FileDiff<'a>>,
    /// Lines of the hunk that are still to come, in the old and the new file. A removed line
    /// may look like the head of a file, so only the count tells.
    old_left: usize,
    new_left: usize,
    old_number: usize,
    new_number: usize,
    /// The current file has no hunk yet.
    in_head: bool,
}

impl<'a> Parser<'a> {
    fn line(&mut self, line: &'a str) {
        if self.old_left + self.new_left > 0 {
            self.in_hunk(line);
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            self.start_hunk(line, hunk);
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            self.start_file(names.rsplit(' ').next().unwrap_or(names));
        } else if let Some(path) = line.strip_prefix("--- ") {
            if !self.in_head {
                self.start_file(path);
            }
            self.name(path);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            self.name(path);
        } else if !self.in_head || !is_git_header(line) {
            self.add(LineKind::Note, 0, line);
        }
    }

    fn start_file(&mut self, path: &'a str) {
        self.files.push(FileDiff::default());
        self.in_head = true;
        self.name(path);
    }

    fn name(&mut self, path: &'a str) {
        let path = path.split('\t').next().unwrap_or(path);
        if path == "/dev/null" {
            return;
        }
        let path = ["a/", "b/"]
            .iter()
            .find_map(|side| path.strip_prefix(side))
            .unwrap_or(path);
        if let Some(file) = self.files.last_mut() {
            file.path = path;
        }
    }

    /// `-1,2 +3,4 @@ context`.
    fn start_hunk(&mut self, line: &'a str, hunk: &'a str) {
        let mut ranges = hunk.split(' ');
        let old = ranges.next().and_then(|range| numbers(range, '-'));
        let new = ranges.next().and_then(|range| numbers(range, '+'));
        let (Some(old), Some(new)) = (old, new) else {
            self.add(LineKind::Note, 0, line);
            return;
        };
        let follows = self
            .files
            .last()
            .is_some_and(|file| file.lines.iter().any(|line| line.kind != LineKind::Note));
        if follows {
            self.add(LineKind::Gap, 0, "");
        }
        (self.old_number, self.old_left) = old;
        (self.new_number, self.new_left) = new;
        self.in_head = false;
    }

    fn in_hunk(&mut self, line: &'a str) {
        let text = line.get(1..).unwrap_or_default();
        match line.chars().next() {
            Some('+') => {
                self.add(LineKind::Added, self.new_number, text);
                self.count_new();
            }
            Some('-') => {
                self.add(LineKind::Removed, self.old_number, text);
                self.count_old();
            }
            Some('\\') => self.add(LineKind::Note, 0, line),
            // Some tools leave the space of an empty context line out.
            Some(' ') | None => {
                self.add(LineKind::Context, self.new_number, text);
                self.count_old();
                self.count_new();
            }
            Some(_) => {
                // The counts were wrong.
                (self.old_left, self.new_left) = (0, 0);
                self.line(line);
            }
        }
    }

    fn count_old(&mut self) {
        self.old_number = self.old_number.saturating_add(1);
        self.old_left = self.old_left.saturating_sub(1);
    }

    fn count_new(&mut self) {
        self.new_number = self.new_number.saturating_add(1);
        self.new_left = self.new_left.saturating_sub(1);
    }

    fn add(&mut self, kind: LineKind, number: usize, text: &'a str) {
        if self.files.is_empty() {
            self.files.push(FileDiff::default());
        }
        if let Some(file) = self.files.last_mut() {
            file.n_added += usize::from(kind == LineKind::Added);
            file.n_removed += usize::from(kind == LineKind::Removed);
            file.lines.push(DiffLine { kind, number, text });
        }
    }
}

/// `-3,4` is line 3 and 4 lines; the count is 1 if it is left out.
fn numbers(range: &str, sign: char) -> Option<(usize, usize)> {
    let range = range.strip_prefix(sign)?;
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    // A bound keeps sums of counts from a hostile diff in range.
    let number = |text: &str| text.parse::<u32>().ok().map(|n| n as usize);
    Some((number(start)?, number(count)?))
}

/// Lines of `git diff` that say what the paths and counts say too.
fn is_git_header(line: &str) -> bool {
    [
        "index ",
        "new file mode ",
        "deleted file mode ",
        "similarity index ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}
