//! The blocks of a note: what stands where, as byte ranges of the file.

use cru_base::Span;

/// One block. Top-level blocks and the frontmatter cover the file without gap or overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// All bytes from its first line's start (inside containers: from its own first byte) to the start of the next
    /// block at top level, blank lines included.
    pub span: Span,
    /// The bytes that matter: without blank lines around, without the final line end.
    pub content: Span,
    /// Block id without `^`: at the end of a heading, paragraph or list item, or alone on a line after the block.
    pub id: Option<Span>,
    /// Blocks inside (quote, callout, list item).
    pub children: Vec<Block>,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// ATX or setext heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Text between the marks, block id excluded. Agent and channel are read by `note::heading`.
        text: Span,
    },
    /// Paragraph.
    Paragraph,
    /// A list; its children are [`BlockKind::ListItem`].
    List {
        /// Whether numbered.
        ordered: bool,
    },
    /// One item of a list. The paragraph it starts with is its first child; the id at that paragraph's end, or at the
    /// end of its first line, is the item's.
    ListItem {
        /// First line of the first paragraph, without marker, checkbox and block id.
        text: Span,
        /// Character in `[ ]`, if it is a task.
        task: Option<char>,
    },
    /// `> [!kind]± title`; children are what stands below the title line.
    Callout {
        /// As written: `Error`, `my-kind`.
        kind: Span,
        /// What stands behind `|` in the brackets.
        metadata: Option<Span>,
        /// `-` or `+` after the bracket.
        fold: Option<char>,
        /// Title; empty range where there is none.
        title: Span,
        /// Everything below the title line, quote marks included; empty when there is nothing.
        body: Span,
    },
    /// Any other block quote.
    Quote,
    /// Fenced code.
    Fence {
        /// Info string.
        info: Span,
        /// Text between the fences, container prefixes included.
        body: Span,
        /// Whether a closing fence stands.
        closed: bool,
    },
    /// Indented code.
    Code,
    /// Table.
    Table,
    /// HTML block; `<!-- … -->` too.
    Html,
    /// `---`.
    Rule,
    /// `%% … %%` over one or more whole lines.
    Comment {
        /// First word is `private`.
        private: bool,
    },
    /// A footnote's definition.
    Footnote,
    /// `^id` alone on a line that belongs to no block before it.
    OrphanId,
    /// Link definitions, `[label]: destination`; they show nothing.
    Definition,
    /// Nothing but blank lines: the body of a note that has no block.
    Blank,
    /// Too deep or too wide to be looked into; see the diagnostics.
    Opaque,
}

/// Something inside text: links, tags, inline fields, comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    /// What it is.
    pub kind: InlineKind,
    /// All its bytes.
    pub span: Span,
}

/// What an inline is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InlineKind {
    /// `[[target#heading|alias]]`, `![[…]]`.
    Wikilink {
        /// Everything between the brackets.
        inner: Span,
        /// Whether a `!` stands before it.
        embed: bool,
    },
    /// `[text](dest)`.
    Link {
        /// Destination as written.
        dest: String,
    },
    /// `#tag`, the range without `#`.
    Tag(Span),
    /// `[key:: value]`, `(key:: value)` or `key:: value` alone on a line.
    Field {
        /// Key.
        key: Span,
        /// Value.
        value: Span,
    },
    /// `%% … %%` inside a line or over several lines of one paragraph.
    Comment {
        /// First word is `private`.
        private: bool,
    },
}
