//! What is told of invented sessions.

use serde_json::{Value, json};

use crate::told::{Told, lines, survives_a_writer, told, told_base};
use cru_session::event::Usage;

const IMPORTER: cru_session::source::Importer = crate::host::importer::<0>();

const TABLES: &str = "
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, user_set_name BOOLEAN, session_type TEXT,
        working_dir TEXT, created_at TIMESTAMP, provider_name TEXT, model_config_json TEXT, parent_session_id TEXT,
        accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER,
        accumulated_cost REAL);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT,
        content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
    CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, created_timestamp INTEGER,
        model TEXT, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER, cache_read_tokens INTEGER,
        cache_write_tokens INTEGER, cost REAL, cost_source TEXT, is_compaction INTEGER);
    INSERT INTO sessions VALUES ('20261120_1', 'Mend the lamp', '', 0, 'user', '/home/mia/lamp', '2026-11-20 09:00:00',
        'anthropic', '{\"model_name\":\"opus-9\"}', NULL, 150, 120, 30, 0.75);
    INSERT INTO sessions VALUES ('20261120_2', 'Look for the fuse', '', 0, 'sub_agent', '/home/mia/lamp',
        '2026-11-20 09:00:05', NULL, NULL, '20261120_1', NULL, NULL, NULL, NULL);";

fn message(session: &str, number: u32, role: &str, parts: &Value, seen: &str) -> String {
    let parts = parts.to_string().replace('\'', "''");
    format!(
        "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json)
         VALUES ('m{number}', '{session}', '{role}', '{parts}', {}, '{seen}');",
        1_795_165_200 + number
    )
}

fn text(words: &str) -> Value {
    json!([{"type": "text", "text": words}])
}

fn request(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({"type": "toolRequest", "id": id, "toolCall": {"status": "success", "value": {"name": tool, "arguments": arguments}}})
}

fn response(id: &str, result: &Value) -> Value {
    json!([{"type": "toolResponse", "id": id, "toolResult": result}])
}

fn session() -> String {
    let ok = |text: &str| json!({"status": "success", "value": {"content": [{"type": "text", "text": text}], "isError": false}});
    let main = [
        ("user", text("<info-msg>\nIt is late.\n</info-msg>\nMend the lamp")),
        (
            "assistant",
            json!([{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "I look."},
                request("c1", "developer__shell", &json!({"command": "make test"})),
                request("c2", "developer__text_editor", &json!({"command": "str_replace", "path": "/home/mia/lamp/a.c", "old_str": "a\nb\nc", "new_str": "a\nx\nc"})),
                request("c3", "delegate", &json!({"instructions": "Look for the fuse"}))]),
        ),
        (
            "user",
            response(
                "c1",
                &json!({"status": "success", "value": {"content": [{"type": "text", "text": "2 failed"}], "structuredContent": {"exit_code": 2}, "isError": true}}),
            ),
        ),
        (
            "user",
            response(
                "c2",
                &json!({"status": "success", "value": [
            {"type": "text", "text": "edited", "annotations": {"audience": ["assistant"]}},
            {"type": "text", "text": "a long diff", "annotations": {"audience": ["user"]}}]}),
            ),
        ),
        ("user", response("c3", &ok("It is in the box."))),
        (
            "assistant",
            json!([request("c4", "developer__write", &json!({"path": "/home/mia/lamp/b.c", "content": "x\ny\n"}))]),
        ),
        ("user", response("c4", &json!({"status": "error", "error": "The user has declined to run this tool."}))),
        ("assistant", json!([{"type": "hologram"}])),
        ("assistant", text("Done.")),
    ];
    let sub = [("user", text("Look for the fuse")), ("assistant", text("It is in the box."))];
    let of = |session: &'static str, from: u32, rows: &[(&str, Value)]| {
        let rows = rows.iter().zip(from..);
        rows.map(|((role, parts), number)| message(session, number, role, parts, "{}")).collect::<String>()
    };
    format!(
        "{TABLES}{}{}INSERT INTO usage_ledger VALUES (1, '20261120_1', 1, 'opus-9', 100, 20, 120, 30, 10, 0.25, 'x', 0);
         INSERT INTO usage_ledger VALUES (2, '20261120_1', 2, 'opus-9', 40, 5, 45, 0, 0, 0.05, 'x', 1);",
        of("20261120_1", 1, &main),
        of("20261120_2", 51, &sub)
    )
}

fn read(sql: &str) -> Told {
    told_base(&IMPORTER, "sessions.db", sql)
}

#[test]
fn a_session_is_told() {
    let told = read(&session());
    insta::assert_snapshot!(told.stream("20261120_1"), @r#"
    1 title Host Mend the lamp
    1 Meta(Model("opus-9"))
    1 Meta(Property { key: "goose", value: Object {"provider": String("anthropic")} })
    1 Meta(TotalCost(0.3))
    2 prompt (typed) Mend the lamp
    3 thinking hm
    3 reply I look.
    3 call c1 developer__shell make test
    3 call c2 developer__text_editor a.c
    3 call c3 delegate Look for the fuse
    4 result c1 failed exit 2 2 failed
    5 result c2 +1 −1 writes a.c
    6 result c3 It is in the box. agent - 20261120_1/agent-20261120_2
    7 call c4 developer__write b.c
    8 result c4 denied The user has declined to run this tool.
    10 reply Done.
    "#);
    insta::assert_snapshot!(told.stream("20261120_1/agent-20261120_2"), @r"
    1 title Host Look for the fuse
    2 prompt (task) Look for the fuse
    3 reply It is in the box.
    ");
    assert_eq!(told.parents["20261120_1/agent-20261120_2"], "20261120_1");
    let usage = Usage { input: 100, output: 25, cache_read: 30, cache_write: 10, ..Usage::default() };
    assert_eq!(told.tokens("20261120_1"), usage, "what a cache held is part of the host's input");
    assert_eq!((told.records(), told.skipped("unknown part")), (13, 1));
}

#[test]
fn without_a_ledger_the_sums_of_the_session_count() {
    let told = read(
        &session().replace("INSERT INTO usage_ledger", "INSERT OR IGNORE INTO sqlite_sequence SELECT 1, 1 WHERE 0; --"),
    );
    let usage = Usage { input: 120, output: 30, ..Usage::default() };
    assert_eq!(told.tokens("20261120_1"), usage);
    assert!(told.stream("20261120_1").contains("TotalCost(0.75)"));
}

#[test]
fn a_compaction_and_its_summary() {
    let hidden = r#"{"userVisible": false, "agentVisible": true}"#;
    let rows = [
        message("20261120_1", 1, "user", &text("one"), r#"{"userVisible": true, "agentVisible": false}"#),
        message("20261120_1", 2, "user", &text("So far: one."), hidden),
        message("20261120_1", 3, "assistant", &text("The previous message is a summary."), hidden),
        message("20261120_1", 4, "user", &text("two"), "{}"),
    ];
    let told = read(&format!("{TABLES}{}", rows.concat()));
    let stream = told.stream("20261120_1");
    assert!(
        stream.ends_with("2 prompt (typed) one\n3 compaction - 0 So far: one.\n5 prompt (typed) two\n"),
        "{stream}"
    );
    assert_eq!(told.skipped("words of the host"), 1);
}

#[test]
fn a_database_in_use_is_read_without_harm() {
    survives_a_writer(
        &IMPORTER,
        "sessions.db",
        &session(),
        &message("20261120_1", 90, "user", &text("And the plug"), "{}"),
    );
}

fn older() -> Vec<Value> {
    vec![
        json!({"working_dir": "/home/mia/lamp", "description": "Mend the lamp", "message_count": 2, "total_tokens": 9,
            "accumulated_total_tokens": 40}),
        json!({"role": "user", "created": 1_795_165_201, "content": text("one")}),
        json!({"role": "assistant", "created": 1_795_165_202, "content": [request("c", "developer__shell", &json!({"command": "ls"}))]}),
        json!({"role": "user", "created": 1_795_165_203, "content": response("c", &json!({"status": "success", "value": [{"type": "text", "text": "a"}]}))}),
    ]
}

#[test]
fn the_older_lines_are_told_alike_and_once() {
    let told = told(&IMPORTER, &[("20261120_9.jsonl", lines(&older()))]);
    insta::assert_snapshot!(told.stream("20261120_9"), @r"
    1 title Host Mend the lamp
    1 Meta(Tokens(40))
    2 prompt (typed) one
    3 call c developer__shell ls
    4 result c a
    ");
    let folder = tempfile::tempdir().unwrap();
    let (base, old) = (folder.path().join("sessions.db"), folder.path().join("20261120_1.jsonl"));
    rusqlite::Connection::open(&base).unwrap().execute_batch(&session()).unwrap();
    cru_base::files::create(&old, &lines(&older())).unwrap();
    let bundles = (IMPORTER.bundle)(vec![old.clone(), base]).unwrap();
    assert_eq!(bundles.len(), 1);
    let mut told = Told::default();
    (IMPORTER.read)(&bundles[0], &mut told).unwrap();
    assert_eq!(told.skipped("session that the database tells"), 4);
    assert_eq!(told.streams.len(), 2);
}

#[test]
fn damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(&session()).unwrap();
    let mut bytes = cru_base::files::read(&path).unwrap();
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0xa5;
    }
    cru_base::files::put(&path, &bytes).unwrap();
    let bundle = cru_session::source::Bundle::of(vec![path]);
    let error = (IMPORTER.read)(&bundle, &mut Told::default()).unwrap_err().to_string();
    assert!(error.contains("sessions.db"), "{error}");
    let told = read(&format!("{TABLES}{}", message("20261120_1", 1, "king", &json!("x"), "[")));
    assert_eq!(told.skipped("broken message"), 1);
}
