//! Whole sessions of small invented entries.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::IMPORTER;
use cru_base::files;
use cru_session::event::{Event, EventKind, SessionFact, StreamKey, Usage};
use cru_session::source::{Account, Bounds, Bundle, Consumed, Header, Sink};

/// What a bundle was read as.
#[derive(Default)]
struct Told {
    text: String,
    headers: Vec<Header>,
    usage: BTreeMap<String, Usage>,
    cost: f64,
    consumed: Vec<Consumed>,
    accounts: Vec<Account>,
    bounds: Bounds,
}

impl Told {
    fn skipped(&self, reason: &str) -> u64 {
        self.accounts.iter().filter_map(|account| account.skipped.get(reason)).sum()
    }
}

impl Sink for Told {
    fn open(&mut self, header: Header) {
        self.headers.push(header);
    }

    fn bounds(&self, _: &StreamKey) -> Bounds {
        self.bounds
    }

    fn event(&mut self, key: &StreamKey, event: Event<'_>) {
        assert!(self.headers.iter().any(|header| header.key == *key), "an event of a stream that is not open");
        let line = match event.kind {
            EventKind::Prompt(prompt) => {
                format!("{:?} {}{}", prompt.origin, prompt.text, " [picture]".repeat(prompt.attachments.len()))
            }
            EventKind::Reply(text) => format!("reply {text}"),
            EventKind::Thinking(text) => format!("thinking {text}"),
            EventKind::Call(call) => format!("call {} {} `{}`", call.id, call.tool, call.args),
            EventKind::Result(result) => format!(
                "result {}{} {:?} {:?} {:?} r{:?} w{:?}",
                result.call,
                if result.failed { " FAILED" } else { "" },
                result.exit,
                result.brief,
                result.output,
                result.reads.iter().map(|file| &file.path).collect::<Vec<_>>(),
                result.writes.iter().map(|file| &file.path).collect::<Vec<_>>(),
            ),
            EventKind::Usage { message, usage, .. } => {
                assert!(self.usage.insert(message.into_owned(), usage).is_none(), "tokens are told once");
                return;
            }
            EventKind::Meta(SessionFact::Cost(cost)) => {
                self.cost += cost;
                return;
            }
            EventKind::Meta(SessionFact::Cwd(_)) => return,
            other => format!("{other:?}"),
        };
        let _ = writeln!(self.text, "{} {line}", event.record);
    }

    fn close(&mut self, _: &StreamKey, consumed: Consumed) {
        self.consumed.push(consumed);
    }

    fn account(&mut self, file: &Path, account: Account) {
        assert!(account.balances(), "{}: {account:?}", file.display());
        self.accounts.push(account);
    }
}

/// Reads files from memory as one bundle.
fn read_all(files: &[(&str, Vec<u8>)]) -> Told {
    let memory: BTreeMap<PathBuf, Vec<u8>> =
        files.iter().map(|(name, bytes)| (PathBuf::from(name), bytes.clone())).collect();
    let bundle = Bundle { files: files.iter().map(|(name, _)| PathBuf::from(name)).collect(), memory };
    let mut told = Told::default();
    (IMPORTER.read)(&bundle, &mut told).unwrap();
    told
}

fn read(lines: &[Value]) -> Told {
    read_all(&[("2026-01-01T00-00-00-000Z_s1.jsonl", text(lines))])
}

fn text(lines: &[Value]) -> Vec<u8> {
    lines.iter().fold(Vec::new(), |mut text, line| {
        text.extend_from_slice(line.to_string().as_bytes());
        text.push(b'\n');
        text
    })
}

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/home/mia/api"})
}

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn entry(id: &str, parent: Option<&str>, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T10:00:01Z", "message": message})
}

fn user(id: &str, parent: Option<&str>, words: &str) -> Value {
    entry(id, parent, json!({"role": "user", "content": words}))
}

fn reply(id: &str, parent: Option<&str>, words: &str) -> Value {
    entry(
        id,
        parent,
        json!({"role": "assistant", "model": "m", "content": [{"type": "text", "text": words}],
        "usage": {"input": 10, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}}}),
    )
}

fn session() -> Vec<Value> {
    vec![
        header(),
        json!({"type": "model_change", "id": "m1", "parentId": null, "timestamp": "2026-01-01T10:00:00Z", "modelId": "m"}),
        user("u1", Some("m1"), "fix the tests"),
        entry(
            "a1",
            Some("u1"),
            json!({"role": "assistant", "model": "m", "stopReason": "toolUse", "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "npm test > out.txt"}},
            {"type": "toolCall", "id": "c2", "name": "read", "arguments": {"path": "/home/mia/api/src/a.ts"}}],
            "usage": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.25}}}),
        ),
        entry(
            "t1",
            Some("a1"),
            json!({"role": "toolResult", "toolCallId": "c1", "isError": true,
            "content": [{"type": "text", "text": "2 failed\n\nCommand exited with code 1"}]}),
        ),
        entry(
            "t2",
            Some("t1"),
            json!({"role": "toolResult", "toolCallId": "c2", "isError": false,
            "content": [{"type": "text", "text": "a\nb"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}),
        ),
        reply("a2", Some("t2"), "Done."),
        entry("b1", Some("a2"), json!({"role": "bashExecution", "command": "ls", "output": "src", "exitCode": 0})),
        json!({"type": "session_info", "id": "i1", "parentId": "b1", "timestamp": "2026-01-01T10:00:09Z", "name": "Tests"}),
    ]
}

#[test]
fn a_session_is_told() {
    let told = read(&session());
    insta::assert_snapshot!(told.text, @r#"
    3 Typed fix the tests
    4 thinking hm
    4 reply I look.
    4 call c1 bash `npm test > out.txt`
    4 call c2 read `src/a.ts`
    5 result c1 FAILED Some(1) None "2 failed" r[] w[]
    6 result c2 None None "a\nb" r["src/a.ts"] w[]
    7 reply Done.
    8 Shell ls
    8 call shell@8 Shell `ls`
    8 result shell@8 None None "src" r[] w[]
    9 Meta(Title { rank: Custom, text: "Tests" })
    "#);
    assert_eq!(told.usage.values().map(|usage| usage.used()).sum::<u64>(), 7 + 16);
    assert!((told.cost - 0.75).abs() < 1e-9);
    assert_eq!((told.skipped("choice of a model"), told.accounts[0].represented), (1, 8));
    assert_eq!(told.consumed[0].last.as_deref(), Some("i1"));
    assert_eq!(told.consumed[0].open, None);
}

#[test]
fn the_first_version_has_no_tree() {
    let lines: Vec<Value> = session()
        .into_iter()
        .map(|mut line| {
            for key in ["parentId", "version"] {
                line.as_object_mut().unwrap().remove(key);
            }
            if line["type"] != "session" {
                line.as_object_mut().unwrap().remove("id");
            }
            line
        })
        .collect();
    let told = read(&lines);
    assert_eq!(told.text, read(&session()).text);
    assert_eq!(told.consumed[0].last, None);
}

#[test]
fn who_goes_back_leaves_a_branch() {
    let mut lines = vec![header(), user("u1", None, "one"), reply("a1", Some("u1"), "1")];
    lines.push(json!({"type": "label", "id": "l1", "parentId": "a1", "targetId": "u1", "label": "here"}));
    lines.extend([user("u2", Some("l1"), "two"), reply("a2", Some("u2"), "2"), user("u3", Some("a1"), "again")]);
    lines.push(json!({"type": "branch_summary", "id": "s1", "parentId": "u1", "fromId": "u3", "summary": "Left."}));
    lines.extend([user("u4", Some("s1"), "four"), user("u5", None, "anew"), reply("x", None, "delivered")]);
    let told = read(&lines);
    insta::assert_snapshot!(told.text, @r#"
    2 Typed one
    3 reply 1
    4 Bookmark { to: 2, label: "here" }
    5 Typed two
    6 reply 2
    7 Rewind { to: 3 }
    7 Typed again
    8 Branch { to: 2, summary: Some("Left.") }
    9 Typed four
    10 Rewind { to: 0 }
    10 Typed anew
    11 reply delivered
    "#);
}

#[test]
fn what_stops_and_what_fails() {
    let told = read(&[
        header(),
        user("u1", None, "go"),
        entry(
            "a1",
            Some("u1"),
            json!({"role": "assistant", "stopReason": "aborted", "errorMessage": "Operation aborted",
            "content": [{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "x"}, "partialJson": "{"}]}),
        ),
        entry(
            "a2",
            Some("a1"),
            json!({"role": "assistant", "stopReason": "error", "errorMessage": "529 overloaded", "content": []}),
        ),
        json!({"type": "custom", "customType": "openclaw:prompt-error", "data": {"error": "no route"}}),
        json!({"type": "compaction", "id": "k", "parentId": "a2", "summary": "So far.", "tokensBefore": 1234,
            "usage": {"input": 5, "cost": {"total": 1.5}}}),
        json!({"type": "usage", "kind": "title", "model": "small", "usage": {"input": 7, "output": 1}}),
        json!({"type": "title_change", "title": "New"}),
        json!({"type": "context_edit", "targetId": "u1", "replacement": null}),
        json!({"type": "teleport"}),
    ]);
    insta::assert_snapshot!(told.text, @r#"
    2 Typed go
    3 call c1 bash `x`
    3 Interrupt { call: None, unnamed: false }
    4 ApiError("529 overloaded")
    5 ApiError("no route")
    6 Compaction { trigger: None, tokens_before: Some(1234), summary: Some("So far.") }
    8 Meta(Title { rank: Host, text: "New" })
    "#);
    assert_eq!(told.consumed[0].open, None, "a stopped call waits for nothing");
    assert_eq!((told.usage.len(), told.cost), (2, 1.5));
    assert_eq!((told.skipped("unknown record type `teleport`"), told.skipped("change of the context")), (1, 1));
}

#[test]
fn copies_of_a_session_are_told_once() {
    let all = session();
    let grown = read_all(&[("a_s1.jsonl", text(&all[..4])), ("b_s1.jsonl", text(&all))]);
    assert_eq!(grown.text, read(&all).text);
    assert_eq!(grown.skipped("duplicate record"), 4);
    assert_eq!(grown.consumed[0], read(&all).consumed[0]);
}

#[test]
fn a_fork_tells_what_is_its_own_where_the_other_is_at_hand() {
    let temp = tempfile::tempdir().unwrap();
    let (old, new) = (temp.path().join("1_s1.jsonl"), temp.path().join("2_s2.jsonl"));
    let mut lines = session();
    files::put(&old, text(&lines).as_ref()).unwrap();
    lines[0] = json!({"type": "session", "version": 3, "id": "s2", "timestamp": "2026-01-02T10:00:00Z",
        "cwd": "/home/mia/api", "parentSession": "/elsewhere/1_s1.jsonl"});
    let mut own = user("u9", Some("a2"), "another way");
    own["timestamp"] = json!("2026-01-02T10:00:05Z");
    lines.push(own);
    files::put(&new, text(&lines).as_ref()).unwrap();
    let bundles = (IMPORTER.bundle)(vec![new.clone(), old.clone()]).unwrap();
    assert_eq!(bundles.iter().map(|bundle| bundle.files.len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(bundles[1].files, [new]);

    let mut told = Told::default();
    (IMPORTER.read)(&bundles[1], &mut told).unwrap();
    insta::assert_snapshot!(told.text, @r"
    1 Meta(CopiedUntil(2026-01-02T10:00:00Z))
    10 Rewind { to: 7 }
    10 Typed another way
    ");
    assert_eq!(told.skipped("copied from another session"), 8);
    assert_eq!(told.headers[0].parent.as_ref().unwrap().to_string(), "s1");
    assert!(told.usage.is_empty() && told.cost == 0.0, "tokens count where they were used");

    files::remove(&old).unwrap();
    let mut alone = Told::default();
    (IMPORTER.read)(&bundles[1], &mut alone).unwrap();
    assert!(alone.text.contains("Typed fix the tests") && alone.skipped("copied from another session") == 0);
    assert_eq!(alone.headers[0].parent.as_ref().unwrap().to_string(), "s1");
}

#[test]
fn a_bound_ends_the_reading() {
    let all = text(&session());
    let bundle = Bundle { files: vec!["s".into()], memory: BTreeMap::from([("s".into(), all)]) };
    let mut told = Told { bounds: Bounds { until: Some(4), mark: Some(3), ..Bounds::default() }, ..Told::default() };
    (IMPORTER.read)(&bundle, &mut told).unwrap();
    assert_eq!((told.consumed[0].records, told.consumed[0].open), (4, Some(4)));
    assert!(told.consumed[0].marked.is_some());
    assert_eq!(told.skipped("not read yet: behind a running call"), 5);
}

#[test]
fn values_of_other_types_break_nothing() {
    crate::told::survives_other_types(&IMPORTER, "x_s1.jsonl", &text(&session()));
}

#[test]
fn a_file_cut_at_any_byte_is_told_to_there() {
    let all = text(&session());
    let whole = read(&session()).text;
    for end in 0..=all.len() {
        let told = read_all(&[("x_s1.jsonl", all[..end].to_vec())]);
        assert!(whole.starts_with(&told.text), "cut at {end}:\n{}", told.text);
        let partial = told.skipped("partial last line");
        let lines = all[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() as u64;
        assert_eq!(told.accounts[0].records, lines);
        assert!(partial <= 1 && !told.accounts[0].skipped.contains_key("broken line"));
    }
}

#[test]
fn damage_is_named_and_the_rest_told() {
    let mut bytes = text(&[header(), user("../../x", Some("../../x"), "one"), user("u2", Some("u3"), "two")]);
    bytes.extend(b"\xff\xfe not json \0\n\0\0\0\n[1,2]\nnull\n\"text\"\n");
    bytes.extend(text(&[user("u3", Some("u2"), "three"), user("u3", Some("u3"), "a second u3")]));
    // Two processes wrote at once.
    let mut two = text(&[reply("a1", Some("u3"), "four")]);
    two.pop();
    bytes.extend(two);
    bytes.extend(text(&[reply("a2", Some("a1"), "five")]));
    bytes.extend(
        br#"{"type":"message","type":"message","id":"d","parentId":7,"message":{"role":"user","content":"twice"}}"#,
    );
    bytes.extend(b"\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"bad \xff byte\\u0000\"}}\n");
    bytes.extend(text(&[json!({"type": "message", "message": 5}), json!({"type": 1}), json!({"type": "message"})]));
    let told = read_all(&[("x_s1.jsonl", bytes)]);
    insta::assert_snapshot!(told.text.replace('\0', "␀"), @r"
    2 Typed one
    3 Typed two
    8 Typed three
    9 Typed a second u3
    10 reply four
    11 reply five
    12 Typed twice
    13 Typed bad � byte␀
    ");
    assert_eq!(told.skipped("broken line"), 4);
    assert_eq!((told.skipped("empty message"), told.skipped("no record type")), (2, 1));
}

#[test]
fn a_slice_without_a_header_is_named_after_its_file() {
    let told = read_all(&[("2026-01-01_abc.jsonl", text(&session()[2..]))]);
    assert_eq!(told.headers[0].key.to_string(), "abc");
    assert!(told.text.starts_with("1 Typed fix the tests"));
}

proptest! {
    #[test]
    fn flipped_bytes_never_break_the_account(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut bytes = text(&session());
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let told = read_all(&[("x_s1.jsonl", bytes)]);
        prop_assert_eq!(told.accounts.len(), 1);
        prop_assert_eq!(told.consumed.len(), told.headers.len());
    }
}
