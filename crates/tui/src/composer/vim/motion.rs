//! Where the movements of Vim lead, and the small changes of single characters.

use std::ops::Range;

use crate::composer::editor::Editor;
use crate::composer::motion::line;
use crate::composer::rich_text::RichText;

/// Whether an operator takes what a movement leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Before,
    On,
}

/// Where a movement leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) to: usize,
    pub(super) reach: Reach,
}

/// Kinds of characters, for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    /// The line break of an empty line, which is a word.
    EmptyLine,
    Word,
    Other,
}

fn class(text: &RichText, at: usize, big: bool) -> Option<Class> {
    let unit = text.get(at..text.next(at));
    let first = unit.chars().next()?;
    let is_element = text
        .elements()
        .iter()
        .any(|element| element.range.start == at);
    Some(if first == '\n' && line(text, at).is_empty() {
        Class::EmptyLine
    } else if first.is_whitespace() {
        Class::Blank
    } else if big || is_element || first.is_alphanumeric() || first == '_' {
        Class::Word
    } else {
        Class::Other
    })
}

/// Whether there is white space, or nothing, at an offset.
pub(super) fn is_blank(text: &RichText, at: usize) -> bool {
    matches!(
        class(text, at, false),
        None | Some(Class::Blank | Class::EmptyLine)
    )
}

/// The target of the movement that a key names; `None` when it names none.
pub(super) fn target(text: &RichText, at: usize, key: char, count: usize) -> Option<Target> {
    let big = key.is_uppercase();
    let times = |step: &dyn Fn(usize) -> usize| {
        let mut to = at;
        for _ in 0..count {
            let next = step(to);
            if next == to {
                break;
            }
            to = next;
        }
        to
    };
    let (to, reach) = match key {
        'h' => (left(text, at, count), Reach::Before),
        'l' | ' ' => (right(text, at, count), Reach::Before),
        'w' | 'W' => (times(&|at| word_forward(text, at, big)), Reach::Before),
        'b' | 'B' => (times(&|at| word_back(text, at, big)), Reach::Before),
        'e' | 'E' => (times(&|at| word_end(text, at, big)), Reach::On),
        '0' => (line(text, at).start, Reach::Before),
        '^' | '_' => (first_nonblank(text, at), Reach::Before),
        '$' => {
            let down = lines_away(text, at, count - 1, true).unwrap_or(text.len());
            (line(text, down).end, Reach::Before)
        }
        _ => return None,
    };
    Some(Target { to, reach })
}

/// The offset, or that of the line's last character when it is behind the line.
pub(super) fn on_line(text: &RichText, at: usize) -> usize {
    let line = line(text, at);
    if at == line.end && !line.is_empty() {
        text.prev(at)
    } else {
        at
    }
}

/// So many characters to the left, within the line.
pub(super) fn left(text: &RichText, at: usize, count: usize) -> usize {
    let start = line(text, at).start;
    let mut to = at;
    for _ in 0..count {
        if to <= start {
            break;
        }
        to = text.prev(to);
    }
    to
}

/// So many characters to the right, at most behind the line.
pub(super) fn right(text: &RichText, at: usize, count: usize) -> usize {
    let end = line(text, at).end;
    let mut to = at;
    for _ in 0..count {
        if to >= end {
            break;
        }
        to = text.next(to);
    }
    to
}

/// The first character of the line that is not white space.
pub(super) fn first_nonblank(text: &RichText, at: usize) -> usize {
    let line = line(text, at);
    let mut to = line.start;
    while to < line.end && is_blank(text, to) {
        to = text.next(to);
    }
    to
}

/// The first character that is not white space of a line, counted from 0; at most the last.
pub(super) fn line_at(text: &RichText, number: usize) -> usize {
    let mut start = 0;
    for _ in 0..number {
        match lines_away(text, start, 1, true) {
            Some(next) => start = next,
            None => break,
        }
    }
    first_nonblank(text, start)
}

/// The start of the line so many lines away; `None` when there are fewer.
pub(super) fn lines_away(text: &RichText, at: usize, count: usize, down: bool) -> Option<usize> {
    let mut start = line(text, at).start;
    for _ in 0..count {
        start = if down {
            let end = line(text, start).end;
            Some(end + 1).filter(|next| *next <= text.len())?
        } else {
            line(text, start.checked_sub(1)?).start
        };
    }
    Some(start)
}

fn word_forward(text: &RichText, at: usize, big: bool) -> usize {
    let mut to = at;
    let from = class(text, to, big);
    if from == Some(Class::EmptyLine) {
        to = text.next(to);
    } else {
        while class(text, to, big) == from && from.is_some() && from != Some(Class::Blank) {
            to = text.next(to);
        }
    }
    while class(text, to, big) == Some(Class::Blank) {
        to = text.next(to);
    }
    to
}

fn word_back(text: &RichText, at: usize, big: bool) -> usize {
    let mut to = text.prev(at);
    while to > 0 && class(text, to, big) == Some(Class::Blank) {
        to = text.prev(to);
    }
    let word = class(text, to, big);
    while to > 0 && word != Some(Class::EmptyLine) {
        let before = text.prev(to);
        if class(text, before, big) != word {
            break;
        }
        to = before;
    }
    to
}

fn word_end(text: &RichText, at: usize, big: bool) -> usize {
    let mut to = text.next(at);
    while matches!(class(text, to, big), Some(Class::Blank | Class::EmptyLine)) {
        to = text.next(to);
    }
    to = last_of_word(text, to, big);
    if to >= text.len() {
        text.prev(text.len()).max(at)
    } else {
        to
    }
}

fn last_of_word(text: &RichText, at: usize, big: bool) -> usize {
    let mut to = at;
    let word = class(text, to, big);
    loop {
        let next = text.next(to);
        if next == to || class(text, next, big) != word {
            return to;
        }
        to = next;
    }
}

/// The end of the word that `cw` changes: the cursor's own word is the first.
pub(super) fn change_word_end(text: &RichText, at: usize, key: char, count: usize) -> Target {
    let big = key.is_uppercase();
    let mut to = last_of_word(text, at, big);
    for _ in 1..count {
        to = word_end(text, to, big);
    }
    Target {
        to,
        reach: Reach::On,
    }
}

/// The end of what `dw` deletes: the last word of a line does not take the next line with it.
pub(super) fn not_into_next_line(text: &RichText, range: Range<usize>) -> usize {
    let taken = text.get(range.clone());
    match taken.rfind('\n') {
        Some(at) if at > 0 => {
            let behind = taken.get(at..).unwrap_or_default();
            if behind.trim().is_empty() {
                let head = taken.get(..at).unwrap_or_default();
                let head = head.trim_end_matches('\n');
                range.start + head.len().max(1)
            } else {
                range.end
            }
        }
        Some(_) | None => range.end,
    }
}

/// The word, or the white space, at an offset; `around` takes white space beside it too.
pub(super) fn word_object(text: &RichText, at: usize, around: bool) -> Range<usize> {
    let line = line(text, at);
    let at = on_line(text, at);
    let stretch_right = |mut to: usize, wanted: Option<Class>| {
        while to < line.end && class(text, to, false) == wanted {
            to = text.next(to);
        }
        to
    };
    let stretch_left = |mut to: usize, wanted: Option<Class>| {
        while to > line.start && class(text, text.prev(to), false) == wanted {
            to = text.prev(to);
        }
        to
    };
    if line.is_empty() {
        return line;
    }
    let own = class(text, at, false);
    let word = stretch_left(at, own)..stretch_right(at, own);
    if !around {
        return word;
    }
    if own == Some(Class::Blank) {
        return word.start..stretch_right(word.end, class(text, word.end, false));
    }
    let behind = stretch_right(word.end, Some(Class::Blank));
    if behind > word.end {
        word.start..behind
    } else {
        stretch_left(word.start, Some(Class::Blank))..word.end
    }
}

/// `r`: each of so many characters becomes this one.
pub(super) fn replace_chars(editor: &mut Editor, character: char, count: usize) {
    let at = editor.cursor();
    let end = right(editor.text(), at, count);
    if editor.text().units(at..end).count() < count {
        return;
    }
    let with: String = std::iter::repeat_n(character, count).collect();
    editor.replace(at..end, &RichText::plain(with));
    editor.move_to(editor.text().prev(editor.cursor()));
}

/// `~`: upper case becomes lower case and the other way round.
pub(super) fn toggle_case(editor: &mut Editor, count: usize) {
    let at = editor.cursor();
    let end = right(editor.text(), at, count);
    let has_element = editor
        .text()
        .pieces(at..end)
        .any(|(_, element)| element.is_some());
    if has_element || at == end {
        return editor.move_to(end);
    }
    let toggled: String = (editor.text().get(at..end).chars())
        .flat_map(|c| -> Vec<char> {
            if c.is_lowercase() {
                c.to_uppercase().collect()
            } else {
                c.to_lowercase().collect()
            }
        })
        .collect();
    editor.replace(at..end, &RichText::plain(toggled));
}

/// `J`: so many lines become one, at least two.
pub(super) fn join_lines(editor: &mut Editor, count: usize) {
    for _ in 1..count.max(2) {
        let end = line(editor.text(), editor.cursor()).end;
        if end == editor.text().len() {
            return;
        }
        let mut next = end + 1;
        while next < editor.text().len() && editor.text().get(next..next + 1) != "\n" {
            if !is_blank(editor.text(), next) {
                break;
            }
            next = editor.text().next(next);
        }
        let rest = line(editor.text(), next);
        let needs_space = next < rest.end && !editor.text().get(0..end).ends_with([' ', '\t']);
        let with = if needs_space { " " } else { "" };
        editor.replace(end..next, &RichText::plain(with));
        editor.move_to(end);
    }
}
