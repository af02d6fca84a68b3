//! The composer: where the user writes.
//!
//! A pure state machine. Keys and pastes go in with the time at which they came, effects come
//! out; the view is a function of the state. It owns the text, its history, the lists below it
//! and Vim mode. It does not know whether a turn runs, and it touches neither files nor clock.

mod actions;
mod burst;
mod completion;
mod draft;
mod editor;
mod history;
mod keys;
mod kill_ring;
mod layout;
mod motion;
mod paste;
mod rich_text;
mod submit;
mod undo;
mod view;
mod vim;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use self::burst::{Burst, Kind, Verdict};
use self::completion::Completion;
pub(crate) use self::draft::Draft;
use self::draft::Numbers;
use self::editor::Editor;
use self::history::{History, Search};
use self::rich_text::RichText;
pub(crate) use self::view::ComposerView;
use self::vim::{Mode, Outcome, Vim};
use crate::mentions::Match;

/// What a composer is made with.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComposerOptions {
    /// Vim keys.
    pub vim: bool,
    /// The commands that `/` offers.
    pub commands: Vec<CommandInfo>,
    /// The skills that `$` offers.
    pub skills: Vec<SkillInfo>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandInfo {
    /// Its name without the slash.
    pub name: String,
    /// What it does, in a few words.
    pub summary: String,
    /// Whether text may follow the name: completing it adds a space.
    pub takes_argument: bool,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillInfo {
    /// Its name without the dollar sign.
    pub name: String,
    /// What it is for, in a few words.
    pub summary: String,
}

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ComposerEffect {
    /// Nothing.
    None,
    /// The view is another now.
    Changed,
    /// Enter: send this. The composer is empty now.
    Submit(Submission),
    /// Tab: send this when the turn is over. The composer is empty now.
    Queue(Submission),
    /// Run one of the commands. The composer is empty now.
    Command {
        /// Its name.
        name: String,
        /// What follows the name, trimmed; may be empty.
        argument: String,
    },
    /// The text is a command that there is not. It stays in the composer.
    UnknownCommand(String),
    /// `!`: run this as the user. The composer is empty now.
    Shell(String),
    /// Open an editor with this text and give what it returns to [`Composer::set_text`].
    OpenEditor(String),
    /// The composer has no use for the key.
    Unhandled(KeyEvent),
}

/// A finished message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Submission {
    /// The text with folded pastes in full; images stand as their labels.
    pub text: String,
    /// The text as it was shown.
    pub shown: String,
    /// The images, in the order of their labels.
    pub images: Vec<PathBuf>,
    /// What the composer held, to give it back ([`Composer::restore`]) for another edit.
    pub draft: Draft,
}

impl Submission {
    /// A message that was not written in the composer.
    pub(crate) fn of_text(text: &str, images: Vec<PathBuf>) -> Self {
        let numbers = Numbers::default();
        Self {
            text: text.to_owned(),
            shown: text.to_owned(),
            images,
            draft: Draft::new(&RichText::plain(text.to_owned()), text.len(), numbers),
        }
    }
}

/// Where the user writes.
#[derive(Debug, Clone)]
pub(crate) struct Composer {
    editor: Editor,
    /// Columns of the terminal.
    columns: u16,
    numbers: Numbers,
    burst: Burst,
    history: History,
    search: Option<Search>,
    completion: Completion,
    vim: Option<Vim>,
    commands: Vec<CommandInfo>,
    skills: Vec<SkillInfo>,
}

impl Composer {
    /// An empty composer.
    pub(crate) fn new(options: ComposerOptions) -> Self {
        Self {
            editor: Editor::default(),
            columns: 80,
            numbers: Numbers::default(),
            burst: Burst::default(),
            history: History::default(),
            search: None,
            completion: Completion::default(),
            vim: options.vim.then(Vim::new),
            commands: options.commands,
            skills: options.skills,
        }
    }

    /// The terminal has this many columns: Up and Down go by the rows that are shown.
    pub(crate) fn set_columns(&mut self, columns: u16) {
        self.columns = columns;
    }

    /// Switches Vim keys on or off.
    pub(crate) fn set_vim(&mut self, on: bool) {
        if on != self.vim.is_some() {
            self.vim = on.then(Vim::new);
        }
    }

    /// A key that arrived at `now`.
    pub(crate) fn key(&mut self, key: KeyEvent, now: Instant) -> ComposerEffect {
        if key.kind == KeyEventKind::Release {
            return ComposerEffect::None;
        }
        if self.burst.take_held(now) {
            self.type_char('\n');
        }
        let verdict = if self.writes_text() {
            self.burst.judge(kind(key), now)
        } else {
            self.burst.reset();
            Verdict::Ordinary
        };
        match verdict {
            Verdict::Held => ComposerEffect::Changed,
            Verdict::Pasted => {
                let is_tab = key.code == KeyCode::Tab;
                self.type_char(if is_tab { '\t' } else { '\n' });
                ComposerEffect::Changed
            }
            Verdict::Ordinary => self.ordinary_key(key),
        }
    }

    /// When [`Self::tick`] is due. Keys that wait should be given before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.burst.due()
    }

    /// The time is `now`: an Enter that might have been pasted was not.
    pub(crate) fn tick(&mut self, now: Instant) -> ComposerEffect {
        if self.burst.is_due(now) {
            self.enter()
        } else {
            ComposerEffect::None
        }
    }

    /// A bracketed paste. `is_file` is asked about the path of an image, to attach it; an answer
    /// of `false` leaves text.
    pub(crate) fn paste(&mut self, text: &str, is_file: &dyn Fn(&Path) -> bool) {
        if self.burst.end() {
            self.type_char('\n');
        }
        let text = paste::normalized(text);
        if let Some(search) = &mut self.search {
            for character in text.chars().filter(|c| !c.is_control()) {
                search.push(character, &self.history);
            }
            return;
        }
        if let Some(path) = paste::image_path(&text, is_file) {
            return self.attach_image(path);
        }
        match paste::folded(&text, self.numbers.pastes + 1) {
            Some(element) => {
                self.numbers.pastes += 1;
                self.editor.insert(&element);
            }
            None => self.editor.insert(&RichText::plain(text)),
        }
        self.refresh();
    }

    /// Puts an image at the cursor.
    pub(crate) fn attach_image(&mut self, path: PathBuf) {
        self.numbers.images += 1;
        let element = paste::image_element(path, self.numbers.images);
        self.editor.insert(&element);
        self.refresh();
    }

    /// What it holds.
    pub(crate) fn draft(&self) -> Draft {
        Draft::new(self.editor.text(), self.editor.cursor(), self.numbers)
    }

    /// Holds what a draft says.
    pub(crate) fn restore(&mut self, draft: &Draft) {
        self.clear();
        self.numbers = draft.numbers();
        self.editor.reset(draft.rich_text(), draft.cursor());
        self.refresh();
        self.completion.dismiss();
    }

    /// Puts a text in the place of what is there, which undo brings back. Images stay when
    /// their labels are in the text.
    pub(crate) fn set_text(&mut self, text: &str) {
        let mut rest = RichText::plain(paste::normalized(text));
        let old = self.editor.text();
        for element in old.elements() {
            let label = old.get(element.range.clone());
            let is_image = matches!(element.content, rich_text::Content::Image(_));
            if let Some(at) = rest.as_str().find(label).filter(|_| is_image) {
                rest.replace(at..at + label.len(), &old.slice(element.range.clone()));
            }
        }
        self.editor.replace(0..self.editor.text().len(), &rest);
        self.history.stop();
        self.refresh();
        self.completion.dismiss();
    }

    /// The text with pastes in full.
    pub(crate) fn text(&self) -> String {
        self.editor.text().expanded()
    }

    /// Nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.editor.text().is_empty()
    }

    /// Empties it. What was cut and the history stay.
    pub(crate) fn clear(&mut self) {
        self.editor.reset(RichText::default(), 0);
        self.numbers = Numbers::default();
        self.burst.reset();
        self.history.stop();
        self.search = None;
        self.completion = Completion::default();
        if let Some(vim) = &mut self.vim {
            vim.insert();
        }
    }

    /// The earlier messages, the oldest first.
    pub(crate) fn set_history(&mut self, entries: Vec<String>) {
        self.history.set(entries);
    }

    /// One more message. Those that the composer hands out are remembered already.
    pub(crate) fn remember(&mut self, text: &str) {
        self.history.remember(text);
    }

    /// The files that are asked for by an `@` at the cursor.
    pub(crate) fn mention_query(&self) -> Option<&str> {
        self.completion.file_query()
    }

    /// The files that match a query. When it is no longer the one that is asked, nothing
    /// happens.
    pub(crate) fn set_mention_results(&mut self, query: &str, files: Vec<Match>) {
        self.completion.set_files(query, files);
    }

    /// What there is to see, the text in at most `max_rows` rows.
    pub(crate) fn view(&self, look: &crate::look::Look, max_rows: u16) -> ComposerView {
        view::view(self, look, max_rows)
    }

    fn writes_text(&self) -> bool {
        self.search.is_none() && !self.is_normal()
    }

    fn is_normal(&self) -> bool {
        let vim = self.vim.as_ref();
        vim.is_some_and(|vim| vim.mode() == Mode::Normal)
    }

    fn ordinary_key(&mut self, key: KeyEvent) -> ComposerEffect {
        if self.search.is_some() {
            return self.search_key(key);
        }
        if let Some(vim) = self.vim.as_mut().filter(|vim| vim.mode() == Mode::Normal) {
            match vim.key(&mut self.editor, key) {
                Outcome::Done => {
                    self.refresh();
                    return ComposerEffect::Changed;
                }
                Outcome::Rows(direction, count) => {
                    self.go_rows(direction, count);
                    return ComposerEffect::Changed;
                }
                Outcome::Pass => {}
            }
        }
        match keys::action(key) {
            Some(action) => self.act(action, key),
            None => ComposerEffect::Unhandled(key),
        }
    }

    fn type_char(&mut self, character: char) {
        self.editor.type_char(character);
        self.refresh();
    }

    /// The text or the cursor changed: what can be completed now?
    fn refresh(&mut self) {
        if let Some(vim) = &self.vim {
            vim.settle(&mut self.editor);
        }
        let token = (!self.is_normal())
            .then(|| completion::token(self.editor.text(), self.editor.cursor()))
            .flatten();
        self.completion.update(token, &self.commands, &self.skills);
    }
}

/// What a key is for the recognition of pastes.
fn kind(key: KeyEvent) -> Kind {
    if keys::typed(key).is_some() {
        return Kind::Text;
    }
    let plain = key.modifiers.is_empty();
    if key.code == KeyCode::Char('j') && key.modifiers == KeyModifiers::CONTROL {
        Kind::LineFeed
    } else if key.code == KeyCode::Enter && plain {
        Kind::Enter
    } else if key.code == KeyCode::Tab && plain {
        Kind::Tab
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests;
