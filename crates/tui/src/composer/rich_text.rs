//! Text that may hold elements: pieces that are shown as a label and move as one character.
//!
//! It owns where graphemes and elements begin and end. The cursor, undo and the screen are not
//! its business. Elements are ranges, never found by their label, so that text which merely
//! looks like a label stays text.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// What an element stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Folded text, which takes the place of the label when the message is sent.
    Paste(Arc<str>),
    /// A picture, which is sent beside the text.
    Image(PathBuf),
}

/// A piece of the text that is one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    /// Where its label stands; never empty.
    pub(super) range: Range<usize>,
    /// What it stands for.
    pub(super) content: Content,
}

/// A grapheme of the text, or of the label of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit<'a> {
    /// Where it begins.
    pub(super) offset: usize,
    /// Its characters.
    pub(super) text: &'a str,
    /// It belongs to a label.
    pub(super) in_element: bool,
}

/// Text with elements. All offsets are in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RichText {
    text: String,
    /// In order, not overlapping.
    elements: Vec<Element>,
}

impl RichText {
    /// Text without elements.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            elements: Vec::new(),
        }
    }

    /// One element alone.
    pub(super) fn element(label: String, content: Content) -> Self {
        let element = Element {
            range: 0..label.len(),
            content,
        };
        Self {
            elements: if label.is_empty() {
                Vec::new()
            } else {
                vec![element]
            },
            text: label,
        }
    }

    /// The text with labels.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Its elements, in order.
    pub(super) fn elements(&self) -> &[Element] {
        &self.elements
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// A part of the text with labels; empty when the range is none.
    pub(super) fn get(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// The text with folded pastes in full; images keep their labels.
    pub(super) fn expanded(&self) -> String {
        let mut full = String::with_capacity(self.text.len());
        for (piece, element) in self.pieces(0..self.len()) {
            match element.map(|element| &element.content) {
                Some(Content::Paste(pasted)) => full.push_str(pasted),
                Some(Content::Image(_)) | None => full.push_str(self.get(piece)),
            }
        }
        full
    }

    /// The images, in order.
    pub(super) fn images(&self) -> Vec<PathBuf> {
        let path = |element: &Element| match &element.content {
            Content::Image(path) => Some(path.clone()),
            Content::Paste(_) => None,
        };
        self.elements.iter().filter_map(path).collect()
    }

    /// The range, in character borders and grown so that it cuts no element.
    pub(super) fn outward(&self, range: Range<usize>) -> Range<usize> {
        let mut start = self.text.floor_char_boundary(range.start.min(self.len()));
        let mut end = self.text.ceil_char_boundary(range.end.min(self.len()));
        for Element { range, .. } in &self.elements {
            if range.start < start && start < range.end {
                start = range.start;
            }
            if range.start < end && end < range.end {
                end = range.end;
            }
        }
        start..end.max(start)
    }

    /// A copy of a part.
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        let range = self.outward(range);
        let inside = |element: &&Element| {
            range.start <= element.range.start && element.range.end <= range.end
        };
        let elements = self.elements.iter().filter(inside);
        Self {
            text: self.get(range.clone()).to_owned(),
            elements: elements
                .map(|element| shifted(element, |offset| offset - range.start))
                .collect(),
        }
    }

    /// Puts `with` in the place of a range and returns what stood there. The range must have
    /// been grown by [`Self::outward`].
    pub(super) fn replace(&mut self, range: Range<usize>, with: &Self) -> Self {
        let range = self.outward(range);
        let removed = self.slice(range.clone());
        self.text.replace_range(range.clone(), &with.text);
        let before = |element: &&Element| element.range.end <= range.start;
        let after = |element: &&Element| element.range.start >= range.end;
        let elements =
            (self.elements.iter().filter(before).cloned())
                .chain(
                    (with.elements.iter())
                        .map(|element| shifted(element, |offset| offset + range.start)),
                )
                .chain((self.elements.iter().filter(after)).map(|element| {
                    shifted(element, |offset| offset - range.len() + with.text.len())
                }))
                .collect();
        self.elements = elements;
        removed
    }

    /// Adds text at the end.
    pub(super) fn push(&mut self, more: &Self) {
        self.replace(self.len()..self.len(), more);
    }

    /// The border of a grapheme or element after `offset`.
    pub(super) fn next(&self, offset: usize) -> usize {
        match self.pieces(offset..self.len()).next() {
            Some((piece, Some(_))) => piece.end,
            Some((piece, None)) => {
                let first = self.get(piece).graphemes(true).next();
                offset + first.map_or(0, str::len)
            }
            None => self.len(),
        }
    }

    /// The border of a grapheme or element before `offset`.
    pub(super) fn prev(&self, offset: usize) -> usize {
        let before = self.elements.iter().rev();
        let last = before
            .map(|element| &element.range)
            .find(|range| range.end <= offset);
        if let Some(range) = last.filter(|range| range.end == offset) {
            return range.start;
        }
        let start = last.map_or(0, |range| range.end);
        let last = self.get(start..offset).graphemes(true).next_back();
        offset - last.map_or(0, str::len)
    }

    /// The offset itself when it is a border of a grapheme or element, else the next one.
    pub(super) fn snap(&self, offset: usize) -> usize {
        let offset = self.text.ceil_char_boundary(offset.min(self.len()));
        let mut start = 0;
        let mut end = self.len();
        for Element { range, .. } in &self.elements {
            if range.start < offset && offset < range.end {
                return range.end;
            }
            if range.end <= offset {
                start = range.end;
            } else if range.start >= offset {
                end = range.start;
                break;
            }
        }
        let piece = self.get(start..end);
        let mut cursor = GraphemeCursor::new(offset - start, piece.len(), true);
        match cursor.is_boundary(piece, 0) {
            Ok(false) => match cursor.next_boundary(piece, 0) {
                Ok(Some(next)) => start + next,
                Ok(None) | Err(_) => end,
            },
            Ok(true) | Err(_) => offset,
        }
    }

    /// The graphemes of a range. Within a label each grapheme comes apart.
    pub(super) fn units(&self, range: Range<usize>) -> impl Iterator<Item = Unit<'_>> {
        self.pieces(range).flat_map(move |(piece, element)| {
            let start = piece.start;
            let graphemes = self.get(piece).grapheme_indices(true);
            graphemes.map(move |(offset, text)| Unit {
                offset: start + offset,
                text,
                in_element: element.is_some(),
            })
        })
    }

    /// The parts of a range: elements as far as they are in it, and the text between them.
    pub(super) fn pieces(
        &self,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (Range<usize>, Option<&Element>)> {
        let mut pieces = Vec::new();
        let mut at = range.start;
        for element in &self.elements {
            let start = element.range.start.max(range.start);
            let end = element.range.end.min(range.end);
            if start >= end {
                continue;
            }
            if at < start {
                pieces.push((at..start, None));
            }
            pieces.push((start..end, Some(element)));
            at = end;
        }
        if at < range.end {
            pieces.push((at..range.end, None));
        }
        pieces.into_iter()
    }
}

fn shifted(element: &Element, by: impl Fn(usize) -> usize) -> Element {
    Element {
        range: by(element.range.start)..by(element.range.end),
        content: element.content.clone(),
    }
}
