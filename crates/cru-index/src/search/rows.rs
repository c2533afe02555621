//! What a query asks of whole sessions, answered by their rows.

use std::collections::HashSet;

use crate::entry::NoteKey;
use crate::snapshot::Snapshot;
use crate::table::{Families, TableRow};

/// The keys of the notes whose session is wanted.
pub(super) fn keys(snapshot: &Snapshot, wanted: impl Fn(TableRow<'_>) -> bool) -> HashSet<u64> {
    let subagents = Families::of(snapshot.sessions());
    let rows = snapshot.sessions().iter();
    let wanted = rows.filter(|row| wanted(TableRow::session(row, subagents.is_subagent(row), snapshot.zone())));
    wanted.map(|row| NoteKey::of_text(&row.path).0).collect()
}
