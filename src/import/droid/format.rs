//! Whether a file is a session of this host, and which one.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::session::Session;
use crate::base::Result;
use crate::import::bundles;
use crate::import::jsonl::{Format, beginning, head, word};
use crate::session::event::StreamKey;
use crate::session::source::{Bundle, Header};

/// Records that are looked at.
const RECORDS: usize = 20;

/// Whether the file begins as a session of this host does.
pub(super) fn recognise(_: &Path, bytes: &[u8]) -> bool {
    head(bytes, RECORDS).next().is_some_and(|record| match word(&record, "/type") {
        "session_start" => !word(&record, "/id").is_empty() && record.get("payload").is_none(),
        // A slice: a message with a role, of a kind that no other host writes with blocks of this form.
        "message" => {
            let role = matches!(word(&record, "/message/role"), "user" | "assistant");
            let blocks = record.pointer("/message/content").is_some_and(Value::is_array);
            let block = word(&record, "/message/content/0/type");
            let of_pi =
                ["usage", "api", "timestamp", "stopReason"].iter().any(|key| record["message"].get(key).is_some());
            role && blocks && !of_pi && record.get("parentId").is_none_or(|id| !id.is_null()) && block.contains("tool_")
        }
        _ => false,
    })
}

/// Groups files by session.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let none = Bundle::default();
    bundles::by_session(files, |path| {
        let records = beginning(&none, path, RECORDS)?;
        let time = records.iter().find_map(|record| word(record, "/timestamp").parse().ok());
        Ok((session_of(&records, path), (), time))
    })
}

/// The session that the first line names, else the one that the file's name does.
fn session_of(records: &[Value], path: &Path) -> String {
    let start = records.iter().find(|record| word(record, "/type") == "session_start");
    let named = start.map_or("", |record| word(record, "/id").trim());
    if named.is_empty() || named == "REDACTED" { bundles::stem(path) } else { named.to_owned() }
}

/// The stream of a file.
pub(super) struct Droid;

impl Format for Droid {
    type State = Session;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        let records = beginning(bundle, path, RECORDS)?;
        let key = StreamKey { session: session_of(&records, path), agent: None };
        let start = records.iter().find(|record| word(record, "/type") == "session_start");
        let parent = start.map_or("", |record| word(record, "/parentSessionId").trim());
        let parent = Some(parent).filter(|parent| !parent.is_empty() && *parent != key.session);
        let parent = parent.map(|session| StreamKey { session: session.to_owned(), agent: None });
        Ok(Header { key, parent, transcript: path.to_owned(), ..Header::default() })
    }

    fn begin(&mut self, _: &Header) -> Session {
        Session::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_content() {
        let is = |head: &str| recognise(Path::new("a.jsonl"), head.as_bytes());
        assert!(is("{\"type\":\"session_start\",\"id\":\"s\",\"cwd\":\"/x\"}\n"));
        assert!(is(
            "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}}\n"
        ));
        assert!(!is("{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n"));
        assert!(!is(
            "{\"type\":\"message\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}}\n"
        ));
        assert!(!is("{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(!is(""));
    }
}
