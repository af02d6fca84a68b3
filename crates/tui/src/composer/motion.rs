//! Where the movements of ordinary editing lead. Words are those of Unicode (UAX 29).

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::rich_text::RichText;

/// A movement from the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    /// To the border of the previous or next grapheme.
    Left,
    Right,
    /// To the start of the previous word, the end of the next.
    WordLeft,
    WordRight,
    /// To the start of what stands before the cursor without white space.
    BlankLeft,
    /// To the ends of the logical line.
    LineStart,
    LineEnd,
    /// The same, but over the line break when the cursor is there already.
    LineStartOrBreak,
    LineEndOrBreak,
    /// To the ends of the text.
    TextStart,
    TextEnd,
}

/// Where a movement leads from `at`.
pub(super) fn target(text: &RichText, at: usize, motion: Motion) -> usize {
    match motion {
        Motion::Left => text.prev(at),
        Motion::Right => text.next(at),
        Motion::WordLeft => word_left(text, at),
        Motion::WordRight => word_right(text, at),
        Motion::BlankLeft => blank_left(text, at),
        Motion::LineStart => line(text, at).start,
        Motion::LineEnd => line(text, at).end,
        Motion::LineStartOrBreak => {
            let start = line(text, at).start;
            if start == at { text.prev(at) } else { start }
        }
        Motion::LineEndOrBreak => {
            let end = line(text, at).end;
            if end == at { text.next(at) } else { end }
        }
        Motion::TextStart => 0,
        Motion::TextEnd => text.len(),
    }
}

/// The logical line around an offset, without its line break.
pub(super) fn line(text: &RichText, at: usize) -> Range<usize> {
    let start = text.get(0..at).rfind('\n').map_or(0, |found| found + 1);
    let end = text.get(at..text.len()).find('\n');
    start..end.map_or(text.len(), |found| at + found)
}

fn is_word(piece: &str) -> bool {
    piece.chars().any(char::is_alphanumeric)
}

fn word_right(text: &RichText, at: usize) -> usize {
    for (piece, element) in text.pieces(at..text.len()) {
        if element.is_some() {
            return piece.end;
        }
        let mut bounds = text.get(piece.clone()).split_word_bound_indices();
        if let Some((offset, word)) = bounds.find(|(_, word)| is_word(word)) {
            return piece.start + offset + word.len();
        }
    }
    text.len()
}

fn word_left(text: &RichText, at: usize) -> usize {
    for (piece, element) in text.pieces(0..at).rev() {
        if element.is_some() {
            return piece.start;
        }
        let bounds = text.get(piece.clone()).split_word_bound_indices();
        if let Some((offset, _)) = bounds.rev().find(|(_, word)| is_word(word)) {
            return piece.start + offset;
        }
    }
    0
}

fn blank_left(text: &RichText, mut at: usize) -> usize {
    let mut seen = false;
    while at > 0 {
        let before = text.prev(at);
        let blank = text.get(before..at).chars().all(char::is_whitespace);
        if blank && seen {
            break;
        }
        seen |= !blank;
        at = before;
    }
    at
}
