//! The files of an export, whose pieces wait in a spool.

use crate::export::hole::Hole;
use cru_base::Result;
use cru_base::files::Spool;

/// A file of an export.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Name in the folder: a file, or a file in a folder in it.
    pub name: String,
    /// Rows or cases in it; 0 for a card.
    pub rows: usize,
    pub(crate) parts: Vec<FilePart>,
}

/// A part of a file.
#[derive(Clone, Debug)]
pub(crate) enum FilePart {
    Text(Vec<u8>),
    Stored(Hole),
}

impl Planned {
    /// A file of these pieces.
    pub(crate) fn stored(name: impl Into<String>, pieces: impl IntoIterator<Item = Hole>) -> Self {
        let parts: Vec<FilePart> = pieces.into_iter().map(FilePart::Stored).collect();
        Self { name: name.into(), rows: parts.len(), parts }
    }

    /// A file without rows.
    pub(crate) fn text(name: &str, text: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), rows: 0, parts: vec![FilePart::Text(text.into())] }
    }
}

impl FilePart {
    pub(crate) fn bytes(&self, spool: &Spool) -> Result<Vec<u8>> {
        match self {
            Self::Text(bytes) => Ok(bytes.clone()),
            Self::Stored(hole) => hole.filled(spool),
        }
    }
}

/// A file with all of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name in the folder.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Rows or cases in it; 0 for a card.
    pub rows: usize,
}
