//! Zed: the threads of its own agent as events, from `threads.db`.
//!
//! A row is a whole thread, a packed document. Messages have no times; a thread does. Agents that Zed runs beside its own
//! keep stores of their own.

mod session;
mod store;

#[cfg(test)]
mod tests;

use self::store::ZedStore;
use super::bundles;
use crate::file::sqlite::{holds, is_database};
use crate::file::tables;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "zed",
    recognise: |path, head| {
        let columns = ["summary", "data_type", "data"];
        is_database(head)
            && holds(path, "threads.db", &|base| columns.iter().all(|column| base.has_column("threads", column)))
    },
    bundle: |files| bundles::by_session(files, |path| Ok((path.display().to_string(), 0, None))),
    together: |path| Ok(vec![path.display().to_string()]),
    read: |bundle, sink| bundle.files.iter().try_for_each(|path| tables::read(&ZedStore, path, sink).map(drop)),
    beside: bundles::alone,
    hooked: None,
};
