//! Why a note was not changed.

use crate::note::patch::Overlap;

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
    /// Two changes of the same bytes.
    #[error(transparent)]
    Overlap(#[from] Overlap),
}
