//! A note, read: its bytes, where its frontmatter and blocks stand, and what is odd about it.

use std::sync::{Arc, OnceLock};

use super::block::{Block, BlockKind, Inline};
use super::frontmatter::{Bounds, Split, split};
use super::tree::Tree;
use super::unquote::{self, Unquoted};
use super::{inline, parts};
use cru_base::{Diagnostic, Lines, Span};

/// A note, read. All ranges are byte ranges of the file.
#[derive(Debug)]
pub struct Note {
    text: Arc<String>,
    /// The bytes of the file, where they are not the text.
    raw: Option<Arc<Vec<u8>>>,
    split: Split,
    tree: Tree,
    inlines: OnceLock<Vec<Inline>>,
    lines: OnceLock<Lines>,
}

impl Note {
    /// Reads any bytes, in linear time.
    pub fn parse(bytes: impl Into<Vec<u8>>) -> Self {
        let (mut note, odd) = Self::unread(bytes.into());
        let mut tree = parts::read(&note.text, note.split.body_start);
        let found = std::mem::take(&mut tree.diagnostics);
        tree.diagnostics = odd.into_iter().chain(note.split.diagnostics.iter().cloned()).chain(found).collect();
        note.tree = tree;
        note
    }

    /// What `of` makes of each part of a note, in order: all of a short one, about 64 KiB from one phase to another of a
    /// long one. A part comes as a note of the whole text that has the part's blocks alone (the first part has the number
    /// 0), and is let go when `of` is done with it: the next one is read in the same memory, and nothing waits until all
    /// are read. Parts are read side by side, and one may be read again, so `of` only looks.
    pub fn in_parts<T: Send>(bytes: impl Into<Vec<u8>>, of: impl Fn(usize, &Self) -> T + Sync) -> Vec<T> {
        let (whole, _) = Self::unread(bytes.into());
        parts::map(&whole.text, whole.split.body_start, |number, tree| {
            let (text, raw, split) = (Arc::clone(&whole.text), whole.raw.clone(), whole.split.clone());
            of(number, &Self { text, raw, split, tree, inlines: OnceLock::new(), lines: OnceLock::new() })
        })
    }

    /// The same in one go, however long it is, for tests.
    #[doc(hidden)]
    pub fn parse_whole(bytes: impl Into<Vec<u8>>) -> Self {
        let (mut note, _) = Self::unread(bytes.into());
        note.tree = parts::whole(&note.text, note.split.body_start);
        note
    }

    /// A note whose blocks are not read: its bytes, its text and where its frontmatter stands.
    pub fn without_blocks(bytes: impl Into<Vec<u8>>) -> Self {
        Self::unread(bytes.into()).0
    }

    /// A note whose blocks are still to be read, and what is odd about its bytes.
    fn unread(bytes: Vec<u8>) -> (Self, Vec<Diagnostic>) {
        let (text, raw, odd) = decode(bytes);
        counted::READ.set(counted::READ.get() + text.len());
        let split = split(&text);
        let (text, raw) = (Arc::new(text), raw.map(Arc::new));
        (Self { text, raw, split, tree: Tree::default(), inlines: OnceLock::new(), lines: OnceLock::new() }, odd)
    }

    /// The file, byte for byte.
    pub fn bytes(&self) -> &[u8] {
        self.raw.as_ref().map_or(self.text.as_bytes(), |raw| raw.as_slice())
    }

    /// The file as text of the same length: a byte that is not UTF-8 is shown as `?`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the frontmatter stands, if there is any.
    pub fn frontmatter(&self) -> Option<Bounds> {
        self.split.block
    }

    /// How the file is cut into frontmatter and body.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// The blocks of the body in order. Their spans, behind the frontmatter's, cover the file.
    pub fn blocks(&self) -> &[Block] {
        &self.tree.blocks
    }

    /// The smallest block with an id.
    pub fn block(&self, id: &str) -> Option<&Block> {
        let mut open: Vec<&Block> = self.blocks().iter().collect();
        let mut found = None;
        while let Some(block) = open.pop() {
            if block.id.is_some_and(|own| own.of(self.text()) == id) {
                found = Some(block);
            }
            open.extend(&block.children);
        }
        found
    }

    /// Links, tags, inline fields and comments in order of their start, those inside callouts and tables too; none
    /// inside code or comments. Found on first use.
    ///
    /// Nobody waits for another thread's search while it is on: that thread may take up other work meanwhile, which asks
    /// for the inlines of the same note.
    pub fn inlines(&self) -> &[Inline] {
        if let Some(found) = self.inlines.get() {
            return found;
        }
        let found = inline::scan(&self.text, &self.tree);
        self.inlines.get_or_init(|| found)
    }

    /// Where code, HTML and destinations stand in texts, in no order: what looks like an inline there is none.
    pub fn opaque(&self) -> &[Span] {
        &self.tree.opaque
    }

    /// The inlines that start in `span`.
    pub fn inlines_in(&self, span: Span) -> &[Inline] {
        let all = self.inlines();
        let from = all.partition_point(|inline| inline.span.start < span.start);
        let to = all.partition_point(|inline| inline.span.start < span.end);
        all.get(from..to).unwrap_or_default()
    }

    /// What is odd about the note's form.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.tree.diagnostics
    }

    /// Lines and columns, counted on first use.
    pub fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }

    /// From the top-level heading at `index` of [`Note::blocks`] to the next one of its level or above: as a range of
    /// indices, the heading first. Empty when there is no heading at `index`.
    pub fn section(&self, index: usize) -> std::ops::Range<usize> {
        let blocks = self.blocks();
        let level = |block: &Block| match block.kind {
            BlockKind::Heading { level, .. } => Some(level),
            _ => None,
        };
        let Some(own) = blocks.get(index).and_then(level) else { return index..index };
        let rest = blocks[index + 1..].iter();
        let len = rest.take_while(|block| level(block).is_none_or(|other| other > own)).count();
        index..index + 1 + len
    }
    /// What `block` says, without the marks of the containers around it and its own: below the title of a callout,
    /// between the fences of a fence, behind the marker of a list item.
    pub fn unquoted(&self, block: &Block) -> Unquoted {
        unquote::unquoted(&self.text, self.blocks(), block)
    }

    /// The text of the block's id, without `^`.
    pub fn id(&self, block: &Block) -> Option<&str> {
        block.id.map(|id| id.of(&self.text))
    }
}

/// The text of the same length, the bytes where they differ from it, and what to say about that.
fn decode(bytes: Vec<u8>) -> (String, Option<Vec<u8>>, Vec<Diagnostic>) {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return (text, None, Vec::new()),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    let mut first = None;
    let mut count = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            first.get_or_insert(Span::new(text.len(), text.len() + chunk.invalid().len()));
            count += chunk.invalid().len();
            text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
        }
    }
    let message = match count {
        1 => "one byte is not UTF-8".to_owned(),
        count => format!("{count} bytes are not UTF-8; the first is here"),
    };
    let odd = Diagnostic::error("not-utf8", first.unwrap_or_default(), message)
        .help("save the note as UTF-8; these bytes are shown as `?` and stay as they are");
    (text, Some(bytes), vec![odd])
}

/// How many bytes this thread has read as notes, for tests of growth.
#[doc(hidden)]
pub mod counted {
    thread_local! {
        /// Bytes, since the thread began.
        pub static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }
}
