//! Gemini CLI: its sessions as events, from the documents of before and the JSON lines of now.
//!
//! A session is a list of messages. In a document it stands as it is; in lines it is told as it came about: a message
//! that is written again takes the place of the first, a rewind drops what stands behind it, and a setting may replace
//! all. Both are brought into one list that only ever grows, so that what a note tells is never taken back.

mod bundle;
mod read;
pub(crate) mod result;
mod session;
mod thread;

#[cfg(test)]
mod tests;

use crate::bundles;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "gemini",
    recognise: bundle::recognise,
    bundle: |files| bundles::by_session(files, bundle::place),
    together: |path| Ok(vec![bundle::place(path)?.0]),
    read: read::read,
    beside: bundle::beside,
    hooked: None,
};

/// Why records are left out, where more than one place says so.
mod reason {
    /// Written again by a later line.
    pub(super) const REPLACED: &str = "replaced by a later line";
    /// Something the host tells a person.
    pub(super) const NOTICE: &str = "notice of the host";
}
