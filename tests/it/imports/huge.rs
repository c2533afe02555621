//! Transcripts that are broken, hostile or huge, of each agent: a note with what is good in them, the rest named, and
//! nothing written outside the vault.
//!
//! `CRU_HUGE=1` takes lines of 100 MB and a million records, and the program itself, whose memory is looked at.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cru::base::files;
use serde_json::{Value, json};

use crate::imports::growth::World;

const SESSION: &str = "0190a000-0000-7000-8000-000000000001";

/// Most memory of the program for a line of any length, in kB.
const MEMORY: u64 = 200_000;

/// How an agent writes.
struct Agent {
    name: &'static str,
    file: &'static str,
    /// Before the first record.
    head: fn(session: &str) -> String,
    /// One record: its number, its parent's id, who speaks, and what.
    record: fn(n: usize, id: &str, parent: Option<&str>, user: bool, words: &str) -> Value,
    /// Whether its records stand in one document.
    document: bool,
}

const AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        file: "0190a000-0000-7000-8000-000000000001.jsonl",
        head: |_| String::new(),
        record: claude,
        document: false,
    },
    Agent { name: "pi", file: "2025-03-01T09-00-00-000Z_0190a000.jsonl", head: pi_head, record: pi, document: false },
    Agent {
        name: "codex",
        file: "rollout-2025-03-01T09-00-00-0190a000-0000-7000-8000-000000000001.jsonl",
        head: codex_head,
        record: codex,
        document: false,
    },
    Agent { name: "copilot", file: "events.jsonl", head: copilot_head, record: copilot, document: false },
    Agent {
        name: "gemini",
        file: "session-2025-03-01T09-00-0190a000.json",
        head: gemini_head,
        record: gemini,
        document: true,
    },
    Agent { name: "opencode", file: "export.json", head: opencode_head, record: opencode, document: true },
];

fn time(n: usize) -> String {
    format!("2025-03-01T09:{:02}:{:02}.000Z", n / 60 % 60, n % 60)
}

fn claude(n: usize, id: &str, parent: Option<&str>, user: bool, words: &str) -> Value {
    let role = if user { "user" } else { "assistant" };
    let content = if user { json!(words) } else { json!([{"type": "text", "text": words}]) };
    json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/mara/x", "sessionId": SESSION,
        "version": "2.1.40", "type": role, "uuid": id, "timestamp": time(n),
        "message": {"id": format!("m{n}"), "role": role, "model": "x", "content": content}})
}

fn pi_head(session: &str) -> String {
    json!({"type": "session", "version": 3, "id": session, "timestamp": time(0), "cwd": "/home/mara/x"}).to_string()
        + "\n"
}

fn pi(n: usize, id: &str, parent: Option<&str>, user: bool, words: &str) -> Value {
    let role = if user { "user" } else { "assistant" };
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": time(n),
        "message": {"role": role, "content": [{"type": "text", "text": words}], "model": "x", "provider": "y", "stopReason": "stop"}})
}

fn codex_head(session: &str) -> String {
    let payload = json!({"id": session, "timestamp": time(0), "cwd": "/home/mara/x", "originator": "codex_cli_rs", "cli_version": "0.50.0"});
    json!({"timestamp": time(0), "type": "session_meta", "payload": payload}).to_string() + "\n"
}

fn codex(n: usize, _: &str, _: Option<&str>, user: bool, words: &str) -> Value {
    let (role, kind) = if user { ("user", "input_text") } else { ("assistant", "output_text") };
    let content = json!([{"type": kind, "text": words}]);
    json!({"timestamp": time(n), "type": "response_item", "payload": {"type": "message", "role": role, "content": content}})
}

fn copilot_head(session: &str) -> String {
    let data = json!({"sessionId": session, "copilotVersion": "1.2.3", "context": {"cwd": "/home/mara/x"}});
    json!({"type": "session.start", "data": data, "id": "h", "timestamp": time(0), "parentId": null}).to_string() + "\n"
}

fn copilot(n: usize, id: &str, parent: Option<&str>, user: bool, words: &str) -> Value {
    let kind = if user { "user.message" } else { "assistant.message" };
    json!({"type": kind, "data": {"content": words, "messageId": format!("m{n}")}, "id": id, "timestamp": time(n), "parentId": parent})
}

fn gemini_head(session: &str) -> String {
    let head =
        json!({"sessionId": session, "projectHash": "p", "startTime": time(0), "lastUpdated": time(9)}).to_string();
    format!("{},\"messages\":[", head.trim_end_matches('}'))
}

fn gemini(n: usize, id: &str, _: Option<&str>, user: bool, words: &str) -> Value {
    json!({"id": id, "timestamp": time(n), "type": if user { "user" } else { "gemini" }, "content": words, "model": "m"})
}

fn opencode_head(session: &str) -> String {
    let created = json!({"created": 1_740_819_600_000_u64, "updated": 1_740_819_700_000_u64});
    let info = json!({"id": session, "projectID": "p", "directory": "/home/mara/x", "title": "Gauges", "version": "1.2.0", "time": created});
    format!("{{\"info\":{info},\"messages\":[")
}

fn opencode(n: usize, id: &str, _: Option<&str>, user: bool, words: &str) -> Value {
    let created = 1_740_819_600_000 + 1_000 * n as u64;
    let role = if user { "user" } else { "assistant" };
    json!({"info": {"id": id, "role": role, "modelID": "m", "time": {"created": created, "completed": created}},
        "parts": [{"id": format!("prt_{n}"), "messageID": id, "type": "text", "text": words}]})
}

impl Agent {
    /// Something between two good pairs of records.
    fn around(&self, session: &str, between: &[u8]) -> Vec<u8> {
        let good = |n: usize| {
            let (one, two) = (format!("a{n}"), format!("b{n}"));
            let before = (n > 0).then(|| format!("b{}", n - 1));
            let asked =
                (self.record)(2 * n, &one, before.as_deref(), true, &format!("Please mend the gauge number {n}"));
            let told = (self.record)(2 * n + 1, &two, Some(one.as_str()), false, &format!("The gauge {n} is mended."));
            format!("{asked}{}{told}", self.between())
        };
        let mut bytes = (self.head)(session).into_bytes();
        bytes.extend_from_slice(good(0).as_bytes());
        bytes.extend_from_slice(self.between().as_bytes());
        bytes.extend_from_slice(between);
        bytes.extend_from_slice(self.between().as_bytes());
        bytes.extend_from_slice(good(1).as_bytes());
        bytes.extend_from_slice(self.end().as_bytes());
        bytes
    }

    const fn between(&self) -> &'static str {
        if self.document { ",\n" } else { "\n" }
    }

    const fn end(&self) -> &'static str {
        if self.document { "]}\n" } else { "\n" }
    }

    fn many(&self, count: usize) -> Vec<u8> {
        let mut bytes = (self.head)(SESSION).into_bytes();
        for n in 0..count {
            let (id, parent) = (format!("r{n}"), n.checked_sub(1).map(|n| format!("r{n}")));
            let record = (self.record)(n, &id, parent.as_deref(), n % 10 == 0, &format!("word {n} of the gauge"));
            let _ = write!(bytes, "{}{record}", if n == 0 { "" } else { self.between() });
        }
        bytes.extend_from_slice(self.end().as_bytes());
        bytes
    }
}

/// Bytes of a line, and records.
fn sizes() -> (usize, usize) {
    if is_full() { (100_000_000, 1_000_000) } else { (200_000, 2_000) }
}

fn is_full() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    std::env::var_os("CRU_HUGE").is_some()
}

/// What lies in a folder, however deep.
fn tree(root: &Path) -> Vec<PathBuf> {
    let mut open = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { open.push(entry) } else { found.push(entry) }
        }
    }
    found.sort();
    found
}

/// Imports it; the one note's text, or that there is none, and the account of the file.
fn import(agent: &Agent, bytes: &[u8]) -> (Option<String>, BTreeMap<String, u64>) {
    let world = World::new();
    let path = world.input().join(agent.file);
    files::put(&path, bytes).unwrap();
    let before = tree(world.temp.path());
    let report =
        if is_full() { program(&world, agent) } else { serde_json::to_value(world.import_of(agent.name)).unwrap() };
    let state = world.temp.path().join(".local");
    let (sessions, cache) = (world.vault.sessions_dir(), world.temp.path().join(".cache"));
    for path in tree(world.temp.path()) {
        let ours = path.starts_with(&state)
            || path.starts_with(&sessions)
            || path.starts_with(&cache)
            || path.starts_with(world.vault.root().join("projects"))
            || path.starts_with(world.vault.root().join(".cru/imported"))
            || path.starts_with(world.vault.root().join(".cru/seals"))
            || path.starts_with(world.vault.root().join(".cru/local"))
            || before.contains(&path);
        assert!(ours, "{}: {}", agent.name, path.display());
    }
    let mut account: BTreeMap<String, u64> = BTreeMap::new();
    for file in report["files"].as_array().unwrap() {
        assert_eq!(file["error"], Value::Null, "{}: {file}", agent.name);
        let (mut told, all) = (file["represented"].as_u64().unwrap(), file["records"].as_u64().unwrap());
        *account.entry("represented".to_owned()).or_default() += told;
        for (reason, count) in file["skipped"].as_object().unwrap() {
            told += count.as_u64().unwrap();
            *account.entry(reason.clone()).or_default() += count.as_u64().unwrap();
        }
        assert_eq!(told, all, "{}: {file}", agent.name);
    }
    let notes = world.notes();
    assert!(notes.len() <= 1, "{}: {:?}", agent.name, notes.keys());
    (notes.into_values().next(), account)
}

/// The program's own account; its memory stays within [`MEMORY`].
fn program(world: &World, agent: &Agent) -> Value {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cru"));
    command.args(["-q", "-f", "json", "import", agent.name]).arg(world.input()).env_clear();
    command.env("HOME", world.temp.path()).env("CRU_VAULT", world.vault.root()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let memory = std::thread::spawn(move || {
        let mut most = 0;
        while let Ok(text) = std::fs::read_to_string(&status) {
            let Some(line) = text.lines().find(|line| line.starts_with("VmHWM:")) else { break };
            most = line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        most
    });
    let mut text = String::new();
    std::io::Read::read_to_string(&mut output, &mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{}", agent.name);
    let memory = memory.join().unwrap();
    println!("{}: {memory} kB", agent.name);
    let size = std::fs::metadata(world.input().join(agent.file)).unwrap().len();
    // A note of a million records is large itself.
    assert!(memory < MEMORY || size > 150_000_000, "{}: {memory} kB", agent.name);
    let report: Value = serde_json::from_str(&text).unwrap();
    report
}

/// The words before and behind what is broken.
fn check(agent: &Agent, case: &str, bytes: &[u8], behind: bool) -> BTreeMap<String, u64> {
    let (note, account) = import(agent, bytes);
    let note = note.unwrap_or_else(|| panic!("{} {case}: no note, {account:?}", agent.name));
    let name = agent.name;
    assert!(
        note.contains("\"Please mend the gauge number 0\"") && note.contains("The gauge 0 is mended."),
        "{name} {case}: {note}"
    );
    assert!(!behind || note.contains("The gauge 1 is mended."), "{name} {case}: {account:?}");
    account
}

fn left_out(account: &BTreeMap<String, u64>) -> String {
    let reasons = account.iter().filter(|(reason, _)| *reason != "represented");
    let mut out = String::new();
    for (reason, count) in reasons {
        let _ = write!(out, "{}{count} {reason}", if out.is_empty() { "" } else { ", " });
    }
    out
}

#[test]
fn lines_of_any_length() {
    let (bytes, _) = sizes();
    for agent in AGENTS {
        let long = (agent.record)(9, "x1", Some("b0"), false, &"lorem ipsum ".repeat(bytes / 12)).to_string();
        check(agent, "a long text", &agent.around(SESSION, long.as_bytes()), !(agent.document && is_full()));
        let start = (agent.record)(9, "x1", Some("b0"), false, "lorem").to_string();
        let start = &start[..start.find("lorem").unwrap()];
        let open = format!("{start}{}", "x".repeat(bytes));
        let account = check(agent, "an open string", &agent.around(SESSION, open.as_bytes()), !agent.document);
        assert!(!left_out(&account).is_empty(), "{}: {account:?}", agent.name);
        for deep in ["{\"type\":\"x\",\"a\":", ""] {
            let deep = format!("{deep}{}", "[".repeat(bytes));
            let account = check(agent, "deep", &agent.around(SESSION, deep.as_bytes()), !agent.document);
            assert!(!left_out(&account).is_empty(), "{}: {account:?}", agent.name);
        }
    }
}

#[test]
fn many_records() {
    let (_, count) = sizes();
    for agent in AGENTS {
        let (note, account) = import(agent, &agent.many(count));
        let (note, last) = (note.unwrap(), format!("word {} of the gauge", count - 1));
        assert!(note.contains("word 0 of the gauge") && note.contains(&last), "{}: {account:?}", agent.name);
        assert!(account["represented"] >= count as u64, "{}: {account:?}", agent.name);
    }
}

#[test]
fn odd_ids_and_bytes() {
    for agent in AGENTS {
        let record = |id: &str, parent: &str| (agent.record)(9, id, Some(parent), false, "odd words").to_string();
        let join = |records: &[String]| records.join(agent.between());
        let cycle = join(&[record("x1", "x2"), record("x2", "x1"), record("x3", "x3")]);
        check(agent, "a cycle", &agent.around(SESSION, cycle.as_bytes()), true);
        let twice = join(&[record("x1", "b0"), record("x1", "b0"), record("x1", "x1")]);
        check(agent, "one id twice", &agent.around(SESSION, twice.as_bytes()), true);
        let path = join(&[record("../../x", "../../../etc/passwd"), record("/etc/x", "..\\x"), record("", "")]);
        check(agent, "ids that are paths", &agent.around(SESSION, path.as_bytes()), true);
        let nul = if agent.document { record("x1", "b0").replace("odd", "o\\u0000dd") } else { "\0".repeat(4096) };
        check(agent, "NUL", &agent.around(SESSION, nul.as_bytes()), true);
        let mut odd = record("x1", "b0").into_bytes();
        let at = odd.windows(3).position(|part| part == b"odd").unwrap();
        odd.splice(at..at, *b"\xff\xfe\xc3(\xe2\x82\xf0\x9f");
        check(agent, "no UTF-8", &agent.around(SESSION, &odd), true);
        for session in ["../../outside", "/tmp/outside", "..", "", "a\0b", "con"] {
            let (note, _) = import(agent, &agent.around(session, record("x1", "b0").as_bytes()));
            assert!(note.is_none_or(|note| note.contains("The gauge 0 is mended.")), "{}: {session}", agent.name);
        }
    }
}
