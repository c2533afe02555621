//! What the journal of a session's hooks tells: each event once, in order, and whether the session is over.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::made::MadeNotes;
use cru_base::Result;
use cru_live::hook::{Event, FIELDS, HOSTS, HookEntry};
use cru_session::Meta;
use cru_vault::journal::Mark;
use cru_vault::state::key;
use cru_vault::{Journal, State};

/// Events with which a session that was over goes on.
const BEGINS: [&str; 2] = ["session-start", "prompt"];

/// How far apart two hooks of one event are started.
const TOGETHER: SignedDuration = SignedDuration::from_secs(2);

/// What the end of a session gives as its reason where no host told it.
pub(crate) const REASON: &str = "no end was told";

/// A line of a hook's journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HookLine {
    /// Unique.
    pub id: String,
    /// When.
    pub time: Timestamp,
    /// What.
    pub entry: HookEntry,
}

/// A session that hooks tell of.
#[derive(Clone, Debug)]
pub struct Hooked {
    /// Which program runs it.
    pub host: String,
    /// Its id there.
    pub session: String,
    /// Its transcript, as the host names it.
    pub transcript: Option<PathBuf>,
    /// What its hooks told and the journal still holds.
    pub told: Vec<HookLine>,
    /// The `session_id` of the note that it goes on with.
    pub continues: Option<String>,
    /// Whether it is over: then nothing waits for an answer any more.
    pub over: bool,
    /// Where its journal was read to.
    pub mark: Mark,
}

impl Hooked {
    /// What the journal in the machine state tells of a session; `None` where it tells nothing.
    pub fn read(state: &State, host: &str, session: &str) -> Result<Option<Self>> {
        Self::of_journal(&Journal::at(state.journal(&Self::key(host, session))))
    }

    /// Name of its journal.
    pub fn key(host: &str, session: &str) -> String {
        key(&format!("{host}--{session}"))
    }

    pub(crate) fn of_journal(journal: &Journal) -> Result<Option<Self>> {
        let read = journal.read(None)?;
        let told: Vec<HookLine> = read
            .entries
            .into_iter()
            .filter_map(|line| {
                let entry = serde_json::from_str(line.event.get()).ok()?;
                Some(HookLine { id: line.id, time: line.time, entry })
            })
            .collect();
        let told = once_each(told);
        let text = |name: &str| {
            told.iter().rev().find_map(|told| told.entry.input.get(name).and_then(Value::as_str)).map(str::to_owned)
        };
        let (Some(last), Some(session)) = (told.last(), text("session_id")) else { return Ok(None) };
        let latest = |events: &[&str]| told.iter().rposition(|told| events.contains(&told.entry.event.as_str()));
        let over = latest(&["session-end"]).is_some_and(|end| {
            // What the host does behind an end that it did not tell shows that there was none.
            let goes_on = if is_untold(&told[end].entry) { Some(told.len() - 1) } else { latest(&BEGINS) };
            goes_on <= Some(end)
        });
        let (host, transcript) = (last.entry.host.clone(), text("transcript_path").map(PathBuf::from));
        let continues = told.iter().find_map(|told| told.entry.continues.clone());
        Ok(Some(Self { host, session, transcript, told, continues, over, mark: read.mark }))
    }
}

/// Whether an event is such an end.
pub(crate) fn is_untold(entry: &HookEntry) -> bool {
    entry.event() == Some(Event::SessionEnd) && entry.input.get("reason").and_then(Value::as_str) == Some(REASON)
}

/// Takes out what was told twice: a host runs the hooks of several settings files, and some run those of other hosts. A
/// call is known by its id; anything else by what it says, within a moment.
fn once_each(told: Vec<HookLine>) -> Vec<HookLine> {
    let mut calls = HashSet::new();
    let mut others: HashMap<String, Timestamp> = HashMap::new();
    let is_new = |line: &HookLine| {
        let entry = &line.entry;
        if let Some(call) = entry.input.get(FIELDS.call).and_then(Value::as_str).filter(|call| !call.is_empty()) {
            return calls.insert((entry.event.clone(), call.to_owned()));
        }
        if entry.input.get(FIELDS.tool).is_some() {
            return true;
        }
        let says = [
            "session_id",
            "prompt_id",
            "turn_id",
            "generation_id",
            "agent_id",
            "prompt",
            "source",
            "reason",
            "message",
        ];
        let says = says.map(|name| entry.input.get(name).map(Value::to_string).unwrap_or_default());
        let before = others.insert(format!("{} {}", entry.event, says.join(" ")), line.time);
        before.is_none_or(|before| line.time.duration_since(before).abs() > TOGETHER)
    };
    let mut is_new = is_new;
    told.into_iter().filter(|line| is_new(line)).collect()
}

/// When the hooks of a note's session last told something, as far as their journal still says it.
pub(crate) fn last_told(state: &State, meta: &Meta) -> Result<Option<Timestamp>> {
    let (Some(host), Some(session)) = (meta.host.as_deref(), meta.host_session.as_deref()) else { return Ok(None) };
    let read = Journal::at(state.journal(&Hooked::key(host, session))).read(None)?;
    Ok(read.entries.last().map(|line| line.time))
}

/// The keys of the journals of hooks in the machine state; of `names` only.
pub(crate) fn keys(state: &State, names: Option<&[&str]>) -> Result<Vec<String>> {
    let is_there = |key: &String| state.journal(key).exists();
    let mut keys: Vec<String> = Vec::new();
    let Some(names) = names else {
        let folder = std::fs::read_dir(state.dir().join("journal"));
        let files = folder.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let stems = files.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned));
        keys.extend(stems.filter(|stem| HOSTS.iter().any(|host| stem.starts_with(&format!("{}--", host.id)))));
        keys.sort();
        return Ok(keys);
    };
    let own = |host: &str, session: &str| Hooked::key(host, session.split("/agent-").next().unwrap_or(session));
    for host in &HOSTS {
        keys.extend(names.iter().map(|name| own(host.id, name)).filter(is_there));
    }
    // Only a name that is no host's own is looked for among the notes that were made.
    let others = if keys.is_empty() { HOSTS.as_slice() } else { &[] };
    for host in others {
        let made = MadeNotes::read(state, host.id)?;
        let sessions = names.iter().filter_map(|name| made.host_session(name));
        keys.extend(sessions.map(|session| own(host.id, session)).filter(is_there));
    }
    keys.sort();
    keys.dedup();
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_two_settings_tell_counts_once() {
        let line = |second: i64, event: &str, input: Value| HookLine {
            id: format!("{second} {event}"),
            time: Timestamp::from_second(second).unwrap(),
            entry: HookEntry {
                host: "cursor".to_owned(),
                event: event.to_owned(),
                input,
                files: Vec::new(),
                head: None,
                continues: None,
            },
        };
        let call = |id: &str| json!({"session_id": "s", "tool_name": "Shell", "tool_use_id": id});
        let told = vec![
            line(0, "prompt", json!({"session_id": "s", "prompt": "go on"})),
            line(1, "prompt", json!({"session_id": "s", "prompt": "go on", "cursor_version": "2"})),
            line(2, "pre-tool", call("a")),
            line(9, "pre-tool", call("a")),
            line(9, "post-tool", call("a")),
            line(9, "pre-tool", call("b")),
            line(10, "pre-tool", json!({"session_id": "s", "tool_name": "Shell"})),
            line(10, "pre-tool", json!({"session_id": "s", "tool_name": "Shell"})),
            line(20, "prompt", json!({"session_id": "s", "prompt": "go on"})),
        ];
        let kept: Vec<_> = once_each(told).into_iter().map(|line| line.id).collect();
        let wanted = ["0 prompt", "2 pre-tool", "9 post-tool", "9 pre-tool", "10 pre-tool", "10 pre-tool", "20 prompt"];
        assert_eq!(kept, wanted);
    }
}
