//! What the host keeps of a session beside its transcript: `chats/<folder>/<id>/`, with its title, model and times.
//!
//! `<folder>` is a hash of the working directory, which a transcript does not name: all are looked into. Whatever is not
//! there, or cannot be read, says nothing. It is a second source and no record: it is told with the first one.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use crate::file::sqlite::opened;
use crate::file::value::{self, filled, millis};
use crate::record;

/// Folders of chats that are looked into.
const MOST: usize = 1_000;

/// Titles that the host gives before it has one, and its word for a model that it chooses by itself.
const NO_TITLE: &[&str] = &["New Agent", "New Chat", "Untitled"];
const NO_MODEL: &[&str] = &["default", "auto"];

/// The folder of chats that belongs to a transcript: `chats` beside the `projects` it lies in.
pub(super) fn folder(transcript: &Path) -> Option<PathBuf> {
    let is = |path: &&Path, name: &str| path.file_name().is_some_and(|it| it == name);
    let transcripts = transcript.ancestors().skip(1).take(3).find(|path| is(path, "agent-transcripts"))?;
    let projects = transcripts.parent()?.parent().filter(|path| is(path, "projects"))?;
    Some(projects.parent()?.join("chats"))
}

/// What is known of a session, in the form of `RecordSession::head`; null where nothing is.
pub(super) fn find(transcript: &Path, session: &str) -> Value {
    let folders = folder(transcript).and_then(|chats| std::fs::read_dir(chats).ok());
    let folders = folders.into_iter().flatten().flatten().take(MOST).map(|entry| entry.path().join(session));
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.iter().map(|folder| read(folder, session)).find(|chat| !chat.is_null()).unwrap_or_default()
}

fn read(folder: &Path, session: &str) -> Value {
    let sidecar = record::neighbour(&folder.join("meta.json"));
    let of_another = |kept: &Value| filled(kept, "agentId").is_some_and(|id| id != session);
    let kept = kept(&folder.join("store.db")).filter(|kept| !of_another(kept)).unwrap_or_default();
    let word = |text: Option<&str>, none: &[&str]| text.map(str::trim).filter(|it| !none.contains(it)).map(Value::from);
    let started = millis(&sidecar, "createdAtMs").or_else(|| millis(&kept, "createdAt"));
    let ended = millis(&sidecar, "updatedAtMs").filter(|ended| started.is_some_and(|started| started <= *ended));
    let time = |time: Option<Timestamp>| time.map(|time| Value::from(time.to_string()));
    let facts = [
        ("title", word(filled(&sidecar, "title"), NO_TITLE).or_else(|| word(filled(&kept, "name"), NO_TITLE))),
        ("model", word(filled(&kept, "lastUsedModel"), NO_MODEL)),
        ("started", time(started)),
        ("ended", time(ended)),
    ];
    let facts: Value = facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    if facts.as_object().is_some_and(serde_json::Map::is_empty) { Value::Null } else { facts }
}

/// The row of the database that describes the session: JSON, mostly written as hexadecimal digits.
fn kept(path: &Path) -> Option<Value> {
    let rows = opened(path, &["meta"], |base| base.rows("meta", "value", "ORDER BY key LIMIT 1", &[])).ok()?;
    let value = filled(rows.first()?, "value")?.as_bytes();
    value::read(value).or_else(|| value::read(&digits(value))).filter(Value::is_object)
}

/// The bytes that hexadecimal digits stand for; nothing where something else stands there.
fn digits(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes = text.chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    bytes.collect::<Option<Vec<u8>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use cru_base::files;

    use serde_json::json;

    use super::*;
    use crate::cursor::IMPORTER;
    use crate::told::told_of;

    fn hex(text: &str) -> String {
        text.bytes().fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }

    fn store(path: &Path, tables: &str, value: Option<&str>) {
        files::create_dir(path.parent().unwrap()).unwrap();
        let base = rusqlite::Connection::open(path).unwrap();
        base.execute_batch(tables).unwrap();
        if let Some(value) = value {
            base.execute("INSERT INTO meta VALUES ('0', ?1)", [value]).unwrap();
        }
    }

    const TABLES: &str =
        "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);";
    const KEPT: &str = r#"{"agentId": "9f", "name": "Mend the tides", "createdAt": 1781256145540, "mode": "default", "lastUsedModel": "opus-9"}"#;

    #[test]
    fn where_chats_lie() {
        let of = |path: &str| folder(Path::new(path)).map(|path| path.to_string_lossy().into_owned());
        let chats = Some("/h/.cursor/chats".to_owned());
        assert_eq!(of("/h/.cursor/projects/x-y/agent-transcripts/9f/9f.jsonl"), chats);
        assert_eq!(of("/h/.cursor/projects/x-y/agent-transcripts/9f.jsonl"), chats);
        assert_eq!(of("/h/copies/x-y/agent-transcripts/9f/9f.jsonl"), None);
        assert_eq!(of("/h/.cursor/projects/9f.jsonl"), None);
        assert_eq!(of("9f.jsonl"), None);
    }

    #[test]
    fn the_row_and_the_file_beside_it_are_read() {
        let temp = tempfile::tempdir().unwrap();
        let transcript = temp.path().join("projects/x/agent-transcripts/9f/9f.jsonl");
        let chat = temp.path().join("chats/0a1b/9f");
        assert_eq!(find(&transcript, "9f"), Value::Null);
        store(&chat.join("store.db"), TABLES, Some(&hex(KEPT)));
        store(&temp.path().join("chats/0000/8e/store.db"), TABLES, Some(KEPT));
        let found = find(&transcript, "9f");
        let wanted = json!({"title": "Mend the tides", "model": "opus-9", "started": "2026-06-12T09:22:25.54Z"});
        assert_eq!(found, wanted);
        assert_eq!(find(&transcript, "8e"), Value::Null, "a row of another session says nothing");
        files::put(
            &chat.join("meta.json"),
            br#"{"title": "Given", "createdAtMs": 1781256000000, "updatedAtMs": 1781256600000}"#,
        )
        .unwrap();
        let found = find(&transcript, "9f");
        let (started, ended) = ("2026-06-12T09:20:00Z", "2026-06-12T09:30:00Z");
        assert_eq!(found, json!({"title": "Given", "model": "opus-9", "started": started, "ended": ended}));
        assert!(std::fs::read_dir(&chat).unwrap().count() == 2, "no file is made beside the database");
    }

    #[test]
    fn what_is_odd_says_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name).join("store.db");
        store(&path("plain"), TABLES, Some(KEPT));
        assert!(kept(&path("plain")).is_some());
        store(&path("odd"), TABLES, Some("7b7"));
        store(&path("list"), TABLES, Some("[1]"));
        store(&path("none"), TABLES, None);
        store(&path("other"), "CREATE TABLE x (a)", None);
        store(
            &path("view"),
            "CREATE VIEW meta AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i AS key, i AS value FROM n",
            None,
        );
        files::put(&path("text"), b"no database").unwrap();
        for name in ["odd", "list", "none", "other", "view", "text", "gone"] {
            assert_eq!(kept(&path(name)), None, "{name}");
        }
        let chat = |sidecar: &[u8]| {
            files::put(&temp.path().join("9f/meta.json"), sidecar).unwrap();
            read(&temp.path().join("9f"), "9f")
        };
        for odd in [
            b"{".as_slice(),
            b"[]",
            br#"{"title": "New Agent", "createdAtMs": "x", "updatedAtMs": 5}"#,
            br#"{"createdAtMs": 1e300}"#,
        ] {
            assert_eq!(chat(odd), Value::Null, "{}", String::from_utf8_lossy(odd));
        }
    }

    #[test]
    fn a_transcript_is_told_with_its_chat() {
        let temp = tempfile::tempdir().unwrap();
        let transcript = temp.path().join("projects/x/agent-transcripts/9f/9f.jsonl");
        let bytes = b"{\"role\":\"user\",\"message\":{\"content\":\"one\"}}\n".to_vec();
        let plain = told_of(&IMPORTER, transcript.to_str().unwrap(), bytes.clone());
        assert_eq!(plain.stream("9f"), "1 prompt (typed) one\n");
        store(&temp.path().join("chats/0a1b/9f/store.db"), TABLES, Some(&hex(KEPT)));
        let told = told_of(&IMPORTER, transcript.to_str().unwrap(), bytes);
        insta::assert_snapshot!(told.stream("9f"), @r#"
        1 title Host Mend the tides
        1 Meta(Model("opus-9"))
        1 Meta(Started(2026-06-12T09:22:25.54Z))
        1 prompt (typed) one
        "#);
        assert_eq!(told.consumed["9f"], plain.consumed["9f"]);
    }
}
