//! An export: files, each of pieces that wait in a spool, what was left out, and what there is in numbers.
//!
//! Gives bytes; who called writes them. The same cases give the same bytes. Nothing here holds a whole file of rows.

pub mod card;
pub(crate) mod draft;
pub(crate) mod file;
pub(crate) mod format;
pub(crate) mod hole;
pub(crate) mod likeness;
pub(crate) mod pile;
pub(crate) mod product;
pub(crate) mod report;
pub(crate) mod split;

use self::draft::{Drafter, Place};
pub use self::file::{File, Planned};
pub use self::format::{Eval, Format, Layouts, Options};
use self::pile::Pile;
pub use self::product::{Export, Whole};
use crate::case::Case;
use cru_base::Result;

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
