//! The database, `state.db`: its rows of sessions, messages and tokens.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::session::HOST;
use crate::call::started::StartedAgents;
use crate::file::sqlite::Database;
use crate::file::tables::{RowFormat, StoredSession};
use crate::file::value::{filled, word};
use crate::record::session::RecordSession;
use cru_base::Result;

/// Columns of sessions.
const SESSION: &str = "id, source, model, parent_session_id, started_at, end_reason, title, cwd, git_branch, input_tokens, \
    output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, estimated_cost_usd, actual_cost_usd";

/// Columns of messages.
const MESSAGE: &str = "role, content, tool_call_id, tool_calls, tool_name, timestamp, finish_reason, reasoning, reasoning_content, \
    active, compacted";

/// Columns of what a model took.
const USED: &str = "model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, estimated_cost_usd, \
    actual_cost_usd";

/// How a session ended that goes on in another one; of any other the next one is a sub-agent.
const GOES_ON: &[&str] = &["compression", "branched"];

pub(super) struct HermesStore;

impl RowFormat for HermesStore {
    type State = RecordSession;
    const NAMES: &'static [&'static str] = &["sessions", "messages", "session_model_usage"];

    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let rows = base.rows("sessions", SESSION, "ORDER BY started_at, id", &[])?;
        let ended: HashMap<String, String> =
            (rows.iter()).map(|row| (word(row, "/id").to_owned(), word(row, "/end_reason").to_owned())).collect();
        let known: HashSet<String> = ended.keys().cloned().collect();
        let session = |row: Value| {
            let parent = filled(&row, "parent_session_id").map(str::to_owned);
            let goes_on = |parent: &String| ended.get(parent).is_some_and(|why| GOES_ON.contains(&why.as_str()));
            let is_agent = parent.as_ref().is_some_and(|parent| !goes_on(parent));
            let agent = is_agent.then(|| "delegate".to_owned());
            StoredSession { id: word(&row, "/id").to_owned(), parent, agent, task: None, row }
        };
        let mut sessions: Vec<_> = rows.into_iter().map(session).collect();
        // Messages may stand alone.
        let rest = base.rows("messages", "session_id", "GROUP BY session_id ORDER BY min(timestamp)", &[])?;
        let rest = rest.iter().map(|row| word(row, "/session_id")).filter(|id| !id.is_empty() && !known.contains(*id));
        sessions.extend(rest.map(|id| StoredSession {
            id: id.to_owned(),
            row: json!({ "id": id }),
            ..StoredSession::default()
        }));
        for session in &mut sessions {
            let used =
                base.rows("session_model_usage", USED, "WHERE session_id = ?1 ORDER BY model", &[&session.id])?;
            session.row["used"] = used.into();
        }
        Ok(sessions)
    }

    fn begin(&self, base: &Database<'_>, session: &StoredSession, started: &[&StoredSession]) -> Result<RecordSession> {
        let mut agents = Vec::new();
        for child in started {
            let first = "WHERE session_id = ?1 AND role = 'user' ORDER BY id LIMIT 1";
            let asked = base.rows("messages", "content", first, &[&child.id])?;
            agents.push((child.key(), asked.first().map_or("", |row| word(row, "/content")).to_owned()));
        }
        Ok(RecordSession::new(&HOST, session.key(), Value::Null).with(StartedAgents::of(agents)))
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        base.each("messages", MESSAGE, "WHERE session_id = ?1 ORDER BY id", &[&session.id], each)
    }

    /// A compaction and a step back change whether the agent still sees a message.
    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        let of = |key: &str| record.get(key);
        Cow::Owned(json!([of("role"), of("content"), of("tool_calls"), of("tool_call_id"), of("timestamp")]))
    }
}
