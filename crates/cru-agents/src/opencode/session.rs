//! One session while it is read, with what the three places that sessions are kept in have in common: its row and its messages, one
//! at a time.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::open::Calls;
use crate::file::tables::StoredSession;
use crate::file::value::{self, filled, word};
use crate::stream::out::remark;
use crate::stream::place::Place;
use crate::stream::teller::Teller;
use cru_base::Result;
use cru_session::event::{CallResult, EventKind, SessionFact, StreamKey};
use cru_session::source::{Account, Header, Sink};

/// The state of one session.
pub(super) struct OpenCodeSession<'s> {
    pub(super) told: Teller<'s>,
    pub(super) place: Place,
    pub(super) calls: Calls,
    /// A compaction that was asked for and whose summary was not read yet: its record, time, and what started it.
    pub(super) compaction: Option<(u64, Option<Timestamp>, &'static str)>,
    /// Whether the next command was run by the person.
    pub(super) by_person: bool,
    /// Tokens of the context after the last answer.
    pub(super) context: u64,
    /// Answers of shell commands of the current step: what they changed is told behind it.
    pub(super) waiting: Vec<(u64, Option<Timestamp>, CallResult<'static>)>,
    /// Files that other tools of the current step changed.
    pub(super) changed: Vec<String>,
    /// Whether a task list was told.
    pub(super) tasks: bool,
    /// Records of messages by id, for what is undone.
    before: Vec<(String, u64)>,
}

impl<'s> OpenCodeSession<'s> {
    fn new(told: Teller<'s>) -> Self {
        Self {
            told,
            place: Place::default(),
            calls: Calls::default(),
            compaction: None,
            by_person: false,
            context: 0,
            waiting: Vec::new(),
            changed: Vec::new(),
            tasks: false,
            before: Vec::new(),
        }
    }

    /// The session's own row.
    fn begin(&mut self, StoredSession { id, row, .. }: &StoredSession) {
        let directory = word(row, "directory");
        let Some(record) = self.told.take(&json!({ "session": id, "directory": directory }), id) else { return };
        self.told.shown();
        let mut out = self.told.out(record, None);
        out.folder(&mut self.place, directory);
        out.facts(filled(row, "version").map(|version| SessionFact::HostVersion(version.into())));
        out.title(Some(asked(row).0).filter(|title| !title.trim().is_empty() && !is_placeholder(title)));
    }

    /// Notes where a message begins.
    pub(super) fn begins(&mut self, id: &str, record: u64) {
        if !id.is_empty() {
            self.before.push((id.to_owned(), record));
        }
    }

    /// The session ends here, as far as it was read.
    fn end(&mut self, info: &Value) {
        self.flush(&[]);
        let undone = word(info, "/revert/messageID");
        let at = self.before.iter().find(|(id, _)| !undone.is_empty() && id == undone).map(|(_, record)| *record);
        if let Some(record) = at.filter(|_| !self.told.held && !self.told.intake.is_full()) {
            let last = self.told.intake.records();
            let mut out = self.told.out(last, None);
            // By which words or key it was done stands nowhere.
            out.emit(EventKind::Remark(remark("context", "Undone by the person", "")));
            out.emit(EventKind::Rewind { to: record.saturating_sub(1) });
        }
        self.told.close();
    }
}

/// Whether the host has not named the session yet: `New session - 2026-04-16T07:37:55.644Z`.
fn is_placeholder(title: &str) -> bool {
    let rest = title.strip_prefix("New session - ").or_else(|| title.strip_prefix("Child session - "));
    rest.is_some_and(|rest| rest.parse::<Timestamp>().is_ok())
}

/// Why a message is left out that cannot be read.
const BROKEN: &str = "broken message";

/// A message or a part as it is kept.
#[derive(Clone, Debug)]
pub(super) struct OpenCodeItem {
    pub(super) id: String,
    pub(super) content: OpenCodeContent,
}

/// What stands in it.
#[derive(Clone, Debug)]
pub(super) enum OpenCodeContent {
    /// An object.
    Whole(Value),
    /// Something else: its bytes, and why it is left out.
    Broken(Vec<u8>, &'static str),
    /// The beginning of one: the file ends in it.
    Cut,
}

impl OpenCodeItem {
    /// Of the bytes that stand somewhere. `id` is the one that it is kept under, `""` for its own.
    pub(super) fn of(bytes: &[u8], id: &str) -> Self {
        Self::of_value(value::read(bytes), bytes, id)
    }

    /// Of a value that was read.
    pub(super) fn of_value(value: Option<Value>, bytes: &[u8], id: &str) -> Self {
        match value.filter(Value::is_object) {
            Some(value) => {
                let id = if id.is_empty() { word(&value, "id") } else { id };
                // A redaction tool leaves one word in place of every id.
                let id = if id == "REDACTED" { String::new() } else { id.to_owned() };
                Self { id, content: OpenCodeContent::Whole(value) }
            }
            None => Self { id: id.to_owned(), content: OpenCodeContent::Broken(bytes.to_vec(), BROKEN) },
        }
    }
}

/// A message with its parts.
#[derive(Clone, Debug)]
pub(super) struct OpenCodeMessage {
    pub(super) info: OpenCodeItem,
    pub(super) parts: Vec<OpenCodeItem>,
}

/// A session, of what is said of it; `id` for one that does not say its own. One without an agent and with a parent is a fork: it
/// goes on from that session, in which the host keeps what was said before.
pub(super) fn session_of(info: Value, id: &str) -> StoredSession {
    let known = |key| filled(&info, key).filter(|id| *id != "REDACTED").map(str::to_owned);
    let id = known("id").unwrap_or_else(|| id.to_owned());
    let other = |key| known(key).filter(|other| *other != id);
    let (task, agent) = asked(&info);
    let agent = other("parentID").map(|_| agent.or(filled(&info, "agent")).unwrap_or("agent").to_owned());
    let task = Some(task.to_owned()).filter(|task| agent.is_some() && !task.is_empty());
    StoredSession { parent: other("parentID").or_else(|| other("forkedFrom")), id, agent, task, row: info }
}

/// What a sub-agent was asked, and its type: the host makes one title of both.
fn asked(info: &Value) -> (&str, Option<&str>) {
    let title = word(info, "title");
    let split = title.strip_suffix(" subagent)").and_then(|rest| rest.rsplit_once(" (@"));
    split.map_or((title, None), |(task, agent)| (task, Some(agent)))
}

/// The stream of a session that stands in `path`; `above` is the one that started its parent.
pub(super) fn header(session: &StoredSession, path: &Path, above: Option<String>) -> Header {
    let parent = session.parent.as_deref().unwrap_or_default();
    let above = above.filter(|above| *above != parent);
    let above = above.map(|above| (parent, StreamKey { session: above, agent: Some(parent.to_owned()) }));
    Header { aside: false, ..session.header(path, &above.into_iter().collect()) }
}

/// Tells a session of these messages, in order; which are the agent's, and how one of them is read.
pub(super) fn tell<M>(
    session: &StoredSession,
    header: Header,
    messages: &[M],
    is_agent: impl Fn(&M) -> Result<bool>,
    read: impl Fn(&M) -> Result<OpenCodeMessage>,
    sink: &mut dyn Sink,
    account: &mut Account,
) -> Result<()> {
    if !sink.wants(&header.key) {
        return Ok(());
    }
    let paths = [header.transcript.clone()];
    let mut told = OpenCodeSession::new(Teller::open(header, &paths, sink, std::slice::from_mut(account)));
    told.begin(session);
    let mut settled = messages.len();
    while settled > 0 {
        settled -= 1;
        if is_agent(&messages[settled])? {
            break;
        }
    }
    for (index, message) in messages.iter().enumerate() {
        told.message(read(message)?, index < settled);
    }
    told.end(&session.row);
    Ok(())
}
