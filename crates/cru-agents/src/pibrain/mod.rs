//! pi-brain: its readings of pi's sessions, as events.
//!
//! A node is what its daemon made of one segment of a session: what it was about, how it ended, what was decided and
//! learned. The segments of one session become one note, each a phase. Edges that follow from the sessions themselves
//! are computed and not taken over. Nothing here relies on a field being there or of its usual type.

mod bundle;
mod node;
mod read;
mod totals;
mod version;

#[cfg(test)]
mod tests;

use crate::bundles;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "pibrain",
    recognise: bundle::recognise,
    bundle: bundle::bundle,
    together: bundle::together,
    read: read::read,
    beside: bundles::alone,
    hooked: None,
};
