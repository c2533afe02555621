//! The database, `sessions.db`: its rows of sessions, messages and tokens.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::session::{HOST, content};
use crate::call::started::StartedAgents;
use crate::file::sqlite::Database;
use crate::file::tables::{RowFormat, StoredSession};
use crate::file::value::{filled, list, word};
use crate::record::session::RecordSession;
use cru_base::Result;
use cru_session::source::Account;

/// Columns of sessions.
const SESSION: &str = "id, name, description, user_set_name, session_type, working_dir, created_at, goose_mode, provider_name, \
    model_config_json, parent_session_id, accumulated_total_tokens, accumulated_input_tokens, \
    accumulated_output_tokens, accumulated_cache_read_tokens, accumulated_cache_write_tokens, accumulated_cost";

/// Columns of messages.
const MESSAGE: &str = "id, message_id, role, content_json, created_timestamp, timestamp, metadata_json";

/// Columns of what a request took.
const USED: &str = "model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, total_tokens, cost";

pub(super) struct GooseStore;

impl RowFormat for GooseStore {
    type State = RecordSession;
    const NAMES: &'static [&'static str] = &["sessions", "messages", "usage_ledger"];

    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let rows = base.rows("sessions", SESSION, "ORDER BY created_at, id", &[])?;
        let session = |mut row: Value| {
            let parent = filled(&row, "parent_session_id").map(str::to_owned);
            let is_agent = word(&row, "/session_type") == "sub_agent";
            let agent = is_agent.then(|| "subagent".to_owned());
            let used = base.rows("usage_ledger", USED, "WHERE session_id = ?1 ORDER BY id", &[word(&row, "/id")])?;
            row["used"] = used.into();
            let task = filled(&row, "name").filter(|_| is_agent).map(str::to_owned);
            Ok(StoredSession { id: word(&row, "/id").to_owned(), parent, agent, task, row })
        };
        rows.into_iter().map(session).collect()
    }

    fn begin(&self, base: &Database<'_>, session: &StoredSession, started: &[&StoredSession]) -> Result<RecordSession> {
        let mut agents = Vec::new();
        for child in started {
            let first = "WHERE session_id = ?1 AND role = 'user' ORDER BY id LIMIT 1";
            let first = base.rows("messages", MESSAGE, first, &[&child.id])?;
            let asked = first.first().map(content).unwrap_or_default();
            let asked = list(&asked, "content").iter().map(|part| word(part, "/text")).collect::<Vec<_>>().join("\n\n");
            agents.push((child.key(), asked));
        }
        Ok(RecordSession::new(&HOST, session.key(), Value::Null).with(StartedAgents::of(agents)))
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        base.each("messages", MESSAGE, "WHERE session_id = ?1 ORDER BY id", &[&session.id], each)
    }

    /// A compaction changes who sees a message.
    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        Cow::Owned(json!([record.get("role"), record.get("content_json"), record.get("created_timestamp")]))
    }

    fn others(&self, base: &Database<'_>, account: &mut Account) {
        let lost = base.count("SELECT count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)");
        account.skip_all(lost, "message of no session");
    }
}
