//! The database, `threads.db`: a row for each thread.

use serde_json::Value;

use super::session::{HOST, about};
use crate::call::started::StartedAgents;
use crate::file::document::{Piece, items, member, members};
use crate::file::sqlite::Database;
use crate::file::tables::{RowFormat, StoredSession};
use crate::file::value::{filled, word};
use crate::record::session::RecordSession;
use cru_base::Result;

/// Columns of threads but for their content.
const THREAD: &str = "id, summary, updated_at, created_at, parent_id, folder_paths, folder_paths_order";

/// What of a document is about the whole thread.
const FIELDS: [&str; 4] = ["model", "cumulative_token_usage", "request_token_usage", "initial_project_snapshot"];

pub(super) struct ZedStore;

impl RowFormat for ZedStore {
    type State = RecordSession;
    const NAMES: &'static [&'static str] = &["threads"];

    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let order = if base.has_column("threads", "created_at") { "created_at" } else { "updated_at" };
        let rows = base.rows("threads", THREAD, &format!("ORDER BY {order}, id"), &[])?;
        let session = |row: Value| {
            let parent = filled(&row, "parent_id").map(str::to_owned);
            let agent = parent.as_ref().map(|_| "subagent".to_owned());
            let task = filled(&row, "summary").filter(|_| parent.is_some()).map(str::to_owned);
            StoredSession { id: word(&row, "/id").to_owned(), parent, agent, task, row }
        };
        Ok(rows.into_iter().map(session).collect())
    }

    fn begin(&self, base: &Database<'_>, session: &StoredSession, started: &[&StoredSession]) -> Result<RecordSession> {
        let mut agents = Vec::new();
        for child in started {
            let text = document(base, &child.id)?;
            let first = messages(&text).first().and_then(Piece::value).unwrap_or_default();
            agents.push((child.key(), super::session::asked(&first)));
        }
        let text = document(base, &session.id)?;
        let root = members(&text);
        let of = |name: &str| Some((name.to_owned(), member(&root, name)?.value()?));
        let fields: Value = FIELDS.into_iter().filter_map(of).collect();
        let about = about(&fields, &folder(&session.row));
        Ok(RecordSession::new(&HOST, session.key(), about).with(StartedAgents::of(agents)))
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        let text = document(base, &session.id)?;
        for piece in messages(&text) {
            each(piece.value().unwrap_or_default());
        }
        // A document that ends in the middle, or is none.
        if !member(&members(&text), "messages").is_some_and(|list| list.whole) {
            each(Value::Null);
        }
        Ok(())
    }

    /// The arguments of a call that is still being asked for.
    fn may_change(&self, record: &Value) -> bool {
        let parts = record.pointer("/Agent/content").and_then(Value::as_array);
        parts.into_iter().flatten().any(|part| part.pointer("/ToolUse/is_input_complete") == Some(&Value::Bool(false)))
    }
}

/// The document of a thread, unpacked.
fn document(base: &Database<'_>, id: &str) -> Result<String> {
    let rows = base.rows("threads", "data", "WHERE id = ?1", &[id])?;
    Ok(rows.first().map_or("", |row| word(row, "/data")).to_owned())
}

fn messages(document: &str) -> Vec<Piece<'_>> {
    member(&members(document), "messages").map(|list| items(list.text)).unwrap_or_default()
}

/// The folder that was opened first: they stand in the order of the alphabet, and their own beside them.
fn folder(row: &Value) -> String {
    let folders: Vec<&str> = word(row, "/folder_paths").split(['\n', '\0']).filter(|path| !path.is_empty()).collect();
    let first = word(row, "/folder_paths_order").split(',').next().and_then(|at| at.trim().parse::<usize>().ok());
    let folder = first.and_then(|at| folders.get(at)).or_else(|| folders.first()).copied().unwrap_or_default();
    folder.to_owned()
}
