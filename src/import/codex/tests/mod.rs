//! Whole rollouts of small invented records.

#![expect(clippy::needless_pass_by_value, reason = "a record is written where it is used")]

mod damage;
mod family;
mod session;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::IMPORTER;
use crate::session::event::{Event, EventKind, Meta, StreamKey, Usage};
use crate::session::source::{Account, Consumed, Header, Sink};

/// What bundles were read as.
#[derive(Default)]
struct Told {
    /// Events as lines, by stream.
    streams: BTreeMap<String, String>,
    headers: Vec<Header>,
    usage: BTreeMap<String, Usage>,
    consumed: BTreeMap<String, Consumed>,
    accounts: Vec<Account>,
}

impl Told {
    fn stream(&self, key: &str) -> &str {
        self.streams.get(key).map_or("", String::as_str)
    }

    /// How many records were skipped for that reason.
    fn skipped(&self, reason: &str) -> u64 {
        self.accounts.iter().filter_map(|account| account.skipped.get(reason)).sum()
    }

    fn records(&self) -> u64 {
        self.accounts.iter().map(|account| account.records).sum()
    }
}

impl Sink for Told {
    fn open(&mut self, header: Header) {
        assert!(self.streams.insert(header.key.to_string(), String::new()).is_none(), "a stream is opened once");
        self.headers.push(header);
    }

    fn event(&mut self, key: &StreamKey, event: Event<'_>) {
        let line = match &event.kind {
            EventKind::Usage { usage, .. } => {
                self.usage.entry(key.to_string()).or_default().add(*usage);
                return;
            }
            EventKind::Meta(Meta::Cwd(_) | Meta::HostVersion(_) | Meta::Branch(_) | Meta::Commit(_)) => return,
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
            let mut line = format!("prompt ({}) {}", format!("{:?}", prompt.origin).to_lowercase(), prompt.text);
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
            }
            line
        }
        EventKind::Compaction { tokens_before, summary, .. } => {
            format!("compaction {} {}", tokens_before.unwrap_or(0), summary.as_deref().unwrap_or("-"))
        }
        EventKind::Rewind { to } => format!("rewind to {to}"),
        EventKind::Interrupt { .. } => "interrupt".to_owned(),
        EventKind::ApiError(text) => format!("failure {text}"),
        EventKind::Decision(made) => format!("decision {} rejected {:?}", made.title, made.rejected),
        EventKind::Tasks(tasks) => {
            let tasks: Vec<_> = tasks.iter().map(|task| format!("{} {}", task.content, task.status)).collect();
            format!("tasks {}", tasks.join(", "))
        }
        EventKind::SubagentDone { stream, summary, failed } => {
            format!("done {stream} {} {failed}", summary.as_deref().unwrap_or("-"))
        }
        EventKind::Meta(Meta::Title { rank, text }) => format!("title {rank:?} {text}"),
        other => format!("{other:?}"),
    }
}

fn bytes(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect()
}

fn read_bytes(files: &[(&str, Vec<u8>)]) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let mut paths: Vec<PathBuf> = Vec::new();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        crate::base::files::create(&path, bytes).unwrap();
        paths.push(path);
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

fn read(files: &[(&str, &[Value])]) -> Told {
    let files: Vec<_> = files.iter().map(|(name, records)| (*name, bytes(records))).collect();
    read_bytes(&files)
}

/// Reads the records of one session `s`, its first record made for it.
fn session(records: &[Value]) -> Told {
    let mut all = vec![meta("s", json!({}))];
    all.extend_from_slice(records);
    read(&[("s.jsonl", &all)])
}

fn record(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "payload": payload })
}

/// The beginning of a session, with further fields.
fn meta(id: &str, more: Value) -> Value {
    let mut payload =
        json!({ "id": id, "timestamp": "2026-03-01T09:59:59Z", "cwd": "/home/mia/api", "cli_version": "0.140.0" });
    if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
    }
    record("session_meta", payload)
}

fn item(payload: Value) -> Value {
    record("response_item", payload)
}

fn event(payload: Value) -> Value {
    record("event_msg", payload)
}

/// Words of a person, as both records tell them.
fn asks(text: &str) -> [Value; 2] {
    let content = json!([{ "type": "input_text", "text": text }]);
    [
        item(json!({ "type": "message", "role": "user", "content": content })),
        event(json!({ "type": "user_message", "message": text })),
    ]
}

/// Words of the agent, as both records tell them.
fn says(text: &str) -> [Value; 2] {
    let content = json!([{ "type": "output_text", "text": text }]);
    [
        event(json!({ "type": "agent_message", "message": text })),
        item(json!({ "type": "message", "role": "assistant", "content": content })),
    ]
}

fn calls(id: &str, name: &str, arguments: Value) -> Value {
    item(json!({ "type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id }))
}

fn answers(id: &str, output: impl Into<Value>) -> Value {
    item(json!({ "type": "function_call_output", "call_id": id, "output": output.into() }))
}
