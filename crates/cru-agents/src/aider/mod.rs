//! Aider: the history of its chats as events.
//!
//! A history is a markdown file in the project's folder that holds one run of the program after the other. A run begins
//! with a line that says when, in the local time of the machine; prompts are `####` lines, what the program says are `>`
//! lines, and all else are words of the model, whose edits are SEARCH/REPLACE blocks among them. Lines of words can look
//! like any of these, so what counts is where a line stands and how the program ends its own: with two blanks.

mod edit;
mod mark;
mod run;

#[cfg(test)]
mod tests;

use self::run::AiderRun;
use crate::bundles;
use crate::file::markdown;
use cru_session::source::Importer;

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "aider",
    recognise: mark::recognise,
    bundle: markdown::bundle::<AiderRun>,
    together: markdown::together::<AiderRun>,
    read: markdown::read::<AiderRun>,
    beside: bundles::alone,
    hooked: None,
};
