//! Events: files of the published format, one event a line, as any program may write them. `docs/events.md` has the format.
//!
//! What a line leaves out is worked out as for every host: what a step shows of a call, and which files an answer proves to
//! be read or written.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize as _;
use serde_json::Value;

use crate::bundles;
use crate::call::open::{Calls, OpenCall};
use crate::call::tools::{self, Answer};
use crate::file::jsonl::{self, Format, State};
use crate::file::value::{self, filled, number, object, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_base::Result;
use cru_session::event::{Call, CallResult, EventKind, Prompt, PromptOrigin, Remark, SessionFact, StreamKey};
use cru_session::source::{Bundle, Header, Importer};

/// The member that a header has, and the version of the format that is its value.
const VERSION: (&str, u64) = ("cru_events", 1);

/// Members of a line that are no event.
const OWN: [&str; 5] = [VERSION.0, "session", "agent", "id", "time"];

/// Why an event is left out whose form is another one.
const UNREADABLE: &str = "event that cannot be read";

/// Its row in the table.
pub(super) const IMPORTER: Importer = Importer {
    id: "events",
    recognise: |_, bytes| jsonl::head(bytes, 20).any(|record| is_header(&record)),
    bundle: |files| bundles::by_session(files, |path| Ok((session(&Bundle::default(), path)?, (), None))),
    together: |path| Ok(vec![session(&Bundle::default(), path)?]),
    read: |bundle, sink| jsonl::read(EventLines::default(), bundle, sink),
    beside: bundles::alone,
    hooked: None,
};

fn is_header(record: &Value) -> bool {
    number(record, VERSION.0).is_some() && filled(record, "session").is_some()
}

/// The session that the first header of a file names, else the file's name.
fn session(bundle: &Bundle, path: &Path) -> Result<String> {
    let records = jsonl::beginning(bundle, path, 20)?;
    let named = records.iter().find(|record| is_header(record)).map(|record| word(record, "session").to_owned());
    Ok(named.unwrap_or_else(|| bundles::stem(path)))
}

/// The streams of a bundle, as far as their headers were read.
#[derive(Default)]
struct EventLines {
    headers: HashMap<StreamKey, Header>,
}

/// The stream that a line names: `own`, where it names none.
fn key(record: &Value, own: &StreamKey) -> StreamKey {
    let Some(session) = filled(record, "session").or(filled(record, "agent").map(|_| own.session.as_str())) else {
        return own.clone();
    };
    StreamKey { session: session.to_owned(), agent: filled(record, "agent").map(str::to_owned) }
}

impl Format for EventLines {
    type State = EventStream;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        let key = StreamKey { session: session(bundle, path)?, agent: None };
        let header = Header { key: key.clone(), transcript: path.to_owned(), ..Header::default() };
        Ok(self.headers.entry(key).or_insert(header).clone())
    }

    fn aside(&mut self, own: &StreamKey, record: &Value) -> Option<Header> {
        let key = key(record, own);
        let transcript = self.headers.get(own)?.transcript.clone();
        let header = self.headers.entry(key.clone()).or_default();
        if header.key.session.is_empty() || is_header(record) {
            let session = StreamKey { session: key.session.clone(), agent: None };
            let parent = object(record, "parent").map(|parent| self::key(parent, &session));
            *header = Header {
                parent: parent.or_else(|| key.agent.as_ref().map(|_| session)).filter(|parent| *parent != key),
                agent: filled(record, "part").map(str::to_owned).or_else(|| key.agent.as_ref().map(|_| "agent".into())),
                task: filled(record, "task").map(str::to_owned),
                transcript,
                key,
                aside: false,
            };
        }
        Some(header.clone())
    }

    fn begin(&mut self, _: &Header) -> EventStream {
        EventStream::default()
    }
}

/// What later lines need of earlier ones.
#[derive(Default)]
struct EventStream {
    place: Place,
    calls: Calls,
}

impl State for EventStream {
    fn id(&self, record: &Value) -> String {
        word(record, "id").to_owned()
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        value::time(record, "time")
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        if is_header(&record) {
            let is_known = number(&record, VERSION.0) == Some(VERSION.1);
            return (!is_known).then_some("header of another version of the format");
        }
        let Value::Object(mut members) = record else { return Some("not one event on a line") };
        members.retain(|name, _| !OWN.contains(&name.as_str()));
        let (Some(name), 1) = (members.keys().next().cloned(), members.len()) else {
            return Some("not one event on a line");
        };
        match EventKind::deserialize(Value::Object(members)) {
            Ok(event) => self.event(event, out),
            Err(_) if EventKind::NAMES.contains(&name.as_str()) => Some(UNREADABLE),
            Err(_) => Some(unknown("unknown event", &name)),
        }
    }
}

impl EventStream {
    fn event(&mut self, event: EventKind<'static>, out: &mut Out<'_>) -> Option<&'static str> {
        match event {
            EventKind::Call(call) => self.call(call, out),
            EventKind::Result(result) => return self.result(result, out),
            EventKind::Meta(SessionFact::Cwd(folder)) => out.folder(&mut self.place, &folder),
            EventKind::Rewind { to } | EventKind::Branch { to, .. } | EventKind::Bookmark { to, .. }
                if to >= out.record =>
            {
                return Some("event of a later line");
            }
            EventKind::Detail { name, .. } if !is_word(&name) => return Some(UNREADABLE),
            EventKind::Remark(Remark { kind, fields, .. })
                if !is_word(&kind) || !fields.iter().all(|(name, _)| is_word(name)) =>
            {
                return Some(UNREADABLE);
            }
            event => {
                if let EventKind::Prompt(Prompt { origin: PromptOrigin::Typed | PromptOrigin::Command, .. }) = event {
                    self.calls.begin_turn();
                }
                out.emit(event);
            }
        }
        None
    }

    fn call(&mut self, call: Call<'static>, out: &mut Out<'_>) {
        if call.args.is_empty() {
            tools::call(&mut self.calls, &self.place, &call.id, &call.tool, call.input, out);
            return;
        }
        let id = self.calls.name(&call.id, out.record);
        self.calls.open(OpenCall::new(id.clone(), &call.id, &call.tool, ""));
        out.emit(EventKind::Call(Call { id: id.into(), ..call }));
    }

    /// An answer that names no files and says nothing in a few words proves what its tool does.
    fn result(&mut self, mut result: CallResult<'static>, out: &mut Out<'_>) -> Option<&'static str> {
        let is_told = !result.reads.is_empty() || !result.writes.is_empty() || !result.changes.is_empty();
        let is_told = is_told || result.brief.is_some() || result.unstated || !result.commits.is_empty();
        let is_hash = |hash: &String| (8..=64).contains(&hash.len()) && hash.bytes().all(|it| it.is_ascii_hexdigit());
        for file in result.reads.iter_mut().chain(&mut result.writes) {
            file.hash = file.hash.take().filter(is_hash);
        }
        match self.calls.close(&result.call, ["", ""]) {
            Some(call) if !is_told => {
                let CallResult { output, failed, denied, denial, exit, duration_ms, attachments, subagent, .. } =
                    result;
                let said = Answer {
                    output,
                    failed,
                    denied,
                    denial,
                    exit,
                    duration_ms,
                    attachments,
                    subagent,
                    ..Answer::default()
                };
                tools::answer(&call, said, &self.place, out);
            }
            Some(call) => out.emit(EventKind::Result(CallResult { call: call.id.into(), ..result })),
            // Something that ran in the background is answered again.
            None if self.calls.knows(&result.call) => out.emit(EventKind::Result(result)),
            None => return Some("answer to no call"),
        }
        None
    }
}

/// Whether a text can stand as a name in a note.
fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    !text.trim().is_empty() && text.len() <= 48 && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::told::{Told, lines, survives_cuts, survives_flips, told_of};

    fn read(records: &[Value]) -> Told {
        told_of(&IMPORTER, "s.jsonl", lines(records))
    }

    fn sample() -> Vec<Value> {
        vec![
            json!({ "cru_events": 1, "session": "s" }),
            json!({ "time": "2026-03-01T10:00:00Z", "fact": { "cwd": "/home/mia/api" } }),
            json!({ "id": "p", "time": "2026-03-01T10:00:01Z", "prompt": { "text": "Mend it." } }),
            json!({ "call": { "id": "c1", "tool": "Edit", "input": { "file_path": "/home/mia/api/a.rs", "old_string": "a", "new_string": "b" } } }),
            json!({ "result": { "call": "c1", "output": "ok" } }),
            json!({ "call": { "id": "c2", "tool": "judge", "args": "all of it" } }),
            json!({ "result": { "call": "c2", "brief": "good", "reads": [{ "path": "a.rs", "hash": "no" }] } }),
            json!({ "cru_events": 1, "session": "s", "agent": "a1", "part": "reviewer", "task": "look" }),
            json!({ "agent": "a1", "prompt": { "text": "Look.", "origin": "task" } }),
            json!({ "usage": { "message": "m", "model": "some-model", "usage": { "input": 3, "output": 4 } } }),
            json!({ "remark": { "kind": "lesson", "title": "user", "text": "Ask first." } }),
            json!({ "reply": "Done." }),
        ]
    }

    #[test]
    fn what_a_line_leaves_out_is_worked_out() {
        let told = read(&sample());
        insta::assert_snapshot!(told.stream("s"), @r#"
        3 prompt (typed) Mend it.
        4 call c1 Edit a.rs
        5 result c1 +1 −1 writes a.rs
        6 call c2 judge all of it
        7 result c2 good reads a.rs
        9 Remark(Remark { kind: "lesson", title: "user", text: "Ask first.", fields: [], folded: false, about: None, id: None })
        10 reply Done.
        "#);
        insta::assert_snapshot!(told.stream("s/agent-a1"), @"2 prompt (task) Look.");
        assert_eq!((told.parents["s/agent-a1"].as_str(), told.tokens("s").output), ("s", 4));
        assert_eq!(told.headers[1].agent.as_deref(), Some("reviewer"));
    }

    #[test]
    fn what_is_not_known_is_named() {
        let told = read(&[
            json!({ "cru_events": 2, "session": "s" }),
            json!({ "sang": "la" }),
            json!({ "reply": 1 }),
            json!({ "reply": "a", "thinking": "b" }),
            json!({ "id": "x" }),
            json!({ "rewind": { "to": 99 } }),
            json!({ "remark": { "kind": "a]\n[!b" } }),
            json!({ "result": { "call": "none" } }),
        ]);
        insta::assert_debug_snapshot!(told.accounts[0].skipped, @r#"
        {
            "answer to no call": 1,
            "event of a later line": 1,
            "event that cannot be read": 2,
            "header of another version of the format": 1,
            "not one event on a line": 2,
            "unknown event `sang`": 1,
        }
        "#);
    }

    #[test]
    fn every_event_has_its_name() {
        for name in EventKind::NAMES {
            let error = EventKind::deserialize(json!({ name: [1, 2, 3, 4] })).unwrap_err().to_string();
            assert!(!error.contains("unknown variant"), "{error}");
        }
        let error = EventKind::deserialize(json!({ "other": 1 })).unwrap_err().to_string();
        assert_eq!(error.matches('`').count() / 2, EventKind::NAMES.len() + 1, "{error}");
    }

    #[test]
    fn cut_anywhere() {
        survives_cuts(&IMPORTER, "s.jsonl", &lines(&sample()), false);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn damaged_anywhere(flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..12)) {
            survives_flips(&IMPORTER, "s.jsonl", &lines(&sample()), &flips);
        }
    }

    #[test]
    fn the_page_and_the_schema_have_each_event() {
        let page = include_str!("../../../docs/events.md");
        let schema: Value = serde_json::from_str(include_str!("../../../docs/events.schema.json")).unwrap();
        for name in EventKind::NAMES {
            assert!(page.contains(&format!("| `{name}` |")), "docs/events.md says nothing of {name}");
            assert!(schema["properties"].get(name).is_some(), "docs/events.schema.json has no {name}");
        }
        let told = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let told = told_of(&IMPORTER, "s.jsonl", told.trim_start().as_bytes().to_vec());
        assert!(told.accounts[0].skipped.is_empty() && told.records() > 8, "{:?}", told.accounts);
    }
}
