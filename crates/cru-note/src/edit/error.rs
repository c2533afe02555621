//! Why a note was not changed.

use crate::patch::Overlap;

/// Why a change was not made; the note stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The frontmatter has no end, or is TOML.
    #[error("the frontmatter cannot be changed: {0}")]
    Frontmatter(String),
    /// The key stands more than once.
    #[error("the key `{0}` stands twice in the frontmatter")]
    RepeatedKey(String),
    /// The key has no lines of its own (`{a: 1}`), or is none that YAML takes.
    #[error("the key `{0}` cannot be set by changing its lines alone")]
    Key(String),
    /// The change would have changed another property, or not given the wanted value.
    #[error("setting `{key}` would change the meaning of `{changed}`")]
    SideEffect {
        /// The key that was to be set.
        key: String,
        /// The key whose value would not be right.
        changed: String,
    },
    /// No block has this id, or there is none at this place.
    #[error("there is no block {0}")]
    NoBlock(String),
    /// The region is missing.
    #[error("there is no region `{0}`")]
    NoRegion(String),
    /// The region stands twice, has no end, or a mark that does not stand alone.
    #[error(
        "the marks `<!-- cru:begin {0} -->` and `<!-- cru:end -->` do not stand there once each, on lines of their own"
    )]
    BrokenRegion(String),
    /// What would move, or get a region, is no UTF-8 text.
    #[error("it is no UTF-8 text")]
    NoText,
    /// The text is blank.
    #[error("there is nothing to add")]
    Blank,
    /// The text has a fence, comment or other block that it does not close.
    #[error("the text to be added has a block that is not closed")]
    Open,
    /// The text cannot stand there without becoming one with what stands around it.
    #[error("the text would become part of a block that stands there, such as a fence that is not closed")]
    Merge,
    /// The block has another id.
    #[error("the block already has the id ^{0}")]
    HasId(String),
    /// Another block has the id.
    #[error("another block has the id ^{0}")]
    IdTaken(String),
    /// No id: letters, digits and dashes.
    #[error("`{0}` is no block id: only letters, digits and dashes")]
    BadId(String),
    /// A block that can have no id.
    #[error("a block of this kind can have no id")]
    NoPlace,
    /// Two changes of the same bytes.
    #[error(transparent)]
    Overlap(#[from] Overlap),
}
