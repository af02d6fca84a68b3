//! Finds the lines of a file that resemble a chunk most, to show them in an error.

use std::collections::HashMap;

use crate::level::Level;
use crate::lines::Lines;

/// How many lines of a file are compared by likeness; equal lines are looked for in all.
const MAX_COMPARED: usize = 20_000;
/// How many equal lines vote for a place.
const MAX_VOTES: usize = 5_000;

/// Where the old lines would begin if they were what the file has there; `None` if nothing is near.
pub(crate) fn nearest(lines: &Lines<'_>, old: &[&str]) -> Option<usize> {
    by_votes(lines, old).or_else(|| by_likeness(lines, old))
}

/// Each old line that is in the file votes for the start that would put it there.
fn by_votes(lines: &Lines<'_>, old: &[&str]) -> Option<usize> {
    let mut wanted: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (index, line) in old.iter().enumerate() {
        let key = Level::Fold.normal(line.as_bytes());
        // Short lines such as a lone bracket say little.
        if key.len() > 2 {
            wanted.entry(key.into_owned()).or_default().push(index);
        }
    }
    if wanted.is_empty() {
        return None;
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut n_votes = 0;
    for at in 0..lines.len() {
        let key = Level::Fold.normal(lines.content(at));
        let Some(indexes) = wanted.get(key.as_ref()) else {
            continue;
        };
        for index in indexes {
            *votes.entry(at.saturating_sub(*index)).or_default() += 1;
            n_votes += 1;
        }
        if n_votes >= MAX_VOTES {
            break;
        }
    }
    let best = votes.into_iter();
    best.max_by_key(|(start, n)| (*n, std::cmp::Reverse(*start)))
        .map(|(start, _)| start)
}

/// The line that is most like the longest old line.
fn by_likeness(lines: &Lines<'_>, old: &[&str]) -> Option<usize> {
    let (index, longest) = old
        .iter()
        .enumerate()
        .max_by_key(|(index, line)| (line.trim().len(), std::cmp::Reverse(*index)))?;
    let wanted = pairs(longest.trim().as_bytes());
    let mut best = None;
    for at in 0..lines.len().min(MAX_COMPARED) {
        let other = pairs(lines.content(at).trim_ascii());
        let common = common(&wanted, &other);
        let total = wanted.len() + other.len();
        // At least half of both lines in common.
        if common > 0 && common * 4 >= total && best.is_none_or(|(score, _)| common > score) {
            best = Some((common, at));
        }
    }
    best.map(|(_, at)| at.saturating_sub(index))
}

/// The pairs of neighbouring bytes of a line, sorted.
fn pairs(line: &[u8]) -> Vec<[u8; 2]> {
    let line = line.get(..200).unwrap_or(line);
    let mut pairs: Vec<[u8; 2]> = line.array_windows().copied().collect();
    pairs.sort_unstable();
    pairs
}

fn common(a: &[[u8; 2]], b: &[[u8; 2]]) -> usize {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut n_common = 0;
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                n_common += 1;
                a.next();
                b.next();
            }
        }
    }
    n_common
}
