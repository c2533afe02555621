//! Whose stream a record is of: the session of its file, or a sub-agent that a call of it started.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::session::CopilotSession;
use crate::bundles;
use crate::file::jsonl::{Format, beginning, word};
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Header};

/// Records in which the beginning of a session is looked for.
const RECORDS: usize = 50;

/// Groups files by session.
pub(super) fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    bundles::by_session(files, place)
}

/// The session that a file is of.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    Ok(vec![place(path)?.0])
}

fn place(path: &Path) -> Result<(String, (), Option<jiff::Timestamp>)> {
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

/// What is known of a sub-agent before its first record.
#[derive(Clone, Debug, Default)]
struct Started {
    agent: String,
    task: String,
    prompt: String,
    /// The stream of the call.
    by: StreamKey,
}

/// The streams of a bundle.
#[derive(Debug, Default)]
pub(super) struct Copilot {
    path: PathBuf,
    /// Sub-agents by the call that started them.
    started: HashMap<String, Started>,
    /// The call by the id that the host gives to the sub-agent.
    calls: HashMap<String, String>,
}

impl Format for Copilot {
    type State = CopilotSession;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        path.clone_into(&mut self.path);
        let key = StreamKey { session: session_of(&beginning(bundle, path, RECORDS)?, path), agent: None };
        Ok(Header { key, transcript: path.to_owned(), ..Header::default() })
    }

    fn aside(&mut self, own: &StreamKey, record: &Value) -> Option<Header> {
        let stream = |call: &str| {
            let agent = Some(call).filter(|call| self.started.contains_key(*call)).map(str::to_owned);
            StreamKey { session: own.session.clone(), agent }
        };
        let parent = word(record, "/data/parentToolCallId");
        let parent = if parent.is_empty() {
            self.calls.get(word(record, "/agentId")).map_or("", String::as_str)
        } else {
            parent
        };
        let key = stream(parent);
        match word(record, "/type") {
            "tool.execution_start" if is_agent(word(record, "/data/toolName")) => {
                let said = |key: &str| word(record, &format!("/data/arguments/{key}")).to_owned();
                let started = Started {
                    agent: said("agent_type"),
                    task: said("description"),
                    prompt: said("prompt"),
                    by: key.clone(),
                };
                self.started.entry(word(record, "/data/toolCallId").to_owned()).or_insert(started);
            }
            // It tells of the call that started it, and stands where that call does.
            "subagent.started" | "subagent.completed" | "subagent.failed" => {
                let call = word(record, "/data/toolCallId");
                let started = self.started.entry(call.to_owned()).or_default();
                let name = word(record, "/data/agentName");
                if !name.is_empty() {
                    name.clone_into(&mut started.agent);
                }
                if started.by.session.is_empty() {
                    started.by.session.clone_from(&own.session);
                }
                let by = started.by.clone();
                let id = word(record, "/agentId");
                if !id.is_empty() {
                    self.calls.insert(id.to_owned(), call.to_owned());
                }
                return by.agent.is_some().then(|| self.header(by));
            }
            _ => {}
        }
        key.agent.is_some().then(|| self.header(key))
    }

    fn begin(&mut self, header: &Header) -> CopilotSession {
        let prompt = header.key.agent.as_ref().and_then(|call| self.started.get(call)).map(|it| it.prompt.clone());
        CopilotSession::new(&header.key, prompt)
    }
}

impl Copilot {
    fn header(&self, key: StreamKey) -> Header {
        let started = key.agent.as_ref().and_then(|call| self.started.get(call)).cloned().unwrap_or_default();
        let filled = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        Header {
            parent: Some(started.by).filter(|by| !by.session.is_empty()),
            transcript: self.path.clone(),
            agent: Some(filled(started.agent).unwrap_or_else(|| "agent".to_owned())),
            task: filled(started.task),
            key,
            ..Header::default()
        }
    }
}

/// Whether a tool starts a sub-agent.
pub(super) fn is_agent(tool: &str) -> bool {
    tool == "task"
}
