//! Codex: its rollouts as events.
//!
//! A rollout is a file of JSON lines that the host appends to, plain or compressed; its form is internal to the host and
//! changed much over the versions. What is said is written twice, as the item the model sees and as the event a person
//! saw: one of them is told, the other is counted. So nothing here relies on a field being there or of its usual type,
//! and what is not known is passed over by a name and counted. No note is thought of here.

mod answer;
mod call;
mod code;
mod event;
mod family;
mod head;
mod item;
mod read;
mod record;
mod result;
mod said;
mod stream;
mod tokens;
mod twin;

#[cfg(test)]
mod tests;

use crate::bundles;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "codex",
    recognise: head::recognise,
    bundle: head::bundle,
    together: head::together,
    read: read::read,
    beside: bundles::alone,
    hooked: None,
};

/// Reasons that several parts of the importer give.
mod reason {
    /// The other of the two records of one thing is told.
    pub(super) const TWICE: &str = "said twice: its other record is used";
    /// Words that the host wrote for the person.
    pub(super) const INJECTED: &str = "text the host put in";
    /// Nothing in it.
    pub(super) const EMPTY: &str = "empty record";
}
