//! Where a chunk may begin, given its `@@` lines.

use std::collections::HashMap;
use std::rc::Rc;

use crate::level::Level;
use crate::lines::Lines;
use crate::search::{Pattern, effort};

/// How far a header reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reach {
    /// Over the block that the header opens.
    Block,
    /// To the end of the file.
    Rest,
}

/// Allowed starts as inclusive ranges, in order and apart from each other.
pub(crate) type Ranges = Vec<(usize, usize)>;

/// What a chunk has, so that it may begin after its headers or only right after the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Within,
    RightAfter,
}

/// An `Err` is the index of the header that is not there.
type Found = Result<Rc<Ranges>, usize>;

/// The starts at one level. Chunks often have the same headers, which are looked for once.
pub(crate) struct Scopes<'l, 'f, 'p> {
    lines: &'l Lines<'f>,
    level: Level,
    known: HashMap<(&'p [String], Place, Reach), Found>,
}

impl<'l, 'f, 'p> Scopes<'l, 'f, 'p> {
    pub(crate) fn new(lines: &'l Lines<'f>, level: Level) -> Self {
        Self {
            lines,
            level,
            known: HashMap::new(),
        }
    }

    pub(crate) fn find(&mut self, headers: &'p [String], place: Place, reach: Reach) -> Found {
        let (lines, level) = (self.lines, self.level);
        let found = self
            .known
            .entry((headers, place, reach))
            .or_insert_with(|| {
                let found = match place {
                    Place::Within => ranges(lines, headers, level, reach),
                    Place::RightAfter => after_headers(lines, headers, level, reach),
                };
                found.map(Rc::new)
            });
        found.clone()
    }
}

/// The starts that the headers allow; an `Err` is the index of the header that is not there.
fn ranges(
    lines: &Lines<'_>,
    headers: &[String],
    level: Level,
    reach: Reach,
) -> Result<Ranges, usize> {
    let mut ranges = vec![(0, lines.len())];
    for (index, header) in headers.iter().enumerate() {
        let found = header_lines(lines, header, level, &ranges);
        if found.is_empty() {
            return Err(index);
        }
        ranges = match reach {
            Reach::Rest => found
                .first()
                .map(|first| (*first, lines.len()))
                .into_iter()
                .collect(),
            Reach::Block => merge(found.iter().map(|at| (*at, block_end(lines, *at)))),
        };
    }
    Ok(ranges)
}

/// The lines right after the innermost header: where a pure addition goes.
fn after_headers(
    lines: &Lines<'_>,
    headers: &[String],
    level: Level,
    reach: Reach,
) -> Result<Ranges, usize> {
    let Some((last, outer)) = headers.split_last() else {
        return Ok(vec![(0, lines.len())]);
    };
    let outer = ranges(lines, outer, level, reach)?;
    let found = header_lines(lines, last, level, &outer);
    if found.is_empty() {
        return Err(headers.len() - 1);
    }
    Ok(found.into_iter().map(|at| (at + 1, at + 1)).collect())
}

fn header_lines(
    lines: &Lines<'_>,
    header: &str,
    level: Level,
    ranges: &[(usize, usize)],
) -> Vec<usize> {
    let pattern = Pattern::new(level, std::iter::once(header));
    let mut found = Vec::new();
    for (from, to) in ranges {
        pattern.each(lines, *from, *to, &mut |at| found.push(at));
    }
    found
}

fn merge(ranges: impl Iterator<Item = (usize, usize)>) -> Ranges {
    let mut merged: Ranges = Vec::new();
    for (from, to) in ranges {
        match merged.last_mut() {
            Some((_, end)) if from <= *end => *end = (*end).max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// The last line at which a chunk of the block that line `header` opens may begin.
///
/// A block is what is indented more, with the brackets that close it; the lines up to the next
/// one of its kind for a `[section]` or a `# heading`; at least the next line that is not blank.
fn block_end(lines: &Lines<'_>, header: usize) -> usize {
    let head = lines.content(header);
    let (indent, mark) = shape(head);
    let is_section = matches!(mark, Some(b'[' | b'#'));
    let mut end = header;
    let mut seen_text = false;
    for at in header + 1..lines.len() {
        let line = lines.content(at);
        if !lines.spend(effort(line)) {
            break;
        }
        let (other_indent, first) = shape(line);
        let Some(first) = first else {
            end = at;
            continue;
        };
        let inside = other_indent > indent
            || (other_indent == indent && matches!(first, b'}' | b')' | b']' | b'{'))
            || (is_section && other_indent >= indent && Some(first) != mark);
        if !inside && seen_text {
            break;
        }
        end = at;
        if !inside {
            break;
        }
        seen_text = true;
    }
    end
}

/// Indentation and first character that is not white space.
fn shape(line: &[u8]) -> (usize, Option<u8>) {
    let trimmed = line.trim_ascii_start();
    (line.len() - trimmed.len(), trimmed.first().copied())
}
