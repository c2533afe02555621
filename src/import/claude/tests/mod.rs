//! Whole bundles of small invented records.

#![expect(clippy::needless_pass_by_value, reason = "a record is written where it is used")]

mod agent;
mod damage;
mod session;
mod slice;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::IMPORTER;
use crate::session::event::{Event, EventKind, Meta, PromptOrigin, StreamKey, Usage};
use crate::session::source::{Account, Consumed, Header, Sink};

/// What a bundle was read as.
#[derive(Default)]
struct Told {
    /// Events as lines, by stream.
    streams: BTreeMap<String, String>,
    parents: BTreeMap<String, String>,
    headers: Vec<Header>,
    usage: BTreeMap<(String, String), Usage>,
    consumed: BTreeMap<String, Consumed>,
    accounts: Vec<Account>,
}

impl Told {
    fn stream(&self, key: &str) -> &str {
        self.streams.get(key).map_or("", String::as_str)
    }

    /// How many records of all files were skipped for that reason.
    fn skipped(&self, reason: &str) -> u64 {
        self.accounts.iter().filter_map(|account| account.skipped.get(reason)).sum()
    }
}

impl Sink for Told {
    fn open(&mut self, header: Header) {
        let key = header.key.to_string();
        if let Some(parent) = &header.parent {
            self.parents.insert(key.clone(), parent.to_string());
        }
        assert!(self.streams.insert(key, String::new()).is_none(), "a stream is opened once");
        self.headers.push(header);
    }

    fn event(&mut self, key: &StreamKey, event: Event<'_>) {
        let line = match &event.kind {
            EventKind::Usage { message, usage, .. } => {
                self.usage.insert((key.to_string(), message.to_string()), *usage);
                return;
            }
            // Where a record was made says nothing in most tests.
            EventKind::Meta(Meta::Cwd(_) | Meta::HostVersion(_) | Meta::Branch(_)) => return,
            kind => line(kind),
        };
        let stream = self.streams.get_mut(&key.to_string()).expect("an event only after its stream was opened");
        let _ = writeln!(stream, "{} {line}", event.record);
    }

    fn close(&mut self, key: &StreamKey, consumed: Consumed) {
        assert!(self.consumed.insert(key.to_string(), consumed).is_none(), "a stream is closed once");
    }

    fn account(&mut self, _: &Path, account: Account) {
        assert!(account.balances(), "{account:?}");
        self.accounts.push(account);
    }
}

fn line(kind: &EventKind<'_>) -> String {
    match kind {
        EventKind::Prompt(prompt) => {
            let origin = match &prompt.origin {
                PromptOrigin::Denial { call } => format!("denial of {call}"),
                origin => format!("{origin:?}").to_lowercase(),
            };
            let mut line = format!("prompt ({origin}) {}", prompt.text);
            for sent in &prompt.attachments {
                let _ = write!(line, " +{} {}", sent.media_type, sent.bytes);
            }
            line
        }
        EventKind::Reply(text) => format!("reply {text}"),
        EventKind::Thinking(text) => format!("thinking {text}"),
        EventKind::Call(call) => format!("call {} {} {}", call.id, call.tool, call.args),
        EventKind::Result(result) => {
            let mut line = format!("result {}", result.call);
            for (word, is) in [(" failed", result.failed), (" denied", result.denied)] {
                line.push_str(if is { word } else { "" });
            }
            if let Some(exit) = result.exit {
                let _ = write!(line, " exit {exit}");
            }
            let _ = write!(line, " {}", result.brief.as_ref().unwrap_or(&result.output));
            for (word, files) in [("reads", &result.reads), ("writes", &result.writes)] {
                for file in files {
                    let _ = write!(line, " {word} {}", file.path);
                }
            }
            if let Some(run) = &result.subagent {
                let stream = run.stream.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
                let _ = write!(line, " agent {} {stream}", run.agent.as_deref().unwrap_or("-"));
                line.push_str(if run.background { " background" } else { "" });
            }
            line
        }
        EventKind::Compaction { trigger, tokens_before, summary } => {
            format!(
                "compaction {} {} {}",
                trigger.as_deref().unwrap_or("-"),
                tokens_before.unwrap_or(0),
                summary.as_deref().unwrap_or("-")
            )
        }
        EventKind::Rewind { to } => format!("rewind to {to}"),
        EventKind::Interrupt { call } => format!("interrupt {}", call.as_deref().unwrap_or("-")),
        EventKind::ApiError(text) => format!("failure {text}"),
        EventKind::Decision(made) => {
            let word = if made.approval { "approval" } else { "decision" };
            format!("{word} {} rejected {:?}", made.title, made.rejected)
        }
        EventKind::Tasks(tasks) => {
            let tasks: Vec<_> =
                tasks.iter().map(|task| format!("{} {} {}", task.id, task.content, task.status)).collect();
            format!("tasks {}", tasks.join(", "))
        }
        EventKind::Task(task) => format!("task {} {} {}", task.id, task.content, task.status),
        EventKind::SubagentDone { stream, summary, failed } => {
            format!("done {stream} {} {failed}", summary.as_deref().unwrap_or("-"))
        }
        EventKind::Meta(Meta::Title { rank, text }) => format!("title {rank:?} {text}"),
        EventKind::PullRequest { url, number } => format!("pull {number} {url}"),
        other => format!("{other:?}"),
    }
}

/// Reads files of JSON lines, all bundles one after the other.
fn read(files: &[(&str, &[Value])]) -> Told {
    let text =
        |records: &&[Value]| records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect::<Vec<u8>>();
    let files: Vec<_> = files.iter().map(|(name, records)| (*name, text(records))).collect();
    read_bytes(&files)
}

fn read_bytes(files: &[(&str, Vec<u8>)]) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let mut paths: Vec<PathBuf> = Vec::new();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        crate::base::files::create(&path, bytes).unwrap();
        if !name.ends_with(".meta.json") {
            paths.push(path);
        }
    }
    let mut backwards = paths.clone();
    backwards.reverse();
    let bundles = (IMPORTER.bundle)(paths).unwrap();
    assert_eq!((IMPORTER.bundle)(backwards).unwrap(), bundles, "the order of files changes nothing");
    let mut told = Told::default();
    for bundle in &bundles {
        (IMPORTER.read)(bundle, &mut told).unwrap();
    }
    told
}

/// Reads the records of one session `s`.
fn session(records: &[Value]) -> Told {
    read(&[("s.jsonl", records)])
}

/// A record of session `s` with an id and a parent, and further fields.
fn record(kind: &str, id: &str, parent: &str, more: Value) -> Value {
    let mut record = json!({
        "type": kind, "uuid": id, "parentUuid": if parent.is_empty() { Value::Null } else { parent.into() },
        "sessionId": "s", "cwd": "/home/mia/api", "version": "2.1.9", "isSidechain": false,
        "timestamp": "2026-03-01T10:00:00.000Z",
    });
    if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
        record.extend(more);
    }
    record
}

/// A user line that says `content`.
fn user(id: &str, parent: &str, content: impl Into<Value>) -> Value {
    record("user", id, parent, json!({ "message": { "role": "user", "content": content.into() } }))
}

/// An assistant line with one block.
fn assistant(id: &str, parent: &str, block: Value) -> Value {
    let message = json!({
        "id": format!("m-{id}"), "model": "some-model", "content": [block],
        "usage": { "input_tokens": 1, "output_tokens": 2 },
    });
    record("assistant", id, parent, json!({ "message": message }))
}

fn says(id: &str, parent: &str, text: &str) -> Value {
    assistant(id, parent, json!({ "type": "text", "text": text }))
}

fn calls(id: &str, parent: &str, call: &str, tool: &str, input: Value) -> Value {
    assistant(id, parent, json!({ "type": "tool_use", "id": call, "name": tool, "input": input }))
}

/// The answer of a tool with its details.
fn answers(id: &str, parent: &str, call: &str, text: &str, detail: Value) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": call, "content": text }]);
    let mut answer = user(id, parent, content);
    answer["toolUseResult"] = detail;
    answer
}

/// The failed answer of a tool.
fn fails(id: &str, parent: &str, call: &str, text: &str) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": true }]);
    user(id, parent, content)
}
