//! `status`: the current session, what is open in it, and the vault.

use serde_json::{Value, json};

use super::{Answer, Caller, list, text};
use crate::base::Result;
use crate::commands::ask::words;
use crate::commands::{Format, Reach, current, reading};
use crate::vault::folder::MARK;

pub(super) fn call(caller: &Caller<'_>) -> Result<Answer> {
    let (sessions, entries, age, current) = caller.with(Reach::Shared, Format::Json, |cx| {
        let vault = reading::vault(cx)?;
        let snapshot = reading::snapshot(&vault, cx)?;
        let rows = snapshot.sessions();
        let path = current::path(rows, &vault, cx.env);
        let row = path.and_then(|path| rows.iter().find(|row| row.path == path));
        let current = row.map(|row| (row.id.clone(), row.title.clone(), row.status.clone()));
        let index = std::fs::metadata(vault.root().join(MARK).join("cache")).and_then(|it| it.modified());
        let written = index.ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
        let age = written.map(|at| cx.env.now().duration_since(at).as_secs().max(0));
        let entries: u64 = snapshot.kinds().values().sum();
        Ok((rows.len(), entries, age, current))
    })?;
    let mut answer = Answer::default().fact("sessions", sessions).fact("index_entries", entries);
    if let Some(seconds) = age {
        answer = answer.fact("index_written_s_ago", seconds);
    }
    let Some((id, title, status)) = current else { return Ok(answer.fact("current", Value::Null)) };
    answer = answer.fact("current", id.as_str()).fact("title", title).fact("status", status);
    let mut line = words(&["session", "resume", "--print", "--"]);
    line.push(id);
    let pack = caller.value(&line, Reach::Shared)?;
    let is_open = |part: &&Value| text(part, "part") == Some("open");
    let open = list(&pack, "parts").iter().find(is_open).map(|part| list(part, "entries")).unwrap_or_default();
    let entry = |entry: &Value| json!({ "open": text(entry, "text").or_else(|| text(entry, "title")) });
    answer.add("open", open.iter().map(entry).collect());
    Ok(answer)
}
