//! Crush: its sessions as events, from `crush.db` of each project.
//!
//! A message is a row with a list of parts; what is said of a session in all stands in its own row. A sub-agent has the id
//! of the call that started it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::{Value, json};

use crate::call::tools::Answer;
use crate::file::sqlite::Database;
use crate::file::tables::{Begun, HostStore, RowFormat, StoredSession};
use crate::file::value::{self, attachment, filled, flag, number, word};
use crate::record::RecordHost;
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_action::ToolKind;
use cru_base::Result;
use cru_session::event::{Attachment, SubagentRun};
use cru_session::source::Account;

/// What the host calls a session that has no title yet.
const NO_TITLE: &[&str] = &["New Session", "Untitled Session"];

/// An answer is there when it is done.
pub(super) const HOST: RecordHost = RecordHost {
    id: "crush",
    ids: &["id"],
    times: &["finished_at", "created_at"],
    tell,
    store: Some(HostStore {
        name: "crush.db",
        columns: &[&[("messages", "parts"), ("sessions", "prompt_tokens"), ("files", "version")]],
        tables: &["sessions", "messages", "files"],
        rows: || Box::new(CrushStore::default()),
    }),
    ..RecordHost::PLAIN
};

/// The parts of a message.
fn parts(record: &Value) -> Vec<Value> {
    let parts = value::read(word(record, "/parts").as_bytes());
    parts.and_then(|parts| parts.as_array().cloned()).unwrap_or_default()
}

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if record.get("role").is_none() {
        let tokens = ["prompt_tokens", "completion_tokens"].map(|key| number(record, key).unwrap_or(0));
        let title = filled(record, "title").filter(|title| !NO_TITLE.contains(title));
        let tokens = tokens.into_iter().fold(0, u64::saturating_add);
        session.head(&json!({ "title": title, "tokens": tokens, "cost": record["cost"] }), out);
        out.told = true;
        return None;
    }
    let parts = parts(record);
    match word(record, "/role") {
        _ if parts.is_empty() => Some("broken message"),
        "assistant" if number(record, "is_summary_message") == Some(1) => {
            let summary = parts.iter().find_map(|part| filled(&part["data"], "text"));
            session.compact(None, summary.unwrap_or_default(), out)
        }
        "assistant" => {
            session.head(&json!({ "model": record["model"] }), out);
            told(session, &parts, false, out)
        }
        role @ ("user" | "tool") => told(session, &parts, role == "user", out),
        "system" => Some(HOST_WORDS),
        role => Some(unknown("unknown role", role)),
    }
}

fn told(session: &mut RecordSession, parts: &[Value], is_person: bool, out: &mut Out<'_>) -> Option<&'static str> {
    let (mut words, mut sent, mut left) = (Vec::new(), Vec::new(), None);
    for part in parts {
        let data = &part["data"];
        match word(part, "/type") {
            "text" if is_person => words.extend(filled(data, "text")),
            "text" => session.reply(word(data, "/text"), out),
            "reasoning" => session.think(word(data, "/thinking"), out),
            "image_url" => sent.push(attachment("image", "")),
            "binary" => sent.push(binary(data)),
            "shell_command" => {
                let (output, exit) = (word(data, "/output").into(), value::exit(data, "exit_code"));
                session.shell_line(word(data, "/command"), Some(Answer { output, exit, ..Answer::default() }), out);
            }
            "tool_call" => session.call(word(data, "/id"), filled(data, "name").unwrap_or("tool"), &data["input"], out),
            "tool_result" => left = answer(session, data, out).or(left),
            "finish" => match word(data, "/reason") {
                "canceled" => left = session.stop(out).or(left),
                reason @ ("error" | "content_filter") => {
                    session.fail(filled(data, ["message", "details"]).unwrap_or(reason), out);
                }
                _ => {}
            },
            kind => left = Some(unknown("unknown part", kind)),
        }
    }
    if is_person { session.prompt(&words.join("\n\n"), sent, out).or(left) } else { left }
}

/// Why an answer is left out, where it is.
fn answer(session: &mut RecordSession, data: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let id = word(data, "/tool_call_id");
    let said = value::read(word(data, "/metadata").as_bytes()).unwrap_or_default();
    let is_shell = session.waiting.iter().any(|(open, tool)| open == id && ToolKind::of(tool) == ToolKind::Shell);
    let (output, exit) = shell_ended(word(data, "/content"), is_shell);
    let times = (value::millis(&said, "start_time"), value::millis(&said, "end_time"));
    let took =
        times.0.zip(times.1).and_then(|(from, to)| u64::try_from(to.as_millisecond() - from.as_millisecond()).ok());
    let lines = ["additions", "removals"].map(|key| said.get(key).and_then(Value::as_u64));
    let answer = Answer {
        output: output.into(),
        brief: lines[0].zip(lines[1]).map(|(added, removed)| Cow::Owned(format!("+{added} −{removed}"))),
        diff: filled(&said, "diff").unwrap_or_default(),
        failed: flag(data, "is_error"),
        exit,
        duration_ms: took.filter(|_| is_shell),
        attachments: Some(binary(data)).filter(|sent| sent.bytes > 0).into_iter().collect(),
        ..Answer::default()
    };
    session.answer(id, answer, out)
}

/// What a shell printed, without what the host put behind it, and its exit code where that is not 0.
fn shell_ended(content: &str, is_shell: bool) -> (&str, Option<i32>) {
    if !is_shell {
        return (content, None);
    }
    let output = content.rsplit_once("<cwd>").map_or(content, |(output, _)| output).trim_end();
    let (before, last) = output.rsplit_once('\n').unwrap_or(("", output));
    match last.strip_prefix("Exit code ").and_then(|code| code.parse().ok()) {
        Some(code) => (before.trim_end(), Some(code)),
        None if output == "no output" => ("", None),
        None => (output, None),
    }
}

/// A file that was sent along.
fn binary(data: &Value) -> Attachment<'static> {
    let media = filled(data, ["MIMEType", "mime_type"]).unwrap_or(value::FILE);
    let sent = filled(data, ["Data", "data"]).unwrap_or_default();
    attachment(media, sent)
}

/// Columns of sessions.
const SESSION: &str = "id, parent_session_id, title, prompt_tokens, completion_tokens, cost, created_at";

/// Columns of messages.
const MESSAGE: &str = "id, role, parts, model, provider, created_at, finished_at, is_summary_message";

/// How the id of a session begins in which the host asked for a title.
const OF_TITLE: &str = "title-";

#[derive(Default)]
struct CrushStore {
    project: RefCell<Option<String>>,
}

impl RowFormat for CrushStore {
    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let rows = base.rows("sessions", SESSION, "ORDER BY created_at, id", &[])?;
        let session = |row: Value| {
            let agent = filled(&row, "parent_session_id").map(|_| "agent");
            StoredSession::of(row, "parent_session_id", agent, "title")
        };
        Ok(rows.into_iter().filter(|row| !word(row, "/id").starts_with(OF_TITLE)).map(session).collect())
    }

    fn begin(&self, base: &Database<'_>, session: &StoredSession, started: &[&StoredSession]) -> Result<Begun> {
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
        Ok(Begun { head: json!({ "cwd": folder }), runs, ..Begun::default() })
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
