//! What is told of invented sessions.

use serde_json::{Value, json};

use crate::told::{survives_a_writer, told_base};

const IMPORTER: cru_session::source::Importer = crate::host::importer::<3>();

const TABLES: &str = "
    CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, message_count INTEGER,
        prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, updated_at INTEGER, created_at INTEGER);
    CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT, path TEXT, content TEXT, version INTEGER);
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
        finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0);
    INSERT INTO sessions VALUES ('s1', NULL, 'Mend the lamp', 9, 100, 20, 0.25, 1795165300, 1795165200);
    INSERT INTO sessions VALUES ('m3$$c3', 's1', 'Look for the fuse', 2, 5, 1, 0, 1795165300, 1795165210);
    INSERT INTO sessions VALUES ('title-s1', 's1', 'Generate a title', 0, 0, 0, 0, 1795165300, 1795165201);
    INSERT INTO files VALUES ('f1', 's1', '/home/mia/lamp/a.c', 'a', 0);";

fn row(session: &str, number: u32, role: &str, parts: &Value, summary: u8) -> String {
    let parts = parts.to_string().replace('\'', "''");
    let model = if role == "assistant" { "'opus-9'" } else { "NULL" };
    let time = 1_795_165_200 + number;
    format!(
        "INSERT INTO messages VALUES ('m{number}', '{session}', '{role}', '{parts}', {model}, {time}, NULL, 'x', {summary});"
    )
}

fn part(kind: &str, data: &Value) -> Value {
    json!({"type": kind, "data": data})
}

fn text(words: &str) -> Value {
    json!([part("text", &json!({"text": words})), part("finish", &json!({"reason": "stop", "time": 0}))])
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    part("tool_call", &json!({"id": id, "name": name, "input": input.to_string(), "finished": true}))
}

fn result(id: &str, content: &str, is_error: bool, metadata: &Value) -> Value {
    part(
        "tool_result",
        &json!({"tool_call_id": id, "content": content, "is_error": is_error, "metadata": metadata.to_string()}),
    )
}

fn base() -> String {
    let done = part("finish", &json!({"reason": "tool_use", "time": 1}));
    let rows = [
        row("s1", 1, "user", &text("Mend the lamp"), 0),
        row(
            "s1",
            2,
            "assistant",
            &json!([
                part("reasoning", &json!({"thinking": "hm"})),
                part("text", &json!({"text": "I look."})),
                call("c1", "bash", &json!({"command": "make test"})),
                call(
                    "c2",
                    "edit",
                    &json!({"file_path": "/home/mia/lamp/a.c", "old_string": "a\nb\nc", "new_string": "a\nx\nc"})
                ),
                call("c3", "agent", &json!({"prompt": "Look for the fuse"})),
                call("c4", "bash", &json!({"command": "rm -r x"})),
                call("c5", "view", &json!({"file_path": "/home/mia/lamp/b.c"})),
                done
            ]),
            0,
        ),
        row(
            "s1",
            3,
            "tool",
            &json!([
                result(
                    "c1",
                    "2 failed\nExit code 2\n\n<cwd>/home/mia/lamp</cwd>",
                    false,
                    &json!({"start_time": 1_795_165_203_000_u64, "end_time": 1_795_165_205_000_u64, "working_directory": "/home/mia/lamp"})
                ),
                result(
                    "c2",
                    "Content replaced",
                    false,
                    &json!({"additions": 1, "removals": 1, "old_content": "a\nb\nc", "new_content": "a\nx\nc"})
                ),
                result("c3", "In the box.", false, &Value::Null),
                result("c4", "User denied permission", true, &Value::Null),
                result("c5", "no such file", true, &Value::Null)
            ]),
            0,
        ),
        row("s1", 4, "assistant", &text("So far."), 1),
        row(
            "s1",
            5,
            "user",
            &json!([part("shell_command", &json!({"command": "ls", "output": "a.c", "exit_code": 0}))]),
            0,
        ),
        row("s1", 6, "assistant", &json!([part("hologram", &json!({}))]), 0),
        row(
            "s1",
            7,
            "assistant",
            &json!([part("finish", &json!({"reason": "canceled", "message": "Request cancelled"}))]),
            0,
        ),
        row("m3$$c3", 21, "user", &text("Look for the fuse"), 0),
        row("m3$$c3", 22, "assistant", &text("In the box."), 0),
    ];
    format!("{TABLES}{}", rows.concat())
}

#[test]
fn a_session_is_told() {
    let told = told_base(&IMPORTER, "crush.db", &base());
    insta::assert_snapshot!(told.stream("s1"), @r#"
    1 title Host Mend the lamp
    1 Meta(Tokens(120))
    1 Meta(TotalCost(0.25))
    2 prompt (typed) Mend the lamp
    3 Meta(Model("opus-9"))
    3 thinking hm
    3 reply I look.
    3 call c1 bash make test
    3 call c2 edit a.c
    3 call c3 agent Look for the fuse
    3 call c4 bash rm -r x
    3 call c5 view b.c
    4 result c1 failed exit 2 2 failed
    4 result c2 +1 −1 writes a.c
    4 result c3 In the box. agent agent s1/agent-m3$$c3
    4 result c4 denied User denied permission
    4 result c5 failed no such file
    5 compaction - 0 So far.
    6 prompt (shell) ls
    6 call shell@6 Shell ls
    6 result shell@6 a.c
    8 interrupt -
    "#);
    assert_eq!(told.parents["s1/agent-m3$$c3"], "s1");
    assert!(told.stream("s1/agent-m3$$c3").ends_with("3 reply In the box.\n"));
    let named = ["unknown part", "session that asked for a title", "version of a file, as the calls told it"];
    assert_eq!(named.map(|name| told.skipped(name)), [1, 1, 1]);
}

#[test]
fn an_answer_that_is_being_written_waits() {
    let part = json!([part("text", &json!({"text": "I be"}))]);
    let told = told_base(
        &IMPORTER,
        "crush.db",
        &format!("{TABLES}{}{}", row("s1", 1, "user", &text("one"), 0), row("s1", 2, "assistant", &part, 0)),
    );
    assert!(told.stream("s1").ends_with("2 prompt (typed) one\n"));
    assert_eq!(told.skipped("not read yet: still being written"), 1);
}

#[test]
fn a_database_in_use_is_read_without_harm() {
    survives_a_writer(&IMPORTER, "crush.db", &base(), &row("s1", 90, "user", &text("And the plug"), 0));
}
