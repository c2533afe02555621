//! Factory's droid: its sessions as events.
//!
//! A session is a file of JSON lines: one that begins it, then messages whose blocks are those of the Anthropic service,
//! with the task list and compactions between them. Its model and tokens stand in a file beside it.

mod format;
mod session;
mod settings;

#[cfg(test)]
mod tests;

use cru_session::source::Importer;

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "droid",
    recognise: format::recognise,
    bundle: format::bundle,
    together: format::together,
    read: format::read,
    beside: format::beside,
    hooked: None,
};
