//! `OpenCode`: its sessions as events, from its database, from exports, and from the JSON files of before.
//!
//! All three say the same in other containers: a session, its messages, and the parts of each message. A record is one
//! of these; what a cursor hashes of it is what stays the same in all of them. The program may be running, so nothing
//! is taken in that may still change: a part of a message that is not finished waits for the next reading.

mod brief;
mod bundle;
mod database;
mod export;
mod message;
mod newer;
mod result;
mod session;
mod tool;
mod tree;
mod user;

#[cfg(test)]
mod tests;

use crate::bundles;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "opencode",
    recognise: bundle::recognise,
    bundle: bundle::bundle,
    together: bundle::together,
    read: bundle::read,
    beside: bundles::alone,
    hooked: None,
};

/// Why records are left out, where more than one place says so.
mod reason {
    /// Words that the host put under a person's name.
    pub(super) const HOST_WORDS: &str = "words of the host";
    /// A part that says nothing.
    pub(super) const EMPTY: &str = "empty part";
    /// The message that it belongs to is not known.
    pub(super) const OF_NONE: &str = "part of an unknown message";
}
