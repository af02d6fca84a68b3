//! Code blocks: lines in colours, broken where the row ends, easy to select and copy.

use ratatui_core::text::Span;

use super::syntax::Highlighter;
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, flow, spaces};

/// Columns before each line of code.
const INDENT: usize = 2;

/// A code block whose lines are shown one by one.
#[derive(Debug, Clone)]
pub(super) struct CodeBlock {
    highlighter: Highlighter,
}

impl CodeBlock {
    /// A block; `info` is what stands behind its fence.
    pub(super) fn new(info: &str) -> Self {
        Self {
            highlighter: Highlighter::for_info(info),
        }
    }

    /// The rows of the next line. `first` and `rest` stand before them.
    pub(super) fn line(
        &mut self,
        line: &str,
        look: &Look,
        mut first: Vec<Span<'static>>,
        mut rest: Vec<Span<'static>>,
    ) -> Vec<Row> {
        first.push(spaces(INDENT));
        rest.push(spaces(INDENT));
        let pieces = self.highlighter.line(line.trim_end(), &look.theme);
        let frame = Frame {
            width: look.width,
            first: &first,
            rest: &rest,
        };
        flow(&pieces, frame, Break::Anywhere)
    }
}
