//! The database of the window, `state.vscdb`: rows of sessions (`composerData`) and of their messages (`bubbleId`).
//!
//! Other rows of it hold keys and settings; they are not looked at.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::session::{own_words, prose};
use crate::call::tools::Answer;
use crate::call::touched::changed;
use crate::file::sqlite::Database;
use crate::file::tables::{Begun, HostStore, RowFormat, StoredSession};
use crate::file::value::{self, filled, list, usage, word};
use crate::record::RecordHost;
use crate::record::session::RecordSession;
use crate::stream::out::Out;
use crate::unknown::unknown;
use crate::wrapper;
use cru_base::Result;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SubagentRun, Usage};
use cru_session::source::Account;

/// Its table of keys and values.
const TABLE: &str = "cursorDiskKV";

/// The rows of sessions.
const SESSIONS: &str = "WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key";

/// What is taken of a session; other fields are large, or keys.
const FIELDS: &[&str] = &[
    "name",
    "createdAt",
    "modelConfig",
    "workspaceIdentifier",
    "trackedGitRepos",
    "usageData",
    "status",
    "subComposerIds",
    "subagentInfo",
    "fullConversationHeadersOnly",
    "conversation",
    "unifiedMode",
];

/// States of a call that runs.
const RUNNING: &[&str] = &["pending", "loading", "running", "streaming"];

pub(super) const STORE: HostStore = HostStore {
    name: "state.vscdb",
    columns: &[&[(TABLE, "value")]],
    tables: &[TABLE],
    rows: || Box::new(CursorWindow::default()),
};

fn id(row: &Value) -> Option<&str> {
    word(row, "/key").strip_prefix("composerData:").filter(|id| !id.is_empty())
}

#[derive(Default)]
struct CursorWindow {
    /// Messages that sessions name.
    named: Cell<u64>,
    /// Rows of sessions that cannot be read.
    broken: Cell<u64>,
}

impl RowFormat for CursorWindow {
    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>> {
        let mut sessions = Vec::new();
        let mut parents: HashMap<String, String> = HashMap::new();
        base.each(TABLE, "key, value", SESSIONS, &[], &mut |row| {
            let read = value::read(word(&row, "/value").as_bytes()).filter(Value::is_object);
            let (Some(id), Some(data)) = (id(&row), read) else { return self.broken.set(self.broken.get() + 1) };
            let fields = FIELDS.iter().filter_map(|key| Some(((*key).to_owned(), data.get(*key)?.clone())));
            let mut row: Map<String, Value> = fields.collect();
            row.insert("composerId".to_owned(), id.into());
            for child in list(&data, "/subComposerIds").iter().filter_map(Value::as_str) {
                parents.insert(child.to_owned(), id.to_owned());
            }
            let named = list(&data, "/fullConversationHeadersOnly").len() as u64;
            self.named.set(self.named.get() + named);
            let parent = filled(&data["subagentInfo"], "parentComposerId").map(str::to_owned);
            sessions.push(StoredSession { id: id.to_owned(), parent, row: row.into(), ..StoredSession::default() });
        })?;
        for session in &mut sessions {
            session.parent = session.parent.take().or_else(|| parents.get(&session.id).cloned());
            let kind = ["/subagentInfo/subagentTypeName", "/subagentInfo/subagentType"];
            let kind = filled(&session.row, kind);
            session.agent = session.parent.as_ref().map(|_| kind.unwrap_or("agent").to_owned());
            session.task = filled(&session.row, "name").filter(|_| session.parent.is_some()).map(str::to_owned);
        }
        sessions.sort_by_cached_key(|it| (it.row.get("createdAt").and_then(Value::as_i64), it.id.clone()));
        Ok(sessions)
    }

    fn begin(&self, _: &Database<'_>, _: &StoredSession, started: &[&StoredSession]) -> Result<Begun> {
        let runs = started.iter().filter_map(|child| {
            let (agent, task) = (child.agent.clone().map(Cow::Owned), child.task.clone().map(Cow::Owned));
            let run = SubagentRun { stream: Some(child.key()), agent, task, ..SubagentRun::default() };
            Some((filled(child.row.get("subagentInfo")?, "toolCallId")?.to_owned(), run))
        });
        Ok(Begun { runs: runs.collect(), ..Begun::default() })
    }

    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()> {
        let inline = list(&session.row, "/conversation");
        let headers = list(&session.row, "/fullConversationHeadersOnly");
        let headers = if headers.is_empty() { inline } else { headers };
        let asked = headers.iter().rposition(|header| header.get("type") == Some(&json!(1))).unwrap_or(0);
        let writes = word(&session.row, "/status") == "generating";
        for (at, header) in headers.iter().enumerate() {
            let id = word(header, "/bubbleId");
            let key = format!("bubbleId:{}:{id}", session.id);
            let row =
                if inline.is_empty() { base.rows(TABLE, "value", "WHERE key = ?1", &[&key])? } else { Vec::new() };
            if inline.is_empty() && row.is_empty() {
                self.named.set(self.named.get().saturating_sub(1));
            }
            let bubble = row.first().and_then(|row| value::read(word(row, "/value").as_bytes()));
            let mut bubble = bubble.unwrap_or_else(|| if inline.is_empty() { json!({}) } else { header.clone() });
            with_texts(base, &mut bubble)?;
            if let Some(bubble) = bubble.as_object_mut() {
                bubble.insert("bubbleId".to_owned(), id.into());
                let is_written = writes && at + 1 == headers.len();
                // What a later request left behind stays as it is.
                bubble.insert("mayRun".to_owned(), (at >= asked).into());
                bubble.insert("isWritten".to_owned(), is_written.into());
            }
            each(bubble);
        }
        Ok(())
    }

    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        let of = |place: &str| record.pointer(place);
        let call = [of("/toolFormerData/toolCallId"), of("/toolFormerData/status")];
        Cow::Owned(json!([of("/type"), of("/text"), of("/thinking/text"), call]))
    }

    fn may_change(&self, record: &Value) -> bool {
        let runs = RUNNING.contains(&word(record, "/toolFormerData/status"));
        record["isWritten"] == true || (runs && record["mayRun"] == true)
    }

    fn others(&self, base: &Database<'_>, account: &mut Account) {
        let all = base.count("SELECT count(*) FROM cursorDiskKV WHERE key >= 'bubbleId:' AND key < 'bubbleId;'");
        account.skip_all(all.saturating_sub(self.named.get()), "message that no session names");
        account.skip_all(self.broken.get(), "broken session");
    }
}

/// Puts the text of a file before and after an edit, which stand in rows of their own, to the call.
fn with_texts(base: &Database<'_>, bubble: &mut Value) -> Result<()> {
    let result = value::read(word(bubble, "/toolFormerData/result").as_bytes()).unwrap_or_default();
    let mut texts = Vec::new();
    for key in ["beforeContentId", "afterContentId"] {
        let Some(id) = filled(&result, key) else { return Ok(()) };
        let id = if id.starts_with("composer.content.") { id.to_owned() } else { format!("composer.content.{id}") };
        let row = base.rows(TABLE, "value", "WHERE key = ?1", &[&id])?;
        let Some(text) = row.first().map(|row| word(row, "/value").to_owned()) else { return Ok(()) };
        texts.push(text);
    }
    if let ([before, after], Some(call)) = (&texts[..], bubble.pointer_mut("/toolFormerData")) {
        call["texts"] = json!([before, after]);
    }
    Ok(())
}

/// The host's words for a model that it chooses by itself.
const NO_MODEL: &[&str] = &["default", "auto"];

/// The sessions of the window.
pub(super) static HOST: RecordHost = RecordHost {
    id: "cursor",
    ids: &["bubbleId"],
    times: &["createdAt", "/timingInfo/clientStartTime", "/timingInfo/clientRpcSendTime"],
    tell,
    ..RecordHost::PLAIN
};

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    if record.get("composerId").is_some() {
        session.head(&head(record), out);
        out.told = true;
        return None;
    }
    let model = model(word(record, "/modelInfo/modelName"));
    match record.get("type").and_then(Value::as_u64) {
        Some(1) => {
            session.head(&json!({ "model": model }), out);
            user(session, record, out)
        }
        Some(2) => {
            session.head(&json!({ "model": model }), out);
            agent(session, record, out)
        }
        Some(other) => Some(unknown("unknown message type", &other.to_string())),
        None => Some("message that is not there"),
    }
}

fn model(name: &str) -> Option<&str> {
    Some(name).filter(|name| !NO_MODEL.contains(name))
}

/// What is said of the session as a whole; it may be another the next time.
fn head(row: &Value) -> Value {
    let places = ["/workspaceIdentifier/uri/fsPath", "/workspaceIdentifier/uri/path", "/trackedGitRepos/0/repoPath"];
    let cents = |used: &Value| used.get("costInCents").and_then(Value::as_f64).filter(|cents| *cents > 0.0);
    let used = row.get("usageData").and_then(Value::as_object);
    let cents: f64 = used.into_iter().flat_map(|it| it.values()).filter_map(cents).sum();
    json!({
        "cwd": filled(row, places),
        "title": row.get("name"), "model": model(word(row, "/modelConfig/modelName")), "cost": cents / 100.0,
    })
}

fn user(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let text = word(record, "/text");
    if wrapper::means(HOST.id, text).is_some() {
        return Some("notice of the host");
    }
    let images = ["/images", "/context/selectedImages"].into_iter().flat_map(|place| list(record, place));
    let attachments: Vec<_> = images.map(|_| Attachment { media_type: "image".into(), bytes: 0 }).collect();
    let text = own_words(text).unwrap_or_default();
    if !text.is_empty() || !attachments.is_empty() {
        session.calls.begin_turn();
        let origin = if session.is_agent { PromptOrigin::Task } else { PromptOrigin::Typed };
        out.emit(EventKind::Prompt(Prompt { text, origin, attachments }));
    }
    None
}

fn agent(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let used = usage(&record["tokenCount"], ["inputTokens", "outputTokens", "", ""]);
    session.usage(word(record, "/bubbleId"), "", used, out);
    out.told |= used != Usage::default();
    session.think(word(record, "/thinking/text"), out);
    session.reply(prose(word(record, "/text")), out);
    if let Some(text) = filled(record, ["/errorDetails/message", "/errorDetails/error"]) {
        session.fail(text, out);
    }
    if let Some(of) = record.get("toolFormerData").filter(|call| call.is_object()) {
        call(session, of, out);
    }
    None
}

/// A call with its answer.
fn call(session: &mut RecordSession, call: &Value, out: &mut Out<'_>) {
    let tool = filled(call, "name").unwrap_or("tool");
    let id = word(call, "/toolCallId");
    let id = if id.is_empty() { format!("@{}", out.record) } else { id.to_owned() };
    let mut input = ["rawArgs", "params"].iter().find_map(|key| arguments(call.get(*key)?)).unwrap_or_default();
    if let [before, after] = list(call, "/texts")
        && input.is_object()
        && input.get("old_string").is_none()
    {
        let (before, after) = changed(before.as_str().unwrap_or_default(), after.as_str().unwrap_or_default());
        (input["old_string"], input["new_string"]) = (before.into(), after.into());
    }
    session.call(&id, tool, &input, out);
    let status = word(call, "/status");
    if status.is_empty() || matches!(status, "cancelled" | "canceled") {
        session.calls.close(&id, ["", ""]);
        return out.emit(EventKind::Interrupt { call: Some(id.into()), unnamed: false });
    }
    let read = |name: &str| call.get(name).map(|it| arguments(it).unwrap_or_else(|| it.clone())).unwrap_or_default();
    let (result, error) = (read("result"), read("error"));
    let answer = Answer {
        output: said_in(&error).or_else(|| said_in(&result)).unwrap_or_default(),
        denied: word(call, "/userDecision") == "rejected" || status == "rejected" || result["rejected"] == true,
        failed: matches!(status, "error" | "failed") || said_in(&error).is_some(),
        exit: value::exit(&result, ["exitCode", "exit_code"]),
        ..Answer::default()
    };
    session.answer(&id, answer, out);
}

/// An object that stands there as it is or as text.
fn arguments(value: &Value) -> Option<Value> {
    let read = value.as_str().and_then(|text| value::read(text.as_bytes()));
    read.or_else(|| Some(value.clone())).filter(|value| value.as_object().is_some_and(|it| !it.is_empty()))
}

/// What an answer or an error says.
fn said_in(result: &Value) -> Option<Cow<'static, str>> {
    const NAMES: [&str; 7] =
        ["output", "contents", "content", "text", "message", "clientVisibleErrorMessage", "modelVisibleErrorMessage"];
    let text = match result {
        Value::Object(_) => {
            let word = filled(result, NAMES).map(str::to_owned);
            let error = || result.get("error").and_then(said_in).map(Cow::into_owned);
            word.or_else(error).unwrap_or_else(|| result.to_string())
        }
        Value::String(text) => text.clone(),
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty() && text != "{}").map(Cow::Owned)
}
