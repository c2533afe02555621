//! A transcript's events folded into the session that its note shows.
//!
//! [`Fold`] takes the events of one stream as they come and keeps only what a note shows; [`Fold::finish`] gives a
//! [`Draft`], a session without a name and without links to other notes, which only the vault can give. Knows no agent
//! and no vault, reads no clock: the same events give the same draft on every machine.

mod assembly;
mod brief;
mod changes;
mod commits;
mod draft;
mod facts;
mod long;
mod name;
mod naming;
#[cfg(test)]
mod naming_tests;
mod outcome;
mod part;
mod phase_rule;
mod place;
mod planned;
mod property;
mod step;
mod stream;
mod talk;
#[cfg(test)]
mod tests;
mod top;
mod trouble;
mod whole;
mod work_tree;

pub use draft::{Child, Draft, DraftPatch};
pub use outcome::result_line;
pub use part::Linked;
pub use place::{channel, drive, home_of, shorten};
pub use stream::{Fold, Options};
