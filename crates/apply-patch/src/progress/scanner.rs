//! The lines between the markers of a patch, one after the other.

use super::FileProgress;
use crate::parse::{ADD, DELETE, END, MOVE, UPDATE, is_file_header, is_no_newline, path_after};
use crate::patch::PatchKind;

/// How many files are held. When there are more, the last place is that of the newest.
const MAX_FILES: usize = 64;

/// Counts files and lines.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    files: Vec<FileProgress>,
    n_left_out: usize,
    added: usize,
    removed: usize,
    at: At,
}

/// Where the next line stands.
#[derive(Debug, Default, Clone, Copy)]
enum At {
    /// Where a file header is due.
    #[default]
    Header,
    /// In a new file.
    Add(Content),
    /// Right after the header of an update, where the file may move.
    UpdateHeader,
    /// In an update without chunks so far.
    Update,
    /// In the chunks of an update.
    Chunks,
    /// After the last marker.
    End,
}

/// The content of a new file, as far as its number of lines depends on it.
#[derive(Debug, Default, Clone, Copy)]
struct Content {
    written: usize,
    last_is_empty: bool,
    /// The last line has no line end.
    is_cut: bool,
}

impl Scanner {
    pub(super) fn files(&self) -> &[FileProgress] {
        &self.files
    }

    pub(super) fn n_left_out(&self) -> usize {
        self.n_left_out
    }

    pub(super) fn lines(&self) -> (usize, usize) {
        (self.added, self.removed)
    }

    /// Takes a line that is not blank. Says whether files or counts are others now.
    pub(super) fn line(&mut self, line: &str) -> bool {
        match self.at {
            At::Header => self.header(line.trim()),
            At::Add(content) => self.content_line(content, line),
            At::UpdateHeader => {
                self.at = At::Update;
                match path_after(line.trim(), MOVE).filter(|path| !path.is_empty()) {
                    Some(path) => self.move_to(path),
                    None => self.line(line),
                }
            }
            At::Update if line.starts_with('*') || is_file_header(line) => self.header(line.trim()),
            At::Chunks if line.starts_with('*') => self.header(line.trim()),
            At::Update | At::Chunks => {
                self.at = At::Chunks;
                match line.as_bytes().first() {
                    Some(b'+') => self.count(1, 0),
                    Some(b'-') => self.count(0, 1),
                    Some(_) | None => false,
                }
            }
            At::End => false,
        }
    }

    /// A line that is, if anything, a header of a file or the last marker.
    fn header(&mut self, line: &str) -> bool {
        if line == END {
            self.at = At::End;
            return false;
        }
        let forms = [
            (ADD, PatchKind::Add, At::Add(Content::default())),
            (DELETE, PatchKind::Delete, At::Header),
            (UPDATE, PatchKind::Update, At::UpdateHeader),
        ];
        for (form, kind, next) in forms {
            if let Some(path) = path_after(line, form)
                && !path.is_empty()
            {
                self.at = next;
                self.begin_file(path, kind);
                return true;
            }
        }
        false
    }

    fn begin_file(&mut self, path: &str, kind: PatchKind) {
        if self.files.len() >= MAX_FILES {
            self.files.pop();
            self.n_left_out += 1;
        }
        self.files.push(FileProgress {
            path: path.to_owned(),
            kind,
            move_to: None,
            added: 0,
            removed: 0,
        });
    }

    fn move_to(&mut self, path: &str) -> bool {
        if let Some(file) = self.files.last_mut() {
            file.move_to = Some(path.to_owned());
        }
        true
    }

    fn content_line(&mut self, mut content: Content, line: &str) -> bool {
        let n_before = content.n_lines();
        if let Some(text) = line.strip_prefix('+') {
            content = Content {
                written: content.written + 1,
                last_is_empty: text.is_empty(),
                is_cut: false,
            };
        } else if is_no_newline(line) && content.written > 0 {
            content.is_cut = true;
        } else {
            return self.header(line.trim());
        }
        self.at = At::Add(content);
        let n_lines = content.n_lines();
        self.added -= n_before;
        if let Some(file) = self.files.last_mut() {
            file.added -= n_before;
        }
        self.count(n_lines, 0);
        n_lines != n_before
    }

    fn count(&mut self, added: usize, removed: usize) -> bool {
        self.added += added;
        self.removed += removed;
        if let Some(file) = self.files.last_mut() {
            file.added += added;
            file.removed += removed;
        }
        true
    }
}

impl Content {
    /// An empty line without a line end is none.
    fn n_lines(self) -> usize {
        self.written - usize::from(self.last_is_empty && self.is_cut)
    }
}
