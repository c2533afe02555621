//! What only a transcript says: found by `cru search`, as the step that it led to, once.

use std::process::Command;

use serde_json::{Value, json};

use crate::imports::growth::World;
use crate::searching::findable::{answer, call, record, write};
use crate::transcript_set::{TranscriptSet, on_both_sets};
use cru::index::Evidence as _;
use cru::note::Note;
use cru::session::read;
use cru::sync::evidence::Transcripts;
use cru::sync::import::{Machine, Options, Unwatched, ingest};
use cru::vault::Catalog;

/// Runs the program; standard output, standard error and exit code.
fn cru(world: &World, args: &[&str]) -> (String, String, Option<i32>) {
    let home = world.temp.path();
    let output = Command::new(env!("CARGO_BIN_EXE_cru"))
        .args(args)
        .env_clear()
        .current_dir(home)
        .env("HOME", home)
        .env("CRU_VAULT", world.vault.root())
        .env("CRU_NOW", "2026-11-21T00:00:00Z")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn import(world: &World) {
    let (_, said, code) = cru(world, &["import", "claude", world.input().to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
}

/// The hits of a query, after all that says how many there are agreed.
fn hits(world: &World, query: &str) -> Vec<Value> {
    let (json, said, _) = cru(world, &["search", query, "-n", "0", "-f", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap_or_else(|_| panic!("{query}: {said}"));
    let hits = json["hits"].as_array().unwrap().clone();
    let (count, ..) = cru(world, &["search", query, "--count"]);
    assert_eq!(count, format!("{}\n", hits.len()), "{query}");
    assert_eq!(json["total"], hits.len(), "{query}");
    let (text, ..) = cru(world, &["search", query, "-n", "0"]);
    let numbers = (1..).take_while(|number| text.lines().any(|line| line.starts_with(&format!("{number}  sessions/"))));
    assert_eq!(numbers.count(), hits.len(), "{query}: {text}");
    hits
}

/// The line of the note that a hit leads to.
fn line(world: &World, hit: &Value) -> String {
    let note = std::fs::read_to_string(world.vault.root().join(hit["path"].as_str().unwrap())).unwrap();
    let number = usize::try_from(hit["line"].as_u64().unwrap()).unwrap();
    note.lines().nth(number - 1).unwrap().to_owned()
}

fn long(word: &str) -> String {
    format!("{}\nin the middle a {word} stands\n{}", "before ".repeat(400), "behind ".repeat(400))
}

fn prompt(text: &str) -> Value {
    record("user", 1, &json!({ "role": "user", "content": text }), &json!({ "cwd": "/p" }))
}

#[test]
fn a_step_and_its_evidence_are_one_hit() {
    let world = World::new();
    let many = format!("{}\n{}", "wombat ".repeat(60), long("numbat"));
    let content = json!({ "file_path": "/p/a.txt", "content": long("dingo") });
    let mut failed = answer(7, 6, &format!("bilby went wrong\n{}", long("potoroo")), &json!({}));
    failed["message"]["content"][0]["is_error"] = json!(true);
    let transcript = world.input().join("s.jsonl");
    write(
        &transcript,
        &[
            prompt("look for animals"),
            call(2, "Bash", &json!({ "command": "grep wombat src" }), &json!({})),
            answer(3, 2, &many, &json!({})),
            call(4, "Write", &content, &json!({})),
            answer(5, 4, &long("dingo"), &json!({})),
            call(6, "Bash", &json!({ "command": "cargo test" }), &json!({})),
            failed,
        ],
    );
    import(&world);
    // Words of the note: the step alone, whatever its transcript says of them.
    let found = hits(&world, "wombat");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["kind"], &found[0]["transcript"]), (&json!("step"), &Value::Null));
    assert!(found[0]["text"].as_str().unwrap().contains("grep wombat src"), "{found:?}");
    // Words of the transcript: the step once, however often they are said, with the line that says them.
    for (word, step, record) in [("numbat", "n-001", 4), ("dingo", "n-002", 5), ("potoroo", "n-003", 8)] {
        let found = hits(&world, word);
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        assert_eq!((&found[0]["kind"], &found[0]["transcript_line"]), (&json!("evidence"), &json!(record)), "{word}");
        assert_eq!(found[0]["text"], format!("in the middle a {word} stands"));
        assert!(line(&world, &found[0]).ends_with(&format!("^{step}")), "{word}");
        let (text, ..) = cru(&world, &["search", word]);
        assert!(text.contains(&format!("in the middle a {word} stands\n")), "{text}");
        assert!(text.contains(&format!("s.jsonl:{record}\n")), "{text}");
    }
    // No words: steps are steps.
    for (query, count) in [("is:failed tool:bash", 1), ("tool:bash", 2), ("tool:bash OR tool:write", 3)] {
        let found = hits(&world, query);
        assert_eq!(found.len(), count, "{query}: {found:?}");
        assert!(found.iter().all(|hit| hit["kind"] == "step"), "{query}: {found:?}");
    }
    // Who asks for evidence gets it.
    let found = hits(&world, "kind:evidence");
    assert!(found.len() == 3 && found.iter().all(|hit| hit["kind"] == "evidence"), "{found:?}");
    assert_eq!(hits(&world, "kind:evidence wombat").len(), 1);
    assert_eq!(hits(&world, "kind:step numbat").len(), 0);
    // Few hits of many, by time: no place is lost to what is folded.
    let (json, ..) = cru(&world, &["search", "tool:bash OR tool:write", "-n", "2", "--sort", "time", "-f", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["hits"].as_array().unwrap().len(), &json["total"]), (2, &json!(3)));
}

/// Words that stand together in the output of a tool alone do not hide the session whose title and prompts hold most of them.
#[test]
fn a_log_does_not_hide_the_session_that_is_asked_for() {
    let world = World::new();
    let log = format!("{}\nlogin redirect loop behind a proxy\n{}", "before ".repeat(400), "behind ".repeat(400));
    write(
        &world.input().join("log.jsonl"),
        &[
            prompt("look for animals"),
            call(2, "Bash", &json!({ "command": "cat server.log" }), &json!({})),
            answer(3, 2, &log, &json!({})),
        ],
    );
    write(&world.input().join("asked.jsonl"), &[prompt("fix the login redirect"), prompt("the redirect is a loop")]);
    import(&world);
    let (json, said, _) = cru(&world, &["search", "why login redirect loop behind", "-f", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(json["match"], "any", "{json}");
    assert!(json["hits"][0]["path"].as_str().unwrap().contains("login"), "{json}");
    // A phrase in quotes is looked for as it stands.
    let (json, ..) = cru(&world, &["search", "\"login redirect loop\"", "-f", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["hits"].as_array().unwrap().len(), &json["hits"][0]["kind"]), (1, &json!("evidence")), "{json}");
}

#[test]
fn what_a_brief_note_leaves_out_is_found_where_it_is_counted() {
    let world = World::new();
    write(
        &world.input().join("s.jsonl"),
        &[
            prompt("look for animals"),
            call(2, "Read", &json!({ "file_path": "/p/a.txt" }), &json!({})),
            answer(3, 2, &long("numbat"), &json!({})),
            call(4, "Write", &json!({ "file_path": "/p/b.txt", "content": long("dingo") }), &json!({})),
            answer(5, 4, "File created successfully", &json!({})),
        ],
    );
    let (_, said, code) = cru(&world, &["import", "claude", world.input().to_str().unwrap(), "--detail", "brief"]);
    assert_eq!(code, Some(0), "{said}");
    for (word, record, end) in [("numbat", 4, "(1 Read)"), ("dingo", 5, "^n-002")] {
        let found = hits(&world, word);
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        assert_eq!((&found[0]["kind"], &found[0]["transcript_line"]), (&json!("evidence"), &json!(record)), "{word}");
        assert!(line(&world, &found[0]).ends_with(end), "{word}: {}", line(&world, &found[0]));
    }
    let (checked, said, code) = cru(&world, &["index", "--check"]);
    assert_eq!(code, Some(0), "{checked}{said}");
}

#[test]
fn evidence_is_found_until_its_host_has_deleted_it() {
    let world = World::new();
    let folder = world.temp.path().join(".claude/projects/p");
    let (main, side) = (folder.join("s.jsonl"), folder.join("s/subagents/agent-a1.jsonl"));
    let key = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2");
    write(
        &main,
        &[
            prompt("look for animals"),
            call(2, "Read", &json!({ "file_path": "/p/b.txt" }), &json!({})),
            answer(3, 2, "nothing of interest", &json!({})),
            call(4, "Bash", &json!({ "command": "cat zoo.txt" }), &json!({})),
            answer(5, 4, &long(&format!("quoll {key}")), &json!({})),
            call(6, "Task", &json!({ "description": "d", "prompt": "go", "subagent_type": "keeper" }), &json!({})),
            answer(7, 6, "All is well.", &json!({ "toolUseResult": { "agentId": "a1", "status": "completed" } })),
        ],
    );
    let of_side = json!({ "isSidechain": true, "agentId": "a1" });
    let said = json!({ "role": "assistant", "model": "m", "id": "m4", "content": "All is well." });
    write(
        &side,
        &[
            record("user", 1, &json!({ "role": "user", "content": "go" }), &of_side),
            call(2, "Grep", &json!({ "pattern": "x" }), &of_side),
            answer(3, 2, &long("bandicoot"), &of_side),
            record("assistant", 4, &said, &of_side),
        ],
    );
    for path in [&main, &side] {
        let written: jiff::Timestamp = "2026-10-28T00:00:00Z".parse().unwrap();
        std::fs::File::options().write(true).open(path).unwrap().set_modified(written.into()).unwrap();
    }
    let (_, said, code) = cru(&world, &["import", "claude"]);
    assert_eq!(code, Some(0), "{said}");
    let animals = [("quoll", "n-002", "s.jsonl", 6), ("bandicoot", "n-001", "agent-a1.jsonl", 4)];
    let sessions: Vec<Value> = animals
        .iter()
        .map(|(word, step, file, record)| {
            let found = hits(&world, word);
            assert_eq!(found.len(), 1, "{word}: {found:?}");
            let hit = &found[0];
            assert!(line(&world, hit).ends_with(&format!("^{step}")), "{word}: {}", line(&world, hit));
            assert!(!line(&world, hit).contains(word), "{word} is in the note");
            assert!(hit["transcript"].as_str().unwrap().ends_with(file), "{hit}");
            assert_eq!(hit["transcript_line"], *record, "{word}");
            assert!(hit["text"].as_str().unwrap().contains(&format!("in the middle a {word}")), "{hit}");
            assert!(!hit.to_string().contains(&key), "a secret is shown: {hit}");
            hit["session"].clone()
        })
        .collect();
    assert_ne!(sessions[0], sessions[1]);

    // What their host will delete is told before, and after.
    let status = || -> Value { serde_json::from_str(&cru(&world, &["status", "-f", "json"]).0).unwrap() };
    let named = |list: &Value| -> Vec<Value> {
        let mut ids: Vec<Value> = list.as_array().unwrap().iter().map(|it| it["session"].clone()).collect();
        ids.sort_by_key(ToString::to_string);
        ids
    };
    let mut both = sessions.clone();
    both.sort_by_key(ToString::to_string);
    let told = status();
    assert_eq!((named(&told["evidence"]["at_risk"]), named(&told["evidence"]["gone"])), (both.clone(), vec![]));
    cru::base::files::remove(&main).unwrap();
    let told = status();
    assert_eq!(named(&told["evidence"]["gone"]), [sessions[0].clone()]);
    assert_eq!(named(&told["evidence"]["at_risk"]), [sessions[1].clone()]);

    // Still found, and led to the step: only what the transcript said cannot be shown.
    let found = hits(&world, "quoll");
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["transcript_line"], &found[0]["transcript_pieces"]), (&json!(6), &Value::Null));
    assert!(found[0]["text"].as_str().unwrap().ends_with("^n-002"), "{found:?}");

    // Until the index is asked for: then it is gone, and the other one is not.
    let (_, said, code) = cru(&world, &["index"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(hits(&world, "quoll"), Vec::<Value>::new());
    assert_eq!(hits(&world, "bandicoot").len(), 1);
    let (told, said, code) = cru(&world, &["index", "--check"]);
    assert_eq!(code, Some(0), "{told}{said}");
    std::fs::remove_dir_all(world.temp.path().join(".claude")).unwrap();
    let (told, said, code) = cru(&world, &["index", "--check"]);
    assert_eq!(code, Some(0), "{told}{said}");
    assert_eq!(hits(&world, "bandicoot"), Vec::<Value>::new());
    assert_eq!(named(&status()["evidence"]["gone"]), both);
}

#[test]
fn all_slices_of_a_session_are_read() {
    let world = World::new();
    let (first, second) = (world.input().join("part-1.jsonl"), world.input().join("part-2.jsonl"));
    write(
        &first,
        &[
            prompt("look for animals"),
            call(2, "Bash", &json!({ "command": "cat one" }), &json!({})),
            answer(3, 2, &long("numbat"), &json!({})),
        ],
    );
    write(
        &second,
        &[call(4, "Bash", &json!({ "command": "cat two" }), &json!({})), answer(5, 4, &long("dingo"), &json!({}))],
    );
    let mut stranger = prompt("another session");
    (stranger["sessionId"], stranger["uuid"]) = (json!("another"), json!("other"));
    write(&world.input().join("part-3.jsonl"), &[stranger]);
    import(&world);
    assert_eq!(world.notes().len(), 1, "the third file tells nothing");
    for (word, step, file, record) in [("numbat", "n-001", "part-1.jsonl", 4), ("dingo", "n-002", "part-2.jsonl", 3)] {
        let found = hits(&world, word);
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        assert!(line(&world, &found[0]).ends_with(&format!("^{step}")), "{word}");
        assert!(found[0]["transcript"].as_str().unwrap().ends_with(&format!("in/{file}")), "{found:?}");
        assert_eq!(found[0]["transcript_line"], record, "{word}");
        assert_eq!(found[0]["text"], format!("in the middle a {word} stands"));
    }
    // What is deleted of them leaves, the rest stays.
    cru::base::files::remove(&second).unwrap();
    assert_eq!(hits(&world, "dingo").len(), 1);
    let (told, said, code) = cru(&world, &["index", "--check"]);
    assert_eq!(code, Some(0), "{told}{said}");
    assert_eq!((hits(&world, "dingo").len(), hits(&world, "numbat").len()), (0, 1));
}

#[test]
fn copied_records_are_evidence_of_the_first_session_alone() {
    let world = World::new();
    let ids = ["11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"];
    let mut records = vec![
        prompt("look for animals"),
        call(2, "Bash", &json!({ "command": "cat one" }), &json!({})),
        answer(3, 2, &long("numbat"), &json!({})),
    ];
    write(&world.input().join(format!("{}.jsonl", ids[0])), &records);
    records.extend([
        record("user", 4, &json!({ "role": "user", "content": "and another" }), &json!({})),
        call(5, "Bash", &json!({ "command": "cat two" }), &json!({})),
        answer(6, 5, &long("dingo"), &json!({})),
    ]);
    write(&world.input().join(format!("{}.jsonl", ids[1])), &records);
    import(&world);
    assert_eq!(world.notes().len(), 2);
    for (word, id) in [("numbat", ids[0]), ("dingo", ids[1])] {
        let found = hits(&world, word);
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        assert!(found[0]["transcript"].as_str().unwrap().contains(id), "{word}: {found:?}");
        assert!(line(&world, &found[0]).ends_with("^n-001"), "{word}: {}", line(&world, &found[0]));
    }
}

/// What an import keeps for the index is what the index would find if it read the transcripts itself.
fn an_import_hears_what_a_second_reading_finds(set: &TranscriptSet) {
    let mut found = 0;
    for agent in ["claude", "codex", "pi", "gemini", "opencode"] {
        let world = World::new();
        let transcripts = Transcripts::of(&world.vault, &world.env);
        let heard = transcripts.listen();
        let machine = Some(Machine { state: world.state.clone(), now: world.env.now() });
        let options = Options { machine, heard: heard.clone(), ..Options::default() };
        let importer = cru::import::find(agent).unwrap();
        ingest(&world.vault, importer, &[set.folder(agent)], &options, &Unwatched).unwrap();
        let hearing = Transcripts::with_heard(&world.vault, &world.env, heard.unwrap());
        for head in Catalog::read(&world.vault).sessions() {
            let note = Note::parse(std::fs::read(world.vault.file(&head.path)).unwrap());
            let (session, _) = read::session(&note);
            let entries = |of: &Transcripts| format!("{:#?}", of.entries(&head.path, &note, &session));
            let (once, twice) = (entries(&hearing), entries(&transcripts));
            assert!(once == twice, "{agent} {}", head.path);
            found += usize::from(once.len() > 2);
        }
    }
    assert!(found >= set.least(5, 50), "{found}");
}

on_both_sets!(an_import_hears_what_a_second_reading_finds);
