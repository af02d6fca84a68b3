//! Vim mode: what the keys of normal mode do.
//!
//! Counts, operators with motions and text objects, registers by way of the kill ring. There is
//! no visual mode and no dot. In insert mode the keys are those of ordinary editing.

mod find;
mod motion;
mod operator;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use self::find::{Find, FindKind, Which};
use self::operator::{Operator, Register};
use super::editor::{Editor, Vertical};
use super::keys;
use super::rich_text::RichText;

/// Counts are capped: nobody means more, and a count costs time.
const MAX_COUNT: usize = 9_999;

/// Which keys are in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Insert,
    Normal,
}

/// What a key of normal mode came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is done.
    Done,
    /// Move by this many rows; further than the text it is history.
    Rows(Vertical, usize),
    /// It means what it means in ordinary editing.
    Pass,
}

/// What the next character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefix {
    /// `g`.
    Go,
    /// `i` or `a` after an operator.
    Object { around: bool },
    /// `f`, `F`, `t`, `T`.
    Find(FindKind),
    /// `r`.
    Replace,
}

/// A command that is not complete yet.
#[derive(Debug, Clone, Default)]
struct Pending {
    count: Option<usize>,
    /// The operator and the count before it.
    operator: Option<(Operator, Option<usize>)>,
    prefix: Option<Prefix>,
}

impl Pending {
    /// The counts before the operator and the motion, multiplied; `None` when there is none.
    fn count(&self) -> Option<usize> {
        let before = self.operator.and_then(|(_, count)| count);
        match (before, self.count) {
            (None, None) => None,
            (before, count) => {
                let product = before.unwrap_or(1).saturating_mul(count.unwrap_or(1));
                Some(product.min(MAX_COUNT))
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.count.is_none() && self.operator.is_none() && self.prefix.is_none()
    }
}

/// The state of Vim mode.
#[derive(Debug, Clone)]
pub(super) struct Vim {
    mode: Mode,
    pending: Pending,
    find: Option<Find>,
    register: Register,
}

impl Vim {
    /// Begins in insert mode, as one begins to write a message.
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Insert,
            pending: Pending::default(),
            find: None,
            register: Register::default(),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    /// Insert mode, with no command begun.
    pub(super) fn insert(&mut self) {
        self.mode = Mode::Insert;
        self.pending = Pending::default();
    }

    /// Escape: to normal mode, or a command that was begun is dropped. False when neither is so.
    pub(super) fn escape(&mut self, editor: &mut Editor) -> bool {
        match self.mode {
            Mode::Insert => {
                self.mode = Mode::Normal;
                let left = motion::left(editor.text(), editor.cursor(), 1);
                editor.move_to(left);
                true
            }
            Mode::Normal => {
                let had_command = !self.pending.is_empty();
                self.pending = Pending::default();
                had_command
            }
        }
    }

    /// A key in normal mode.
    pub(super) fn key(&mut self, editor: &mut Editor, key: KeyEvent) -> Outcome {
        let outcome = match keys::typed(key) {
            Some(character) => self.character(editor, character),
            None if key.code == KeyCode::Backspace => self.character(editor, 'h'),
            None if is_redo(key) => {
                editor.redo();
                Outcome::Done
            }
            None if key.code == KeyCode::Esc => Outcome::Pass,
            None => {
                self.pending = Pending::default();
                Outcome::Pass
            }
        };
        if self.mode == Mode::Normal && outcome == Outcome::Done {
            self.settle(editor);
        }
        outcome
    }

    /// In normal mode the cursor is on a character, not behind the line.
    pub(super) fn settle(&self, editor: &mut Editor) {
        if self.mode == Mode::Normal {
            editor.nudge(motion::on_line(editor.text(), editor.cursor()));
        }
    }

    fn character(&mut self, editor: &mut Editor, character: char) -> Outcome {
        if let Some(prefix) = self.pending.prefix.take() {
            self.after_prefix(editor, prefix, character);
            return Outcome::Done;
        }
        if let Some(digit) = character.to_digit(10)
            && (digit > 0 || self.pending.count.is_some())
        {
            let count = self.pending.count.unwrap_or(0) * 10 + digit as usize;
            self.pending.count = Some(count.min(MAX_COUNT));
            return Outcome::Done;
        }
        if let Some(prefix) = self.prefix_of(character) {
            self.pending.prefix = Some(prefix);
            return Outcome::Done;
        }
        let pending = std::mem::take(&mut self.pending);
        if let Some((operator, _)) = pending.operator {
            let count = pending.count().unwrap_or(1);
            if operator.letter() == character {
                self.operate_lines(editor, operator, count);
            } else {
                self.operate(editor, operator, character, pending.count());
            }
            return Outcome::Done;
        }
        if let Some(operator) = Operator::of(character) {
            self.pending.operator = Some((operator, pending.count));
            return Outcome::Done;
        }
        self.command(editor, character, pending.count())
    }

    fn prefix_of(&self, character: char) -> Option<Prefix> {
        let after_operator = self.pending.operator.is_some();
        match character {
            'g' => Some(Prefix::Go),
            'i' | 'a' if after_operator => Some(Prefix::Object {
                around: character == 'a',
            }),
            'r' if !after_operator => Some(Prefix::Replace),
            _ => FindKind::of(character).map(Prefix::Find),
        }
    }

    fn after_prefix(&mut self, editor: &mut Editor, prefix: Prefix, character: char) {
        let pending = std::mem::take(&mut self.pending);
        let count = pending.count().unwrap_or(1);
        let operator = pending.operator.map(|(operator, _)| operator);
        match prefix {
            Prefix::Go if character == 'g' => {
                let line = pending.count().map_or(0, |count| count - 1);
                let to = motion::line_at(editor.text(), line);
                self.lines_or_move(editor, operator, to);
            }
            Prefix::Object { around } if matches!(character, 'w' | 'W') => {
                let range = motion::word_object(editor.text(), editor.cursor(), around);
                if let Some(operator) = operator {
                    self.operate_range(editor, operator, range);
                }
            }
            Prefix::Go | Prefix::Object { .. } => {}
            Prefix::Find(kind) => {
                self.find = Some(Find { kind, character });
                self.find_again(editor, operator, count, Which::New);
            }
            Prefix::Replace => {
                motion::replace_chars(editor, character, count);
            }
        }
    }

    fn find_again(
        &mut self,
        editor: &mut Editor,
        operator: Option<Operator>,
        count: usize,
        which: Which,
    ) {
        let Some(find) = self.find else { return };
        let Some(to) = find.target(editor.text(), editor.cursor(), count, which) else {
            return;
        };
        match operator {
            None => editor.move_to(to),
            Some(operator) => {
                let at = editor.cursor();
                let range = if to > at {
                    at..editor.text().next(to)
                } else {
                    to..at
                };
                self.operate_range(editor, operator, range);
            }
        }
    }

    /// A character that is no operator: a motion, or a command of its own.
    fn command(&mut self, editor: &mut Editor, character: char, count: Option<usize>) -> Outcome {
        let n = count.unwrap_or(1);
        match character {
            'j' | '+' => return Outcome::Rows(Vertical::Down, n),
            'k' | '-' => return Outcome::Rows(Vertical::Up, n),
            // The app shows its keys for `?` on an empty composer.
            '?' => return Outcome::Pass,
            'i' | 'I' | 'a' | 'A' | 'o' | 'O' => self.begin_insert(editor, character),
            'x' => self.operate(editor, Operator::Delete, 'l', count),
            'X' => self.operate(editor, Operator::Delete, 'h', count),
            'D' => self.operate(editor, Operator::Delete, '$', count),
            'C' => self.operate(editor, Operator::Change, '$', count),
            's' => self.operate(editor, Operator::Change, 'l', count),
            'S' => self.operate_lines(editor, Operator::Change, n),
            'Y' => self.operate_lines(editor, Operator::Yank, n),
            'p' | 'P' => self.put(editor, character == 'p', n),
            'u' => editor.undo(),
            '~' => motion::toggle_case(editor, n),
            'J' => motion::join_lines(editor, n),
            ';' => self.find_again(editor, None, n, Which::Same),
            ',' => self.find_again(editor, None, n, Which::Reversed),
            'G' => {
                let line = count.map_or(usize::MAX, |count| count - 1);
                editor.move_to(motion::line_at(editor.text(), line));
            }
            _ => {
                if let Some(motion) = motion::target(editor.text(), editor.cursor(), character, n) {
                    editor.move_to(motion.to);
                }
            }
        }
        Outcome::Done
    }

    fn begin_insert(&mut self, editor: &mut Editor, character: char) {
        let line = super::motion::line(editor.text(), editor.cursor());
        match character {
            'I' => editor.move_to(motion::first_nonblank(editor.text(), editor.cursor())),
            'a' => editor.move_to(motion::right(editor.text(), editor.cursor(), 1)),
            'A' => editor.move_to(line.end),
            'o' => editor.replace(line.end..line.end, &RichText::plain("\n")),
            'O' => {
                editor.replace(line.start..line.start, &RichText::plain("\n"));
                editor.move_to(line.start);
            }
            _ => {}
        }
        self.insert();
    }
}

fn is_redo(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('r') && key.modifiers == KeyModifiers::CONTROL
}
