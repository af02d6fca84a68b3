//! Decides where the chunks of a patch go in a file, and that there is only one such way.
//!
//! A placement puts every chunk on lines that equal its old lines, in order and without overlap.
//! The leftmost and the rightmost placement are found greedily; all others lie between them, so
//! there is exactly one if they are the same. That needs no memory for candidates.

use std::rc::Rc;

use crate::level::Level;
use crate::lines::Lines;
use crate::patch::{Chunk, ChunkLine, Mark};
use crate::scope::{Place, Ranges, Reach, Scopes};
use crate::search::Pattern;

/// How many candidate lines an error lists.
pub(crate) const MAX_CANDIDATES: usize = 10;

/// A chunk with the line at which it begins.
#[derive(Debug)]
pub(crate) struct Placed<'p> {
    pub(crate) chunk: &'p Chunk,
    /// The lines of the chunk that count.
    pub(crate) body: &'p [ChunkLine],
    pub(crate) start: usize,
}

/// Why there is no placement. Lines count from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Miss<'p> {
    /// A header is not in the file, or not inside the header before it.
    Header { chunk: &'p Chunk, header: &'p str },
    /// Only added lines, and nothing says where.
    NoAnchor { chunk: &'p Chunk },
    /// The old lines are not in the file.
    Lines { chunk: &'p Chunk },
    /// The old lines are in the file, but not where the other chunks and headers allow them.
    Place { chunk: &'p Chunk, at: Vec<usize> },
    /// The search was given up.
    Effort { chunk: &'p Chunk },
    /// There is more than one way.
    Ambiguous {
        chunk: &'p Chunk,
        at: Vec<usize>,
        total: usize,
    },
}

impl Miss<'_> {
    /// Whether a more lenient search makes no sense.
    fn is_final(&self) -> bool {
        matches!(self, Self::Ambiguous { .. } | Self::Effort { .. })
    }
}

/// The old lines of a body.
pub(crate) fn old_lines(body: &[ChunkLine]) -> impl Iterator<Item = &str> {
    body.iter()
        .filter(|line| line.mark != Mark::Add)
        .map(|line| line.text.as_str())
}

/// Finds the one placement of `chunks`.
pub(crate) fn place<'p>(
    lines: &Lines<'_>,
    chunks: &'p [Chunk],
) -> Result<Vec<Placed<'p>>, Miss<'p>> {
    let whole = attempts(lines, chunks, &bodies(chunks, false));
    let cut = bodies(chunks, true);
    let worth_cutting = cut != bodies(chunks, false);
    let miss = match whole {
        Err(miss) if worth_cutting && !miss.is_final() => miss,
        whole => return whole,
    };
    // Blank lines at the end of a chunk may be only layout of the patch.
    attempts(lines, chunks, &cut).map_err(|cut_miss| {
        if matches!(cut_miss, Miss::Lines { .. }) {
            miss
        } else {
            cut_miss
        }
    })
}

fn bodies(chunks: &[Chunk], cut: bool) -> Vec<&[ChunkLine]> {
    chunks
        .iter()
        .map(|chunk| {
            let body = chunk.body(chunk.optional_tail);
            // Blank lines alone find no place.
            let only_layout = old_lines(body).next().is_none();
            if cut || (only_layout && chunk.optional_tail > 0) {
                body
            } else {
                chunk.body(0)
            }
        })
        .collect()
}

/// Tries the levels one after another.
fn attempts<'p>(
    lines: &Lines<'_>,
    chunks: &'p [Chunk],
    bodies: &[&'p [ChunkLine]],
) -> Result<Vec<Placed<'p>>, Miss<'p>> {
    let mut last_miss = None;
    for level in Level::ALL {
        let search = Search::new(lines, level, chunks, bodies);
        let found = search.and_then(|search| search.unique());
        if let Some(chunk) = chunks.first().filter(|_| lines.is_exhausted()) {
            return Err(Miss::Effort { chunk });
        }
        match found {
            Ok(starts) => {
                let placed = chunks.iter().zip(bodies).zip(starts);
                let placed = placed.map(|((chunk, body), start)| Placed { chunk, body, start });
                return Ok(placed.collect());
            }
            Err(miss) if miss.is_final() => return Err(miss),
            Err(miss) => last_miss = Some(miss),
        }
    }
    match last_miss {
        Some(miss) => Err(miss),
        None => Ok(Vec::new()),
    }
}

/// One chunk at one level.
struct Item<'p> {
    chunk: &'p Chunk,
    pattern: Pattern<'p>,
    /// Where it may begin if that is within the block of its headers.
    block: Option<Rc<Ranges>>,
    /// Where it may begin at all.
    rest: Rc<Ranges>,
}

struct Search<'l, 'f, 'p> {
    lines: &'l Lines<'f>,
    items: Vec<Item<'p>>,
}

impl<'l, 'f, 'p> Search<'l, 'f, 'p> {
    fn new(
        lines: &'l Lines<'f>,
        level: Level,
        chunks: &'p [Chunk],
        bodies: &[&'p [ChunkLine]],
    ) -> Result<Self, Miss<'p>> {
        let mut scopes = Scopes::new(lines, level);
        let items = chunks.iter().zip(bodies);
        let items = items.map(|(chunk, body)| Item::new(lines, &mut scopes, chunk, (level, body)));
        Ok(Self {
            lines,
            items: items.collect::<Result<_, _>>()?,
        })
    }

    /// The starts of the only placement.
    fn unique(&self) -> Result<Vec<usize>, Miss<'p>> {
        let in_blocks: Vec<&Ranges> = self.items.iter().map(Item::preferred).collect();
        let anywhere: Vec<&Ranges> = self.items.iter().map(|item| &*item.rest).collect();
        for ranges in [in_blocks, anywhere] {
            let Ok(left) = self.leftmost(&ranges) else {
                continue;
            };
            let right = self.rightmost(&ranges);
            let items = self.items.iter().zip(&ranges);
            for ((item, ranges), (from, to)) in items.zip(left.iter().zip(&right)) {
                if from != to {
                    return Err(self.ambiguous(item, ranges, (*from, *to)));
                }
            }
            return Ok(left);
        }
        let ranges: Vec<&Ranges> = self.items.iter().map(|item| &*item.rest).collect();
        match self.leftmost(&ranges) {
            Ok(left) => Ok(left),
            Err(item) => Err(self.miss(item)),
        }
    }

    /// Puts each chunk as early as it goes; an `Err` is the chunk that goes nowhere.
    fn leftmost(&self, ranges: &[&Ranges]) -> Result<Vec<usize>, &Item<'p>> {
        let mut cursor = 0;
        let mut starts = Vec::with_capacity(self.items.len());
        for (item, ranges) in self.items.iter().zip(ranges) {
            let n_before = ranges.partition_point(|(_, to)| *to < cursor);
            let mut found = ranges.iter().skip(n_before);
            let start = found
                .find_map(|(from, to)| item.pattern.first(self.lines, (*from).max(cursor), *to));
            let Some(start) = start else {
                return Err(item);
            };
            starts.push(start);
            cursor = start + item.pattern.len();
        }
        Ok(starts)
    }

    /// Puts each chunk as late as it goes.
    fn rightmost(&self, ranges: &[&Ranges]) -> Vec<usize> {
        let mut bound = self.lines.len();
        let mut starts = Vec::with_capacity(self.items.len());
        for (item, ranges) in self.items.iter().zip(ranges).rev() {
            let latest = bound.saturating_sub(item.pattern.len());
            let n_fitting = ranges.partition_point(|(from, _)| *from <= latest);
            let mut found = ranges.iter().take(n_fitting).rev();
            let start = found
                .find_map(|(from, to)| item.pattern.last(self.lines, *from, (*to).min(latest)));
            let start = start.unwrap_or(0);
            starts.push(start);
            bound = start;
        }
        starts.reverse();
        starts
    }

    fn ambiguous(&self, item: &Item<'p>, ranges: &Ranges, between: (usize, usize)) -> Miss<'p> {
        let mut at = Vec::new();
        let mut total = 0;
        for (from, to) in ranges {
            let (from, to) = ((*from).max(between.0), (*to).min(between.1));
            item.pattern.each(self.lines, from, to, &mut |start| {
                total += 1;
                if at.len() < MAX_CANDIDATES {
                    at.push(start);
                }
            });
        }
        let chunk = item.chunk;
        Miss::Ambiguous { chunk, at, total }
    }

    fn miss(&self, item: &Item<'p>) -> Miss<'p> {
        let chunk = item.chunk;
        let mut at = Vec::new();
        item.pattern
            .each(self.lines, 0, self.lines.len(), &mut |start| {
                if at.len() < MAX_CANDIDATES {
                    at.push(start);
                }
            });
        if at.is_empty() {
            Miss::Lines { chunk }
        } else {
            Miss::Place { chunk, at }
        }
    }
}

impl<'p> Item<'p> {
    fn new(
        lines: &Lines<'_>,
        scopes: &mut Scopes<'_, '_, 'p>,
        chunk: &'p Chunk,
        (level, body): (Level, &'p [ChunkLine]),
    ) -> Result<Self, Miss<'p>> {
        let pattern = Pattern::new(level, old_lines(body));
        let only_adds = pattern.len() == 0;
        if only_adds && lines.len() > 0 && chunk.headers.is_empty() && !chunk.at_end {
            return Err(Miss::NoAnchor { chunk });
        }
        let place = if only_adds && !chunk.at_end {
            Place::RightAfter
        } else {
            Place::Within
        };
        let mut allowed = |reach| {
            let found = scopes.find(&chunk.headers, place, reach);
            let found = found.map_err(|index| Miss::Header {
                chunk,
                header: chunk.headers.get(index).map_or("", String::as_str),
            })?;
            Ok(if chunk.at_end {
                Rc::new(only_at_end(lines, &found, pattern.len()))
            } else {
                found
            })
        };
        let rest = allowed(Reach::Rest)?;
        let has_match = |ranges: &Rc<Ranges>| {
            let mut ranges = ranges.iter();
            ranges.any(|(from, to)| pattern.first(lines, *from, *to).is_some())
        };
        let block = if chunk.headers.is_empty() {
            None
        } else {
            // A nested header may lie outside of the block of the one before it.
            allowed(Reach::Block).ok().filter(has_match)
        };
        Ok(Self {
            chunk,
            pattern,
            block,
            rest,
        })
    }

    fn preferred(&self) -> &Ranges {
        self.block.as_ref().unwrap_or(&self.rest)
    }
}

/// The start of the lines at the end of the file, if it is allowed.
fn only_at_end(lines: &Lines<'_>, ranges: &Ranges, n_lines: usize) -> Ranges {
    let start = lines.len().checked_sub(n_lines);
    let is_allowed = |start: &usize| ranges.iter().any(|(from, to)| (from..=to).contains(&start));
    let start = start.filter(is_allowed);
    start.map(|start| (start, start)).into_iter().collect()
}
