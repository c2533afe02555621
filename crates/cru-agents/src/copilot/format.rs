//! Whether a file is a session of this host, by its first records, and whose stream a record is of: the session of its file,
//! or a sub-agent that a call of it started.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::session::CopilotSession;
use crate::bundles;
use crate::file::jsonl::{Format, beginning};
use crate::file::value::{filled, word};
use crate::record::{self, has_line};
use cru_base::{Result, files};
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Header};

/// Records in which the beginning of a session is looked for.
const RECORDS: usize = 50;

/// The session that a file is of, and when it began.
pub(super) fn place(path: &Path) -> Result<(String, (), Option<jiff::Timestamp>)> {
    let records = beginning(&Bundle::default(), path, RECORDS)?;
    let time = records.iter().find_map(|record| word(record, "/timestamp").parse().ok());
    Ok((session_of(&records, path), (), time))
}

/// The session that a file names, else the one that its place does: `<id>/events.jsonl`, `<id>.jsonl`.
fn session_of(records: &[Value], path: &Path) -> String {
    let named = records.iter().map(|record| word(record, "/data/sessionId").trim());
    if let Some(id) = named.into_iter().find(|id| !id.is_empty() && *id != "REDACTED") {
        return id.to_owned();
    }
    let stem = bundles::stem(path);
    if stem == "events" { bundles::folder(path).unwrap_or(stem) } else { stem }
}

/// The streams of a bundle.
#[derive(Debug, Default)]
pub(super) struct Copilot {
    path: PathBuf,
    /// Streams of sub-agents by the call that started them, and what each was asked.
    started: HashMap<String, (Header, String)>,
    /// The call by the id that the host gives to the sub-agent.
    calls: HashMap<String, String>,
}

impl Format for Copilot {
    type State = CopilotSession;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        path.clone_into(&mut self.path);
        let key = StreamKey { session: session_of(&beginning(bundle, path, RECORDS)?, path), agent: None };
        Ok(Header { key, transcript: path.to_owned(), aside: true, ..Header::default() })
    }

    fn aside(&mut self, own: &StreamKey, record: &Value) -> Option<Header> {
        let data = &record["data"];
        let parent = word(data, "/parentToolCallId");
        let of_id = || self.calls.get(word(record, "/agentId")).map_or("", String::as_str);
        let parent =
            self.started.get(if parent.is_empty() { of_id() } else { parent }).map(|(header, _)| header.clone());
        let by = parent.as_ref().map_or(own, |parent| &parent.key);
        let call = word(data, "/toolCallId");
        let transcript = &self.path;
        let header = |by: &StreamKey, kind: &str, task: Option<&str>| {
            let header = record::agent_header(transcript, &own.session, call, kind);
            let task = task.map(str::to_owned);
            Header { parent: Some(by.clone()), aside: false, task, ..header }
        };
        match word(record, "/type") {
            "tool.execution_start" if is_agent(word(data, "/toolName")) => {
                let given = &data["arguments"];
                let header = header(by, filled(given, "agent_type").unwrap_or_default(), filled(given, "description"));
                self.started.entry(call.to_owned()).or_insert((header, word(given, "/prompt").to_owned()));
            }
            // It tells of the call that started it, and stands where that call does.
            "subagent.started" | "subagent.completed" | "subagent.failed" => {
                let known = self.started.entry(call.to_owned());
                let (started, _) = known.or_insert_with(|| (header(own, "", None), String::new()));
                if let Some(name) = filled(data, "agentName") {
                    started.agent = Some(name.to_owned());
                }
                let by = started.parent.as_ref().and_then(|by| by.agent.clone());
                if let Some(id) = filled(record, "agentId") {
                    self.calls.insert(id.to_owned(), call.to_owned());
                }
                return by.and_then(|by| self.started.get(&by)).map(|(header, _)| header.clone());
            }
            _ => {}
        }
        parent
    }

    fn begin(&mut self, header: &Header) -> CopilotSession {
        let started = header.key.agent.as_ref().and_then(|call| self.started.get(call));
        let beside = if header.aside { beside(&header.transcript) } else { Value::Null };
        CopilotSession::new(&header.key, started.map(|(_, prompt)| prompt.clone()), beside)
    }
}

/// The title that stands in a file beside the session, which a person or the host gave.
fn beside(path: &Path) -> Value {
    let bytes = files::read_regular(&path.with_file_name("workspace.yaml"), 1 << 20).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let of = |key: &str| {
        let stated = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).map(str::trim)?;
        let quoted = || Some(stated.strip_prefix('\'')?.strip_suffix('\'')?.replace("''", "'"));
        let plain = || Some(stated.to_owned()).filter(|text| !text.starts_with(['|', '>']));
        serde_json::from_str(stated).ok().or_else(quoted).or_else(plain)
    };
    json!({ "title": of("name").or_else(|| of("summary")), "named": of("user_named").is_some_and(|it| it == "true") })
}

/// Whether a tool starts a sub-agent.
pub(super) fn is_agent(tool: &str) -> bool {
    tool == "task"
}

/// Whether the file begins with events of this host.
pub(super) fn recognise(_: &Path, bytes: &[u8]) -> bool {
    has_line(bytes, |record| {
        let kind = word(record, "/type");
        let part = kind.split('.').next().unwrap_or("");
        let known = matches!(part, "session" | "user" | "assistant" | "tool" | "hook" | "system" | "subagent");
        kind.contains('.') && known && record.get("data").is_some_and(serde_json::Value::is_object)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(head: &str) -> bool {
        recognise(Path::new("a.jsonl"), head.as_bytes())
    }

    #[test]
    fn by_content() {
        assert!(is("{\"type\":\"session.start\",\"data\":{\"sessionId\":\"s\"}}\n"));
        assert!(is("broken\n{\"type\":\"user.message\",\"data\":{}}\n"));
        assert!(!is("{\"type\":\"session.start\"}\n"));
        assert!(!is("{\"type\":\"session\",\"data\":{}}\n"));
        assert!(!is("{\"type\":\"thread.started\",\"data\":{}}\n"));
        assert!(!is("{\"role\":\"user\",\"message\":{}}\n"));
        assert!(!is(""));
    }
}
