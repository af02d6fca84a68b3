//! Finds runs of lines in a file in linear time (Knuth, Morris and Pratt over whole lines).

use std::borrow::Cow;

use memchr::memmem::{Finder, FinderRev};

use crate::level::Level;
use crate::lines::Lines;

/// The direction of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// Consecutive lines to find at one level.
#[derive(Debug)]
pub(crate) struct Pattern<'p> {
    level: Level,
    wanted: Vec<Cow<'p, [u8]>>,
    forward: Vec<usize>,
    backward: Vec<usize>,
    /// A text that every line equal to the first wanted one has, to skip others quickly.
    first_has: Option<Finder<'static>>,
    /// The same for the last one.
    last_has: Option<FinderRev<'static>>,
}

impl<'p> Pattern<'p> {
    pub(crate) fn new(level: Level, lines: impl Iterator<Item = &'p str>) -> Self {
        let wanted: Vec<_> = lines.map(|line| level.normal(line.as_bytes())).collect();
        let forward = failure(wanted.iter());
        let backward = failure(wanted.iter().rev());
        let first_has = wanted.first().and_then(|line| needle(line));
        let last_has = wanted.last().and_then(|line| needle(line));
        Self {
            level,
            first_has: first_has.map(|text| Finder::new(text).into_owned()),
            last_has: last_has.map(|text| FinderRev::new(text).into_owned()),
            wanted,
            forward,
            backward,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.wanted.len()
    }

    /// The first match that starts within `from..=to`.
    pub(crate) fn first(&self, lines: &Lines<'_>, from: usize, to: usize) -> Option<usize> {
        let mut found = None;
        self.scan(lines, (from, to), Direction::Forward, &mut |start| {
            found = Some(start);
            false
        });
        found
    }

    /// The last match that starts within `from..=to`.
    pub(crate) fn last(&self, lines: &Lines<'_>, from: usize, to: usize) -> Option<usize> {
        let mut found = None;
        self.scan(lines, (from, to), Direction::Backward, &mut |start| {
            found = Some(start);
            false
        });
        found
    }

    /// All matches that start within `from..=to`, in order.
    pub(crate) fn each(
        &self,
        lines: &Lines<'_>,
        from: usize,
        to: usize,
        visit: &mut dyn FnMut(usize),
    ) {
        self.scan(lines, (from, to), Direction::Forward, &mut |start| {
            visit(start);
            true
        });
    }

    /// Visits matches until the visitor has had enough.
    fn scan(
        &self,
        lines: &Lines<'_>,
        (from, to): (usize, usize),
        direction: Direction,
        visit: &mut dyn FnMut(usize) -> bool,
    ) {
        let Some(last_start) = lines.len().checked_sub(self.len()) else {
            return;
        };
        let to = to.min(last_start);
        if from > to {
            return;
        }
        let n_lines = to - from + self.len();
        if self.len() == 0 {
            let mut starts = from..=to;
            while let Some(start) = match direction {
                Direction::Forward => starts.next(),
                Direction::Backward => starts.next_back(),
            } {
                if !lines.spend(1) || !visit(start) {
                    return;
                }
            }
            return;
        }
        let (begin, end) = (from, from + n_lines);
        let mut matched = 0;
        let mut n_done = 0;
        while n_done < n_lines {
            let mut at = match direction {
                Direction::Forward => begin + n_done,
                Direction::Backward => end - 1 - n_done,
            };
            if matched == 0 {
                let Some(next) = self.skip(lines, direction, (begin, end), at) else {
                    return;
                };
                n_done += at.abs_diff(next);
                at = next;
            }
            n_done += 1;
            let line = lines.content(at);
            if !lines.spend(effort(line)) {
                return;
            }
            let line = self.level.normal(line);
            matched = self.advance(direction, matched, &line);
            if matched == self.len() {
                let start = match direction {
                    Direction::Forward => at + 1 - self.len(),
                    Direction::Backward => at,
                };
                if !visit(start) {
                    return;
                }
            }
        }
    }

    /// The next line from `at` on that can begin a match.
    fn skip(
        &self,
        lines: &Lines<'_>,
        direction: Direction,
        (begin, end): (usize, usize),
        at: usize,
    ) -> Option<usize> {
        let (base, found) = match (direction, &self.first_has, &self.last_has) {
            (Direction::Forward, Some(finder), _) => (at, finder.find(lines.raw(at, end))?),
            (Direction::Backward, _, Some(finder)) => {
                (begin, finder.rfind(lines.raw(begin, at + 1))?)
            }
            _ => return Some(at),
        };
        let next = lines.line_at(lines.start(base) + found);
        // Lines that are skipped cost little, not nothing.
        lines.spend(at.abs_diff(next) / 16).then_some(next)
    }

    /// How much of the pattern is matched after one more line.
    fn advance(&self, direction: Direction, matched: usize, line: &[u8]) -> usize {
        let (table, flip) = match direction {
            Direction::Forward => (&self.forward, false),
            Direction::Backward => (&self.backward, true),
        };
        let wanted = |index: usize| {
            let index = if flip {
                (self.len() - 1).checked_sub(index)
            } else {
                Some(index)
            };
            index.and_then(|index| self.wanted.get(index))
        };
        let shorter = |matched: usize| {
            let index = matched.checked_sub(1);
            index.and_then(|index| table.get(index)).copied()
        };
        let mut matched = matched;
        loop {
            if wanted(matched).is_some_and(|wanted| **wanted == *line) {
                return matched + 1;
            }
            match shorter(matched) {
                Some(next) => matched = next,
                None => return 0,
            }
        }
    }
}

/// How many lines of usual length a line counts for.
pub(crate) fn effort(line: &[u8]) -> usize {
    1 + line.len() / 64
}

/// For each prefix, the length of its longest proper border.
fn failure<'a>(wanted: impl Iterator<Item = &'a Cow<'a, [u8]>>) -> Vec<usize> {
    let wanted: Vec<_> = wanted.collect();
    let mut table = vec![0; wanted.len()];
    let mut border = 0;
    for index in 1..wanted.len() {
        while border > 0 && wanted.get(index) != wanted.get(border) {
            border = table.get(border - 1).copied().unwrap_or(0);
        }
        if wanted.get(index) == wanted.get(border) {
            border += 1;
        }
        if let Some(slot) = table.get_mut(index) {
            *slot = border;
        }
    }
    table
}

/// The longest part of a line that no level changes, if it is long enough to be rare.
fn needle(line: &[u8]) -> Option<&[u8]> {
    let changes = |byte: &u8| !byte.is_ascii_graphic() || matches!(byte, b'-' | b'\'' | b'"');
    line.split(changes)
        .max_by_key(|part| part.len())
        .filter(|part| part.len() > 2)
}
