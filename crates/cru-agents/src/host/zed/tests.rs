//! What is told of invented threads.

use rusqlite::types::Value as Cell;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use crate::told::{Told, survives_a_writer, told_at, told_base};
use cru_session::event::Usage;

const IMPORTER: cru_session::source::Importer = crate::host::importer::<2>();

const TABLES: &str =
    "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB,
    parent_id TEXT, folder_paths TEXT, folder_paths_order TEXT, created_at TEXT);";

fn row(id: &str, parent: Option<&str>, document: &Value) -> String {
    let parent = parent.map_or_else(|| "NULL".to_owned(), |parent| format!("'{parent}'"));
    format!(
        "INSERT INTO threads VALUES ('{id}', 'Mend the lamp', '2026-11-20T09:30:00+00:00', 'json', '{}', {parent},
         '/home/mia/box\n/home/mia/lamp', '1,0', '2026-11-20T09:00:00+00:00');",
        document.to_string().replace('\'', "''")
    )
}

fn user(id: &str, parts: &Value) -> Value {
    json!({"User": {"id": id, "content": parts}})
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"ToolUse": {"id": id, "name": name, "raw_input": "", "input": input, "is_input_complete": true}})
}

fn answer(id: &str, is_error: bool, text: &str, output: &Value) -> Value {
    json!({"tool_use_id": id, "tool_name": "", "is_error": is_error, "content": {"Text": text}, "output": output})
}

fn thread() -> Value {
    let agent = json!({"Agent": {"content": [
            {"Thinking": {"text": "hm", "signature": null}}, {"Text": "I look."},
            call("c1", "terminal", &json!({"command": "make test", "cd": "lamp"})),
            call("c2", "edit_file", &json!({"path": "lamp/a.c", "mode": "edit", "display_description": "x"})),
            call("c3", "spawn_agent", &json!({"label": "Fuse", "message": "Look for the fuse"})),
            call("c4", "read_file", &json!({"path": "lamp/b.c"})),
            call("c5", "terminal", &json!({"command": "rm -r x", "cd": "lamp"})),
            call("c6", "terminal", &json!({"command": "make \"x\"", "cd": "lamp"})),
            call("c7", "terminal", &json!({"command": "make", "cd": "lamp"})),
            {"Hologram": {}}],
        "tool_results": {
            "c1": answer("c1", true, "2 failed", &Value::Null),
            "c2": answer("c2", false, "Edited", &json!({"old_text": "a\nb\nc\nd\n", "new_text": "a\nb\nx\nd\n", "diff": "--- a\n+++ b\n-c\n+x"})),
            "c3": answer("c3", false, "In the box.", &Value::Null),
            "c4": answer("c4", false, "one\ntwo", &Value::Null),
            "c5": answer("c5", true, "Permission to run tool denied by user", &Value::Null),
            "c6": answer("c6", false, "Command \"make \"x\"\" failed with exit code 2.\n\n```\nno rule\n```", &Value::Null),
            "c7": answer("c7", false, "The user stopped this command. No output was captured before stopping.", &Value::Null)}}});
    let mention = json!([{"Text": "Mend "}, {"Mention": {"uri": {"File": {"abs_path": "/home/mia/lamp/a.c"}}, "content": "all of it"}}, {"Text": " please"}, {"Image": {"source": "AAAA"}}]);
    json!({"version": "0.3.0", "title": "Mend the lamp", "model": {"provider": "anthropic", "model": "opus-9"},
        "cumulative_token_usage": {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 30},
        "request_token_usage": {"u1": {"input_tokens": 9}},
        "messages": [user("u1", &mention), agent, "Resume", {"Agent": {"content": [{"Text": "Done."}], "tool_results": {}}}]})
}

fn child() -> Value {
    json!({"version": "0.3.0", "messages": [user("k1", &json!([{"Text": "Look for the fuse"}])), {"Agent": {"content": [{"Text": "In the box."}], "tool_results": {}}}]})
}

fn base() -> String {
    format!("{TABLES}{}{}", row("t1", None, &thread()), row("t2", Some("t1"), &child()))
}

#[test]
fn a_thread_is_told() {
    let told = told_base(&IMPORTER, "threads.db", &base());
    insta::assert_snapshot!(told.stream("t1"), @r#"
    1 Meta(Model("opus-9"))
    1 title Host Mend the lamp
    1 Meta(Started(2026-11-20T09:00:00Z))
    2 prompt (typed) Mend @a.c please +image/png 3
    3 thinking hm
    3 reply I look.
    3 call c1 terminal make test
    3 result c1 failed 2 failed
    3 call c2 edit_file a.c
    3 result c2 +1 −1 writes a.c
    3 call c3 spawn_agent Look for the fuse
    3 result c3 In the box. agent - t1/agent-t2
    3 call c4 read_file b.c
    3 result c4 2 lines reads b.c
    3 call c5 terminal rm -r x
    3 result c5 denied Permission to run tool denied by user
    3 call c6 terminal make "x"
    3 result c6 failed exit 2 Command "make "x"" failed with exit code 2.

    ```
    no rule
    ```
    3 call c7 terminal make
    3 result c7 failed The user stopped this command. No output was captured before stopping.
    3 interrupt c7
    5 reply Done.
    "#);
    assert!(told.stream("t1/agent-t2").contains("prompt (task) Look for the fuse"));
    assert_eq!(told.parents["t1/agent-t2"], "t1");
    assert_eq!(told.tokens("t1"), Usage { input: 100, output: 20, cache_read: 30, ..Usage::default() });
    assert_eq!(["unknown part", "words of the host"].map(|name| told.skipped(name)), [1, 1]);
}

#[test]
fn packed_threads_and_those_of_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let base = rusqlite::Connection::open(&path).unwrap();
    base.execute_batch(
        "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)",
    )
    .unwrap();
    let put = |id: &str, kind: &str, data: Cell| {
        base.execute("INSERT INTO threads VALUES (?1, 'x', '2026-11-20T09:30:00Z', ?2, ?3)", (id, kind, data)).unwrap();
    };
    let packed = compress_to_vec(child().to_string().as_bytes(), CompressionLevel::Fastest);
    put("new", "zstd", Cell::Blob(packed.clone()));
    put("torn", "zstd", Cell::Blob(packed[..packed.len() / 2].to_vec()));
    let old = json!({"version": "0.2.0", "summary": "x", "messages": [
        {"id": 1, "role": "user", "segments": [{"type": "text", "text": "one"}]},
        {"id": 2, "role": "assistant", "segments": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "two"}],
            "tool_uses": [{"id": "c", "name": "grep", "input": {"regex": "x"}}],
            "tool_results": [{"tool_use_id": "c", "is_error": false, "content": "a\nb", "output": null}]}]});
    put("old", "json", Cell::Text(old.to_string()));
    let told: Told = told_at(&IMPORTER, &path);
    insta::assert_snapshot!(told.stream("old"), @r"
    1 title Host x
    2 prompt (typed) one
    3 thinking hm
    3 reply two
    3 call c grep x
    3 result c 2 lines
    ");
    assert!(told.stream("new").ends_with("2 prompt (typed) Look for the fuse\n3 reply In the box.\n"));
    assert_eq!(told.skipped("broken message"), 1, "{:?}", told.accounts);
}

#[test]
fn a_database_in_use_is_read_without_harm() {
    let mut longer = thread();
    longer["messages"].as_array_mut().unwrap().push(user("u2", &json!([{"Text": "And the plug"}])));
    let more = format!("UPDATE threads SET data = '{}' WHERE id = 't1';", longer.to_string().replace('\'', "''"));
    survives_a_writer(&IMPORTER, "threads.db", &base(), &more);
}
