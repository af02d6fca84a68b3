//! Sets the chunks of a message that arrives, and carries what each must know of those before.

use super::code::CodeBlock;
use super::document::Document;
use super::split::Chunk;
use super::table::Layout;
use crate::look::Look;
use crate::row::Row;

/// What rendering carries from one chunk to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Carry {
    /// Something was shown, so the next block stands apart from it.
    started: bool,
    /// A gap is due before the next row.
    gap: bool,
    /// The number of the next item of the open list.
    next_number: Option<u64>,
    /// How the open table is set.
    table: Option<Layout>,
    /// The open code block.
    code: Option<CodeBlock>,
}

impl Carry {
    /// The rows of the next chunk.
    pub(super) fn render(&mut self, chunk: &Chunk, look: &Look) -> Vec<Row> {
        let mut document = Document::new(look);
        match chunk {
            Chunk::Blocks(text) => {
                self.gap = true;
                document.run(text);
            }
            Chunk::More(text) => document.run(text),
            Chunk::Item { text, continues } => {
                self.gap |= !continues;
                document.first_number = self.next_number.filter(|_| *continues);
                document.run(text);
                self.next_number = document.next_number;
            }
            Chunk::CodeStart(info) => {
                self.gap = true;
                self.code = Some(CodeBlock::new(info));
            }
            Chunk::CodeLine(line) => {
                if let Some(code) = &mut self.code {
                    document.rows = code.line(line, look, Vec::new(), Vec::new());
                }
            }
            Chunk::CodeEnd => self.code = None,
            Chunk::TableRow { head, row } => {
                document.open_table = self.table.take();
                document.run(&format!("{head}{row}\n"));
            }
        }
        if document.layout.is_some() {
            self.table = document.layout;
        }
        let mut rows = document.rows;
        if rows.is_empty() {
            return rows;
        }
        if std::mem::take(&mut self.gap) && self.started {
            rows.insert(0, Row::blank());
        }
        self.started = true;
        rows
    }
}
