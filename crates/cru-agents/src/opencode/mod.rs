//! `OpenCode`: its sessions as events, from its database, from exports, and from the JSON files of before.
//!
//! All three say the same in other containers: a session, its messages, and the parts of each message. A record is one
//! of these; what a cursor hashes of it is what stays the same in all of them. The program may be running, so nothing
//! is taken in that may still change: a part of a message that is not finished waits for the next reading.

mod brief;
mod bundle;
mod database;
mod export;
mod kept;
mod message;
mod newer;
mod said;
mod session;
mod state;
mod tool;
mod tree;

#[cfg(test)]
mod tests;

use crate::bundles;
use crate::record::RecordHost;
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

/// The name of its rows, and what the id of a record is.
static HOST: RecordHost = RecordHost { id: IMPORTER.id, ids: &["id", "/part/id"], ..RecordHost::PLAIN };

/// Why a part is left out that says nothing.
const EMPTY: &str = "empty part";
