//! A patch as it was written: which files, and which lines in which order.

/// What a whole patch asks for, in the order in which it was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// One entry for each file header of the patch.
    pub hunks: Vec<FilePatch>,
}

/// What a patch asks for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The path as it is written in the header.
    pub path: String,
    /// What is to happen to the file.
    pub op: FileOp,
    /// The line of the patch with the header; the `*** Begin Patch` line is 1.
    pub line: usize,
}

/// What is to happen to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// A new file with this text.
    Add {
        /// The whole text, line endings included.
        content: String,
    },
    /// The file goes away.
    Delete,
    /// Lines of the file change, or its path does.
    Update {
        /// The new path as written, if the file moves.
        move_to: Option<String>,
        /// The changes, in the order of the file.
        chunks: Vec<Chunk>,
    },
}

/// One connected change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk {
    /// The texts of the `@@` lines before it, outermost first; a bare `@@` adds none.
    pub headers: Vec<String>,
    /// The body.
    pub lines: Vec<ChunkLine>,
    /// Whether `*** End of File` pins it to the end of the file.
    pub at_end: bool,
    /// How many blank context lines at the end of the body may be only layout of the patch.
    pub optional_tail: usize,
    /// The line of the patch at which the chunk begins.
    pub line: usize,
}

/// One line of the body of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkLine {
    /// Its marker.
    pub mark: Mark,
    /// Its text without marker and line ending.
    pub text: String,
    /// Whether `\ No newline at end of file` follows it.
    pub no_newline: bool,
}

/// The marker of a body line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The line is in the file and stays.
    Context,
    /// The line is in the file and goes.
    Remove,
    /// The line comes.
    Add,
}

/// What a patch does to a path, before anything is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// Creates it.
    Add,
    /// Removes it.
    Delete,
    /// Changes it.
    Update,
}

/// A path that a patch names, for questions about permission before planning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TouchedFile<'a> {
    /// The path as written.
    pub path: &'a str,
    /// What happens to it.
    pub kind: PatchKind,
    /// The new path as written, if the file moves.
    pub move_to: Option<&'a str>,
}

impl Patch {
    /// Lists what the patch names, in its order; a path may come more than once.
    pub fn files(&self) -> impl Iterator<Item = TouchedFile<'_>> {
        self.hunks.iter().map(FilePatch::touched)
    }

    /// Lists every path that would be written or removed, move targets included.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files()
            .flat_map(|file| std::iter::once(file.path).chain(file.move_to))
    }
}

impl Patch {
    /// The same patch as it reads outside of `directory`, in which its relative paths begin. An
    /// empty one is no other directory.
    #[must_use]
    pub fn from_within(mut self, directory: &str) -> Self {
        for file in &mut self.hunks {
            join(directory, &mut file.path);
            if let FileOp::Update {
                move_to: Some(path),
                ..
            } = &mut file.op
            {
                join(directory, path);
            }
        }
        self
    }
}

fn join(directory: &str, path: &mut String) {
    if !path.starts_with('/') && !directory.is_empty() {
        let directory = directory.trim_end_matches('/');
        *path = format!("{directory}/{path}");
    }
}

impl FilePatch {
    /// Says what it does to which path.
    pub fn touched(&self) -> TouchedFile<'_> {
        let (kind, move_to) = match &self.op {
            FileOp::Add { .. } => (PatchKind::Add, None),
            FileOp::Delete => (PatchKind::Delete, None),
            FileOp::Update { move_to, .. } => (PatchKind::Update, move_to.as_deref()),
        };
        TouchedFile {
            path: &self.path,
            kind,
            move_to,
        }
    }
}

impl Chunk {
    /// The body without its last `cut` lines.
    pub(crate) fn body(&self, cut: usize) -> &[ChunkLine] {
        let end = self.lines.len().saturating_sub(cut);
        self.lines.get(..end).unwrap_or(&[])
    }
}
