//! An export: files, each of pieces that wait in a spool, what was left out, and what there is in numbers.
//!
//! Gives bytes; who called writes them. The same cases give the same bytes. Nothing here holds a whole file of rows.

pub mod card;
pub(crate) mod draft;
pub(crate) mod format;
pub(crate) mod hole;
pub(crate) mod likeness;
pub(crate) mod pile;
pub(crate) mod report;
pub(crate) mod split;

use std::collections::BTreeMap;

use self::draft::{Drafter, Place};
pub use self::format::{Eval, Format, Layouts, Options};
use self::hole::Hole;
use self::pile::Pile;
use self::report::Report;
use crate::case::Case;
use crate::case::left_out::{LeftOut, Reason};
use crate::hygiene::{self, Leak};
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

impl FilePart {
    fn bytes(&self, spool: &Spool) -> Result<Vec<u8>> {
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

/// The export of a few cases as files of a folder.
pub fn folder(cases: &[Case], format: Format, options: Options<'_>) -> Result<Whole> {
    whole(cases, format, Place::Folder, options)
}

/// The export of a few cases as one text.
pub fn stream(cases: &[Case], format: Format, options: Options<'_>) -> Result<Whole> {
    whole(cases, format, Place::Pipe, options)
}

fn whole(cases: &[Case], format: Format, place: Place, options: Options<'_>) -> Result<Whole> {
    let drafter = Drafter::new(format, place, options)?;
    let mut pile = Pile::new(usize::MAX);
    cases.iter().try_for_each(|case| pile.add(drafter.draft(case)?))?;
    pile.export(&drafter)?.whole()
}

/// Reasons with their counts, in the order of reasons.
pub fn counts(left_out: &[LeftOut]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
    for it in left_out {
        *counts.entry(it.reason).or_default() += 1;
    }
    counts.into_iter().map(|(reason, count)| (reason.as_str().to_owned(), count)).collect()
}
