//! The events of the markdown parser as a tree of blocks.
//!
//! One pass; what `prescan` marked arrives as an empty heading and becomes a callout's first line, a comment or an
//! opaque block. Ids alone on a line go to the block before them. The depth of the tree is bounded by the scan.

use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::block::{Block, BlockKind, Inline, InlineKind};
use super::callout::Header;
use super::prescan::{Mark, MarkKind, Prescan};
use super::tree::Tree;
use super::{depth, id, leaf, table};
use cru_base::{Diagnostic, Span};

/// Reads `text` from `body` on.
pub(super) fn build(text: &str, body: usize, scan: Prescan) -> Tree {
    let view = scan.view.as_deref().unwrap_or(&text[body..]);
    let mut builder = Builder {
        text,
        body,
        marks: scan.marks.into_iter().peekable(),
        frames: vec![Frame::new(FrameKind::Root, body)],
        leaf: BuiltLeaf::None,
        links: Vec::new(),
        inline_end: body,
        tree: Tree::default(),
    };
    let parser = Parser::new_ext(view, options());
    builder.tree.defines = parser.reference_definitions().iter().next().is_some();
    for (event, range) in parser.into_offset_iter() {
        builder.event(event, Span::from(range).shift(body));
    }
    builder.finish()
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Root,
    Quote,
    List { ordered: bool },
    Item,
    Footnote,
}

/// A container that is open.
#[derive(Debug)]
struct Frame {
    kind: FrameKind,
    start: usize,
    children: Vec<Block>,
    header: Option<(Header, usize)>,
    task: Option<char>,
    /// Where its content ends as far as it is known.
    end: usize,
}

impl Frame {
    fn new(kind: FrameKind, start: usize) -> Self {
        Self { kind, start, children: Vec::new(), header: None, task: None, end: start }
    }

    /// Most containers hold one or two blocks, for which a vector's first growth is too much.
    fn add(&mut self, block: Block) {
        if self.children.len() < 2 && self.kind != FrameKind::Root {
            self.children.reserve_exact(1);
        }
        self.children.push(block);
    }
}

/// A leaf that is open.
#[derive(Clone, Copy, Debug)]
enum BuiltLeaf {
    None,
    /// A paragraph; `tight` when the parser gave no paragraph for the text of a list item.
    Paragraph {
        span: Span,
        tight: bool,
    },
    /// Anything whose range is known from its start.
    Whole,
    /// Fenced code, with the end of its last piece of code.
    Fence {
        code_end: Option<usize>,
    },
}

struct Builder<'a> {
    text: &'a str,
    body: usize,
    marks: Peekable<IntoIter<Mark>>,
    frames: Vec<Frame>,
    leaf: BuiltLeaf,
    /// Links and images that are open: what they lead to, or nothing for those that are not kept.
    links: Vec<Option<String>>,
    inline_end: usize,
    tree: Tree,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Start(tag) => self.start(tag, span),
            Event::End(tag) => self.end(tag, span),
            Event::Text(_) => {
                if let BuiltLeaf::Fence { code_end } = &mut self.leaf {
                    *code_end = Some(span.end);
                } else {
                    self.inline(span);
                }
            }
            Event::Code(_) | Event::InlineHtml(_) => {
                self.inline(span);
                self.tree.opaque.push(span);
            }
            Event::SoftBreak | Event::HardBreak | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {
                self.inline(span);
            }
            Event::Rule => {
                self.close_tight();
                self.push(BlockKind::Rule, leaf::trimmed(self.text, span), None, None);
            }
            Event::Html(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, span: Span) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => {
                self.inline(Span::at(span.start));
            }
            Tag::Link { link_type, dest_url, .. } => {
                self.inline(Span::at(span.start));
                if matches!(link_type, LinkType::Autolink | LinkType::Email) {
                    self.tree.opaque.push(span);
                }
                self.links.push(Some(dest_url.into_string()));
            }
            Tag::Image { dest_url, .. } => {
                self.inline(Span::at(span.start));
                self.links.push(Some(dest_url.into_string()));
            }
            Tag::Paragraph => {
                self.close_tight();
                self.leaf = BuiltLeaf::Paragraph { span, tight: false };
            }
            Tag::Heading { .. } | Tag::HtmlBlock | Tag::Table(_) | Tag::CodeBlock(CodeBlockKind::Indented) => {
                self.close_tight();
                self.leaf = BuiltLeaf::Whole;
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
                self.close_tight();
                self.leaf = BuiltLeaf::Fence { code_end: None };
            }
            Tag::BlockQuote(_) => self.open(FrameKind::Quote, span),
            Tag::List(number) => self.open(FrameKind::List { ordered: number.is_some() }, span),
            Tag::Item => self.open(FrameKind::Item, span),
            Tag::FootnoteDefinition(_) => {
                self.tree.defines = true;
                self.open(FrameKind::Footnote, span);
            }
            Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd, span: Span) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Superscript | TagEnd::Subscript => {
                self.inline(Span::at(span.end));
            }
            TagEnd::Link | TagEnd::Image => {
                // Behind the text stand destination and title, or the label.
                let behind = Span::new(self.inline_end.max(span.start + 1).min(span.end), span.end);
                if !behind.is_empty() {
                    self.tree.opaque.push(behind);
                }
                if let Some(Some(dest)) = self.links.pop() {
                    self.tree.links.push(Inline { kind: InlineKind::Link { dest }, span });
                }
                self.inline(Span::at(span.end));
            }
            TagEnd::Paragraph => {
                self.leaf = BuiltLeaf::None;
                self.paragraph(span);
            }
            TagEnd::Heading(level) => {
                self.leaf = BuiltLeaf::None;
                if !self.marked(span) {
                    let leaf = leaf::heading(self.text, span, level as u8);
                    if let BlockKind::Heading { text, .. } = leaf.kind {
                        self.tree.texts.push(text);
                    }
                    self.push(leaf.kind, leaf.content, leaf.id, None);
                }
            }
            TagEnd::CodeBlock => match std::mem::replace(&mut self.leaf, BuiltLeaf::None) {
                BuiltLeaf::Fence { code_end } => {
                    let leaf = leaf::fence(self.text, span, code_end);
                    self.push(leaf.kind, leaf.content, None, None);
                }
                _ => self.push(BlockKind::Code, leaf::trimmed(self.text, span), None, None),
            },
            TagEnd::HtmlBlock => {
                self.leaf = BuiltLeaf::None;
                self.push(BlockKind::Html, leaf::trimmed(self.text, span), None, None);
            }
            TagEnd::Table => {
                self.leaf = BuiltLeaf::None;
                let leaf = leaf::table(self.text, span);
                self.tree.texts.push(leaf.content);
                self.push(leaf.kind, leaf.content, leaf.id, leaf.id.map(|id| id.end));
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => self.close(span),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Text goes on to the end of `span`; in a tight list item it opens the paragraph that the parser leaves out.
    fn inline(&mut self, span: Span) {
        match &mut self.leaf {
            BuiltLeaf::None => {
                // Escaped characters start behind their backslash.
                let escaped = span.start > self.body && self.text.as_bytes()[span.start - 1] == b'\\';
                let start = span.start - usize::from(escaped);
                self.leaf = BuiltLeaf::Paragraph { span: Span::new(start, span.end), tight: true };
            }
            BuiltLeaf::Paragraph { span: open, .. } => open.end = open.end.max(span.end),
            BuiltLeaf::Whole | BuiltLeaf::Fence { .. } => {}
        }
        self.inline_end = span.end;
    }

    fn close_tight(&mut self) {
        if let BuiltLeaf::Paragraph { span, tight: true } = self.leaf {
            self.leaf = BuiltLeaf::None;
            self.paragraph(span);
        }
    }

    fn open(&mut self, kind: FrameKind, span: Span) {
        self.close_tight();
        let start = match kind {
            FrameKind::Item | FrameKind::List { .. } => self.marker_start(span.start),
            _ => span.start.max(self.floor()),
        };
        self.frames.push(Frame::new(kind, start));
    }

    /// Where a list marker stands; the parser counts the columns before it as if they were bytes.
    fn marker_start(&self, start: usize) -> usize {
        let start = cru_base::lines::floor_char_boundary(self.text, start.max(self.floor()));
        let rest = &self.text.as_bytes()[start..];
        start + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'\n' | b'\r')).count()
    }

    /// The first offset at which a block can start.
    fn floor(&self) -> usize {
        self.frames.last().map_or(self.body, |frame| frame.end)
    }

    fn paragraph(&mut self, span: Span) {
        let mut content = leaf::trimmed(self.text, span);
        let in_item =
            self.frames.last().is_some_and(|frame| frame.kind == FrameKind::Item && frame.children.is_empty());
        if in_item && let Some((mark, start)) = leaf::checkbox(self.text, content) {
            let behind = &self.text[start..content.end];
            let start = start + (behind.len() - behind.trim_ascii_start().len());
            content = Span::new(start, content.end);
            if let Some(frame) = self.frames.last_mut() {
                frame.task = Some(mark);
                frame.end = frame.end.max(start);
            }
            if content.is_empty() {
                return;
            }
        }
        let found = id::trailing(self.text, content);
        if let Some((id, end)) = found
            && end == content.start
            && !in_item
        {
            return self.lone_id(id, content);
        }
        self.tree.texts.push(content);
        self.push(BlockKind::Paragraph, content, found.map(|(id, _)| id), None);
    }

    /// `^id` alone on a line: the id of the block before it, where that can have one.
    fn lone_id(&mut self, id: Span, content: Span) {
        if let Some(frame) = self.frames.last_mut()
            && let Some(last) = frame.children.last_mut()
            && last.id.is_none()
            && takes_id(&last.kind)
        {
            last.id = Some(id);
            last.span.end = content.end;
            frame.end = content.end;
            return;
        }
        self.push(BlockKind::OrphanId, content, Some(id), None);
    }

    /// Whether the heading at `span` is one of ours, and then what it stands for.
    fn marked(&mut self, span: Span) -> bool {
        // A mark that was passed stands in code or HTML, where it means nothing.
        while self.marks.next_if(|mark| mark.span.start < span.start).is_some() {}
        let Some(mark) = self.marks.next_if(|mark| mark.span.start == span.start) else { return false };
        let content = leaf::trimmed(self.text, mark.span);
        match mark.kind {
            MarkKind::Callout(header) => self.callout(header, content),
            MarkKind::Comment { private, closed, tail } => {
                if !closed {
                    self.tree.diagnostics.push(
                        Diagnostic::warning(
                            "comment-unclosed",
                            Span::new(content.start, content.start + 2),
                            "a comment has no end",
                        )
                        .help("close it with `%%`; everything after it is hidden"),
                    );
                }
                if tail {
                    self.tree.diagnostics.push(
                        Diagnostic::warning("comment-tail", content, "text behind the end of a comment is not read")
                            .help("put it on a line of its own"),
                    );
                }
                self.push(BlockKind::Comment { private }, content, None, None);
            }
            MarkKind::TooDeep => {
                let message = format!("more than {} quotes and lists inside one another are not read", depth::MAX);
                self.tree.diagnostics.push(Diagnostic::warning("nested-too-deep", content, message));
                self.push(BlockKind::Opaque, content, None, None);
            }
            MarkKind::TooWide => {
                let message = format!("a table of more than {} columns is not read", table::MAX_COLUMNS);
                self.tree.diagnostics.push(Diagnostic::warning("table-too-wide", content, message));
                self.push(BlockKind::Opaque, content, None, None);
            }
            MarkKind::TooRagged => {
                let message = "the rows of a table lack too many cells; the rest of it is not read";
                self.tree.diagnostics.push(Diagnostic::warning("table-too-ragged", content, message));
                self.push(BlockKind::Opaque, content, None, None);
            }
        }
        true
    }

    fn callout(&mut self, header: Header, content: Span) {
        match self.frames.last_mut() {
            Some(frame) if frame.kind == FrameKind::Quote && frame.children.is_empty() && frame.header.is_none() => {
                frame.header = Some((header, content.end));
                frame.end = content.end;
                if !header.title.is_empty() {
                    self.tree.texts.push(header.title);
                    self.title(header.title);
                }
            }
            _ => {
                self.tree.texts.push(content);
                self.push(BlockKind::Paragraph, content, None, None);
            }
        }
    }

    /// Code and links of a callout's title, which the parser did not see.
    fn title(&mut self, title: Span) {
        let text = title.of(self.text);
        if memchr::memchr3(b'`', b'<', b'(', text.as_bytes()).is_none() {
            return;
        }
        for (event, range) in Parser::new(text).into_offset_iter() {
            let span = Span::from(range).shift(title.start);
            match event {
                Event::Code(_) | Event::InlineHtml(_) => self.tree.opaque.push(span),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    self.tree.links.push(Inline { kind: InlineKind::Link { dest: dest_url.into_string() }, span });
                }
                _ => {}
            }
        }
    }

    fn close(&mut self, range: Span) {
        self.close_tight();
        let nested = self.frames.iter().rev().skip(1).any(|frame| frame.kind == FrameKind::Quote);
        if self.frames.len() < 2 {
            return;
        }
        let Some(mut frame) = self.frames.pop() else { return };
        let mut id = None;
        let kind = match frame.kind {
            FrameKind::Root => return,
            FrameKind::List { ordered } => BlockKind::List { ordered },
            FrameKind::Footnote => {
                frame.end = frame.end.max(self.label_end(frame.start, range.end));
                BlockKind::Footnote
            }
            FrameKind::Item => {
                let marker = self.text[frame.start..].find([' ', '\t', '\n', '\r']);
                frame.end = frame.end.max(marker.map_or(self.text.len(), |len| frame.start + len).min(range.end));
                let text;
                (text, id) = self.item(&mut frame);
                BlockKind::ListItem { text, task: frame.task }
            }
            FrameKind::Quote => {
                frame.end = frame.end.max(frame.start + 1);
                // Quote marks without text at the end belong to the quote; inside another one they could be its own.
                if !nested {
                    frame.end = frame.end.max(leaf::trimmed(self.text, range).end);
                }
                self.quote(&frame)
            }
        };
        let content = Span::new(frame.start, frame.end);
        let end = frame.end;
        if matches!(kind, BlockKind::List { .. }) && frame.children.is_empty() {
            return;
        }
        let block = Block { kind, span: content, content, id, children: frame.children };
        if let Some(parent) = self.frames.last_mut() {
            parent.add(block);
            parent.end = parent.end.max(end);
        }
    }

    fn label_end(&self, start: usize, end: usize) -> usize {
        let rest = self.text.as_bytes().get(start..end).unwrap_or_default();
        memchr::memmem::find(rest, b"]:").map_or(start, |len| start + len + 2)
    }

    /// Text and id of a list item.
    fn item(&self, frame: &mut Frame) -> (Span, Option<Span>) {
        let none = Span::at(frame.end.min(frame.children.first().map_or(frame.end, |child| child.content.start)));
        let Some(first) = frame.children.first_mut().filter(|child| child.kind == BlockKind::Paragraph) else {
            return (none, None);
        };
        let end = leaf::line_end(self.text, first.content.start, first.content.end);
        let line = leaf::trimmed(self.text, Span::new(first.content.start, end));
        match (first.id.take(), id::trailing(self.text, line)) {
            (None, Some((id, end))) => (Span::new(line.start, end), Some(id)),
            (Some(id), Some((in_line, end))) if id == in_line => (Span::new(line.start, end), Some(id)),
            (id, _) => (line, id),
        }
    }

    fn quote(&self, frame: &Frame) -> BlockKind {
        let Some((header, title_end)) = &frame.header else { return BlockKind::Quote };
        let line_end = leaf::line_end(self.text, *title_end, self.text.len());
        let body = if line_end < frame.end { Span::new(line_end + 1, frame.end) } else { Span::at(frame.end) };
        let Header { kind, metadata, fold, title } = *header;
        BlockKind::Callout { kind, metadata, fold, title, body }
    }

    /// Adds a block to the open container. `end` is where its span ends when that is not where its content does.
    fn push(&mut self, kind: BlockKind, content: Span, id: Option<Span>, end: Option<usize>) {
        let Some(frame) = self.frames.last_mut() else { return };
        let span = Span::new(content.start, end.unwrap_or(content.end).max(content.end));
        frame.end = frame.end.max(span.end);
        frame.add(Block { kind, span, content, id, children: Vec::new() });
    }

    fn finish(mut self) -> Tree {
        self.close_tight();
        let end = self.text.len();
        while self.frames.len() > 1 {
            self.close(Span::new(self.body, end));
        }
        let found = self.frames.pop().map(|frame| frame.children).unwrap_or_default();
        self.tree.blocks = cover(self.text, self.body, found);
        self.tree
    }
}

fn takes_id(kind: &BlockKind) -> bool {
    match kind {
        BlockKind::Paragraph
        | BlockKind::List { .. }
        | BlockKind::Callout { .. }
        | BlockKind::Quote
        | BlockKind::Fence { .. }
        | BlockKind::Code
        | BlockKind::Table
        | BlockKind::Html
        | BlockKind::Footnote
        | BlockKind::Opaque => true,
        BlockKind::Heading { .. }
        | BlockKind::ListItem { .. }
        | BlockKind::Rule
        | BlockKind::Comment { .. }
        | BlockKind::OrphanId
        | BlockKind::Definition
        | BlockKind::Blank => false,
    }
}

/// Lets the spans of top-level blocks meet, and names what stands between them.
fn cover(text: &str, body: usize, found: Vec<Block>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::with_capacity(found.len());
    let mut end = body;
    for block in found {
        let start = leaf::line_start(text, end, block.content.start);
        definition(text, Span::new(end, start), &mut blocks);
        end = block.span.end;
        blocks.push(block);
    }
    definition(text, Span::new(end, text.len()), &mut blocks);
    if blocks.is_empty() && body < text.len() {
        let content = Span::at(body);
        blocks.push(Block { kind: BlockKind::Blank, span: content, content, id: None, children: Vec::new() });
    }
    let mut start = body;
    for index in 0..blocks.len() {
        let next = blocks.get(index + 1).map(|next| leaf::line_start(text, blocks[index].span.end, next.content.start));
        let end = next.unwrap_or(text.len());
        blocks[index].span = Span::new(start, end);
        start = end;
    }
    blocks
}

fn definition(text: &str, gap: Span, blocks: &mut Vec<Block>) {
    let part = gap.of(text);
    if part.trim_ascii().is_empty() {
        return;
    }
    let lead: Range<usize> = 0..part.len() - part.trim_ascii_start().len();
    let start = gap.start + lead.end;
    let content = Span::new(start, start + part.trim_ascii().len());
    blocks.push(Block { kind: BlockKind::Definition, span: content, content, id: None, children: Vec::new() });
}

/// How deep the markdown parser nests containers in `view`, and how many events it gives.
#[cfg(test)]
pub(super) fn work(view: &str) -> (usize, usize) {
    let (mut depth, mut deepest, mut events) = (0_usize, 0, 0);
    for event in Parser::new_ext(view, options()) {
        events += 1;
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::Item | Tag::FootnoteDefinition(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::FootnoteDefinition) => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    (deepest, events)
}
