//! Fields of a JSON value of any shape, and the bytes that stand for it whatever its order.
//!
//! For the agents whose records are parts of a document or rows of a database, where the same content is written in
//! more than one way.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use cru_base::json;
use cru_session::event::{Attachment, Usage};
use cru_session::time;

/// The value that these bytes stand for; `None` where they are no JSON.
pub(crate) fn read(bytes: &[u8]) -> Option<Value> {
    serde_json::from_str(&json::text(bytes)).ok()
}

/// Where a field of a value stands: the name of a member, a path to it (`/data/id`), or several of these, of which the first
/// counts that holds what is looked for.
pub(crate) trait FieldPlaces {
    fn places(&self) -> &[&str];
}

impl FieldPlaces for &str {
    fn places(&self) -> &[&str] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> FieldPlaces for [&str; N] {
    fn places(&self) -> &[&str] {
        self
    }
}

impl<P: FieldPlaces> FieldPlaces for &P {
    fn places(&self) -> &[&str] {
        (*self).places()
    }
}

/// The value at a place.
fn at<'v>(value: &'v Value, place: &str) -> Option<&'v Value> {
    if place.starts_with('/') { value.pointer(place) } else { value.get(place) }
}

/// The first of these fields that holds what is looked for.
fn first<'v, T>(value: &'v Value, places: impl FieldPlaces, of: impl Fn(&'v Value) -> Option<T>) -> Option<T> {
    places.places().iter().find_map(|place| of(at(value, place)?))
}

/// A word; `""` where there is none.
pub(crate) fn word<'v>(value: &'v Value, place: &str) -> &'v str {
    at(value, place).and_then(Value::as_str).unwrap_or("")
}

/// A word that says something.
pub(crate) fn filled(value: &Value, places: impl FieldPlaces) -> Option<&str> {
    first(value, places, |it| it.as_str().filter(|text| !text.trim().is_empty()))
}

/// The same without white space around it.
pub(crate) fn trimmed(value: &Value, places: impl FieldPlaces) -> Option<&str> {
    filled(value, places).map(str::trim)
}

/// Whether a field is true.
pub(crate) fn flag(value: &Value, places: impl FieldPlaces) -> bool {
    first(value, places, |it| it.as_bool().filter(|is| *is)).is_some()
}

/// A count; 0 for what is none.
pub(crate) fn count(value: &Value, places: impl FieldPlaces) -> u64 {
    number(value, places).unwrap_or(0)
}

/// A number from 0 without its fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn number(value: &Value, places: impl FieldPlaces) -> Option<u64> {
    let float = |it: &Value| it.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64);
    first(value, places, |it| it.as_u64().or_else(|| float(it)))
}

/// A sum of money above 0, in US dollars.
pub(crate) fn dollars(value: &Value, places: impl FieldPlaces) -> Option<f64> {
    first(value, places, |it| it.as_f64().filter(|number| number.is_finite() && *number > 0.0))
}

/// An exit code.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub(crate) fn exit(value: &Value, places: impl FieldPlaces) -> Option<i32> {
    first(value, places, |it| it.as_f64().map(|code| code as i32))
}

/// An object; `None` for anything else.
pub(crate) fn object<'v>(value: &'v Value, place: &str) -> Option<&'v Value> {
    at(value, place).filter(|value| value.is_object())
}

/// What a message says: the objects of a list, an object alone, or words as a block of text.
pub(crate) fn blocks(content: &Value) -> Vec<Cow<'_, Value>> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(list) => list.iter().filter(|block| block.is_object()).map(Cow::Borrowed).collect(),
        Value::Object(_) => vec![Cow::Borrowed(content)],
        words => vec![Cow::Owned(serde_json::json!({ "type": "text", "text": words }))],
    }
}

/// Number of members of a list or object.
pub(crate) fn length(value: &Value, place: &str) -> Option<u64> {
    let value = at(value, place)?;
    value.as_array().map(Vec::len).or_else(|| Some(value.as_object()?.len())).map(|length| length as u64)
}

/// Whether a text has the form of a UUID.
pub(crate) fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// Decoded size of base64 data.
pub(crate) fn base64_size(data: &str) -> u64 {
    (data.trim_end_matches('=').len() as u64).saturating_mul(3) / 4
}

/// The media type of a file of which a host says none.
pub(crate) const FILE: &str = "application/octet-stream";

/// Something that was sent along: its media type, and its bytes in base 64, perhaps as an address with both.
pub(crate) fn attachment(media: &str, data: &str) -> Attachment<'static> {
    let (named, data) = data.strip_prefix("data:").and_then(|rest| rest.split_once(',')).unwrap_or((media, data));
    let media = named.split(';').next().filter(|media| !media.is_empty()).unwrap_or("image");
    Attachment { media_type: media.to_owned().into(), bytes: if data.contains(':') { 0 } else { base64_size(data) } }
}

/// Counts of tokens by the places that a host gives them: input without cached ones, output, read from and written to a
/// cache.
pub(crate) fn usage(counts: &Value, [input, output, cache_read, cache_write]: [&str; 4]) -> Usage {
    let of = |place: &str| count(counts, place);
    let (input, output) = (of(input), of(output));
    Usage { input, output, cache_read: of(cache_read), cache_write: of(cache_write), ..Usage::default() }
}

/// The same of a host that counts what was read from and written to a cache as input, too.
pub(crate) fn usage_with_cache(counts: &Value, names: [&str; 4]) -> Usage {
    let all = usage(counts, names);
    let cached = all.cache_read.saturating_add(all.cache_write);
    Usage { input: all.input.checked_sub(cached).unwrap_or(all.input), ..all }
}

/// A list; empty for what is none.
pub(crate) fn list<'v>(value: &'v Value, place: &str) -> &'v [Value] {
    at(value, place).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The strings of a list, or a string alone.
pub(crate) fn strings(value: Option<&Value>) -> Vec<&str> {
    let all: Vec<&str> = match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => vec![text],
        _ => Vec::new(),
    };
    all.into_iter().map(str::trim).filter(|text| !text.is_empty()).collect()
}

/// The objects of a list.
pub(crate) fn objects(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten().filter(|item| item.is_object())
}

/// A time in milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub(crate) fn millis(value: &Value, place: &str) -> Option<Timestamp> {
    let number = at(value, place)?;
    let millis = number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))?;
    Timestamp::from_millisecond(millis).ok()
}

/// A time in words.
pub(crate) fn time(value: &Value, place: &str) -> Option<Timestamp> {
    at(value, place)?.as_str()?.parse().ok()
}

/// A time in words, or in seconds or milliseconds since 1970. Zero stands for a time that nobody knew.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub(crate) fn moment(value: &Value, places: impl FieldPlaces) -> Option<Timestamp> {
    const MILLISECONDS: f64 = 1e11;
    first(value, places, |it| match it {
        Value::String(text) => time::parse(text.trim()).filter(|time| time.as_second() > 0),
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| *number > 0.0)?;
            let millis = if number < MILLISECONDS { number * 1000.0 } else { number };
            Timestamp::from_millisecond(millis.round() as i64).ok()
        }
        _ => None,
    })
}

/// The bytes of a value with the keys of its objects in order. A database may give `0.0` for what a document writes as `0`:
/// whole numbers are written alike.
pub(crate) fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &[], false, &mut out);
    out
}

/// The same, without the members of one name at any depth.
pub(crate) fn canonical_but(value: &Value, but: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &[but], false, &mut out);
    out
}

/// The same without its own members of these names, and with numbers as they are.
pub(crate) fn exact_but(value: &Value, but: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, but, true, &mut out);
    out
}

fn write(value: &Value, but: &[&str], is_exact: bool, out: &mut Vec<u8>) {
    let inner = if is_exact { &[] } else { but };
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().filter(|(key, _)| !but.contains(&key.as_str())).collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push(b'{');
            for (key, value) in entries {
                out.extend_from_slice(Value::from(key.as_str()).to_string().as_bytes());
                out.push(b':');
                write(value, inner, is_exact, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        Value::Array(list) => {
            out.push(b'[');
            for value in list {
                write(value, inner, is_exact, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Value::Number(number) if !is_exact => {
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
            let _ = (word(&odd, "key"), flag(&odd, "key"), count(&odd, "key"), list(&odd, "key"), millis(&odd, "key"));
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

    #[test]
    fn canonical_bytes_do_not_depend_on_how_it_was_written() {
        let one = json!({"b": [1, {"y": 1.5, "x": "\n"}], "a": null, "children": [1]});
        let other: Value = serde_json::from_str("{ \"a\":null,\"b\":[1,{\"x\":\"\\u000a\",\"y\":1.50}]}").unwrap();
        assert_eq!(exact_but(&one, &["children"]), exact_but(&other, &[]));
        assert_ne!(exact_but(&one, &[]), exact_but(&other, &[]));
    }

    #[test]
    fn moments() {
        let at = |value: Value| moment(&json!({ "t": value }), ["s", "t"]).map(|time| time.to_string());
        let known = Some("2026-01-05T10:00:00Z".to_owned());
        assert_eq!(at(json!("2026-01-05T10:00:00Z")), known);
        assert_eq!(at(json!("2026-01-05T10:00:00")), known);
        assert_eq!(at(json!(1_767_607_200)), known);
        assert_eq!(at(json!(1_767_607_200_000_i64)), known);
        for unknown in [json!(0), json!(-1), json!(0.0), json!(null), json!("soon"), json!("1970-01-01T00:00:00Z")] {
            assert_eq!(at(unknown.clone()), None, "{unknown}");
        }
    }
}
