//! `SpecStory`: the markdown histories that it writes of the sessions of other agents, as events.
//!
//! A history is a file of one session: a head, then turns, each with a line that says who speaks. What the tools did
//! stands in blocks of the agent's turns, in several forms over the years. Any of it may also stand in an answer of a
//! tool, so what is a mark depends on the fence and the block that a line stands in.

mod head;
mod piece;
mod tool;
mod turn;

#[cfg(test)]
mod tests;

use self::turn::SpecStorySession;
use crate::bundles;
use crate::file::markdown;
use cru_session::source::Importer;

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "specstory",
    recognise: head::recognise,
    bundle: markdown::bundle::<SpecStorySession>,
    together: markdown::together::<SpecStorySession>,
    read: markdown::read::<SpecStorySession>,
    beside: bundles::alone,
    hooked: None,
};
