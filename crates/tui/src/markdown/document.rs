//! Walks over parsed Markdown and sets its blocks.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::Span;

use super::code::CodeBlock;
use super::inline::Inline;
use super::table::{Layout, Table};
use super::target::link_target;
use crate::look::Look;
use crate::row::Row;
use crate::text::{Break, Frame, append, flow, room_beside, spaces, width};

/// Deeper quotations and lists are shown at this depth. Keeps prefixes short, and so the cost
/// of a row.
const MAX_DEPTH: usize = 24;

/// The rows of a whole message, whose text is sanitised.
pub(super) fn render(text: &str, look: &Look) -> Vec<Row> {
    let mut document = Document::new(look);
    document.run(text);
    document.rows
}

/// What blocks stand in.
enum Container {
    Quote,
    /// An item of a list, or a footnote.
    Item {
        /// Stands before its first row.
        marker: Option<Span<'static>>,
        width: usize,
    },
}

/// The block that text goes to, if it is not shown as it stands.
enum Leaf {
    Text,
    Code { info: String, text: String },
    Table(Table),
}

/// The rows of some Markdown.
pub(super) struct Document<'l> {
    look: &'l Look,
    pub(super) rows: Vec<Row>,
    /// The blank row that is due before the next one.
    gap: Option<Row>,
    /// Nothing has been shown in the innermost container.
    fresh: bool,
    containers: Vec<Container>,
    /// For each open list the number of its next item, if it has numbers.
    lists: Vec<Option<u64>>,
    inline: Inline,
    leaf: Leaf,
    /// Overrides the number that the first list begins with.
    pub(super) first_number: Option<u64>,
    /// The number that the outermost list would go on with.
    pub(super) next_number: Option<u64>,
    /// The table goes on one that was set like this.
    pub(super) open_table: Option<Layout>,
    /// How the last table was set.
    pub(super) layout: Option<Layout>,
}

impl<'l> Document<'l> {
    pub(super) fn new(look: &'l Look) -> Self {
        Self {
            look,
            rows: Vec::new(),
            gap: None,
            fresh: true,
            containers: Vec::new(),
            lists: Vec::new(),
            inline: Inline::new(&look.theme),
            leaf: Leaf::Text,
            first_number: None,
            next_number: None,
            open_table: None,
            layout: None,
        }
    }

    pub(super) fn run(&mut self, text: &str) {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_FOOTNOTES;
        for event in Parser::new_ext(text, options) {
            match event {
                Event::Start(tag) => self.start(tag),
                Event::End(tag) => self.end(tag),
                Event::Text(text) => self.text(&text),
                Event::Code(text) => self.inline.styled(&text, self.look.theme.code),
                Event::InlineMath(text) | Event::DisplayMath(text) | Event::Html(text) => {
                    self.inline.text(&text);
                }
                Event::InlineHtml(tag) => self.inline_html(&tag),
                Event::FootnoteReference(name) => self.inline.text(&format!("[^{name}]")),
                // Models break lines where they want them broken.
                Event::SoftBreak | Event::HardBreak => self.inline.text("\n"),
                Event::Rule => self.rule(),
                Event::TaskListMarker(done) => self.task_marker(done),
            }
        }
        self.flush();
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.begin();
                self.inline.set_base(self.heading_style(level));
            }
            Tag::BlockQuote(_) => {
                self.begin();
                self.open(Container::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.begin();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                let text = String::new();
                self.leaf = Leaf::Code { info, text };
            }
            Tag::List(number) => self.start_list(number),
            Tag::Item => self.start_item(),
            Tag::FootnoteDefinition(name) => {
                self.begin();
                let marker = Some(Span::styled(format!("[^{name}]: "), self.look.theme.dim));
                self.open(Container::Item { marker, width: 4 });
            }
            Tag::Table(alignments) => {
                self.begin();
                let rows = Vec::new();
                self.leaf = Leaf::Table(Table { rows, alignments });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Leaf::Table(table) = &mut self.leaf {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.mark(Modifier::ITALIC),
            Tag::Strong => self.mark(Modifier::BOLD),
            Tag::Strikethrough => self.mark(Modifier::CROSSED_OUT),
            Tag::Superscript | Tag::Subscript | Tag::Image { .. } => {
                self.inline.start(Style::new());
            }
            Tag::Link { dest_url, .. } => {
                let target = link_target(&dest_url);
                self.inline.start_link(self.look.theme.link, target);
            }
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.begin(),
            Tag::TableCell => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.inline.set_base(self.base_style());
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                let next = self.lists.pop().flatten();
                if self.lists.is_empty() {
                    self.next_number = next;
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::FootnoteDefinition => self.close(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => {
                let cell = self.inline.take();
                if let Leaf::Table(table) = &mut self.leaf
                    && let Some(row) = table.rows.last_mut()
                {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image => self.inline.end(),
            TagEnd::Paragraph
            | TagEnd::HtmlBlock
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => self.flush(),
            TagEnd::TableHead | TagEnd::TableRow => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Leaf::Code { text: code, .. } = &mut self.leaf {
            code.push_str(text);
        } else {
            self.inline.text(text);
        }
    }

    fn inline_html(&mut self, tag: &str) {
        if matches!(tag, "<br>" | "<br/>" | "<br />") {
            self.inline.text("\n");
        } else {
            self.inline.text(tag);
        }
    }

    fn mark(&mut self, modifier: Modifier) {
        self.inline.start(Style::new().add_modifier(modifier));
    }

    /// A block begins: a gap, unless it is the first one where it stands.
    fn begin(&mut self) {
        self.flush();
        if !self.fresh && self.gap.is_none() {
            let (_, rest) = self.prefixes();
            let mut gap = Row::new(rest);
            while gap
                .line
                .spans
                .pop_if(|span| span.content.trim().is_empty())
                .is_some()
            {}
            if let Some(last) = gap.line.spans.last_mut() {
                let kept = last.content.trim_end().len();
                last.content.to_mut().truncate(kept);
            }
            self.gap = Some(gap);
        }
        self.fresh = false;
    }

    fn open(&mut self, container: Container) {
        self.containers.push(container);
        self.fresh = true;
        self.inline.set_base(self.base_style());
    }

    fn close(&mut self) {
        self.flush();
        if let Some(Container::Item {
            marker: Some(_), ..
        }) = self.containers.last()
        {
            self.emit(Row::blank());
        }
        self.containers.pop();
        self.fresh = false;
        self.inline.set_base(self.base_style());
    }

    fn start_list(&mut self, number: Option<u64>) {
        self.flush();
        // A list within an item belongs to the line above it.
        if !matches!(self.containers.last(), Some(Container::Item { .. })) {
            self.begin();
        }
        let number = number.map(|number| self.first_number.take().unwrap_or(number));
        self.lists.push(number);
    }

    fn start_item(&mut self) {
        self.flush();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            Some(None) | None => "- ".to_owned(),
        };
        let width = width(&marker);
        let marker = Some(Span::styled(marker, self.look.theme.dim));
        self.open(Container::Item { marker, width });
    }

    fn task_marker(&mut self, done: bool) {
        let glyphs = &self.look.glyphs;
        let (glyph, style) = if done {
            (glyphs.done, self.look.theme.success)
        } else {
            (glyphs.open, self.look.theme.dim)
        };
        if let Some(Container::Item { marker, width: w }) = self.containers.last_mut() {
            let text = format!("{glyph} ");
            *w = width(&text);
            *marker = Some(Span::styled(text, style));
        }
    }

    fn heading_style(&self, level: HeadingLevel) -> Style {
        let style = self.base_style().patch(self.look.theme.heading);
        if level == HeadingLevel::H1 {
            style.add_modifier(Modifier::UNDERLINED)
        } else {
            style
        }
    }

    fn base_style(&self) -> Style {
        let mut outermost = self.containers.iter().take(MAX_DEPTH);
        if outermost.any(|container| matches!(container, Container::Quote)) {
            self.look.theme.text.patch(self.look.theme.quote)
        } else {
            self.look.theme.text
        }
    }

    /// What stands before the next row, and before those that follow it.
    fn prefixes(&self) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
        let mut first = Vec::new();
        let mut rest = Vec::new();
        for container in self.containers.iter().take(MAX_DEPTH) {
            match container {
                Container::Quote => {
                    let bar =
                        Span::styled(format!("{} ", self.look.glyphs.bar), self.look.theme.dim);
                    first.push(bar.clone());
                    rest.push(bar);
                }
                Container::Item { marker, width } => {
                    first.push(marker.clone().unwrap_or_else(|| spaces(*width)));
                    rest.push(spaces(*width));
                }
            }
        }
        (first, rest)
    }

    /// Marks of items stand once.
    fn use_markers(&mut self) {
        for container in &mut self.containers {
            if let Container::Item { marker, .. } = container {
                *marker = None;
            }
        }
    }

    /// Sets the text that was collected.
    fn flush(&mut self) {
        if self.inline.is_empty() || matches!(self.leaf, Leaf::Table(_)) {
            return;
        }
        let mut pieces = self.inline.take();
        if let Some(last) = pieces.last_mut() {
            let kept = last.text.trim_end_matches('\n').len();
            last.text.truncate(kept);
        }
        let (first, rest) = self.prefixes();
        let frame = Frame {
            width: self.look.width,
            first: &first,
            rest: &rest,
        };
        let rows = flow(&pieces, frame, Break::Words);
        self.fresh = false;
        self.add(rows);
    }

    fn add(&mut self, mut rows: Vec<Row>) {
        if rows.is_empty() {
            return;
        }
        self.use_markers();
        if let Some(gap) = self.gap.take()
            && !self.rows.is_empty()
        {
            self.rows.push(gap);
        }
        self.rows.append(&mut rows);
    }

    /// Adds a row that is set without the prefix.
    fn emit(&mut self, row: Row) {
        let (first, _) = self.prefixes();
        let mut line = Row::blank();
        if room_beside(&first, self.look.width) < usize::from(self.look.width) {
            line = Row::new(first);
        }
        append(&mut line, row);
        self.add(vec![line]);
    }

    fn rule(&mut self) {
        self.begin();
        let room = room_beside(&self.prefixes().0, self.look.width);
        let n_glyphs = room / width(self.look.glyphs.rule).max(1);
        let rule = self.look.glyphs.rule.repeat(n_glyphs);
        self.emit(Span::styled(rule, self.look.theme.dim).into());
    }

    fn end_code(&mut self) {
        let Leaf::Code { info, text } = std::mem::replace(&mut self.leaf, Leaf::Text) else {
            return;
        };
        let mut block = CodeBlock::new(&info);
        for line in text.lines() {
            let (first, rest) = self.prefixes();
            let rows = block.line(line, self.look, first, rest);
            self.add(rows);
        }
    }

    fn end_table(&mut self) {
        let Leaf::Table(table) = std::mem::replace(&mut self.leaf, Leaf::Text) else {
            return;
        };
        let room = room_beside(&self.prefixes().0, self.look.width);
        let continues = self.open_table.is_some();
        let layout = self
            .open_table
            .take()
            .unwrap_or_else(|| Layout::fit(&table, room));
        let mut rows = Vec::new();
        if !continues {
            rows = layout.head(&table, self.look);
        }
        rows.append(&mut layout.body(&table, self.look, continues, room));
        for row in rows {
            self.emit(row);
        }
        self.layout = Some(layout);
    }
}
