//! Crush: its sessions as events, from `crush.db` of each project.
//!
//! A message is a row with a list of parts; what is said of a session in all stands in its own row. A sub-agent has the id
//! of the call that started it.

mod session;
mod store;

#[cfg(test)]
mod tests;

use self::store::CrushStore;
use super::bundles;
use crate::file::sqlite::{holds, is_database};
use crate::file::tables;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "crush",
    recognise: |path, head| {
        let columns = [("messages", "parts"), ("sessions", "prompt_tokens"), ("files", "version")];
        is_database(head)
            && holds(path, "crush.db", &|base| columns.iter().all(|(table, column)| base.has_column(table, column)))
    },
    bundle: |files| bundles::by_session(files, |path| Ok((path.display().to_string(), 0, None))),
    together: |path| Ok(vec![path.display().to_string()]),
    read: |bundle, sink| {
        bundle.files.iter().try_for_each(|path| tables::read(&CrushStore::default(), path, sink).map(drop))
    },
    beside: bundles::alone,
    hooked: None,
};
