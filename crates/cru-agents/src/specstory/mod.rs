//! `SpecStory`: the markdown histories that it writes of the sessions of other agents, as events.
//!
//! A history is a file of one session: a head, then turns, each with a line that says who speaks. What the tools did
//! stands in blocks of the agent's turns, in several forms over the years. Any of it may also stand in an answer of a
//! tool, so what is a mark depends on the fence and the block that a line stands in.

mod head;
mod piece;
mod read;
mod tool;
mod turn;

#[cfg(test)]
mod tests;

use crate::bundles;
use cru_session::source::Importer;

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "specstory",
    recognise: head::recognise,
    bundle: |files| bundles::by_session(files, read::place),
    together: |path| Ok(vec![read::place(path)?.0]),
    read: read::read,
    beside: bundles::alone,
    hooked: None,
};
