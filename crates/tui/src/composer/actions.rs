//! What the composer does for each action, and for keys while the history is searched.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::completion::{Item, Kind, Token};
use super::editor::Vertical;
use super::history::Search;
use super::keys::{self, Action};
use super::rich_text::RichText;
use super::{Composer, ComposerEffect, view};

impl Composer {
    pub(super) fn act(&mut self, action: Action, key: KeyEvent) -> ComposerEffect {
        match action {
            Action::Insert('?') if self.is_empty() => return ComposerEffect::Unhandled(key),
            Action::Delete(_) if self.is_empty() && key.code == KeyCode::Char('d') => {
                return ComposerEffect::Unhandled(key);
            }
            // What normal mode does not know must not become text.
            Action::Insert(_) if self.is_normal() => return ComposerEffect::None,
            Action::Insert(character) => self.editor.type_char(character),
            Action::Newline => self.editor.type_char('\n'),
            Action::Enter => return self.enter(),
            Action::Tab => return self.tab(key),
            Action::Escape => return self.escape(key),
            Action::Go(motion) => self.editor.go(motion),
            Action::Row(direction) => {
                self.row_or_selection(direction);
                return ComposerEffect::Changed;
            }
            Action::Delete(motion) => self.editor.delete(motion),
            Action::Kill(motion) => self.editor.kill(motion),
            Action::Yank => self.editor.yank(),
            Action::YankOlder => self.editor.yank_older(),
            Action::Undo => self.editor.undo(),
            Action::Redo => self.editor.redo(),
            Action::SearchHistory => {
                self.search = Some(Search::new(&self.history));
                return ComposerEffect::Changed;
            }
            Action::OpenEditor => {
                return ComposerEffect::OpenEditor(self.editor.text().expanded());
            }
        }
        self.refresh();
        ComposerEffect::Changed
    }

    /// Enter, when it is no line break.
    pub(super) fn enter(&mut self) -> ComposerEffect {
        if let Some((token, item)) = self.completion.choice() {
            let (token, item) = (token.clone(), item.clone());
            if token.kind == Kind::Command {
                return self.run_selected(&token, &item);
            }
            // Of a name that is complete there is nothing to choose.
            if token.query != item.name {
                self.complete(&token, &item);
                return ComposerEffect::Changed;
            }
        }
        if self.continues_line() {
            let at = self.editor.cursor();
            self.editor.replace(at - 1..at, &RichText::plain("\n"));
            self.refresh();
            return ComposerEffect::Changed;
        }
        self.submit(ComposerEffect::Submit)
    }

    /// The cursor is behind a backslash that was typed.
    fn continues_line(&self) -> bool {
        let text = self.editor.text();
        let at = self.editor.cursor();
        let in_label = text
            .elements()
            .iter()
            .any(|element| element.range.end == at);
        !in_label && !self.is_normal() && text.get(0..at).ends_with('\\')
    }

    fn tab(&mut self, key: KeyEvent) -> ComposerEffect {
        if let Some((token, item)) = self.completion.choice() {
            let (token, item) = (token.clone(), item.clone());
            self.complete(&token, &item);
            return ComposerEffect::Changed;
        }
        if self.completion.is_waiting() {
            return ComposerEffect::None;
        }
        if self.is_empty() {
            return ComposerEffect::Unhandled(key);
        }
        self.submit(ComposerEffect::Queue)
    }

    fn complete(&mut self, token: &Token, item: &Item) {
        let name = &item.name;
        let text = match token.kind {
            Kind::Command => {
                let takes_argument = |c: &super::CommandInfo| c.name == *name && c.takes_argument;
                let gap = if self.commands.iter().any(takes_argument) {
                    " "
                } else {
                    ""
                };
                format!("/{name}{gap}")
            }
            Kind::Skill => format!("${name} "),
            Kind::File if name.contains(char::is_whitespace) => format!("\"{name}\" "),
            Kind::File => format!("{name} "),
        };
        self.editor
            .replace(token.range.clone(), &RichText::plain(text));
        self.refresh();
        if token.kind == Kind::Command {
            self.completion.dismiss();
        }
    }

    fn escape(&mut self, key: KeyEvent) -> ComposerEffect {
        if self.completion.open().is_some() {
            self.completion.dismiss();
            return ComposerEffect::Changed;
        }
        if let Some(vim) = &mut self.vim
            && vim.escape(&mut self.editor)
        {
            self.refresh();
            return ComposerEffect::Changed;
        }
        ComposerEffect::Unhandled(key)
    }

    fn row_or_selection(&mut self, direction: Vertical) {
        match (self.completion.open(), direction) {
            (Some(_), Vertical::Up) => self.completion.select_previous(),
            (Some(_), Vertical::Down) => self.completion.select_next(),
            (None, Vertical::Up | Vertical::Down) => self.go_rows(direction, 1),
        }
    }

    /// Moves by rows of the screen, and beyond them through the history.
    pub(super) fn go_rows(&mut self, direction: Vertical, count: usize) {
        let capacity = view::capacity(self.columns);
        let layout = self.editor.layout(capacity);
        let mut moved = 0;
        while moved < count && self.editor.go_row(direction, &layout) {
            moved += 1;
        }
        if moved == 0 {
            self.recall(direction, capacity);
        }
        let was_shown = self.completion.open().is_some();
        self.refresh();
        if !was_shown {
            self.completion.dismiss();
        }
    }

    /// Shows an earlier message or the draft, if there is one.
    fn recall(&mut self, direction: Vertical, capacity: usize) {
        let shown = self.editor.text();
        let found = match direction {
            Vertical::Up => self.history.older(shown),
            Vertical::Down => self.history.newer(shown),
        };
        let Some(text) = found else { return };
        let end = text.len();
        self.editor.reset(text, end);
        if direction == Vertical::Up {
            // So that the next Up leads on to the message before.
            let layout = self.editor.layout(capacity);
            let end = layout.offset(self.editor.text(), 0, usize::MAX);
            self.editor.move_to(end);
        }
    }

    /// A key while the history is searched.
    pub(super) fn search_key(&mut self, key: KeyEvent) -> ComposerEffect {
        let Some(search) = &mut self.search else {
            return ComposerEffect::Unhandled(key);
        };
        let control = key.modifiers == KeyModifiers::CONTROL;
        if control && matches!(key.code, KeyCode::Char('c' | 'g')) {
            self.search = None;
            return ComposerEffect::Changed;
        }
        if control && key.code == KeyCode::Char('s') {
            search.newer();
            return ComposerEffect::Changed;
        }
        match keys::action(key) {
            Some(Action::Insert(character)) => search.push(character, &self.history),
            Some(Action::Delete(_)) => search.pop(&self.history),
            // In the list the older entries are below.
            Some(Action::SearchHistory | Action::Row(Vertical::Down)) => search.older(),
            Some(Action::Row(Vertical::Up)) => search.newer(),
            Some(Action::Escape) => self.search = None,
            Some(Action::Enter | Action::Tab) => self.take_found(),
            Some(
                Action::Newline
                | Action::Go(_)
                | Action::Kill(_)
                | Action::Yank
                | Action::YankOlder
                | Action::Undo
                | Action::Redo
                | Action::OpenEditor,
            ) => return ComposerEffect::None,
            None => return ComposerEffect::Unhandled(key),
        }
        ComposerEffect::Changed
    }

    fn take_found(&mut self) {
        let Some(search) = self.search.take() else {
            return;
        };
        if let Some(text) = search.choice(&self.history).map(str::to_owned) {
            // As an edit, so that undo brings the draft back.
            let whole = 0..self.editor.text().len();
            self.editor.replace(whole, &RichText::plain(text));
            self.history.stop();
            self.refresh();
            self.completion.dismiss();
        }
    }
}
