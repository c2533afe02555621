//! steno: the graph of commands that it kept for a project, as events.
//!
//! `graph.json` holds the closed sessions and `current-session.json` the open one. A node is one command with the files
//! that it read and wrote; it becomes a step. What can be computed (which node depends on which, who touches a file) is
//! not taken over. Nothing here relies on a field being there or of its usual type.

mod bundle;
mod node;
mod read;

#[cfg(test)]
mod tests;

use crate::bundles;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "steno",
    recognise: bundle::recognise,
    bundle: |files| Ok(bundle::bundle(files)),
    together: |path| Ok(bundle::folder(path).into_iter().collect()),
    read: read::read,
    beside: bundles::alone,
    hooked: None,
};
