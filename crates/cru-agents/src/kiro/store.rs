//! The database, `data.sqlite3`: a row for each conversation.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::session::HOST;
use crate::file::document::{items, member, members, told};
use crate::file::sqlite::Database;
use crate::file::tables::{RowFormat, StoredSession};
use crate::file::value::word;
use crate::record::session::RecordSession;
use cru_base::Result;

/// The tables, the newest first, and the order in which a later row counts.
const TABLES: [(&str, &str); 2] =
    [("conversations_v2", "ORDER BY created_at, updated_at, key"), ("conversations", "ORDER BY key")];

/// What of a document is about the whole conversation.
const FIELDS: [&str; 3] = ["model", "model_info", "latest_summary"];

pub(super) struct KiroStore;

impl RowFormat for KiroStore {
    type State = RecordSession;
    const NAMES: &'static [&'static str] = &["conversations_v2", "conversations"];

    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let mut sessions: Vec<StoredSession> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (table, order) in TABLES {
            let columns = "key, conversation_id, value, created_at, updated_at";
            base.each(table, columns, order, &[], &mut |mut row| {
                let document = members(word(&row, "/value"));
                let id =
                    told(&document, &["conversation_id"]).unwrap_or_else(|| word(&row, "/conversation_id").to_owned());
                let of = |name: &str| Some((name.to_owned(), member(&document, name)?.value()?));
                let fields: Vec<(String, Value)> = FIELDS.into_iter().filter_map(of).collect();
                if let Some(row) = row.as_object_mut() {
                    row.remove("value");
                    row.insert("table".to_owned(), table.into());
                    row.extend(fields);
                }
                // One conversation may stand under several folders: the latest row counts, of the newest table.
                let session = StoredSession { id: id.clone(), row, ..StoredSession::default() };
                match known.get(&id).and_then(|at| sessions.get_mut(*at)) {
                    Some(there) if there.row["table"] == table && is_later(&session.row, &there.row) => {
                        *there = session;
                    }
                    Some(_) => {}
                    None => {
                        known.insert(id, sessions.len());
                        sessions.push(session);
                    }
                }
            })?;
        }
        Ok(sessions)
    }

    fn begin(&self, _: &Database<'_>, session: &StoredSession, _: &[&StoredSession]) -> Result<RecordSession> {
        Ok(RecordSession::new(&HOST, session.key(), Value::Null))
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        let (table, key) = (word(&session.row, "/table"), word(&session.row, "/key"));
        let id = word(&session.row, "/conversation_id");
        let rows = match id {
            "" => base.rows(table, "value", "WHERE key = ?1", &[key])?,
            id => base.rows(table, "value", "WHERE key = ?1 AND conversation_id = ?2", &[key, id])?,
        };
        let text = rows.first().map_or("", |row| word(row, "/value"));
        let document = members(text);
        let history = member(&document, "history");
        for entry in history.map(|list| items(list.text)).iter().flatten() {
            each(entry.value().unwrap_or_default());
        }
        // A document that ends in the middle.
        if !history.is_some_and(|list| list.whole) {
            each(Value::Null);
        }
        Ok(())
    }

    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        Cow::Owned(json!([record.pointer("/user/content"), record.get("assistant")]))
    }
}

fn is_later(row: &Value, other: &Value) -> bool {
    let of = |row: &Value| row.get("updated_at").and_then(Value::as_i64);
    of(row) >= of(other)
}
