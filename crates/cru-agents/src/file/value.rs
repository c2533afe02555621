//! Fields of a JSON value of any shape, and the bytes that stand for it whatever its order.
//!
//! For the agents whose records are parts of a document or rows of a database, where the same content is written in
//! more than one way.

use jiff::Timestamp;
use serde_json::Value;

use cru_base::json;

/// The value that these bytes stand for; `None` where they are no JSON.
pub(crate) fn read(bytes: &[u8]) -> Option<Value> {
    serde_json::from_str(&json::text(bytes)).ok()
}

/// A word; `""` where there is none.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

/// A word that says something.
pub(crate) fn filled<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// Whether a field is true.
pub(crate) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A count; 0 for what is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn count(value: &Value, key: &str) -> u64 {
    let number = value.get(key);
    number.and_then(Value::as_u64).or_else(|| number?.as_f64().map(|number| number as u64)).unwrap_or(0)
}

/// A list; empty for what is none.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A time in milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub(crate) fn millis(value: &Value, key: &str) -> Option<Timestamp> {
    let number = value.get(key)?;
    let millis = number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))?;
    Timestamp::from_millisecond(millis).ok()
}

/// A time in words.
pub(crate) fn time(value: &Value, key: &str) -> Option<Timestamp> {
    value.get(key)?.as_str()?.parse().ok()
}

/// The bytes of a value with the keys of its objects in order.
pub(crate) fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push(b'{');
            for (key, value) in entries {
                out.extend_from_slice(Value::from(key.as_str()).to_string().as_bytes());
                out.push(b':');
                write(value, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        Value::Array(list) => {
            out.push(b'[');
            for value in list {
                write(value, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Value::Number(number) => {
            // A database may give `0.0` for what a document writes as `0`.
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
            let text = whole.map_or_else(|| number.to_string(), |number| format!("{number:.0}"));
            out.extend_from_slice(text.as_bytes());
        }
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn any_type_is_taken_anywhere() {
        for odd in [json!(null), json!(true), json!(-3), json!("x"), json!([1]), json!({"key": {}})] {
            let _ = (text(&odd, "key"), flag(&odd, "key"), count(&odd, "key"), list(&odd, "key"), millis(&odd, "key"));
            assert_eq!((filled(&odd, "key"), time(&odd, "key")), (None, None));
        }
        assert_eq!(count(&json!({"a": 3.0}), "a"), 3);
        assert_eq!(millis(&json!({"a": 1_777_397_723_777_i64}), "a").unwrap().to_string(), "2026-04-28T17:35:23.777Z");
    }

    #[test]
    fn order_changes_nothing() {
        let one: Value = serde_json::from_str(r#"{"b":[1,{"y":0.0,"x":"\u00e9"}],"a":null}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"a":null,"b":[1.0,{"x":"é","y":0}]}"#).unwrap();
        assert_eq!(canonical(&one), canonical(&two));
        assert_ne!(canonical(&one), canonical(&json!({"a": null, "b": [{"x": "é", "y": 0}, 1]})));
    }
}
