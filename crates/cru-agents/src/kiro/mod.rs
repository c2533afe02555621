//! Kiro's command line, which was Amazon Q's: its sessions as events, from its database and from its JSON lines.
//!
//! A row of the database is a whole conversation; its entries are pairs of what a person or a tool said and what the agent
//! answered. Other tables of it hold keys and are not looked at. What the editor of that name keeps is not read.

mod session;
mod store;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::Value;

use self::store::KiroStore;
use super::bundles;
use crate::file::jsonl;
use crate::file::sqlite::{holds, is_database};
use crate::file::tables;
use crate::file::value::word;
use cru_session::source::Importer;

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "kiro",
    recognise,
    bundle: |files| {
        let alone = |files| bundles::by_session(files, |path| Ok((bundles::stem(path), 0, None)));
        tables::bundle(&KiroStore, files, &bundles::stem, &alone)
    },
    together: |path| Ok(tables::together(&KiroStore, path, &bundles::stem)),
    read: |bundle, sink| {
        let rest = tables::read_first(&KiroStore, bundle, &bundles::stem, sink)?;
        jsonl::read(&session::HOST, &rest, sink)
    },
    beside: bundles::alone,
    hooked: None,
};

fn recognise(path: &Path, head: &[u8]) -> bool {
    if is_database(head) {
        return holds(path, "data.sqlite3", &|base| {
            ["conversations_v2", "conversations"].iter().any(|table| base.has_column(table, "value"))
        });
    }
    jsonl::head(head, 20).any(|record| {
        let kind = matches!(word(&record, "/kind"), "Prompt" | "AssistantMessage" | "ToolResults");
        kind && record.pointer("/data/content").is_some_and(Value::is_array)
    })
}
