//! The line a hook leaves in the journal.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Event, FIELDS, Host, Input, cut, file, head};
use cru_session::mask::Masks;

/// An event of a host, as it was told, without the secrets in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookEntry {
    /// Id of the host.
    pub host: String,
    /// Name of the event ([`Event::name`]).
    pub event: String,
    /// The host's JSON under the names of [`FIELDS`]; very long texts of tools are cut.
    pub input: Value,
    /// Files that the call names, as they were at that moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<HashedFile>,
    /// The first digits of the commit that was checked out at that moment, for a command that makes commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
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

impl HookEntry {
    /// What is kept of an event that is told under the names that all hosts share ([`Input::shared`]). Looks at the files that a tool's call names.
    pub fn new(host: &Host, event: Event, input: Input) -> Self {
        let mut files = file::of(host, event, &input);
        let head = head::of(event, &input);
        let mut map = input.into_map();
        // Before anything is cut: half a secret is no longer known as one.
        mask(&mut map);
        let mut masks = Masks::unnumbered();
        for file in &mut files {
            file.path = masks.text(&file.path).into_owned();
        }
        if let Some(response) = map.get_mut(FIELDS.tool_response) {
            cut::value(response, &cut::RESPONSE);
        }
        if let Some(arguments) = map.get_mut(FIELDS.tool_input) {
            cut::value(arguments, &cut::INPUT);
        }
        let (host, event) = (host.id.to_owned(), event.name().to_owned());
        Self { host, event, input: Value::Object(map), files, head, continues: None }
    }

    /// The same without its secrets, for what an older version kept.
    #[must_use]
    pub fn masked(mut self) -> Self {
        if let Value::Object(map) = &mut self.input {
            mask(map);
        }
        self
    }

    /// Its event; `None` for one that this version does not know.
    pub fn event(&self) -> Option<Event> {
        Event::parse(&self.event)
    }
}

/// Takes the secrets out of what a host told. What names the session, its files and its calls stays: it is looked for.
fn mask(input: &mut Map<String, Value>) {
    let kept = [FIELDS.session, FIELDS.transcript, FIELDS.cwd, FIELDS.event];
    let mut masks = Masks::unnumbered();
    for (name, value) in input.iter_mut() {
        let is_id = name.ends_with("_id") || name.ends_with("_path");
        if !kept.contains(&name.as_str()) && !is_id {
            masks.member(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hook::HOSTS;

    #[test]
    fn no_secret_reaches_the_journal() {
        let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2");
        let input = json!({
            "session_id": "s-1", "cwd": "/w", "transcript_path": "/t/s-1.jsonl", "tool_name": "Bash",
            "tool_use_id": "toolu_01", "prompt": format!("use {token}"),
            "tool_input": { "command": format!("echo {token}"), "password": format!("correct{}", "horse") },
            "tool_response": { "stdout": format!("{}{token}", "x".repeat(8180)) },
        });
        let entry = HookEntry::new(&HOSTS[0], Event::PostTool, Input::read(input.to_string().as_bytes()).unwrap());
        let text = serde_json::to_string(&entry).unwrap();
        assert!(!text.contains(&token[..12]) && !text.contains("correcthorse"), "{text}");
        assert!(text.contains("\"session_id\":\"s-1\"") && text.contains("[secret:github-token]"), "{text}");
        assert_eq!(entry.clone().masked(), entry);
    }
}
