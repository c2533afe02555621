//! The notes of `OpenCode`'s sessions against a count made straight from the records, by none of the importer's code;
//! and what happens to a session that grows, and to a database that another program has open.

use std::path::{Path, PathBuf};

use cru::base::{Severity, files};
use cru::session::{Item, Session};
use cru::sync::import::{Options, Unwatched, ingest};
use cru::sync::report::Outcome;
use cru::vault::{Catalog, Vault};
use serde_json::{Value, json};

use crate::imports::growth::{World, without_cursor};
use crate::transcript_set::{TranscriptSet, has_failed, on_both_sets};

/// What a file's records say.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Count {
    pub(crate) prompts: usize,
    pub(crate) calls: usize,
    pub(crate) failures: usize,
    pub(crate) tokens: u64,
    pub(crate) cost: f64,
}

/// What a note says.
pub(crate) fn of_note(session: &Session) -> Count {
    let steps = || session.steps().map(|(_, step)| step);
    Count {
        prompts: session.items().filter(|(_, item)| matches!(item, Item::User(_))).count(),
        calls: steps().count(),
        failures: steps().filter(|step| has_failed(step)).count(),
        tokens: session.meta.tokens_used.unwrap_or(0),
        cost: session.meta.cost_usd.unwrap_or(0.0),
    }
}

/// The files below a folder.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten();
    let mut paths: Vec<PathBuf> = walk.map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect();
    paths.sort();
    paths
}

fn parsed(path: &Path) -> Value {
    serde_json::from_slice(&files::read(path).unwrap()).unwrap()
}

fn of_records(export: &Value) -> Count {
    let mut count = Count::default();
    for message in export["messages"].as_array().unwrap() {
        let parts = message["parts"].as_array().unwrap();
        let typed = |part: &&Value| part["type"] == "text" && part["synthetic"] != true;
        count.prompts += usize::from(message["info"]["role"] == "user" && parts.iter().any(|part| typed(&part)));
        let tokens = &message["info"]["tokens"];
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        count.tokens += number(&tokens["input"]) + number(&tokens["output"]) + number(&tokens["reasoning"]);
        count.tokens += number(&tokens["cache"]["write"]);
        count.cost += message["info"]["cost"].as_f64().unwrap_or(0.0);
        for part in parts.iter().filter(|part| part["type"] == "tool" && part["tool"] != "todowrite") {
            count.calls += 1;
            let state = &part["state"];
            // A person says no, and why.
            let refused = state["error"].as_str().is_some_and(|error| error.contains("with the following feedback: "));
            count.prompts += usize::from(refused);
            let exit = state["metadata"]["exit"].as_i64().unwrap_or(0);
            count.failures += usize::from(state["status"] != "completed" || exit != 0 || part["tool"] == "invalid");
        }
    }
    count
}

/// Imports a folder of transcripts and compares every note with the count made of its file.
pub(crate) fn compare(agent: &str, folder: &Path, least: u64, of_file: &dyn Fn(&Path) -> Count) {
    let temp = tempfile::tempdir().unwrap();
    files::create(&temp.path().join(".cru/config.toml"), b"").unwrap();
    let vault = Vault::open(temp.path()).unwrap();
    let importer = cru::import::find(agent).unwrap();
    let sources = [folder.to_owned()];
    let import = || ingest(&vault, importer, &sources, &Options::default(), &Unwatched).unwrap();
    let report = import();
    assert!(report.count(Outcome::Created) >= least);
    assert!(report.records.balances());
    assert!(!report.records.skipped.keys().any(|reason| reason.contains("unknown")), "{:?}", report.records.skipped);
    let catalog = Catalog::read(&vault);
    let (loaded, problems) = vault.load_sessions(&catalog);
    assert!(problems.is_empty());
    for note in &loaded {
        let odd: Vec<_> = note.diagnostics.iter().filter(|it| it.severity >= Severity::Warning).collect();
        assert!(odd.is_empty(), "{}: {odd:?}", note.path);
        let path = note.session.meta.transcript.as_deref().unwrap();
        let (wanted, found) = (of_file(Path::new(path)), of_note(&note.session));
        assert!((wanted.cost - found.cost).abs() < 1e-6, "{path}: {wanted:?} {found:?}");
        assert_eq!(Count { cost: 0.0, ..found }, Count { cost: 0.0, ..wanted }, "{path}");
    }
    assert_eq!(import().count(Outcome::Unchanged), report.count(Outcome::Created));
}

fn notes_say_what_the_records_say(set: &TranscriptSet) {
    let folder = set.folder("opencode");
    compare("opencode", &folder, set.least(3, 7), &|path| of_records(&parsed(path)));
}

fn every_importer_knows_its_own_files_only(set: &TranscriptSet) {
    for name in ["pi", "claude", "codex", "copilot", "cursor", "opencode", "gemini"] {
        for agent in ["opencode", "gemini", "pi", "codex", "claude"] {
            if (agent != name) && (matches!(name, "opencode" | "gemini") || matches!(agent, "opencode" | "gemini")) {
                let found = cru::import::search(cru::import::find(agent).unwrap(), &[set.folder(name)]).unwrap();
                assert_eq!(found.bundles, [], "{agent} takes files of {name}");
            }
        }
    }
}

/// The only note of each world, without what is of the world alone.
pub(crate) fn same_notes(grown: &World, whole: &World) {
    let text = |world: &World| -> Vec<String> {
        let own = world.temp.path().to_str().unwrap().to_owned();
        world.notes().values().map(|text| without_cursor(text).replace(&own, "")).collect()
    };
    assert_eq!(text(grown), text(whole));
}

/// Imports each state of a file in turn, and the last at once: both must give the same notes.
pub(crate) fn grow(agent: &str, name: &str, states: &[Vec<u8>]) {
    let (grown, whole) = (World::new(), World::new());
    for (index, state) in states.iter().enumerate() {
        files::put(&grown.input().join(name), state).unwrap();
        let report = grown.import_of(agent);
        assert_eq!(report.count(Outcome::Grown), 0, "state {index} of {}: {:?}", states.len(), report.sessions);
    }
    files::put(&whole.input().join(name), states.last().unwrap()).unwrap();
    whole.import_of(agent);
    same_notes(&grown, &whole);
    let before = grown.notes();
    assert_eq!(grown.import_of(agent).count(Outcome::Updated), 0);
    assert_eq!(grown.notes(), before, "a second import changes no byte");
}

fn sessions_that_grow_message_by_message(set: &TranscriptSet) {
    let folder = set.folder("opencode");
    for path in below(&folder) {
        let export = parsed(&path);
        let messages = export["messages"].as_array().unwrap();
        let step = messages.len().div_ceil(4).max(1);
        let ends = (2..messages.len()).step_by(step).chain([messages.len()]);
        let states: Vec<Vec<u8>> = ends
            .map(|end| json!({ "info": export["info"], "messages": messages[..end] }).to_string().into_bytes())
            .collect();
        grow("opencode", "session.json", &states);
    }
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words, "time": { "start": 1, "end": 2 } })
}

/// Invented states of one session: asked, at work, answered, asked again, answered.
fn states() -> Vec<Value> {
    let at = |second: i64| 1_800_000_000_000 + second * 1000;
    let info = json!({ "id": "ses_1", "projectID": "p", "directory": "/home/mia/api", "version": "1.2.0",
        "title": "Make the tests pass", "time": { "created": at(0), "updated": at(9) } });
    let user = |id: &str, second: i64, words: &str| json!({ "info": { "id": id, "role": "user", "time": { "created": at(second) } }, "parts": [text(words)] });
    let agent = |id: &str, second: i64, done: bool, parts: &[Value]| {
        let completed = if done { json!(at(second + 5)) } else { Value::Null };
        json!({ "info": { "id": id, "role": "assistant", "modelID": "small", "time": { "created": at(second), "completed": completed } },
            "parts": parts })
    };
    let tool = |status: &str, exit: i64| {
        json!({ "type": "tool", "tool": "bash", "callID": "c1", "state": { "status": status, "input": { "command": "make test" },
            "output": "2 failed", "metadata": { "exit": exit }, "time": { "start": at(3), "end": at(4) } } })
    };
    let finish = json!({ "type": "step-finish", "cost": 0.01,
        "tokens": { "input": 1200, "output": 40, "reasoning": 8, "cache": { "read": 500, "write": 90 } } });
    let ask = user("msg_1", 1, "make the tests pass");
    let mut growing = text("I run them");
    growing["time"] = json!({ "start": 1 });
    let first = agent("msg_2", 2, true, &[text("I run them first."), tool("completed", 1), finish.clone()]);
    let more = user("msg_3", 20, "look at b.rs");
    let edit = json!({ "type": "tool", "tool": "edit", "callID": "c2", "state": { "status": "completed",
        "input": { "filePath": "/home/mia/api/src/b.rs" }, "output": "ok", "time": { "start": at(22), "end": at(23) },
        "metadata": { "filediff": { "additions": 2, "deletions": 1 } } } });
    let second = agent("msg_4", 21, true, &[edit, text("It was one line.")]);
    let all = [
        vec![ask.clone(), agent("msg_2", 2, false, &[growing])],
        vec![ask.clone(), agent("msg_2", 2, false, &[text("I run them first."), tool("running", 0)])],
        vec![ask.clone(), agent("msg_2", 2, false, &[text("I run them first."), tool("completed", 1)])],
        vec![ask.clone(), first.clone(), more.clone()],
        vec![ask, first, more, second],
    ];
    all.into_iter().map(|messages| json!({ "info": info, "messages": messages })).collect()
}

#[test]
fn a_session_that_is_looked_at_while_it_runs() {
    let states: Vec<Vec<u8>> = states().iter().map(|state| state.to_string().into_bytes()).collect();
    grow("opencode", "session.json", &states);
    let world = World::new();
    files::put(&world.input().join("session.json"), states.last().unwrap()).unwrap();
    world.import_of("opencode");
    let note = world.notes().into_values().next().unwrap();
    insta::assert_snapshot!("opencode_note", note.replace(world.temp.path().to_str().unwrap(), "~"));
}

/// Writes a state into a database, as the program does: rows that are there are changed.
fn store(base: &rusqlite::Connection, state: &Value) {
    base.execute_batch(
        "CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
            time_created INTEGER, time_updated INTEGER);
         CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
         CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);",
    )
    .unwrap();
    let info = &state["info"];
    let row =
        (info["id"].as_str(), info["directory"].as_str(), info["title"].as_str(), info["time"]["created"].as_i64());
    base.execute(
        "INSERT OR REPLACE INTO session (id, directory, title, time_created, version) VALUES (?1, ?2, ?3, ?4, '1.2.0')",
        row,
    )
    .unwrap();
    for message in state["messages"].as_array().unwrap() {
        let (info, id) = (&message["info"], message["info"]["id"].as_str().unwrap());
        let row = (id, info["time"]["created"].as_i64(), info.to_string());
        base.execute("INSERT OR REPLACE INTO message VALUES (?1, 'ses_1', ?2, ?3)", row).unwrap();
        for (index, part) in message["parts"].as_array().unwrap().iter().enumerate() {
            let row = (format!("prt_{id}_{index}"), id, part.to_string());
            base.execute("INSERT OR REPLACE INTO part VALUES (?1, ?2, 'ses_1', ?3)", row).unwrap();
        }
    }
}

#[test]
fn a_database_that_is_open_elsewhere_is_read_and_left_alone() {
    let (grown, whole) = (World::new(), World::new());
    let path = grown.input().join("opencode.db");
    let base = rusqlite::Connection::open(&path).unwrap();
    base.pragma_update(None, "journal_mode", "wal").unwrap();
    let bytes = || -> Vec<(PathBuf, Vec<u8>)> {
        below(&grown.input()).into_iter().map(|path| (path.clone(), files::read(&path).unwrap())).collect()
    };
    for state in states() {
        store(&base, &state);
        let before = bytes();
        assert!(before.len() > 1, "there is a log");
        assert_eq!(grown.import_of("opencode").count(Outcome::Grown), 0);
        assert_eq!(bytes(), before);
    }
    drop(base);
    assert_eq!(bytes().len(), 1, "the log is gone with the program");
    assert_eq!(grown.import_of("opencode").count(Outcome::Unchanged), 1);
    assert_eq!(bytes().len(), 1, "and none is made");
    // An export of it is the same session.
    let last = states().pop().unwrap().to_string();
    files::put(&whole.input().join("opencode.db"), last.as_bytes()).unwrap();
    whole.import_of("opencode");
    same_notes(&grown, &whole);
}

on_both_sets!(
    notes_say_what_the_records_say,
    sessions_that_grow_message_by_message,
    every_importer_knows_its_own_files_only,
);
