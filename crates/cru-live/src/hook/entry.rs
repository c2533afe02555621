//! The line a hook leaves in the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Event, Host, Input, cut, file};

/// An event of a host, as it was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Id of the host.
    pub host: String,
    /// Name of the event ([`Event::name`]).
    pub event: String,
    /// The host's JSON; very long texts of tools are cut.
    pub input: Value,
    /// Files that the call names, as they were at that moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<HashedFile>,
    /// The `session_id` that was the current one where the host was started, as its environment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
}

/// A file that a tool call names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashedFile {
    /// As the call names it.
    pub path: String,
    /// The first 16 digits of its BLAKE3; empty where it was not read.
    pub hash: String,
    /// Whether the call makes it: before the call it was not there.
    pub created: bool,
}

impl Entry {
    /// What is kept of an event. Looks at the files that a tool's call names.
    pub fn new(host: &Host, event: Event, input: Input) -> Self {
        let files = file::of(host, event, &input);
        let mut map = input.into_map();
        if let Some(response) = map.get_mut(host.fields.tool_response) {
            cut::value(response, &cut::RESPONSE);
        }
        if let Some(arguments) = map.get_mut(host.fields.tool_input) {
            cut::value(arguments, &cut::INPUT);
        }
        let (host, event) = (host.id.to_owned(), event.name().to_owned());
        Self { host, event, input: Value::Object(map), files, continues: None }
    }

    /// Its event; `None` for one that this version does not know.
    pub fn event(&self) -> Option<Event> {
        Event::parse(&self.event)
    }
}
