//! What is told of invented sessions.

use serde_json::{Value, json};

use crate::told::{Told, lines, survives_a_writer, told, told_base};
use cru_session::event::Usage;

const IMPORTER: cru_session::source::Importer = crate::host::importer::<1>();

const TABLES: &str = "
    CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, parent_session_id TEXT, started_at REAL,
        end_reason TEXT, title TEXT, cwd TEXT, git_branch TEXT, input_tokens INTEGER, output_tokens INTEGER,
        cache_read_tokens INTEGER, cache_write_tokens INTEGER, estimated_cost_usd REAL, actual_cost_usd REAL);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,
        tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, finish_reason TEXT, reasoning TEXT,
        active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0);
    CREATE VIRTUAL TABLE messages_fts USING fts5(content);
    INSERT INTO sessions VALUES ('s1', 'cli', 'opus-9', NULL, 1795165200.5, NULL, 'Mend the lamp', '/home/mia/lamp',
        'main', 100, 20, 30, 10, 0.5, 0.25);
    INSERT INTO sessions VALUES ('s2', 'cli', 'opus-9', 's1', 1795165205.0, NULL, NULL, NULL, NULL, 5, 1, 0, 0, NULL, NULL);
    INSERT INTO sessions VALUES ('s0', 'cli', 'opus-9', NULL, 1795165100.0, 'compression', NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL);
    INSERT INTO sessions VALUES ('s3', 'cli', 'opus-9', 's0', 1795165210.0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL);";

fn row(session: &str, second: u32, message: &Value) -> String {
    let text = |key: &str| match &message[key] {
        Value::Null => "NULL".to_owned(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => format!("'{}'", other.to_string().replace('\'', "''")),
    };
    let flag = |key: &str, default: u64| message[key].as_u64().unwrap_or(default);
    let words = ["role", "content", "tool_call_id", "tool_calls", "reasoning"].map(text).join(", ");
    format!(
        "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, reasoning, timestamp, active, compacted)
         VALUES ('{session}', {words}, {}.25, {}, {});",
        1_795_165_200 + second,
        flag("active", 1),
        flag("compacted", 0)
    )
}

fn call(id: &str, tool: &str, input: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": input.to_string()}})
}

fn messages() -> Vec<Value> {
    let answer = |id: &str, content: Value| json!({"role": "tool", "tool_call_id": id, "content": content.to_string()});
    vec![
        json!({"role": "system", "content": "You are."}),
        json!({"role": "user", "content": "Mend the lamp"}),
        json!({"role": "assistant", "content": "I look.", "reasoning": "hm", "tool_calls": [
            call("c1", "terminal", &json!({"command": "make test"})),
            call("c2", "patch", &json!({"mode": "replace", "path": "/home/mia/lamp/a.c", "old_string": "a\nb\nc", "new_string": "a\nx\nc"})),
            call("c3", "delegate_task", &json!({"goal": "Look for the fuse"})),
            call("c4", "read_file", &json!({"path": "/home/mia/lamp/b.c"}))]}),
        answer("c1", json!({"output": "2 failed", "exit_code": 2, "error": null})),
        answer("c2", json!({"success": true, "diff": "--- a\n+++ b\n-b\n+x"})),
        answer("c3", json!({"results": "In the box."})),
        answer("c4", json!({"error": "no such file"})),
        json!({"role": "user", "content": "[CONTEXT COMPACTION - REFERENCE ONLY]\nSo far."}),
        json!({"role": "user", "content": "[SYSTEM: The user has invoked the \"weld\" skill, …]\n\nbody\n\nThe user has provided the following instruction alongside the skill invocation: gently"}),
        json!({"role": "user", "content": "no, stop", "active": 0}),
        json!({"role": "king", "content": "x"}),
        json!({"role": "assistant", "content": "Done."}),
    ]
}

fn base() -> String {
    let main: String = messages().iter().zip(1..).map(|(message, second)| row("s1", second, message)).collect();
    let sub = row("s2", 50, &json!({"role": "user", "content": "Look for the fuse"}));
    let next = row("s3", 60, &json!({"role": "user", "content": "go on"}));
    let alone = row("s9", 70, &json!({"role": "user", "content": "alone"}));
    format!("{TABLES}{main}{sub}{next}{alone}")
}

#[test]
fn a_session_is_told() {
    let told = told_base(&IMPORTER, "state.db", &base());
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 title Host Mend the lamp
    1 Meta(Model("opus-9"))
    1 Meta(Property { key: "hermes", value: Object {"source": String("cli")} })
    1 Meta(TotalCost(0.25))
    3 prompt (typed) Mend the lamp
    4 thinking hm
    4 reply I look.
    4 call c1 terminal make test
    4 call c2 patch a.c
    4 call c3 delegate_task Look for the fuse
    4 call c4 read_file b.c
    5 result c1 failed exit 2 2 failed
    6 result c2 +1 −1 writes a.c
    7 result c3 {"results":"In the box."} agent - s1/agent-s2
    8 result c4 failed no such file
    9 compaction - 0 So far.
    10 prompt (command) /weld gently
    13 reply Done.
    "#);
    assert_eq!(told.streams.keys().collect::<Vec<_>>(), ["s0", "s1", "s1/agent-s2", "s3", "s9"]);
    assert_eq!((told.parents["s1/agent-s2"].as_str(), told.parents["s3"].as_str()), ("s1", "s0"));
    assert!(told.stream("s1/agent-s2").ends_with("prompt (task) Look for the fuse\n"));
    let usage = Usage { input: 100, output: 20, cache_read: 30, cache_write: 10, ..Usage::default() };
    assert_eq!(told.tokens("s1"), usage);
    assert_eq!(
        ["unknown role", "message that was taken back", "system prompt"].map(|name| told.skipped(name)),
        [1, 1, 1]
    );
}

#[test]
fn tokens_of_each_model_count_where_they_are_kept() {
    let rows = "CREATE TABLE session_model_usage (session_id TEXT, model TEXT, task TEXT, input_tokens INTEGER, output_tokens INTEGER,
        cache_read_tokens INTEGER, cache_write_tokens INTEGER, estimated_cost_usd REAL, actual_cost_usd REAL);
        INSERT INTO session_model_usage VALUES ('s1', 'opus-9', '', 60, 10, 0, 0, 0.1, 0), ('s1', 'opus-9', 'x', 1, 1, 0, 0, 0.1, 0), ('s1', 'mini-2', '', 4, 2, 0, 0, 0, 0);";
    let told = told_base(&IMPORTER, "state.db", &format!("{}{rows}", base()));
    let of = |model: &str| told.usage[&("s1".to_owned(), model.to_owned())];
    assert_eq!((of("opus-9").input, of("opus-9").output, of("mini-2").input), (61, 11, 4));
}

#[test]
fn a_database_in_use_is_read_without_harm() {
    let more = row("s1", 90, &json!({"role": "user", "content": "And the plug"}));
    survives_a_writer(&IMPORTER, "state.db", &base(), &more);
}

#[test]
fn documents_and_lines_are_told_alike_and_once() {
    let mut all = messages();
    all.pop();
    let document = json!({"session_id": "s1", "model": "opus-9", "platform": "cli", "session_start": "2026-11-20T09:00:00", "tools": [], "messages": all});
    let of_document = told(&IMPORTER, &[("session_s1.json", document.to_string().into_bytes())]);
    let of_lines = |stream: &str| {
        stream
            .lines()
            .filter(|line| line.contains("call") || line.contains("result"))
            .map(|line| line.split_once(' ').unwrap().1.to_owned())
            .collect::<Vec<_>>()
    };
    let mut records = vec![json!({"role": "session_meta", "model": "opus-9", "platform": "cli", "tools": []})];
    records.extend(all);
    let both = [("s1.jsonl", lines(&records)), ("session_s1.json", document.to_string().into_bytes())];
    let read = told(&IMPORTER, &both);
    assert_eq!(of_lines(read.stream("s1")), of_lines(of_document.stream("s1")));
    assert_eq!((of_lines(read.stream("s1")).len(), read.skipped("session that other lines tell")), (8, 1));
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("state.db"), folder.path().join("sessions/s1.jsonl")];
    rusqlite::Connection::open(&paths[0]).unwrap().execute_batch(&base()).unwrap();
    cru_base::files::create(&paths[1], &lines(&records)).unwrap();
    let bundles = (IMPORTER.bundle)(paths.to_vec()).unwrap();
    let mut told = Told::default();
    for bundle in &bundles {
        (IMPORTER.read)(bundle, &mut told).unwrap();
    }
    assert_eq!((bundles.len(), told.skipped("session that the database tells")), (1, records.len() as u64));
}

#[test]
fn odd_rows_of_sessions_are_named() {
    let more = "INSERT INTO sessions (id, parent_session_id) VALUES ('s1', 's1'), ('', NULL), ('s7', 's7');";
    let told = told_base(&IMPORTER, "state.db", &format!("{}{more}", base().replace("id TEXT PRIMARY KEY", "id TEXT")));
    assert_eq!(["second row of a session", "session without a name"].map(|name| told.skipped(name)), [1, 1]);
    assert!(!told.parents.contains_key("s7"));
}
