//! The frontmatter as JSON values, which is what operations carry.

use serde_json::Value as Json;

use cru_note::Note;
use cru_note::frontmatter::{self, Value};

/// Every key of a note with its value.
pub(super) fn read(note: &Note) -> Vec<(String, Json)> {
    let Some(bounds) = note.frontmatter() else { return Vec::new() };
    let (values, _) = frontmatter::read(note.text(), &bounds);
    values.entries().iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect()
}

fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(it) => Json::Bool(*it),
        Value::Number(number) => {
            let text = number.as_str();
            // A number that JSON has no form for (`0x1F`, `.inf`) is what was written.
            text.parse::<u64>().map(Json::from).or_else(|_| text.parse::<i64>().map(Json::from)).unwrap_or_else(|_| {
                let float = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
                float.map_or_else(|| Json::from(text), Json::Number)
            })
        }
        Value::String(text) => Json::from(text.as_str()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(map) => Json::Object(map.iter().map(|(key, value)| (key.to_owned(), json(value))).collect()),
    }
}
