//! Factory's droid: its sessions as events.
//!
//! A session is a file of JSON lines: one that begins it, then messages whose blocks are those of the Anthropic service,
//! with the task list and compactions between them.

mod format;
mod session;

#[cfg(test)]
mod tests;

use crate::import::{bundles, jsonl};
use crate::session::source::Importer;

/// Its row in the table.
pub(in crate::import) const IMPORTER: Importer = Importer {
    id: "droid",
    title: "Factory droid",
    host: "factory-droid",
    places: &["~/.factory/sessions"],
    names: &[".jsonl"],
    recognise: format::recognise,
    bundle: format::bundle,
    read: |bundle, sink| jsonl::read(format::Droid, bundle, sink),
    beside: bundles::alone,
    hooked: None,
};
