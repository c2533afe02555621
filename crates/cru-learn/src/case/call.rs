//! A tool call with all of its arguments and its whole answer, where the transcript still has them.
//!
//! A note holds one line of a call. Who reads transcripts hands the rest in, by step id ([`Calls`]); nothing here reads
//! files. What is not handed in is told by the note's line, and no argument is ever made up.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::context::budget;
use cru_action::ToolKind;

/// Characters of an answer that are looked through: what a tool said is no part of what is learned, but an edit quotes
/// it.
const OUTPUT: usize = 120_000;

/// The calls of a session by the ids of their steps.
pub type Calls = HashMap<String, Call>;

/// A call as it was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// What it was given, always an object.
    pub arguments: Map<String, Value>,
    /// What it answered; `None` where nothing is recorded.
    pub output: Option<String>,
}

impl Call {
    /// A call; `None` where the record does not hold its arguments. A text that was given whole is one argument,
    /// `input`.
    pub fn new(name: &str, input: Value, output: Option<&str>) -> Option<Self> {
        let arguments = match input {
            Value::Object(map) => map,
            Value::String(text) if !text.is_empty() => Map::from_iter([("input".to_owned(), Value::String(text))]),
            _ => return None,
        };
        // Some records hold of an edit only where it was made.
        let text = arguments.values().any(|value| match value {
            Value::String(text) => text.contains(['\n', ' ', '=', '(', '{']),
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            _ => false,
        });
        let kind = ToolKind::of(name);
        if kind.writes_files() && kind != ToolKind::Delete && !text && arguments.len() < 3 {
            return None;
        }
        let output = output.map(|text| budget::cut_middle(text, OUTPUT).into_owned());
        (!name.is_empty()).then(|| Self { name: name.to_owned(), arguments, output })
    }

    /// Every text of the call, for hygiene: the arguments with the names they stand under.
    pub(crate) fn texts_mut(&mut self, each: &mut dyn FnMut(&str, &mut String)) {
        for (name, value) in &mut self.arguments {
            texts_of(name, value, each);
        }
        if let Some(output) = &mut self.output {
            each("", output);
        }
    }
}

/// Every text in a value. Arguments are as deep as a JSON reader lets them be (128).
pub(crate) fn texts_of(name: &str, value: &mut Value, each: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => each(name, text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts_of(name, item, each)),
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| texts_of(name, value, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
