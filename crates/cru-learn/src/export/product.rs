//! What an export gives: its files, what was left out, and what there is in numbers.

use crate::case::left_out::LeftOut;
use crate::export::file::{File, FilePart, Planned};
use crate::export::report::Report;
use crate::hygiene::{self, Leak};
use cru_base::Result;
use cru_base::files::Spool;

/// What an export is.
#[derive(Debug)]
pub struct Export {
    /// For a folder: in the order of names. For a pipe: one.
    pub files: Vec<Planned>,
    /// Cases that the format cannot take.
    pub left_out: Vec<LeftOut>,
    /// What there is in numbers.
    pub report: Report,
    pub(crate) spool: Spool,
}

impl Export {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.rows == 0)
    }

    /// The bytes of a file, piece by piece.
    pub fn pieces<'a>(&'a self, file: &'a Planned) -> impl Iterator<Item = Result<Vec<u8>>> + 'a {
        file.parts.iter().map(|part| part.bytes(&self.spool))
    }

    /// The bytes of a file.
    pub fn bytes(&self, file: &Planned) -> Result<Vec<u8>> {
        Ok(self.pieces(file).collect::<Result<Vec<_>>>()?.concat())
    }

    /// What stands in the finished files beside rows and must not. Rows were looked through one by one: one that leaks is
    /// left out.
    pub fn leaks(&self) -> Vec<Leak> {
        let clean = hygiene::Clean::default();
        let parts = self.files.iter().flat_map(|file| file.parts.iter().map(move |part| (file, part)));
        let texts = parts.filter_map(|(file, part)| match part {
            FilePart::Text(text) => Some(hygiene::leaks(&file.name, text, &clean)),
            FilePart::Stored(_) => None,
        });
        texts.flatten().collect()
    }

    /// All files as they are, for who has room for them.
    pub fn whole(self) -> Result<Whole> {
        let files = self
            .files
            .iter()
            .map(|file| Ok(File { name: file.name.clone(), bytes: self.bytes(file)?, rows: file.rows }));
        Ok(Whole { files: files.collect::<Result<_>>()?, left_out: self.left_out, report: self.report })
    }
}

/// An export with all of its bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    /// In the order of names.
    pub files: Vec<File>,
    /// Cases that the format cannot take.
    pub left_out: Vec<LeftOut>,
    /// What there is in numbers.
    pub report: Report,
}
