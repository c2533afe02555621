//! Frontmatter keys that say something else than before.

use serde_json::{Map, Number, Value as Json};

use crate::Status;
use crate::op::Op;
use cru_note::Note;
use cru_note::frontmatter::{self, Value, Values};

/// Keys that are set once, and the one that the writer keeps.
const FIXED: &[&str] = &["type", "session_id", "cru_cursor"];

/// Keys that name the session: a name that a person gave stays.
const NAMES: &[&str] = &["title", "aliases"];

/// An operation for each key that changed.
pub(crate) fn changes(old: &Note, new: &Note, note: Option<&Note>) -> Vec<Op> {
    let values =
        |note: &Note| note.frontmatter().map(|bounds| frontmatter::read(note.text(), &bounds).0).unwrap_or_default();
    let (old, new, note) = (values(old), values(new), note.map(values));
    let mut keys: Vec<&str> = new.entries().iter().map(|entry| entry.key.as_str()).collect();
    keys.extend(old.entries().iter().map(|entry| entry.key.as_str()).filter(|key| new.get(key).is_none()));
    keys.retain(|key| !FIXED.contains(key));
    let op = |key: &str| {
        let (before, after) = (old.get(key).map(json), new.get(key).map(json));
        if before == after || (matches!(key, "started" | "date") && before.is_some()) {
            return None;
        }
        // The link to the project comes with the project, and is a person's then.
        if key == "project_note" && (after.is_none() || old.get("project").is_some()) {
            return None;
        }
        let now = note.as_ref().map(|note| note.get(key).map(json));
        // A name that a person gave stays without a remark.
        if NAMES.contains(&key) && now.as_ref().is_some_and(|now| *now != before) {
            return None;
        }
        let before = match now {
            Some(now) if matches!(key, "status" | "ended") && now != before => {
                is_lifecycle(key, note.as_ref()?).then_some(now)?
            }
            _ => before,
        };
        Some(Op::Set { key: key.to_owned(), old: before, new: after })
    };
    keys.into_iter().filter_map(op).collect()
}

/// An operation for the names that `note` and `copy` both changed since `base`: two titles are a conflict, and aliases are
/// put together.
pub(crate) fn names_changed_twice(base: &Note, note: &Note, copy: &Note) -> Vec<Op> {
    let values =
        |note: &Note| note.frontmatter().map(|bounds| frontmatter::read(note.text(), &bounds).0).unwrap_or_default();
    let (base, note, copy) = (values(base), values(note), values(copy));
    let op = |key: &&str| {
        let (before, own, theirs) = (base.get(key).map(json), note.get(key).map(json), copy.get(key).map(json));
        if own == before || theirs == before || own == theirs {
            return None;
        }
        let (old, new) = match (own, theirs) {
            (Some(Json::Array(own)), Some(Json::Array(theirs))) => {
                let more = theirs.into_iter().filter(|item| !own.contains(item));
                let all = own.iter().cloned().chain(more).collect();
                (Some(Json::Array(own.clone())), Some(Json::Array(all)))
            }
            (_, theirs) => (before, Some(theirs?)),
        };
        (old != new).then(|| Op::Set { key: (*key).to_owned(), old, new })
    };
    NAMES.iter().filter_map(op).collect()
}

/// Whether another command of ours has set the key: sessions are paused and closed by others too. A person's word that
/// closes one stays without a remark.
fn is_lifecycle(key: &str, note: &Values) -> bool {
    let word = note.string(key).map(Status::parse);
    key == "status" && matches!(word, Some(Status::Active | Status::Paused))
}

/// A property as JSON.
pub(crate) fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => {
            let whole = number.as_str().parse::<i64>().ok().map(Number::from);
            let whole = whole.or_else(|| number.as_u64().map(Number::from));
            let number = whole.or_else(|| number.as_f64().and_then(Number::from_f64));
            number.map_or_else(|| Json::String(value.text().unwrap_or_default().to_owned()), Json::Number)
        }
        Value::String(text) => Json::String(text.clone()),
        Value::List(items) => Json::Array(items.iter().map(json).collect()),
        Value::Map(map) => {
            Json::Object(map.iter().map(|(key, value)| (key.to_owned(), json(value))).collect::<Map<_, _>>())
        }
    }
}
