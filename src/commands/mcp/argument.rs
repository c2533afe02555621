//! The arguments of a call: read strictly, told in words where they are wrong.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::answer::{LARGEST_BUDGET, SMALLEST_BUDGET, USUAL_BUDGET};
use super::catalogue;
use crate::base::text::{one_line, truncate};
use crate::base::{Error, Result};
use crate::session::mask::Masks;

/// Bytes of the longest text that is an argument of a question.
const LONGEST: usize = 8_192;

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Arguments(JsonObject);

impl Arguments {
    /// Of a call of the tool `name`. Error: an argument that it does not have.
    pub(super) fn new(name: &str, given: Option<JsonObject>) -> Result<Self> {
        let given = given.unwrap_or_default();
        let known =
            catalogue::arguments(name).ok_or_else(|| Error::usage(format!("there is no tool `{}`", short(name))))?;
        if let Some(other) = given.keys().find(|key| !known.contains(key)) {
            return Err(Error::usage(format!("`{name}` has no argument `{}`", short(other)))
                .with_hint(format!("arguments: {}", known.join(", "))));
        }
        Ok(Self(without_secrets(given)))
    }

    /// A text that says something. Error: another type, or longer than a question is.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() > LONGEST => {
                Err(Error::usage(format!("`{name}` is longer than {LONGEST} bytes")))
            }
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(Error::usage(format!("`{name}` is no text"))),
        }
    }

    /// The same where it must be given.
    pub(super) fn needed(&self, name: &str) -> Result<&str> {
        self.text(name)?.ok_or_else(|| Error::usage(format!("`{name}` is missing")))
    }

    /// Texts: a list, or one alone.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<&str>> {
        let Some(Value::Array(list)) = self.0.get(name) else {
            return Ok(self.text(name)?.into_iter().collect());
        };
        let text = |value: &'_ Value| value.as_str().is_some_and(|text| text.len() <= LONGEST);
        if list.len() > 64 || !list.iter().all(text) {
            return Err(Error::usage(format!("`{name}` is no list of texts")));
        }
        Ok(list.iter().filter_map(Value::as_str).collect())
    }

    /// A whole number, also one written as a text.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
                number.map(Some).ok_or_else(|| Error::usage(format!("`{name}` is no whole number")))
            }
        }
    }

    /// A number between 1 and `most`.
    pub(super) fn limit(&self, usual: u64, most: u64) -> Result<usize> {
        let limit = self.number("limit")?.unwrap_or(usual).clamp(1, most);
        Ok(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// Rows or lines that were given before.
    pub(super) fn cursor(&self) -> Result<usize> {
        Ok(usize::try_from(self.number("cursor")?.unwrap_or(0).min(1_000_000)).unwrap_or(0))
    }

    /// Whether something is so.
    pub(super) fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Tokens of the answer.
    pub(super) fn budget(&self) -> Result<u64> {
        Ok(self.number("budget")?.unwrap_or(USUAL_BUDGET).clamp(SMALLEST_BUDGET, LARGEST_BUDGET))
    }

    /// A list of any values.
    pub(super) fn list(&self, name: &str) -> Result<&[Value]> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(Error::usage(format!("`{name}` is no list"))),
        }
    }
}

/// Arguments without keys and passwords: what an agent says may be kept.
pub(super) fn without_secrets(given: JsonObject) -> JsonObject {
    let mut value = Value::Object(given);
    Masks::unnumbered().value(&mut value);
    if let Value::Object(given) = value { given } else { JsonObject::new() }
}

fn short(text: &str) -> String {
    truncate(&one_line(text), 60).into_owned()
}
