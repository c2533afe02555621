//! The JSON that a host gives a hook.
//!
//! It comes from a program that changes it between releases, and holds what models and files say: anything may be
//! missing or of another type. What can be read is kept, field by field where the whole cannot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Event, Host};

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
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Err("nothing on stdin".to_owned());
        }
        let error = match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => return Ok(Self { fields }),
            Ok(_) => return Err("stdin is no JSON object".to_owned()),
            Err(error) => error,
        };
        let mended = mend(text);
        match serde_json::from_str(&mended) {
            Ok(Value::Object(fields)) => Ok(Self { fields }),
            _ => salvage(&mended).ok_or_else(|| format!("stdin is no JSON: {error}")),
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

    /// Id of the session; else the name of its transcript. Not to be used as a path.
    pub fn session(&self, host: &Host) -> Option<String> {
        let id = match self.get(host.fields.session) {
            Some(Value::String(id)) => Some(id.trim().to_owned()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => None,
        };
        id.filter(|id| !id.is_empty()).or_else(|| {
            let name = Path::new(self.text(host.fields.transcript)?).file_stem()?.to_str()?;
            Some(name.to_owned())
        })
    }

    /// Its working folder, where that is an absolute path.
    pub fn cwd(&self, host: &Host) -> Option<PathBuf> {
        self.text(host.fields.cwd).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The event that the host itself names, which is the true one: hosts run a hook of one event for another.
    pub fn event(&self, host: &Host) -> Option<Event> {
        host.event(self.text(host.fields.event)?)
    }
}

/// JavaScript writes halves of characters (`\ud83d` alone), which are no text elsewhere: they become U+FFFD.
fn mend(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (half(rest), rest.get(6..).and_then(half)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // An escape is two characters at least; its second may be a backslash.
            (None, _) => rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    mended
}

/// The half of a character that `text` begins with as an escape.
fn half(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok().filter(|code| (0xd800..=0xdfff).contains(code))
}

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
        let host = HOSTS[0];
        let input = read(r#" {"session_id": 12, "cwd": "relative", "hook_event_name": "SubagentStop", "x": null} "#);
        assert_eq!(input.session(host).as_deref(), Some("12"));
        assert_eq!(input.cwd(host), None);
        assert_eq!(input.event(host), Some(Event::SubagentStop));
        let input =
            read(r#"{"session_id": "", "transcript_path": "/x/949d.jsonl", "cwd": "/w", "hook_event_name": 1}"#);
        assert_eq!(input.session(host).as_deref(), Some("949d"));
        assert_eq!(input.cwd(host), Some("/w".into()));
        assert_eq!(input.event(host), None);
        assert_eq!(read("{}").session(host), None);
        assert_eq!(read("\u{feff}{\"session_id\": [1]}").session(host), None);
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
        assert_eq!(input.session(HOSTS[0]).as_deref(), Some("s"));
        assert!(input.text("tool_response").unwrap().ends_with("… [could not be read]"));
        assert!(input.text("n").unwrap().starts_with("1e999"));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Input::read(&bytes);
        }

        #[test]
        fn mending_changes_no_sound_text(text in "\\PC{0,40}") {
            let json = json!({"text": text}).to_string();
            prop_assert_eq!(mend(&json), json);
        }

        #[test]
        fn mending_is_total(text in "[\\\\ud83ce0\"é]{0,60}") {
            let mended = mend(&text);
            prop_assert_eq!(mend(&mended), mended);
        }
    }
}
