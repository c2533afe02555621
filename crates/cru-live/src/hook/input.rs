//! The JSON that a host gives a hook.
//!
//! It comes from a program that changes it between releases, and holds what models and files say: anything may be
//! missing or of another type. What can be read is kept, field by field where the whole cannot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Event, FIELDS, Host};
use cru_base::json;

/// Bytes of the longest input that is read.
pub const MAX: u64 = 64 << 20;

/// What a host told.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    fields: Map<String, Value>,
}

impl Input {
    /// Reads an object; the error says in words what was there instead.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let text = json::text(bytes);
        let text = text.trim();
        if text.is_empty() {
            return Err("nothing on stdin".to_owned());
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self { fields }),
            Ok(_) => Err("stdin is no JSON object".to_owned()),
            Err(error) => salvage(text).ok_or_else(|| format!("stdin is no JSON: {error}")),
        }
    }

    /// A field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// A field that is a text and says something.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// All fields.
    pub fn into_map(self) -> Map<String, Value> {
        self.fields
    }

    /// The same under the names that all hosts share ([`FIELDS`]).
    #[must_use]
    pub fn shared(mut self, host: &Host) -> Self {
        for (own, shared) in host.fields.shared().into_iter().chain(OTHER_NAMES) {
            if own == shared {
                continue;
            }
            if let Some(value) = self.fields.shift_remove(own).filter(|value| !value.is_null()) {
                self.fields.insert(shared.to_owned(), value);
            }
        }
        // A host that works in several folders names the first one first.
        let root =
            self.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str).map(str::to_owned);
        if let Some(root) = root.filter(|_| self.text(FIELDS.cwd).is_none()) {
            self.fields.insert(FIELDS.cwd.to_owned(), root.into());
        }
        self
    }

    /// The host that told this, where its JSON says so and that is not `called`: hosts run hooks that were installed for
    /// others. The error names a host that is not known.
    pub fn teller(&self, called: &'static Host) -> Result<&'static Host, &'static str> {
        if self.get("cursor_version").is_some() {
            return Ok(Host::find("cursor").unwrap_or(called));
        }
        let has = |name: &str| self.get(name).is_some();
        let is_camel = has("hookEventName") && has("sessionId") && !has("session_id");
        if is_camel && called.id != "copilot-cli" {
            return Err("VS Code");
        }
        // Copilot CLI reads the project's settings of Claude Code, which itself names a transcript with every event.
        let is_copilot = self.text("transcript_path").map_or(has("timestamp"), |path| path.contains("/.copilot/"));
        if is_copilot && called.id == "claude-code" {
            return Ok(Host::find("copilot-cli").unwrap_or(called));
        }
        Ok(called)
    }

    /// Id of the session; else the name of its transcript. Not to be used as a path.
    pub fn session(&self) -> Option<String> {
        let id = match self.get(FIELDS.session) {
            Some(Value::String(id)) => Some(id.trim().to_owned()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => None,
        };
        id.filter(|id| !id.is_empty()).or_else(|| {
            let name = Path::new(self.text(FIELDS.transcript)?).file_stem()?.to_str()?;
            Some(name.to_owned())
        })
    }

    /// Its working folder, where that is an absolute path.
    pub fn cwd(&self) -> Option<PathBuf> {
        self.text(FIELDS.cwd).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The event that the host itself names, which is the true one: hosts run a hook of one event for another.
    pub fn event(&self, host: &Host) -> Option<Event> {
        host.event(self.text(FIELDS.event)?)
    }
}

/// Names that hosts give fields beside those of their table: camel case.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("sessionId", FIELDS.session),
    ("transcriptPath", FIELDS.transcript),
    ("hookEventName", FIELDS.event),
    ("toolName", FIELDS.tool),
    ("toolArgs", FIELDS.tool_input),
    ("toolResult", FIELDS.tool_response),
];

/// The fields that can be read alone; of the others (nested too deep, numbers out of range) the first bytes.
fn salvage(text: &str) -> Option<Input> {
    const KEPT: usize = 2000;
    let raw: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).ok()?;
    let field = |(name, raw): (String, Box<RawValue>)| {
        let value = serde_json::from_str(raw.get()).unwrap_or_else(|_| {
            let end = cru_base::lines::floor_char_boundary(raw.get(), KEPT);
            Value::String(format!("{}… [could not be read]", &raw.get()[..end]))
        });
        (name, value)
    };
    Some(Input { fields: raw.into_iter().map(field).collect() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::HOSTS;
    use super::*;

    fn read(text: &str) -> Input {
        Input::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn fields_may_be_odd() {
        let host = &HOSTS[0];
        let input = read(r#" {"session_id": 12, "cwd": "relative", "hook_event_name": "SubagentStop", "x": null} "#);
        assert_eq!(input.session().as_deref(), Some("12"));
        assert_eq!(input.cwd(), None);
        assert_eq!(input.event(host), Some(Event::SubagentStop));
        let input =
            read(r#"{"session_id": "", "transcript_path": "/x/949d.jsonl", "cwd": "/w", "hook_event_name": 1}"#);
        assert_eq!(input.session().as_deref(), Some("949d"));
        assert_eq!(input.cwd(), Some("/w".into()));
        assert_eq!(input.event(host), None);
        assert_eq!(read("{}").session(), None);
        assert_eq!(read("\u{feff}{\"session_id\": [1]}").session(), None);
    }

    #[test]
    fn every_host_s_names_become_the_shared_ones() {
        let shared = |id: &str, text: &str| read(text).shared(Host::find(id).unwrap());
        let cursor = shared(
            "cursor",
            r#"{"conversation_id": "c", "hook_event_name": "postToolUse", "workspace_roots": ["/w"], "tool_output": "x"}"#,
        );
        assert_eq!((cursor.session().as_deref(), cursor.cwd()), (Some("c"), Some("/w".into())));
        assert_eq!(cursor.event(Host::find("cursor").unwrap()), Some(Event::PostTool));
        assert_eq!(cursor.text("tool_response"), Some("x"));
        let goose = shared("goose", r#"{"event": "UserPromptSubmit", "session_id": "g", "message": "go"}"#);
        assert_eq!(goose.event(Host::find("goose").unwrap()), Some(Event::Prompt));
        assert_eq!(goose.text("prompt"), Some("go"));
        let qwen = shared("qwen-code", r#"{"prompt": "go\n[files]", "submitted_prompt": "go"}"#);
        assert_eq!(qwen.text("prompt"), Some("go"));
        assert_eq!(shared("qwen-code", r#"{"prompt": "go"}"#).text("prompt"), Some("go"));
        let code = shared("copilot-cli", r#"{"sessionId": "v", "hookEventName": "Stop", "transcriptPath": "/t"}"#);
        assert_eq!((code.session().as_deref(), code.text("transcript_path")), (Some("v"), Some("/t")));
    }

    #[test]
    fn who_told_it_is_seen() {
        let claude = &HOSTS[0];
        let teller = |text: &str| read(text).teller(claude).map(|host| host.id);
        assert_eq!(teller(r#"{"session_id": "s", "hook_event_name": "Stop"}"#), Ok("claude-code"));
        assert_eq!(teller(r#"{"conversation_id": "c", "cursor_version": "2"}"#), Ok("cursor"));
        assert_eq!(teller(r#"{"sessionId": "v", "hookEventName": "Stop"}"#), Err("VS Code"));
        let copilot = r#"{"session_id": "s", "hook_event_name": "PreToolUse", "timestamp": "2026-01-01T00:00:00Z"}"#;
        assert_eq!(teller(copilot), Ok("copilot-cli"));
        let stop = r#"{"session_id": "s", "transcript_path": "/home/me/.copilot/session-state/s/events.jsonl"}"#;
        assert_eq!(teller(stop), Ok("copilot-cli"));
        let camel = read(r#"{"sessionId": "v", "hookEventName": "Stop"}"#);
        assert!(camel.teller(Host::find("copilot-cli").unwrap()).is_ok());
    }

    #[test]
    fn what_is_no_object_is_refused_in_words() {
        let error = |bytes: &[u8]| Input::read(bytes).unwrap_err();
        assert_eq!(error(b" \n"), "nothing on stdin");
        assert_eq!(error(b"[1]"), "stdin is no JSON object");
        assert!(error(b"{\"a\": 1").contains("EOF"));
        assert!(error(b"\xff\xfe\x00").contains("no JSON"));
    }

    #[test]
    fn halves_of_characters_are_mended() {
        let input = read(
            r#"{"a": "x\ud83dy", "b": "\ud83d\ude00", "c": "\\ud83d", "d": "\udc00\ud83d\ud83d\ude00", "e": "\u00e9\""}"#,
        );
        assert_eq!(
            Value::Object(input.into_map()),
            json!({"a": "x\u{fffd}y", "b": "😀", "c": "\\ud83d", "d": "\u{fffd}\u{fffd}😀", "e": "é\""})
        );
    }

    #[test]
    fn one_bad_field_costs_only_itself() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let input = read(&format!(r#"{{"session_id": "s", "tool_response": {deep}, "n": 1e999}}"#));
        assert_eq!(input.session().as_deref(), Some("s"));
        assert!(input.text("tool_response").unwrap().ends_with("… [could not be read]"));
        assert!(input.text("n").unwrap().starts_with("1e999"));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Input::read(&bytes);
        }
    }
}
