//! A strict walk over a JSON value, which collects what is wrong with the path of each place.

use serde_json::{Map, Value};

use cru_base::words::WordSet;

use super::AnswerError;
use cru_base::text::{fold_whitespace, sanitise};

/// Errors that are told at most.
const MAX_ERRORS: usize = 40;

/// Collects errors.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) errors: Vec<AnswerError>,
}

impl Problems {
    pub(super) fn add(&mut self, path: &str, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(AnswerError { path: path.to_owned(), message: message.into() });
        }
    }
}

/// An object with the keys that it may have.
pub(super) struct Fields<'v> {
    map: &'v Map<String, Value>,
    path: String,
}

impl<'v> Fields<'v> {
    /// The object at `path`; other keys than `known` are errors.
    pub(super) fn of(value: &'v Value, path: &str, known: &[&str], problems: &mut Problems) -> Option<Self> {
        let Value::Object(map) = value else {
            problems.add(path, format!("must be an object with {}, not {}", known.join(", "), kind(value)));
            return None;
        };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let shown = cru_base::text::truncate(&sanitise(key), 40).into_owned();
            problems.add(path, format!("unknown key `{shown}`; remove it. Known keys: {}", known.join(", ")));
        }
        Some(Self { map, path: path.to_owned() })
    }

    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The value of a key; `null` is none.
    pub(super) fn get(&self, key: &str) -> Option<&'v Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// The value of a key that must be there.
    pub(super) fn need(&self, key: &str, what: &str, problems: &mut Problems) -> Option<&'v Value> {
        let value = self.get(key);
        if value.is_none() {
            problems.add(&self.path(key), format!("missing; add {what}"));
        }
        value
    }

    /// A text on one line, 1 to `max` characters.
    pub(super) fn line(&self, key: &str, max: usize, what: &str, problems: &mut Problems) -> Option<String> {
        let text = self.text(key, max, what, problems)?;
        Some(fold_whitespace(&text))
    }

    /// A text, 1 to `max` characters.
    pub(super) fn text(&self, key: &str, max: usize, what: &str, problems: &mut Problems) -> Option<String> {
        let value = self.need(key, what, problems)?;
        text(value, &self.path(key), max, problems)
    }

    /// A line that may be missing.
    pub(super) fn optional(&self, key: &str, max: usize, problems: &mut Problems) -> Option<String> {
        // An empty text says that there is none, as a missing one does.
        let value = self.get(key).filter(|value| value.as_str().is_none_or(|text| !text.trim().is_empty()))?;
        text(value, &self.path(key), max, problems).map(|text| fold_whitespace(&text))
    }

    /// One of the words of a set.
    pub(super) fn word<W: WordSet>(&self, key: &str, problems: &mut Problems) -> Option<W> {
        let all = W::written().map(|(word, _)| word).collect::<Vec<_>>().join(", ");
        let value = self.need(key, &format!("one of {all}"), problems)?;
        let mut words = W::written().chain(W::OLD.iter().copied());
        let found = value.as_str().and_then(|word| words.find(|(known, _)| *known == word));
        if found.is_none() {
            problems.add(&self.path(key), format!("{} is none of {all}", shown(value)));
        }
        found.map(|(_, value)| value)
    }

    /// `true` or `false`; a missing one is `false`.
    pub(super) fn flag(&self, key: &str, problems: &mut Problems) -> bool {
        match self.get(key) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                problems.add(&self.path(key), format!("must be true or false, not {}", kind(other)));
                false
            }
        }
    }

    /// A list of at most `max` values; a missing one is empty.
    pub(super) fn list(&self, key: &str, max: usize, problems: &mut Problems) -> &'v [Value] {
        match self.get(key) {
            None => &[],
            Some(Value::Array(items)) if items.len() > max => {
                problems.add(&self.path(key), format!("has {} entries; keep the {max} that matter most", items.len()));
                &items[..max]
            }
            Some(Value::Array(items)) => items,
            Some(other) => {
                problems.add(&self.path(key), format!("must be a list, not {}", kind(other)));
                &[]
            }
        }
    }
}

/// A text of 1 to `max` characters, free of control characters.
pub(super) fn text(value: &Value, path: &str, max: usize, problems: &mut Problems) -> Option<String> {
    let Value::String(text) = value else {
        problems.add(path, format!("must be a text, not {}", kind(value)));
        return None;
    };
    let text = sanitise(text).trim().to_owned();
    let length = text.chars().count();
    if length == 0 {
        problems.add(path, "is empty");
        return None;
    }
    if length > max {
        problems.add(path, format!("has {length} characters; use at most {max}"));
        return None;
    }
    Some(text)
}

/// A value for a message.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", cru_base::text::truncate(&fold_whitespace(&sanitise(text)), 40)),
        other => kind(other).to_owned(),
    }
}

pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
