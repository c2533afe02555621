//! Notes of sessions that hosts keep in databases, while the host writes them, and against counts made straight from real
//! ones.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use cru::base::files;
use cru::session::{Item, Session, Step};
use cru::sync::import::{Machine, Options, Unwatched, ingest};
use cru::sync::report::{Outcome, Report};
use cru::vault::{Catalog, State, Vault};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::transcript_set::{TranscriptSet, has_failed};

fn vault() -> (TempDir, Vault) {
    let temp = tempfile::tempdir().unwrap();
    files::create(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
    let vault = Vault::open(&temp.path().join("vault")).unwrap();
    (temp, vault)
}

fn import(vault: &Vault, agent: &str, path: &Path) -> Report {
    let importer = cru::import::find(agent).unwrap();
    let machine = Machine {
        state: State::at(vault.root().with_file_name("state")),
        now: "2026-11-20T12:00:00Z".parse().unwrap(),
    };
    let options = Options { machine: Some(machine), ..Options::default() };
    let report = ingest(vault, importer, &[path.to_owned()], &options, &Unwatched).unwrap();
    assert!(report.records.balances());
    report
}

fn sessions(vault: &Vault) -> Vec<Session> {
    let (loaded, problems) = vault.load_sessions(&Catalog::read(vault));
    assert!(problems.is_empty());
    loaded.into_iter().map(|note| note.session).collect()
}

fn steps(session: &Session) -> Vec<&Step> {
    fn step(item: &Item) -> Option<&Step> {
        if let Item::Step(step) = item { Some(step) } else { None }
    }
    session.items().filter_map(|(_, item)| step(item)).collect()
}

fn say(base: &Connection, number: u32, role: &str, part: &Value) {
    let parts = json!([part, {"type": "finish", "data": {"reason": "stop"}}]).to_string();
    let row = (format!("m{number}"), role, parts, 1_795_165_200 + number);
    base.execute("INSERT INTO messages VALUES (?1, 's1', ?2, ?3, ?4)", row).unwrap();
}

fn text(words: &str) -> Value {
    json!({"type": "text", "data": {"text": words}})
}

#[test]
fn a_note_grows_with_a_database_that_its_host_has_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crush.db");
    let host = Connection::open(&path).unwrap();
    host.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
         CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, prompt_tokens INTEGER,
            completion_tokens INTEGER, cost REAL, created_at INTEGER);
         CREATE TABLE files (id TEXT, version INTEGER);
         CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER);
         INSERT INTO sessions VALUES ('s1', NULL, 'Mend the lamp', 10, 2, 0.5, 1795165200);",
    )
    .unwrap();
    say(&host, 1, "user", &text("Mend the lamp"));
    say(&host, 2, "assistant", &text("I look."));
    let (_temp, vault) = vault();
    assert_eq!(import(&vault, "crush", &path).count(Outcome::Created), 1);
    assert_eq!(import(&vault, "crush", &path).count(Outcome::Unchanged), 1);
    let call = json!({"id": "c1", "name": "bash", "input": "{\"command\": \"make test\"}", "finished": true});
    say(&host, 3, "assistant", &json!({"type": "tool_call", "data": call}));
    let answer = json!({"tool_call_id": "c1", "content": "2 failed\nExit code 2", "is_error": false});
    say(&host, 4, "tool", &json!({"type": "tool_result", "data": answer}));
    host.execute_batch("UPDATE sessions SET title = 'The lamp', cost = 1.5").unwrap();
    let grown = import(&vault, "crush", &path);
    assert_eq!(grown.count(Outcome::Updated), 1, "{grown:?}");
    assert_eq!(import(&vault, "crush", &path).count(Outcome::Unchanged), 1);
    let [session] = &sessions(&vault)[..] else { panic!("{:?}", sessions(&vault)) };
    let steps = steps(session);
    assert_eq!((steps.len(), steps[0].exit, has_failed(steps[0])), (1, Some(2), true));
    assert_eq!((session.meta.title.as_deref(), session.meta.cost_usd), (Some("The lamp"), Some(1.5)));
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 3, "the host's own files alone");
}

#[test]
fn a_database_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crush.db");
    files::create(&path, &[b"SQLite format 3\0".as_slice(), &[0xa5; 9000]].concat()).unwrap();
    let (_temp, vault) = vault();
    let report = import(&vault, "crush", &path);
    assert_eq!(report.count(Outcome::Created), 0);
    assert!(format!("{report:?}").contains("crush.db"));
}

/// Prompts, calls and failures of the sessions of a real database, by session.
fn counted(path: &Path) -> HashMap<String, [u64; 3]> {
    let copy = tempfile::tempdir().unwrap();
    for end in ["", "-wal"] {
        let from = path.with_file_name(format!("crush.db{end}"));
        if from.is_file() {
            files::create(&copy.path().join(format!("crush.db{end}")), &fs::read(from).unwrap()).unwrap();
        }
    }
    let base = Connection::open(copy.path().join("crush.db")).unwrap();
    let mut rows = base.prepare("SELECT session_id, role, parts FROM messages").unwrap();
    let mut counts: HashMap<String, [u64; 3]> = HashMap::new();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    for row in rows.query_map([], row).unwrap() {
        let (session, role, parts): (String, String, String) = row.unwrap();
        let count = counts.entry(session).or_default();
        for part in serde_json::from_str::<Vec<Value>>(&parts).unwrap() {
            let content = part["data"]["content"].as_str().unwrap_or_default();
            let failed = part["data"]["is_error"] == true || content.lines().any(|line| line.starts_with("Exit code "));
            count[0] += u64::from(role == "user" && part["type"] == "text");
            count[1] += u64::from(part["type"] == "tool_call");
            count[2] += u64::from(part["type"] == "tool_result" && failed);
        }
    }
    counts
}

#[test]
#[ignore = "needs ../shared/transcripts"]
fn shared_databases_of_crush() {
    let folder = TranscriptSet::shared().folder("new").join("crush");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join(".crush/crush.db");
        let counts = counted(&path);
        let (_temp, vault) = vault();
        import(&vault, "crush", &path);
        for session in sessions(&vault) {
            let host = session.meta.host_session.clone().unwrap();
            let id = host.rsplit("/agent-").next().unwrap().to_owned();
            let steps = steps(&session);
            let prompts = session.items().filter(|(_, item)| matches!(item, Item::User(_))).count() as u64;
            // What a sub-agent was asked is no prompt of a person; a call without an answer did not succeed.
            let open = steps.iter().filter(|step| step.result.as_deref() == Some("no result recorded")).count();
            let failed = steps.iter().filter(|step| has_failed(step)).count() - open;
            let [asked, calls, failures] = counts[&id];
            let asked = if host.contains("/agent-") { 0 } else { asked };
            assert_eq!([prompts, steps.len() as u64, failed as u64], [asked, calls, failures], "{host}");
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen}");
}
