//! The thread that lists the files and matches them.
//!
//! It works in small steps and looks after each whether there is something newer to do.

use std::path::Path;

use ignore::{Walk, WalkBuilder};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::{MAX_MATCHES, Match, Shared};

/// Files that are listed at a time.
const LIST_STEP: usize = 2_000;
/// Paths that are matched at a time.
const MATCH_STEP: usize = 4_000;
/// Files that are listed at most: more would not help to find one, and take memory.
const MAX_FILES: usize = 500_000;

/// What was asked and how far the answer is.
struct Search {
    asked: u64,
    query: String,
    pattern: Pattern,
    /// Paths that were looked at.
    seen: usize,
    /// The best so far: score, and which path.
    best: Vec<(u32, usize)>,
}

impl Search {
    fn new(asked: u64, query: String) -> Self {
        Self {
            asked,
            pattern: Pattern::parse(&query, CaseMatching::Smart, Normalization::Smart),
            query,
            seen: 0,
            best: Vec::new(),
        }
    }
}

/// All paths, one after the other in one text: a hundred thousand small strings would cost
/// several times their length.
#[derive(Default)]
struct Paths {
    text: String,
    ends: Vec<usize>,
}

impl Paths {
    fn push(&mut self, path: &str) {
        self.text.push_str(path);
        self.ends.push(self.text.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(at).copied().unwrap_or_default();
        let start = start.copied().unwrap_or_default();
        self.text.get(start..end).unwrap_or_default()
    }
}

pub(super) fn run(root: &Path, shared: &Shared, notify: &dyn Fn()) {
    let mut walk = Some(walk(root));
    let mut paths = Paths::default();
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let mut buffer = Vec::new();
    let mut search: Option<Search> = None;
    loop {
        let idle = walk.is_none() && search.as_ref().is_none_or(|s| s.seen == paths.len());
        match next_query(shared, search.as_ref().map_or(0, |s| s.asked), idle) {
            Next::Stop => return,
            Next::Search(asked, query) => search = Some(Search::new(asked, query)),
            Next::GoOn => {}
        }
        if let Some(files) = &mut walk
            && !list(files, root, &mut paths)
        {
            walk = None;
        }
        if walk.is_none() {
            shared.lock().complete = true;
        }
        if let Some(search) = &mut search {
            let end = paths.len().min(search.seen + MATCH_STEP);
            look_at(search, &paths, end, (&mut matcher, &mut buffer));
            // Halfway through a list that is known, an answer would only flicker.
            if end == paths.len() && publish(search, &paths, shared, (&mut matcher, &mut buffer)) {
                notify();
            }
        }
    }
}

enum Next {
    Stop,
    Search(u64, String),
    GoOn,
}

fn next_query(shared: &Shared, asked: u64, idle: bool) -> Next {
    let mut state = shared.lock();
    while idle && !state.stopped && state.asked == asked {
        state = match shared.changed.wait(state) {
            Ok(state) => state,
            Err(poisoned) => poisoned.into_inner(),
        };
    }
    if state.stopped {
        Next::Stop
    } else if state.asked == asked {
        Next::GoOn
    } else {
        Next::Search(state.asked, state.query.clone())
    }
}

fn walk(root: &Path) -> Walk {
    WalkBuilder::new(root)
        .follow_links(false)
        // A folder that is no repository may have a `.gitignore` all the same.
        .require_git(false)
        .build()
}

/// Lists some more files; false when there are no more.
fn list(files: &mut Walk, root: &Path, paths: &mut Paths) -> bool {
    for _ in 0..LIST_STEP {
        if paths.len() >= MAX_FILES {
            return false;
        }
        let Some(entry) = files.next() else {
            return false;
        };
        // What cannot be read is left out; the rest is still of use.
        let Ok(entry) = entry else { continue };
        let Some(kind) = entry.file_type() else {
            continue;
        };
        let Ok(path) = entry.path().strip_prefix(root) else {
            continue;
        };
        let Some(path) = path.to_str().filter(|path| !path.is_empty()) else {
            continue;
        };
        if kind.is_dir() {
            paths.push(&format!("{path}/"));
        } else {
            paths.push(path);
        }
    }
    true
}

type Tools<'a> = (&'a mut Matcher, &'a mut Vec<char>);

fn look_at(search: &mut Search, paths: &Paths, end: usize, (matcher, buffer): Tools<'_>) {
    for at in search.seen..end {
        let path = paths.get(at);
        let Some(score) = search.pattern.score(Utf32Str::new(path, buffer), matcher) else {
            continue;
        };
        // The best first; of equals the shortest, then the first by name.
        let key = |(score, at): &(u32, usize)| {
            let path = paths.get(*at);
            (std::cmp::Reverse(*score), path.len(), path.to_owned())
        };
        let is_better = match search.best.last() {
            Some(last) if search.best.len() == MAX_MATCHES => {
                score >= last.0 && key(&(score, at)) < key(last)
            }
            Some(_) | None => true,
        };
        if is_better {
            search.best.push((score, at));
            search.best.sort_by_key(key);
            search.best.truncate(MAX_MATCHES);
        }
    }
    search.seen = end;
}

/// Hands out the best matches; false when they are what was handed out before.
fn publish(search: &Search, paths: &Paths, shared: &Shared, tools: Tools<'_>) -> bool {
    let (matcher, buffer) = tools;
    let found = search.best.iter().map(|(_, at)| {
        let path = paths.get(*at);
        let mut indices = Vec::new();
        let haystack = Utf32Str::new(path, buffer);
        search.pattern.indices(haystack, matcher, &mut indices);
        indices.sort_unstable();
        indices.dedup();
        Match {
            path: path.to_owned(),
            matched: indices.into_iter().map(|index| index as usize).collect(),
        }
    });
    let answer = (search.query.clone(), found.collect::<Vec<_>>());
    let mut state = shared.lock();
    // An empty answer is news only when it is the final one.
    let is_early = answer.1.is_empty() && !state.complete;
    if state.asked != search.asked || is_early || state.answer.as_ref() == Some(&answer) {
        return false;
    }
    state.answer = Some(answer);
    true
}
