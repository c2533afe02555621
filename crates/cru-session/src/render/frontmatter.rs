//! The frontmatter of a session note, keys in their fixed order.

use super::label;
use crate::model::{Meta, SubagentRef};
use crate::time;
use cru_note::frontmatter::{Mapping, Value, emit};

/// The keys that `cru` writes, in the order in which a new note has them; one that comes later goes to its place. What
/// people read stands first, what programs need last.
pub const KEYS: [&str; 30] = [
    "type",
    "title",
    "aliases",
    "date",
    "status",
    "open",
    "project",
    "project_note",
    "branch",
    "channel",
    "participants",
    "model",
    "started",
    "ended",
    "tokens_used",
    "cost_usd",
    "parent",
    "subagents",
    "subagent_links",
    "tags",
    "commit",
    "resume_point",
    "export",
    "session_id",
    "host",
    "host_version",
    "host_session",
    "transcript",
    "cru_detail",
    "cru_cursor",
];

/// How many of them stand before keys of other names.
pub const FIRST_KEYS: usize = KEYS.len() - 8;

/// The block with both `---` lines. Empty values are left out; `type` is always `session` unless it says otherwise.
pub fn frontmatter(meta: &Meta) -> String {
    let known = |keys: &[&'static str]| -> Vec<(&str, Value)> {
        keys.iter().filter_map(|key| Some((*key, value(meta, key)?))).collect()
    };
    let (first, last) = KEYS.split_at(FIRST_KEYS);
    let more = meta.more.iter().filter(|(key, _)| !KEYS.contains(key)).map(|(key, value)| (key, value.clone()));
    let entries: Vec<(&str, Value)> = known(first).into_iter().chain(more).chain(known(last)).collect();
    format!("---\n{}---\n", emit(&entries))
}

fn value(meta: &Meta, key: &str) -> Option<Value> {
    let text = |value: &Option<String>| value.clone().map(Value::from);
    let texts = |values: Vec<String>| (!values.is_empty()).then(|| Value::from(values));
    let subagents = || meta.subagents.iter().map(|row| Value::Map(subagent(row))).collect();
    let links = || meta.subagents.iter().map(|row| format!("[[{}]]", row.session)).collect();
    match key {
        "type" => Some(Value::from(meta.kind.as_deref().unwrap_or("session"))),
        "session_id" => text(&meta.session_id),
        "title" => text(&meta.title),
        "aliases" => texts(meta.aliases.clone()),
        "date" => text(&meta.date),
        "started" => meta.started.map(|at| Value::from(time::format(at))),
        "ended" => meta.ended.map(|at| Value::from(time::format(at))),
        "status" => meta.status.as_ref().map(|status| Value::from(status.as_str())),
        "open" => texts(meta.open.clone()),
        "channel" => text(&meta.channel),
        "participants" => texts(meta.participants.iter().map(ToString::to_string).collect()),
        "model" => text(&meta.model),
        "tokens_used" => meta.tokens_used.map(Value::from),
        "cost_usd" => meta.cost_usd.map(Value::from),
        "project" => text(&meta.project),
        "project_note" => meta.project_note.as_ref().map(|link| Value::from(link.to_string())),
        "branch" => text(&meta.branch),
        "commit" => text(&meta.commit),
        "host" => text(&meta.host),
        "host_version" => text(&meta.host_version),
        "host_session" => text(&meta.host_session),
        "transcript" => text(&meta.transcript),
        "parent" => meta.parent.as_ref().map(|link| Value::from(link.to_string())),
        "resume_point" => text(&meta.resume_point),
        "subagents" => (!meta.subagents.is_empty()).then(|| Value::List(subagents())),
        "subagent_links" => texts(links()),
        "tags" => texts(meta.tags.clone()),
        "export" => meta.export.map(Value::from),
        "cru_detail" => text(&meta.detail),
        "cru_cursor" => text(&meta.cursor),
        _ => None,
    }
}

fn subagent(row: &SubagentRef) -> Mapping {
    let entries = [
        ("session", Some(Value::from(row.session.as_str()))),
        ("agent", row.agent.as_ref().map(|agent| Value::from(label::agent(agent)))),
        ("model", row.model.as_deref().map(Value::from)),
        ("tokens", row.tokens.map(Value::from)),
    ];
    entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}
