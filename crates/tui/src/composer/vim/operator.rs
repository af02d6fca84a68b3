//! Operators of Vim mode: delete, change, yank; and putting back what they took.

use std::ops::Range;

use super::Vim;
use super::find::Which;
use super::motion::{self, Reach};
use crate::composer::editor::Editor;
use crate::composer::motion::line;
use crate::composer::rich_text::RichText;

/// What is done with a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Delete,
    Change,
    Yank,
}

impl Operator {
    pub(super) fn of(character: char) -> Option<Self> {
        [Self::Delete, Self::Change, Self::Yank]
            .into_iter()
            .find(|operator| operator.letter() == character)
    }

    /// The key, which doubled means whole lines.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Delete => 'd',
            Self::Change => 'c',
            Self::Yank => 'y',
        }
    }
}

/// What was taken last.
#[derive(Debug, Clone, Default)]
pub(super) struct Register {
    /// Whole lines come without their last line break.
    text: RichText,
    whole_lines: bool,
}

impl Vim {
    /// An operator with a motion.
    pub(super) fn operate(
        &mut self,
        editor: &mut Editor,
        operator: Operator,
        character: char,
        count: Option<usize>,
    ) {
        let n = count.unwrap_or(1);
        match character {
            'j' | 'k' => {
                let at = editor.cursor();
                let to = motion::lines_away(editor.text(), at, n, character == 'j');
                if let Some(to) = to {
                    self.operate_on_lines(editor, operator, at.min(to)..at.max(to));
                }
                return;
            }
            'G' => {
                let line = count.map_or(usize::MAX, |count| count - 1);
                let to = motion::line_at(editor.text(), line);
                self.lines_or_move(editor, Some(operator), to);
                return;
            }
            ';' => return self.find_again(editor, Some(operator), n, Which::Same),
            ',' => return self.find_again(editor, Some(operator), n, Which::Reversed),
            _ => {}
        }
        let at = editor.cursor();
        let text = editor.text();
        // `cw` on a word changes to its end, not the space behind it.
        let character = match character {
            'w' if operator == Operator::Change && !motion::is_blank(text, at) => 'e',
            'W' if operator == Operator::Change && !motion::is_blank(text, at) => 'E',
            other => other,
        };
        let from_inside = matches!(character, 'e' | 'E') && operator == Operator::Change;
        let target = if from_inside {
            Some(motion::change_word_end(text, at, character, n))
        } else {
            motion::target(text, at, character, n)
        };
        let Some(target) = target else { return };
        let mut range = at.min(target.to)..at.max(target.to);
        match target.reach {
            Reach::Before if matches!(character, 'w' | 'W') => {
                range.end = motion::not_into_next_line(text, range.clone());
            }
            Reach::Before => {}
            Reach::On => range.end = text.next(range.end),
        }
        self.operate_range(editor, operator, range);
    }

    /// An operator on a part of the text.
    pub(super) fn operate_range(
        &mut self,
        editor: &mut Editor,
        operator: Operator,
        range: Range<usize>,
    ) {
        let range = editor.text().outward(range);
        if !range.is_empty() {
            self.take(editor, range.clone(), false);
            match operator {
                Operator::Delete | Operator::Change => {
                    editor.replace(range, &RichText::default());
                }
                Operator::Yank => editor.move_to(range.start),
            }
        }
        if operator == Operator::Change {
            self.insert();
        }
    }

    /// An operator on `count` lines from the cursor on.
    pub(super) fn operate_lines(&mut self, editor: &mut Editor, operator: Operator, count: usize) {
        let at = editor.cursor();
        let mut last = at;
        for _ in 1..count {
            match motion::lines_away(editor.text(), last, 1, true) {
                Some(next) => last = next,
                None => break,
            }
        }
        self.operate_on_lines(editor, operator, at..last);
    }

    /// An operator on whole lines up to that of `to`; without an operator a movement there.
    pub(super) fn lines_or_move(
        &mut self,
        editor: &mut Editor,
        operator: Option<Operator>,
        to: usize,
    ) {
        let at = editor.cursor();
        match operator {
            Some(operator) => self.operate_on_lines(editor, operator, at.min(to)..at.max(to)),
            None => editor.move_to(to),
        }
    }

    /// An operator on the lines that a range touches.
    fn operate_on_lines(&mut self, editor: &mut Editor, operator: Operator, range: Range<usize>) {
        let text = editor.text();
        let lines = line(text, range.start).start..line(text, range.end).end;
        self.take(editor, lines.clone(), true);
        match operator {
            Operator::Yank => {
                if lines.start < line(editor.text(), editor.cursor()).start {
                    editor.move_to(lines.start);
                }
            }
            Operator::Change => {
                editor.replace(lines, &RichText::default());
                self.insert();
            }
            Operator::Delete => {
                // One line break goes too: the one behind, or that before the last line.
                let is_last = lines.end == editor.text().len();
                let whole = if is_last {
                    lines.start.saturating_sub(1)..lines.end
                } else {
                    lines.start..lines.end + 1
                };
                editor.replace(whole, &RichText::default());
                editor.move_to(motion::first_nonblank(editor.text(), editor.cursor()));
            }
        }
    }

    fn take(&mut self, editor: &mut Editor, range: Range<usize>, whole_lines: bool) {
        let text = editor.text().slice(range);
        editor.keep(text.clone());
        self.register = Register { text, whole_lines };
    }

    /// Puts what was taken behind the cursor or before it.
    pub(super) fn put(&mut self, editor: &mut Editor, behind: bool, count: usize) {
        let Register { text, whole_lines } = self.register.clone();
        if text.is_empty() && !whole_lines {
            return;
        }
        // A large count of a large text would exhaust the memory.
        let count = count.min(1 + (1 << 20) / text.len().max(1));
        let line_break = RichText::plain("\n");
        let mut many = RichText::default();
        for _ in 0..count {
            if whole_lines && behind {
                many.push(&line_break);
            }
            many.push(&text);
            if whole_lines && !behind {
                many.push(&line_break);
            }
        }
        let at = editor.cursor();
        let line = line(editor.text(), at);
        let place = match (whole_lines, behind) {
            (true, true) => line.end,
            (true, false) => line.start,
            (false, true) => motion::right(editor.text(), at, 1),
            (false, false) => at,
        };
        editor.replace(place..place, &many);
        if whole_lines {
            let first = if behind { place + 1 } else { place };
            editor.move_to(motion::first_nonblank(editor.text(), first));
        } else {
            editor.move_to(editor.text().prev(editor.cursor()));
        }
    }
}
