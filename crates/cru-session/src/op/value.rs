//! Values of properties: from JSON, compared as a person would, lists merged.

use serde_json::Value as Json;

use cru_note::frontmatter::{Mapping, Value};

/// The key that tells rows of a list of maps apart.
const ROW: &str = "session";

/// The property that a JSON value is.
pub(super) fn of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.to_string().into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::List(items.iter().map(of).collect()),
        Json::Object(map) => Value::Map(map.iter().map(|(key, value)| (key.as_str(), of(value))).collect()),
    }
}

/// `None` where there is nothing, or nothing in it.
pub(super) fn some(value: Option<Value>) -> Option<Value> {
    value.filter(|value| *value != Value::Null)
}

/// Whether both say the same, however they are spelled: `42` and `"42"`, keys of a map in any order.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::List(ones), Value::List(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Map(ones), Value::Map(others)) => {
            ones.len() == others.len()
                && ones.iter().all(|(key, one)| others.get(key).is_some_and(|other| same(one, other)))
        }
        (Value::Number(one), Value::Number(other)) if one.as_str() != other.as_str() => {
            one.as_f64().is_some() && one.as_f64() == other.as_f64()
        }
        _ => one == other || one.text().is_some() && one.text().map(str::trim) == other.text().map(str::trim),
    }
}

/// [`same`] for what may not be there.
pub(super) fn same_or_none(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => same(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// A person's list with what changed from `old` to `new` done to it: what is new is added at its end, what is gone goes
/// unless the person changed it, rows are merged by their fields. `None` where one of them is no list.
pub(super) fn merged(current: &Value, old: Option<&Value>, new: &Value) -> Option<Value> {
    let (Value::List(new), Value::List(old)) = (new, old.cloned().unwrap_or(Value::List(Vec::new()))) else {
        return None;
    };
    let current = match current {
        Value::List(items) => items.clone(),
        Value::Null => Vec::new(),
        Value::Map(_) => return None,
        scalar => vec![scalar.clone()],
    };
    let find = |items: &[Value], wanted: &Value| items.iter().find(|item| is_row(item, wanted)).cloned();
    let mut items: Vec<Value> = Vec::with_capacity(current.len());
    for theirs in &current {
        match (find(&old, theirs), find(new, theirs)) {
            (Some(old), None) if same(theirs, &old) => {}
            (Some(old), Some(new)) => items.push(row(theirs, &old, &new)),
            _ => items.push(theirs.clone()),
        }
    }
    for ours in new {
        if find(&old, ours).is_none() && find(&items, ours).is_none() {
            items.push(ours.clone());
        }
    }
    Some(Value::List(items))
}

/// Whether two items are the same row: the same session, else the same in all.
fn is_row(one: &Value, other: &Value) -> bool {
    let name = |value: &Value| value.as_map().and_then(|map| map.get(ROW)).and_then(Value::text).map(str::to_owned);
    match (name(one), name(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => same(one, other),
        _ => false,
    }
}

/// A row with the fields that changed, but for those a person has changed.
fn row(theirs: &Value, old: &Value, new: &Value) -> Value {
    let (Some(map), Some(old), Some(new)) = (theirs.as_map(), old.as_map(), new.as_map()) else {
        return theirs.clone();
    };
    let mut row: Mapping = Mapping::default();
    for (key, value) in map.iter() {
        let was = old.get(key).is_some_and(|old| same(old, value));
        match new.get(key) {
            Some(new) if was => row.insert(key, if same(new, value) { value.clone() } else { new.clone() }),
            None if was => {}
            _ => row.insert(key, value.clone()),
        }
    }
    for (key, value) in new.iter() {
        if old.get(key).is_none() && map.get(key).is_none() {
            row.insert(key, value.clone());
        }
    }
    Value::Map(row)
}
