//! Arguments of a tool call as a step line shows them, in the ways that all agents have in common.

use serde_json::{Map, Value};

use super::place::Place;
use cru_base::text;

/// The text of an argument, where it says something.
pub(super) fn word<'a>(input: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    input.get(key).and_then(Value::as_str).map(str::trim).filter(|value| !value.is_empty())
}

/// Where a tool searches: ` in src (*.rs)`. The project's own folder is not said.
pub(super) fn scope(path: Option<&str>, kinds: Option<&str>, place: &Place) -> String {
    let path = path.map(|path| place.show(path)).filter(|path| path != ".");
    let mut scope = path.map(|path| format!(" in {path}")).unwrap_or_default();
    if let Some(kinds) = kinds {
        scope = format!("{scope} ({kinds})");
    }
    scope
}

/// `:10-60` for a part of a file.
pub(super) fn lines_of(input: &Map<String, Value>) -> String {
    // Numbers come as strings now and then.
    let number = |key: &str| {
        input.get(key).and_then(|value| value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok())))
    };
    match (number("offset"), number("limit")) {
        (None, None) => String::new(),
        (Some(from), None) => format!(":{from}-"),
        (from, Some(limit)) => {
            let from = from.unwrap_or(1).max(1);
            format!(":{from}-{}", from.saturating_add(limit).saturating_sub(1))
        }
    }
}

/// Arguments as compact JSON: as many of the first as fit a line, long words cut.
pub(super) fn compact(input: &Map<String, Value>, place: &Place) -> String {
    const LINE: usize = 200;
    const WORD: usize = 80;
    const FEW: usize = 8;
    let mut line = String::new();
    for (key, value) in input {
        let value = match value {
            Value::String(word) => {
                let word = text::fold_whitespace(head(word));
                Value::String(text::truncate(&place.show(&word), WORD).into_owned())
            }
            Value::Array(list) if list.iter().any(is_deep) || list.len() > FEW => {
                Value::String(text::plural(list.len() as u64, "item"))
            }
            Value::Array(_) => short(value, "[…]", WORD),
            Value::Object(_) => short(value, "{…}", WORD),
            plain => plain.clone(),
        };
        let part = format!("{}:{value}", Value::String(text::truncate(key, WORD).into_owned()));
        if !line.is_empty() && line.len() + part.len() > LINE {
            line.push_str(",…");
            break;
        }
        if !line.is_empty() {
            line.push(',');
        }
        line.push_str(&part);
    }
    if line.is_empty() { line } else { format!("{{{line}}}") }
}

/// A small list or object as it is, else a sign that there is one.
fn short(value: &Value, sign: &str, limit: usize) -> Value {
    let small = match value {
        Value::Array(list) => !list.iter().any(is_deep),
        Value::Object(map) => map.len() <= 4 && !map.values().any(is_deep),
        _ => true,
    };
    if small && value.to_string().len() <= limit { value.clone() } else { Value::String(sign.to_owned()) }
}

/// Whether a value is more than a short word or number.
fn is_deep(value: &Value) -> bool {
    const LONG: usize = 80;
    match value {
        Value::String(word) => word.len() > LONG,
        Value::Array(_) | Value::Object(_) => true,
        _ => false,
    }
}

/// The beginning of a word, enough of it to be cut by characters.
fn head(word: &str) -> &str {
    &word[..cru_base::lines::floor_char_boundary(word, 4000)]
}
