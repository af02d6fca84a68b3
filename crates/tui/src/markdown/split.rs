//! Cuts a message that arrives line by line into chunks whose rows nothing later can change.

use super::MAX_OPEN;
use super::block::{
    Fence, HtmlEnd, Marker, html, is_blank, is_delimiter_row, is_heading, is_quote, is_rule,
    is_underline, marker, split_indent,
};
use super::table::MEASURED_ROWS;

/// Bytes of the head of a table whose rows may be shown one by one.
const MAX_HEAD: usize = 1024;

/// A part of a message that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Whole blocks.
    Blocks(String),
    /// What follows on a block that was too long.
    More(String),
    /// An item of a list.
    Item {
        /// Its Markdown, its mark included.
        text: String,
        /// It is not the first one of its list.
        continues: bool,
    },
    /// A code block begins; what stands behind the fence.
    CodeStart(String),
    /// A line of it.
    CodeLine(String),
    /// It ends.
    CodeEnd,
    /// A row of a table whose beginning was given out.
    TableRow {
        /// The first two lines of the table.
        head: String,
        /// The line.
        row: String,
    },
}

/// What the last line left open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    Paragraph,
    Quote,
    Table {
        n_rows: usize,
        head: String,
    },
    Html(HtmlEnd),
    Indented,
    Fence(Fence),
    Item {
        marker: Marker,
        continues: bool,
        after_blank: bool,
    },
}

/// The state between two lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Splitter {
    open: Open,
    /// The lines of the open block.
    text: String,
    /// The open block goes on one that was cut.
    cut: bool,
}

impl Splitter {
    /// Takes one line, without its line feed and with nothing hidden in it.
    pub(super) fn line(&mut self, line: &str, out: &mut Vec<Chunk>) {
        match self.open.clone() {
            Open::Nothing => self.start(line, out),
            Open::Paragraph => self.in_paragraph(line, out),
            Open::Quote => self.in_quote(line, out),
            Open::Table { n_rows, head } => self.in_table(line, n_rows, head, out),
            Open::Html(end) => {
                self.keep(line);
                if end.is_in(line) {
                    self.flush(out);
                }
            }
            Open::Indented if is_blank(line) || split_indent(line).0 > 3 => self.keep(line),
            Open::Indented => self.restart(line, out),
            Open::Fence(fence) if fence.closed_by(line) => {
                out.push(Chunk::CodeEnd);
                self.open = Open::Nothing;
            }
            Open::Fence(fence) => out.push(Chunk::CodeLine(fence.code(line).to_owned())),
            Open::Item {
                marker,
                after_blank,
                ..
            } => self.in_item(line, marker, after_blank, out),
        }
        if self.text.len() > MAX_OPEN {
            self.flush(out);
            self.cut = true;
        }
    }

    /// No line follows.
    pub(super) fn finish(&mut self, out: &mut Vec<Chunk>) {
        match self.open {
            Open::Fence(_) => out.push(Chunk::CodeEnd),
            Open::Nothing
            | Open::Paragraph
            | Open::Quote
            | Open::Table { .. }
            | Open::Html(_)
            | Open::Indented
            | Open::Item { .. } => self.flush(out),
        }
        *self = Self::default();
    }

    /// The first line of a block.
    fn start(&mut self, line: &str, out: &mut Vec<Chunk>) {
        if is_blank(line) {
            self.cut = false;
            return;
        }
        if let Some((fence, info)) = Fence::opens(line) {
            out.push(Chunk::CodeStart(info.to_owned()));
            self.open = Open::Fence(fence);
            self.cut = false;
            return;
        }
        self.keep(line);
        if split_indent(line).0 > 3 {
            self.open = Open::Indented;
        } else if is_heading(line) || is_rule(line) {
            self.flush(out);
        } else if let Some(marker) = marker(line) {
            self.open = Open::Item {
                marker,
                continues: false,
                after_blank: false,
            };
        } else if is_quote(line) {
            self.open = Open::Quote;
        } else if let Some(end) = html(line) {
            self.open = Open::Html(end);
            if end.is_in(line) {
                self.flush(out);
            }
        } else {
            self.open = Open::Paragraph;
        }
    }

    fn in_paragraph(&mut self, line: &str, out: &mut Vec<Chunk>) {
        if is_blank(line) {
            self.flush(out);
        } else if is_underline(line) {
            self.keep(line);
            self.flush(out);
        } else if is_delimiter_row(line) && self.begins_table() {
            self.keep(line);
            self.open = Open::Table {
                n_rows: 0,
                head: self.text.clone(),
            };
        } else if interrupts(line) {
            self.restart(line, out);
        } else {
            self.keep(line);
        }
    }

    /// Whether what is kept may be the head of a table. A huge head is not worth it, because it
    /// is parsed again for each row beyond those that are kept together.
    fn begins_table(&self) -> bool {
        self.text.len() <= MAX_HEAD && self.text.lines().count() == 1
    }

    fn in_quote(&mut self, line: &str, out: &mut Vec<Chunk>) {
        if is_blank(line) {
            self.flush(out);
        } else if !is_quote(line) && interrupts(line) {
            self.restart(line, out);
        } else {
            self.keep(line);
        }
    }

    fn in_table(&mut self, line: &str, n_rows: usize, head: String, out: &mut Vec<Chunk>) {
        if is_blank(line) {
            self.flush(out);
        } else if interrupts(line) {
            self.restart(line, out);
        } else if n_rows < MEASURED_ROWS {
            self.keep(line);
            let n_rows = n_rows + 1;
            if n_rows == MEASURED_ROWS {
                self.flush(out);
            }
            self.open = Open::Table { n_rows, head };
        } else {
            out.push(Chunk::TableRow {
                head,
                row: line.to_owned(),
            });
        }
    }

    fn in_item(&mut self, line: &str, item: Marker, after_blank: bool, out: &mut Vec<Chunk>) {
        let belongs = split_indent(line).0 >= item.content;
        if is_blank(line) || belongs {
            self.keep(line);
            if let Open::Item { after_blank, .. } = &mut self.open {
                *after_blank = is_blank(line);
            }
            return;
        }
        match marker(line) {
            Some(next) if next.kind == item.kind => {
                self.flush(out);
                self.keep(line);
                self.open = Open::Item {
                    marker: next,
                    continues: true,
                    after_blank: false,
                };
            }
            Some(_) => self.restart(line, out),
            None if after_blank || interrupts(line) => self.restart(line, out),
            // The last paragraph of the item may go on without its indent.
            None => self.keep(line),
        }
    }

    fn keep(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn restart(&mut self, line: &str, out: &mut Vec<Chunk>) {
        self.flush(out);
        self.start(line, out);
    }

    /// Gives out what is kept.
    fn flush(&mut self, out: &mut Vec<Chunk>) {
        let text = std::mem::take(&mut self.text);
        let open = std::mem::take(&mut self.open);
        let cut = std::mem::take(&mut self.cut);
        if text.is_empty() {
            return;
        }
        out.push(match open {
            Open::Item { continues, .. } => Chunk::Item { text, continues },
            Open::Nothing
            | Open::Paragraph
            | Open::Quote
            | Open::Table { .. }
            | Open::Html(_)
            | Open::Indented
            | Open::Fence(_) => {
                if cut {
                    Chunk::More(text)
                } else {
                    Chunk::Blocks(text)
                }
            }
        });
    }
}

/// Whether the line ends a paragraph above it, being the first one of another block.
fn interrupts(line: &str) -> bool {
    is_heading(line)
        || is_rule(line)
        || is_quote(line)
        || Fence::opens(line).is_some()
        || html(line).is_some()
        || marker(line).is_some_and(|marker| marker.interrupts)
}
