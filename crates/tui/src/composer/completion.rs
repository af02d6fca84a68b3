//! The list below the text: commands after `/`, skills after `$`, files after `@`.
//!
//! It owns what is offered and what is selected; putting the choice into the text is the
//! composer's business.

use std::ops::Range;

use super::rich_text::RichText;
use super::{CommandInfo, SkillInfo};
use crate::mentions::Match;

/// What is being completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Command,
    Skill,
    File,
}

/// The word at the cursor that can be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Where it stands, with its mark.
    pub(super) range: Range<usize>,
    /// What stands behind the mark.
    pub(super) query: String,
}

/// Something that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// The name or path.
    pub(super) name: String,
    /// What it is; may be empty.
    pub(super) detail: String,
    /// The characters of the name that match.
    pub(super) matched: Vec<usize>,
}

/// The state of the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Completion {
    token: Option<Token>,
    items: Vec<Item>,
    selected: usize,
    /// Escape was pressed; the list stays away until another word is completed.
    dismissed: bool,
    /// The items belong to the query.
    answered: bool,
}

impl Completion {
    /// The word, when a list is shown for it.
    pub(super) fn open(&self) -> Option<&Token> {
        let token = self.token.as_ref();
        token.filter(|_| !self.dismissed && !self.items.is_empty())
    }

    /// The files that are asked for.
    pub(super) fn file_query(&self) -> Option<&str> {
        let token = self.token.as_ref()?;
        (token.kind == Kind::File && !self.dismissed).then_some(token.query.as_str())
    }

    /// An answer about files is on its way.
    pub(super) fn is_waiting(&self) -> bool {
        self.file_query().is_some() && !self.answered
    }

    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    pub(super) fn selected(&self) -> usize {
        self.selected
    }

    /// The word and what is selected for it, unless the list is an older answer.
    pub(super) fn choice(&self) -> Option<(&Token, &Item)> {
        let token = self.open().filter(|_| self.answered)?;
        Some((token, self.items.get(self.selected)?))
    }

    pub(super) fn select_next(&mut self) {
        self.selected = (self.selected + 1) % self.items.len().max(1);
    }

    pub(super) fn select_previous(&mut self) {
        let n_items = self.items.len().max(1);
        self.selected = (self.selected + n_items - 1) % n_items;
    }

    /// Closes the list.
    pub(super) fn dismiss(&mut self) {
        self.dismissed = true;
    }

    /// The word at the cursor is another now, or none.
    pub(super) fn update(
        &mut self,
        token: Option<Token>,
        commands: &[CommandInfo],
        skills: &[SkillInfo],
    ) {
        if self.token == token {
            return;
        }
        let place = |token: &Token| (token.kind, token.range.start);
        if self.token.as_ref().map(place) != token.as_ref().map(place) {
            *self = Self::default();
        }
        match &token {
            Some(token) if token.kind == Kind::Command => {
                let entries = commands
                    .iter()
                    .map(|c| (c.name.as_str(), c.summary.as_str()));
                self.answer(ranked(&token.query, entries));
            }
            Some(token) if token.kind == Kind::Skill => {
                let entries = skills.iter().map(|s| (s.name.as_str(), s.summary.as_str()));
                self.answer(ranked(&token.query, entries));
            }
            // The old list stays until the answer comes, so that it does not flicker.
            Some(_) => self.answered = false,
            None => {}
        }
        self.token = token;
    }

    fn answer(&mut self, items: Vec<Item>) {
        self.items = items;
        self.selected = 0;
        self.answered = true;
    }

    /// The files that were found; an answer to another query is ignored.
    pub(super) fn set_files(&mut self, query: &str, files: Vec<Match>) {
        if self
            .token
            .as_ref()
            .map(|token| (token.kind, token.query.as_str()))
            != Some((Kind::File, query))
        {
            return;
        }
        let chosen = self.items.get(self.selected).map(|item| item.name.clone());
        let keeps = self.answered && self.selected > 0;
        let items: Vec<Item> = files
            .into_iter()
            .map(|file| Item {
                name: file.path,
                detail: String::new(),
                matched: file.matched,
            })
            .collect();
        let again = items
            .iter()
            .position(|item| Some(&item.name) == chosen.as_ref());
        self.answer(items);
        if keeps {
            self.selected = again.unwrap_or(0);
        }
    }
}

/// The word before the cursor that can be completed.
pub(super) fn token(text: &RichText, cursor: usize) -> Option<Token> {
    let mut ends = text.elements().iter().map(|element| element.range.end);
    let start = ends.rfind(|end| *end <= cursor).unwrap_or(0);
    let before = text.get(start..cursor);
    let word = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8)
    });
    let range = start + word..cursor;
    let word = text.get(range.clone());
    let token = |kind, query: &str| Token {
        kind,
        range: range.clone(),
        query: query.to_owned(),
    };
    if let Some(query) = word.strip_prefix('/') {
        let is_first = range.start == 0 && !query.contains('/');
        return is_first.then(|| token(Kind::Command, query));
    }
    if let Some(query) = word.strip_prefix('$') {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
        let is_shell = text.as_str().starts_with('!');
        return (!is_shell && query.chars().all(is_name)).then(|| token(Kind::Skill, query));
    }
    word.strip_prefix('@').map(|query| token(Kind::File, query))
}

/// The entries (name, summary) that match, the best first: by the start of the name, by a part
/// of it, by its letters in order, by the summary.
fn ranked<'a>(query: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Item> {
    let query = query.to_lowercase();
    let mut found: Vec<(usize, Item)> = entries
        .filter_map(|(name, summary)| {
            let (rank, matched) = rank(&query, name, summary)?;
            let item = Item {
                name: name.to_owned(),
                detail: summary.to_owned(),
                matched,
            };
            Some((rank, item))
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, item)| item).collect()
}

fn rank(query: &str, name: &str, summary: &str) -> Option<(usize, Vec<usize>)> {
    let n_chars = query.chars().count();
    let name = name.to_lowercase();
    if name == query {
        return Some((0, (0..n_chars).collect()));
    }
    if let Some(at) = name.find(query) {
        let start = name.get(..at).unwrap_or_default().chars().count();
        let rank = if at == 0 { 1 } else { 2 };
        return Some((rank, (start..start + n_chars).collect()));
    }
    if let Some(matched) = in_order(query, &name) {
        return Some((3, matched));
    }
    let in_summary = n_chars > 2 && summary.to_lowercase().contains(query);
    in_summary.then(|| (4, Vec::new()))
}

/// Where the characters of `query` stand in `name`, when they are all there in this order.
fn in_order(query: &str, name: &str) -> Option<Vec<usize>> {
    let mut places = name.chars().enumerate();
    query
        .chars()
        .map(|wanted| places.find(|(_, c)| *c == wanted).map(|(at, _)| at))
        .collect()
}
