//! From what was logged to what stands in the note: entries become operations, and the journal's pending entries one
//! write.
//!
//! [`Page`] knows of a note what the next entry needs (numbers, the phase that is open, tasks, errors) and is brought
//! up to date by each entry, so that a group of a thousand costs one reading of the note. Nothing here is rendered by
//! hand: the markdown is that of [`cru_session::render`].

mod amend;
mod change;
mod finish;
mod frontmatter;
mod item;
mod known;
mod link;
mod missing;
mod page;
mod shown;
mod task;
mod usage;
mod work;
mod write;

pub use page::{Defaults, Page};
pub use task::Missing;
pub use write::{Flushed, Log, Target};

#[cfg(test)]
mod tests;
