//! What is told of invented sessions.

use serde_json::{Value, json};

use crate::told::{lines, survives_a_writer, told, told_base};

const IMPORTER: cru_session::source::Importer = crate::host::importer::<4>();

const TABLES: &str = "
    CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER, updated_at INTEGER);";

fn entry(second: u32, user: &Value, assistant: &Value) -> Value {
    json!({"user": {"env_context": {"env_state": {"current_working_directory": "/home/mia/lamp"}}, "content": user,
        "timestamp": format!("2026-11-20T09:00:{second:02}Z")}, "assistant": assistant,
        "request_metadata": {"stream_end_timestamp_ms": 1_795_165_200_000_u64 + 1000 * u64::from(second) + 500}})
}

fn conversation(history: &[Value]) -> Value {
    json!({"conversation_id": "k1", "history": history, "transcript": ["> x"], "model_info": {"model_id": "opus-9"}})
}

fn history() -> Vec<Value> {
    let call = |id: &str, name: &str, args: Value| json!({"id": id, "name": name, "args": args});
    let results = json!({"ToolUseResults": {"tool_use_results": [
        {"tool_use_id": "c1", "status": "Success", "content": [{"Json": {"exit_status": "2", "stdout": "2 failed", "stderr": ""}}]},
        {"tool_use_id": "c2", "status": "Success", "content": [{"Text": "done"}]},
        {"tool_use_id": "c3", "status": "Error", "content": [{"Text": "no such file"}]}]}});
    let cancelled = json!({"CancelledToolUses": {"prompt": "Not that", "tool_use_results": [
        {"tool_use_id": "c4", "status": "Error", "content": [{"Text": "Tool use was cancelled by the user"}]}]}});
    vec![
        entry(
            1,
            &json!({"Prompt": {"prompt": "Mend the lamp"}}),
            &json!({"ToolUse": {"message_id": "a", "content": "I look.", "tool_uses": [
            call("c1", "execute_bash", json!({"command": "make test"})),
            call("c2", "fs_write", json!({"command": "str_replace", "path": "/home/mia/lamp/a.c", "old_str": "a\nb\nc", "new_str": "a\nx\nc"})),
            call("c3", "fs_read", json!({"operations": [{"mode": "Line", "path": "/home/mia/lamp/b.c"}]}))]}}),
        ),
        entry(
            2,
            &results,
            &json!({"ToolUse": {"content": "", "tool_uses": [call("c4", "execute_bash", json!({"command": "rm -r x"}))]}}),
        ),
        entry(3, &cancelled, &json!({"Response": {"message_id": "b", "content": "Done."}})),
        entry(4, &json!({"Hologram": {}}), &json!({"Response": {"content": ""}})),
    ]
}

fn base(history: &[Value]) -> String {
    let row = |key: &str, updated: u32, value: &Value| {
        let value = value.to_string().replace('\'', "''");
        format!("INSERT INTO conversations_v2 VALUES ('{key}', 'k1', '{value}', 1795165200000, {updated});")
    };
    let old = json!({"conversation_id": "k0", "history": [entry(1, &json!({"Prompt": {"prompt": "older"}}), &json!({"Response": {"content": "yes"}}))]});
    format!(
        "{TABLES}{}{}INSERT INTO conversations VALUES ('/home/mia/box', '{old}');
         INSERT INTO conversations_v2 VALUES ('/home/mia/torn', 'k9', '{{\"conversation_id\":\"k9\",\"history\":[', 1, 1);",
        row("/home/mia/lamp", 2, &conversation(history)),
        row("/home/mia/else", 1, &conversation(&history[..1])),
    )
}

#[test]
fn a_conversation_is_told() {
    let told = told_base(&IMPORTER, "data.sqlite3", &base(&history()));
    insta::assert_snapshot!(told.stream("k1"), @r#"
    1 Meta(Model("opus-9"))
    1 Meta(Started(2026-11-20T09:00:00Z))
    2 prompt (typed) Mend the lamp
    2 reply I look.
    2 call c1 execute_bash make test
    2 call c2 fs_write a.c
    2 call c3 fs_read b.c
    3 result c1 failed exit 2 2 failed
    3 result c2 +1 −1 writes a.c
    3 result c3 failed no such file
    3 call c4 execute_bash rm -r x
    4 result c4 denied Tool use was cancelled by the user
    4 prompt (typed) Not that
    4 reply Done.
    "#);
    assert!(told.stream("k0").ends_with("2 prompt (typed) older\n2 reply yes\n"));
    assert_eq!(["unknown part", "broken message"].map(|name| told.skipped(name)), [1, 1]);
}

#[test]
fn a_database_in_use_is_read_without_harm() {
    let mut longer = history();
    longer.push(entry(9, &json!({"Prompt": {"prompt": "And the plug"}}), &json!({"Response": {"content": "Yes."}})));
    let value = conversation(&longer).to_string().replace('\'', "''");
    let more = format!("UPDATE conversations_v2 SET value = '{value}', updated_at = 3 WHERE key = '/home/mia/lamp';");
    survives_a_writer(&IMPORTER, "data.sqlite3", &base(&history()), &more);
}

#[test]
fn lines_are_told_alike() {
    let line = |kind: &str, content: Value| json!({"version": "v1", "kind": kind, "data": {"message_id": kind, "content": content}});
    let records = [
        line("Prompt", json!([{"kind": "text", "data": "Mend the lamp"}])),
        line(
            "AssistantMessage",
            json!([{"kind": "text", "data": "I look."}, {"kind": "toolUse", "data": {"toolUseId": "c", "name": "shell", "input": {"command": "ls"}}}]),
        ),
        line(
            "ToolResults",
            json!([{"kind": "toolResult", "data": {"toolUseId": "c", "status": "success", "content": [{"kind": "json", "data": {"exit_status": "0", "stdout": "a.c", "stderr": ""}}]}}]),
        ),
        line("Novel", json!([])),
    ];
    let described = json!({"session_id": "s", "cwd": "/home/mia/lamp", "title": "The lamp"});
    let told = told(&IMPORTER, &[("s.jsonl", lines(&records))]);
    insta::assert_snapshot!(told.stream("s"), @r"
    1 prompt (typed) Mend the lamp
    2 reply I look.
    2 call c shell ls
    3 result c a.c
    ");
    assert_eq!(told.skipped("unknown record type"), 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    cru_base::files::create(&path, &lines(&records)).unwrap();
    cru_base::files::create(&path.with_extension("json"), described.to_string().as_bytes()).unwrap();
    assert!(crate::told::told_at(&IMPORTER, &path).stream("s").starts_with("1 title Host The lamp\n"));
}
