//! Breaks styled pieces into rows. Linear in the length of the text, whatever the width.

use std::ops::Range;
use std::sync::Arc;

use ratatui_core::text::Span;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Break, Frame, Piece, clean};
use crate::row::{Link, Row};

/// Breaks pieces into rows no wider than the frame, unless a single character is wider. At
/// least one row. Indents that would leave too little room are left out.
pub(crate) fn flow(pieces: &[Piece], frame: Frame<'_>, breaking: Break) -> Vec<Row> {
    let texts: Vec<String> = pieces.iter().map(|piece| clean(&piece.text)).collect();
    let mut flow = Flow::new(pieces, &texts, frame);
    for (piece_idx, text) in texts.iter().enumerate() {
        flow.text(piece_idx, text, breaking);
    }
    flow.word_ends();
    flow.end_row();
    flow.rows
}

/// Characters that may not begin a row in East Asian text.
const CLOSING: &str = "、。，．・：；？！）］｝〉》」』】〕’”ー々";

/// Part of one piece's text.
struct Atom {
    piece_idx: usize,
    range: Range<usize>,
    width: usize,
}

/// The rows so far, and the row and the word that are being put together.
struct Flow<'a> {
    pieces: &'a [Piece],
    texts: &'a [String],
    frame: Frame<'a>,
    rows: Vec<Row>,
    row: OpenRow,
    /// Columns for text in the current row.
    room: usize,
    /// Spaces before the word; dropped if the row ends here.
    gap: Vec<Atom>,
    gap_width: usize,
    word: Vec<Atom>,
    word_width: usize,
    /// The word ends in a wide character, which text may be broken behind.
    may_break: bool,
    /// Columns for text in the rows to come.
    rest_room: usize,
}

impl<'a> Flow<'a> {
    fn new(pieces: &'a [Piece], texts: &'a [String], frame: Frame<'a>) -> Self {
        let (row, room) = OpenRow::begin(frame.first, frame.width);
        Self {
            pieces,
            texts,
            frame,
            rows: Vec::new(),
            row,
            room,
            gap: Vec::new(),
            gap_width: 0,
            word: Vec::new(),
            word_width: 0,
            may_break: false,
            rest_room: room_beside(frame.rest, frame.width),
        }
    }

    fn text(&mut self, piece_idx: usize, text: &str, breaking: Break) {
        if text.is_ascii() {
            for start in 0..text.len() {
                self.grapheme(piece_idx, text, start..start + 1, breaking);
            }
        } else {
            for (start, grapheme) in text.grapheme_indices(true) {
                if grapheme.width() > self.room.min(self.rest_room) {
                    // Some marks take columns of their own (a skin tone without a face).
                    for part in parts(grapheme) {
                        let range = start + part.start..start + part.end;
                        self.grapheme(piece_idx, text, range, breaking);
                    }
                } else {
                    self.grapheme(piece_idx, text, start..start + grapheme.len(), breaking);
                }
            }
        }
    }

    fn grapheme(&mut self, piece_idx: usize, text: &str, range: Range<usize>, breaking: Break) {
        let grapheme = text.get(range.clone()).unwrap_or_default();
        let width = if grapheme.len() == 1 {
            1
        } else {
            grapheme.width()
        };
        let atom = Atom {
            piece_idx,
            range,
            width,
        };
        match grapheme {
            "\n" => {
                self.word_ends();
                self.end_row();
            }
            " " => {
                self.word_ends();
                self.gap_width += 1;
                push(&mut self.gap, atom);
            }
            _ => self.letter(grapheme, atom, breaking),
        }
    }

    fn letter(&mut self, grapheme: &str, atom: Atom, breaking: Break) {
        let stays = atom.width == 0 || (breaking == Break::Words && CLOSING.contains(grapheme));
        let is_wide = atom.width > 1 || breaking == Break::Anywhere;
        if !stays && (is_wide || self.may_break) {
            self.word_ends();
        }
        if self.word_width + atom.width > self.room.min(self.rest_room) {
            self.word_ends();
            if atom.width > 0 && self.row.used + self.gap_width + atom.width > self.room {
                self.end_row();
            }
        }
        self.word_width += atom.width;
        push(&mut self.word, atom);
        self.may_break = is_wide;
    }

    /// Puts the open word into the row, or into the next one if it does not fit.
    fn word_ends(&mut self) {
        if self.word.is_empty() {
            return;
        }
        if self.row.used + self.gap_width + self.word_width > self.room
            && (self.row.used > 0 || self.gap_width > 0)
        {
            if self.row.used > 0 {
                self.end_row();
            }
            self.gap.clear();
            self.gap_width = 0;
        }
        for atom in self.gap.drain(..) {
            self.row.push(self.pieces, self.texts, &atom);
        }
        self.gap_width = 0;
        for atom in self.word.drain(..) {
            self.row.push(self.pieces, self.texts, &atom);
        }
        self.word_width = 0;
        self.may_break = false;
    }

    fn end_row(&mut self) {
        let (next, room) = OpenRow::begin(self.frame.rest, self.frame.width);
        self.room = room;
        let row = std::mem::replace(&mut self.row, next);
        self.rows.push(row.finish());
        self.gap.clear();
        self.gap_width = 0;
    }
}

/// The characters of a cluster, each with those that take no column.
fn parts(cluster: &str) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (at, character) in cluster.char_indices() {
        let end = at + character.len_utf8();
        match parts.last_mut() {
            Some(part) if character.width().unwrap_or(0) == 0 => part.end = end,
            _ => parts.push(at..end),
        }
    }
    parts
}

/// Adds an atom, joined to the last one if they touch.
fn push(atoms: &mut Vec<Atom>, atom: Atom) {
    match atoms.last_mut() {
        Some(last) if last.piece_idx == atom.piece_idx && last.range.end == atom.range.start => {
            last.range.end = atom.range.end;
            last.width += atom.width;
        }
        _ => atoms.push(atom),
    }
}

/// Columns that are left beside an indent; all of them if the indent is left out.
pub(crate) fn room_beside(indent: &[Span<'static>], width: u16) -> usize {
    let width = usize::from(width.max(1));
    let indent: usize = indent.iter().map(|span| span.content.width()).sum();
    let room = width.saturating_sub(indent);
    // Text that stands in a column of one or two characters helps nobody.
    if room >= 2 && room * 3 >= width {
        room
    } else {
        width
    }
}

/// A row that is being put together.
struct OpenRow {
    spans: Vec<Span<'static>>,
    links: Vec<(Range<usize>, Arc<str>)>,
    /// Columns of the indent.
    indent: usize,
    /// Columns of text behind the indent.
    used: usize,
    /// The piece that the last span comes from.
    last_piece: Option<usize>,
}

impl OpenRow {
    fn begin(indent: &[Span<'static>], width: u16) -> (Self, usize) {
        let room = room_beside(indent, width);
        let fits = room < usize::from(width.max(1));
        let spans = if fits { indent.to_vec() } else { Vec::new() };
        let row = Self {
            indent: spans.iter().map(|span| span.content.width()).sum(),
            spans,
            links: Vec::new(),
            used: 0,
            last_piece: None,
        };
        (row, room)
    }

    fn push(&mut self, pieces: &[Piece], texts: &[String], atom: &Atom) {
        let (Some(piece), Some(text)) = (pieces.get(atom.piece_idx), texts.get(atom.piece_idx))
        else {
            return;
        };
        let text = text.get(atom.range.clone()).unwrap_or_default();
        match self.spans.last_mut() {
            Some(span) if self.last_piece == Some(atom.piece_idx) => {
                span.content.to_mut().push_str(text);
            }
            _ => self.spans.push(Span::styled(text.to_owned(), piece.style)),
        }
        self.last_piece = Some(atom.piece_idx);
        let start = self.indent + self.used;
        self.used += atom.width;
        let end = self.indent + self.used;
        let Some(target) = &piece.target else {
            return;
        };
        match self.links.last_mut() {
            Some((columns, last)) if columns.end == start && last == target => columns.end = end,
            _ => self.links.push((start..end, Arc::clone(target))),
        }
    }

    fn finish(mut self) -> Row {
        if self.used == 0 {
            trim_end(&mut self.spans);
        }
        let column = |column: usize| u16::try_from(column).unwrap_or(u16::MAX);
        Row {
            links: self
                .links
                .into_iter()
                .filter(|(columns, _)| !columns.is_empty())
                .map(|(columns, target)| Link {
                    columns: column(columns.start)..column(columns.end),
                    target: target.to_string(),
                })
                .collect(),
            ..Row::new(self.spans)
        }
    }
}

/// Takes the spaces off the end of an indent that nothing follows.
fn trim_end(spans: &mut Vec<Span<'static>>) {
    while let Some(span) = spans.last_mut() {
        let kept = span.content.trim_end().len();
        if kept > 0 {
            span.content.to_mut().truncate(kept);
            return;
        }
        spans.pop();
    }
}
