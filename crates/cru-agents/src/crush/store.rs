//! The database, `crush.db`: its rows of sessions and messages.

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::{Value, json};

use super::session::{HOST, parts};
use crate::file::sqlite::Database;
use crate::file::tables::{RowFormat, StoredSession};
use crate::file::value::{self, filled, word};
use crate::record::session::RecordSession;
use cru_base::Result;
use cru_session::event::SubagentRun;
use cru_session::source::Account;

/// Columns of sessions.
const SESSION: &str = "id, parent_session_id, title, prompt_tokens, completion_tokens, cost, created_at";

/// Columns of messages.
const MESSAGE: &str = "id, role, parts, model, provider, created_at, finished_at, is_summary_message";

/// How the id of a session begins in which the host asked for a title.
const OF_TITLE: &str = "title-";

#[derive(Default)]
pub(super) struct CrushStore {
    project: RefCell<Option<String>>,
}

impl RowFormat for CrushStore {
    type State = RecordSession;
    const NAMES: &'static [&'static str] = &["sessions", "messages", "files"];

    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let rows = base.rows("sessions", SESSION, "ORDER BY created_at, id", &[])?;
        let session = |row: Value| {
            let parent = filled(&row, "parent_session_id").map(str::to_owned);
            let agent = parent.as_ref().map(|_| "agent".to_owned());
            let task = filled(&row, "title").filter(|_| parent.is_some()).map(str::to_owned);
            StoredSession { id: word(&row, "/id").to_owned(), parent, agent, task, row }
        };
        Ok(rows.into_iter().filter(|row| !word(row, "/id").starts_with(OF_TITLE)).map(session).collect())
    }

    fn begin(&self, base: &Database<'_>, session: &StoredSession, started: &[&StoredSession]) -> Result<RecordSession> {
        let of_call = |child: &&StoredSession| {
            // `<message>$$<call>`; the call alone in older versions.
            let call = child.id.rsplit("$$").next().unwrap_or_default().to_owned();
            let (stream, task) = (Some(child.key()), child.task.clone().map(Cow::Owned));
            let agent = Some("agent".into());
            (call, SubagentRun { stream, agent, task, ..SubagentRun::default() })
        };
        let runs = started.iter().map(of_call).collect();
        let mut project = self.project.borrow_mut();
        if project.is_none() {
            *project = Some(project_of(base)?);
        }
        let folder = worked_in(base, "session_id = ?1 AND", &[&session.id])?.or_else(|| project.clone());
        let mut state = RecordSession::new(&HOST, session.key(), json!({ "cwd": folder }));
        state.runs = runs;
        Ok(state)
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        let mut last: Option<Value> = None;
        let rest = "WHERE session_id = ?1 ORDER BY created_at, rowid";
        base.each("messages", MESSAGE, rest, &[&session.id], &mut |row| {
            last.replace(row).into_iter().for_each(&mut *each);
        })?;
        if let Some(mut row) = last {
            row["isLast"] = true.into();
            each(row);
        }
        Ok(())
    }

    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        Cow::Owned(json!([record.get("role"), record.get("parts")]))
    }

    /// An answer is written piece by piece.
    fn may_change(&self, record: &Value) -> bool {
        let is_done = || parts(record).iter().any(|part| word(part, "/type") == "finish");
        record["isLast"] == true && word(record, "/role") == "assistant" && !is_done()
    }

    fn others(&self, base: &Database<'_>, account: &mut Account) {
        let lost = base.count("SELECT count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)");
        account.skip_all(lost, "message of no session");
        let titles = base.count("SELECT count(*) FROM sessions WHERE id LIKE 'title-%'");
        account.skip_all(titles, "session that asked for a title");
        account.skip_all(base.count("SELECT count(*) FROM files"), "version of a file, as the calls told it");
    }
}

/// A folder that a command ran in, of the messages that `rest` takes.
fn worked_in(base: &Database<'_>, rest: &str, of: &[&str]) -> Result<Option<String>> {
    const SAID: &str = "role = 'tool' AND parts LIKE '%working_directory%' ORDER BY created_at, rowid LIMIT 1";
    let rows = base.rows("messages", "parts", &format!("WHERE {rest} {SAID}"), of)?;
    let parts = rows.first().map(parts).unwrap_or_default();
    let mut said = parts.iter().filter_map(|part| value::read(word(part, "/data/metadata").as_bytes()));
    Ok(said.find_map(|said| filled(&said, "working_directory").map(str::to_owned)))
}

/// The folder of a project, for sessions in which no command ran: that of the first one that did, else the one that the
/// host's own folder lies in.
fn project_of(base: &Database<'_>) -> Result<String> {
    let own = || base.path.parent().filter(|folder| folder.file_name().is_some_and(|name| name == ".crush"))?.parent();
    let own = || own().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(worked_in(base, "", &[])?.unwrap_or_else(own))
}
