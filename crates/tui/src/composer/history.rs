//! Earlier messages: walking through them, and searching them.

use std::collections::BTreeMap;

use super::rich_text::RichText;

/// Entries that are kept; the oldest go first.
const MAX_ENTRIES: usize = 5_000;
/// Matches that a search collects.
const MAX_MATCHES: usize = 100;

/// The earlier messages, the oldest first, and where a walk through them stands.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    entries: Vec<String>,
    /// The entry that is shown; `None` when nobody walks.
    at: Option<usize>,
    /// What was made of the entries on this walk; the draft is behind the last one.
    edited: BTreeMap<usize, RichText>,
}

impl History {
    pub(super) fn set(&mut self, entries: Vec<String>) {
        *self = Self::default();
        let surplus = entries.len().saturating_sub(MAX_ENTRIES);
        for entry in entries.into_iter().skip(surplus) {
            self.push(entry);
        }
    }

    /// Adds a message, unless it is empty or the newest one already. A walk ends.
    pub(super) fn remember(&mut self, text: &str) {
        self.stop();
        self.push(text.to_owned());
        let surplus = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..surplus);
    }

    fn push(&mut self, text: String) {
        if !text.trim().is_empty() && self.entries.last() != Some(&text) {
            self.entries.push(text);
        }
    }

    /// Ends a walk.
    pub(super) fn stop(&mut self) {
        self.at = None;
        self.edited.clear();
    }

    /// The next older text; what is shown now is kept for the way back.
    pub(super) fn older(&mut self, shown: &RichText) -> Option<RichText> {
        let at = self.at.unwrap_or(self.entries.len());
        self.walk(at, at.checked_sub(1)?, shown)
    }

    /// The next newer text, at last the draft.
    pub(super) fn newer(&mut self, shown: &RichText) -> Option<RichText> {
        let at = self.at?;
        let text = self.walk(at, at + 1, shown)?;
        if at + 1 == self.entries.len() {
            self.at = None;
        }
        Some(text)
    }

    fn walk(&mut self, from: usize, to: usize, shown: &RichText) -> Option<RichText> {
        let entry = |at: usize| self.entries.get(at).map(RichText::plain);
        let text = self.edited.get(&to).cloned().or_else(|| entry(to))?;
        if entry(from).as_ref() != Some(shown) {
            self.edited.insert(from, shown.clone());
        }
        self.at = Some(to);
        Some(text)
    }

    /// The entries that hold all words of the query, the newest first, each text once. Upper
    /// case in the query counts.
    fn matches(&self, query: &str) -> Vec<usize> {
        let exact = query.chars().any(char::is_uppercase);
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut found: Vec<usize> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate().rev() {
            let folded = if exact {
                entry.clone()
            } else {
                entry.to_lowercase()
            };
            let is_new = || {
                found
                    .iter()
                    .all(|old| self.entries.get(*old) != Some(entry))
            };
            if words.iter().all(|word| folded.contains(word)) && is_new() {
                found.push(at);
                if found.len() == MAX_MATCHES {
                    break;
                }
            }
        }
        found
    }
}

/// A search through the history.
#[derive(Debug, Clone)]
pub(super) struct Search {
    query: String,
    matches: Vec<usize>,
    selected: usize,
}

impl Search {
    /// A search for anything.
    pub(super) fn new(history: &History) -> Self {
        Self {
            query: String::new(),
            matches: history.matches(""),
            selected: 0,
        }
    }

    pub(super) fn query(&self) -> &str {
        &self.query
    }

    pub(super) fn selected(&self) -> usize {
        self.selected
    }

    /// The texts that were found, the newest first.
    pub(super) fn texts<'a>(&'a self, history: &'a History) -> impl Iterator<Item = &'a str> {
        let entry = |at: &usize| history.entries.get(*at).map(String::as_str);
        self.matches.iter().filter_map(entry)
    }

    /// The selected text.
    pub(super) fn choice<'a>(&self, history: &'a History) -> Option<&'a str> {
        let at = self.matches.get(self.selected)?;
        history.entries.get(*at).map(String::as_str)
    }

    pub(super) fn push(&mut self, character: char, history: &History) {
        self.query.push(character);
        self.find(history);
    }

    pub(super) fn pop(&mut self, history: &History) {
        self.query.pop();
        self.find(history);
    }

    fn find(&mut self, history: &History) {
        self.matches = history.matches(&self.query);
        self.selected = 0;
    }

    pub(super) fn older(&mut self) {
        self.selected = (self.selected + 1).min(self.matches.len().saturating_sub(1));
    }

    pub(super) fn newer(&mut self) {
        self.selected = self.selected.saturating_sub(1);
    }
}
