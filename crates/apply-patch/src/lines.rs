//! An index of the lines of a file: offsets only, so that a big file costs four bytes a line.

use std::cell::Cell;

use memchr::memchr_iter;

const BOM: &[u8] = b"\xef\xbb\xbf";
/// How many lines may be compared in a small file, and for each line of a large one: seconds at most.
/// An edit that a model writes needs less than a hundredth of it.
const EFFORT: u64 = 30_000_000;
const EFFORT_A_LINE: u64 = 64;

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
    /// The last line of a file that has no final newline.
    Missing,
}

impl Ending {
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::Missing => b"",
        }
    }
}

/// The lines of a file. A byte order mark belongs to no line; a lone CR ends none.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    /// Where each line begins, and the end of the file.
    starts: Vec<u32>,
    /// How many more lines may be compared.
    effort: Cell<u64>,
}

impl<'a> Lines<'a> {
    /// Indexes a file; `None` if it is too large for the index (4 GiB).
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let end = u32::try_from(bytes.len()).ok()?;
        let first = if bytes.starts_with(BOM) { 3 } else { 0 };
        // Counting first costs a fast pass and saves a vector of twice the size.
        let n_newlines = memchr_iter(b'\n', bytes).count();
        let mut starts = Vec::with_capacity(n_newlines + 2);
        starts.push(first);
        starts.extend(memchr_iter(b'\n', bytes).filter_map(|at| u32::try_from(at + 1).ok()));
        if starts.last() != Some(&end) {
            starts.push(end);
        }
        let effort = Cell::new(EFFORT + EFFORT_A_LINE * starts.len() as u64);
        Some(Self {
            bytes,
            starts,
            effort,
        })
    }

    /// Counts lines that are about to be compared; `false` if that would be too many in all, and
    /// from then on.
    pub(crate) fn spend(&self, n_lines: usize) -> bool {
        let left = self.effort.get().saturating_sub(n_lines as u64);
        self.effort.set(left);
        left > 0
    }

    /// Whether a search was given up, so that its answer says nothing.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.effort.get() == 0
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where line `index` begins; the end of the file for the index after the last.
    pub(crate) fn start(&self, index: usize) -> usize {
        self.starts
            .get(index)
            .map_or(self.bytes.len(), |start| *start as usize)
    }

    /// The line that has the byte at `offset`.
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        let begins_before = |start: &u32| *start as usize <= offset;
        self.starts.partition_point(begins_before).saturating_sub(1)
    }

    /// The bytes of lines `from..to`, endings included.
    pub(crate) fn raw(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes
            .get(self.start(from)..self.start(to))
            .unwrap_or(&[])
    }

    /// The byte order mark, if there is one.
    pub(crate) fn bom(&self) -> &'a [u8] {
        self.bytes.get(..self.start(0)).unwrap_or(&[])
    }

    /// Line `index` without its ending.
    pub(crate) fn content(&self, index: usize) -> &'a [u8] {
        let raw = self.raw(index, index + 1);
        raw.get(..raw.len() - self.ending(index).bytes().len())
            .unwrap_or(raw)
    }

    /// The ending of line `index`.
    pub(crate) fn ending(&self, index: usize) -> Ending {
        let raw = self.raw(index, index + 1);
        if raw.ends_with(b"\r\n") {
            Ending::CrLf
        } else if raw.ends_with(b"\n") {
            Ending::Lf
        } else {
            Ending::Missing
        }
    }

    /// The ending for a new line after line `index - 1`: that line's, or the nearest one that exists.
    pub(crate) fn ending_before(&self, index: usize) -> Ending {
        let before = index.checked_sub(1).map(|at| self.ending(at));
        let earlier = index.checked_sub(2).map(|at| self.ending(at));
        [before, earlier, Some(self.ending(0))]
            .into_iter()
            .flatten()
            .find(|ending| *ending != Ending::Missing)
            .unwrap_or(Ending::Lf)
    }

    /// Whether the file has text and its last line has no ending.
    pub(crate) fn lacks_final_newline(&self) -> bool {
        self.len()
            .checked_sub(1)
            .is_some_and(|last| self.ending(last) == Ending::Missing)
    }
}
