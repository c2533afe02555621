//! `cru search` end to end: what is found where, in notes as they are now.

use std::process::Command;

use cru::index::search::{Order, Search, SearchOptions};
use cru::index::{Query, Snapshot};
use cru::vault::Vault;

use crate::imports::growth::World;

const NOTE: &str = "---\ntype: session\nsession_id: one\ntitle: One\nstarted: 2026-11-02T09:00:00Z\nstatus: active\n\
    branch: feature/login\ntags:\n  - area/import\nproject: ~/code/api\nmodel: claude-opus-4\n---\n# One\n\n\
    ## Work @coder@2.0 #dev\n\n*2026-11-02T09:00:00Z* ^p-01\n\n**Tool calls:**\n\
    - `Bash cargo test` → ✗ quokka failed (09:00:10, exit 101) ^n-001\n\
    - `Read src/auth/tokenStore.rs` → 20 lines (09:00:20) ^n-002\n    - reads: `src/auth/tokenStore.rs`\n\n\
    > [!decision] Keep the quokka\n> Why: it is small.\n\n^d-01\n";

const OTHER: &str = "---\ntype: session\nsession_id: two\ntitle: Two\nstarted: 2026-11-12T09:00:00Z\nstatus: failed\n\
    ---\n# Two\n\n## Look @reviewer #dev\n\nA wallaby and a quokka,\nand far below\na numbat.\n";

fn world() -> World {
    let world = World::new();
    write(&world, "one.md", NOTE);
    write(&world, "two.md", OTHER);
    world
}

#[expect(clippy::disallowed_methods, reason = "a person edits a note")]
fn write(world: &World, name: &str, text: &str) {
    let path = world.temp.path().join("vault/sessions").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
}

fn ask(vault: &Vault, text: &str, options: &SearchOptions) -> Vec<(String, String)> {
    let snapshot = Snapshot::open(vault).unwrap();
    let query = Query::parse(text, &"2026-11-20T12:00:00Z[UTC]".parse().unwrap()).unwrap();
    let search = Search::new(&snapshot, &query, options);
    let hits = search.hits().unwrap();
    let totals = search.totals().unwrap();
    assert_eq!(totals.hits, hits.len() as u64, "{text}");
    let id = |key| snapshot.session(key).unwrap().id.clone();
    hits.iter().map(|hit| (id(hit.key), hit.kind.clone())).collect()
}

fn found(vault: &Vault, text: &str) -> String {
    let mut hits = ask(vault, text, &SearchOptions { limit: usize::MAX, ..SearchOptions::default() });
    hits.sort();
    hits.iter().map(|(id, kind)| format!("{id}/{kind}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_operator_and_field_restricts() {
    let world = world();
    for (query, expected) in [
        ("quokka", "one/decision one/step two/prose"),
        ("QUOKKA wallaby", "two/prose"),
        ("quokka -wallaby", "one/decision one/step"),
        ("wallaby OR numbat", "two/prose"),
        ("\"wallaby and a quokka\"", "two/prose"),
        ("\"quokka and a wallaby\"", ""),
        ("numb*", "two/prose"),
        ("numbta", ""),
        ("numbta~", "two/prose"),
        ("quokka is:failed", "one/step"),
        ("quokka is:decision", "one/decision"),
        ("quokka kind:decisions", "one/decision"),
        ("quokka is:active", "one/decision one/step"),
        ("quokka status:failed", "two/prose"),
        ("quokka status:active,failed", "one/decision one/step two/prose"),
        ("quokka NOT status:active", "two/prose"),
        ("(quokka status:active) OR numbat", "one/decision one/step two/prose"),
        ("(quokka NOT status:failed) OR zebra", "one/decision one/step"),
        ("quokka agent:coder", "one/decision one/step"),
        ("quokka agent:coder@2.0", "one/decision one/step"),
        ("quokka agent:coder@1.0", ""),
        ("quokka agent:cod*", "one/decision one/step"),
        ("quokka channel:#dev", "one/decision one/step two/prose"),
        ("quokka branch:feature/login", "one/decision one/step"),
        ("quokka tag:area", "one/decision one/step"),
        ("quokka tag:are", ""),
        ("quokka project:code/api", "one/decision one/step"),
        ("quokka model:opus", "one/decision one/step"),
        ("quokka session:two", "two/prose"),
        ("wallaby after:2026-11-10", "two/prose"),
        ("quokka before:2026-11-10 kind:decision", "one/decision"),
        ("quokka after:2026-11-20", ""),
        ("status:failed", "two/session"),
        ("is:active OR tag:area", "one/session"),
        ("quokka status=failed", "two/prose"),
        ("quokka status!=failed", "one/decision one/step"),
        ("quokka model~OPUS", "one/decision one/step"),
        ("quokka and model!~opus", "two/prose"),
        ("quokka started>=2026-11 status=active", "one/decision one/step"),
        ("quokka started>2026-12", ""),
        ("quokka steps>0 failed_steps>=1", "one/decision one/step"),
        ("quokka agent!=coder", "two/prose"),
        ("quokka tool!=bash", "one/decision two/prose"),
        ("quokka (kind=step or status=failed)", "one/step two/prose"),
        ("quokka branch=null", "two/prose"),
        ("steps>0", "one/session"),
    ] {
        assert_eq!(found(&world.vault, query), expected, "{query}");
    }
}

#[test]
fn steps_are_found_by_tool_file_and_time() {
    let world = world();
    for (query, expected) in [
        ("tool:bash quokka", "one/step"),
        ("tool:read", "one/step"),
        ("file:src/auth/tokenStore.rs", "one/step"),
        ("file:tokenStore.rs", "one/step"),
        ("file:store", "one/step"),
        ("file:other.rs", ""),
        ("quokka before:2026-11-02T09:00:15Z after:2026-11-02T09:00:05Z", "one/step"),
    ] {
        assert_eq!(found(&world.vault, query), expected, "{query}");
    }
}

#[test]
fn newest_first_and_shares() {
    let world = world();
    let by_time = SearchOptions { order: Order::Time, ..SearchOptions::default() };
    assert_eq!(ask(&world.vault, "quokka kind:step OR numbat", &by_time).first().unwrap().0, "two");
    // A session that has many hits leaves room for the other.
    let many = format!("{OTHER}\n{}", "> [!decision] Another quokka\n\n".repeat(40));
    write(&world, "three.md", &many.replace("session_id: two", "session_id: three"));
    let snapshot = Snapshot::open(&world.vault).unwrap();
    let query = Query::parse("quokka", &"2026-11-20T12:00:00Z[UTC]".parse().unwrap()).unwrap();
    let options = SearchOptions { limit: 6, per_session: 3, ..SearchOptions::default() };
    let hits = Search::new(&snapshot, &query, &options).hits().unwrap();
    let count = |id: &str| hits.iter().filter(|hit| snapshot.session(hit.key).unwrap().id == id).count();
    assert_eq!((count("one"), count("two"), count("three")), (2, 1, 3));
}

#[test]
fn excerpts_come_from_the_note_as_it_is() {
    let world = world();
    let cru = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_cru"))
            .args(["--vault", world.temp.path().join("vault").to_str().unwrap(), "search"])
            .args(args)
            .env("CRU_NOW", "2026-11-20T12:00:00Z")
            .env("XDG_STATE_HOME", world.temp.path().join("state"))
            .env("EDITOR", "echo edit")
            .env_remove("VISUAL")
            .output()
            .unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    let (text, code) = cru(&["numbat"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("two.md:14") && text.contains("a numbat."), "{text}");
    // Lines move, the next answer follows.
    write(&world, "two.md", &OTHER.replace("A wallaby", "New words.\n\nA wallaby"));
    assert!(cru(&["numbat"]).0.contains("two.md:16"));
    let (opened, _) = cru(&["numbat", "--open"]);
    assert!(opened.starts_with("edit +16 ") && opened.trim_end().ends_with("two.md"), "{opened}");
    assert_eq!(cru(&["zebra", "--count"]), ("0\n".to_owned(), Some(1)));
    let (json, _) = cru(&["quokka kind:decision", "-f", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["schema"].as_u64(), json["total"].as_u64()), (Some(1), Some(1)));
    assert_eq!(json["hits"][0]["phase"], "Work");
    // A note's text cannot talk to the terminal.
    write(&world, "two.md", &OTHER.replace("numbat", "numbat \u{1b}]0;owned\u{7}\u{202e}"));
    let (text, _) = cru(&["numbat"]);
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("a numbat"), "{text:?}");
}

const PRIVATE: &str = "---\ntype: session\nsession_id: three\ntitle: Three\nstatus: active\n---\n# Three\n\n\
    ## Phase %%private xphase%% one @coder #dev\n\nProse koala %%private xprose%% tail.\n\n\
    Many lines %%private\nxmany koala%% and a koala.\n\n\
    - `Bash ls src` → a koala %%private xresult%% ^n-001\n  - reads: src/a.rs %%private xfile%%\n\n\
    > [!decision] Take the koala %%private xtitle%%\n> Because %%private xbody%% so.\n> Why: it is %%private xwhy\n\
    > xtwo%% good\n\n> [!decision] Above %%private xabove\n> xbelow%% a koala\n> Why: small\n\n\
    > [!error] Broke %%private xerror%%\n> The koala broke.\n\n%%private\nxblock koala\n%%\n\n\
    ```tasks\n[{\"id\": \"T-1\", \"content\": \"feed the koala\", \"status\": \"pending\"}]\n```\n";

#[test]
fn comments_are_in_no_excerpt_and_no_row() {
    let world = world();
    write(&world, "three.md", PRIVATE);
    let cru = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_cru"))
            .args(["--vault", world.temp.path().join("vault").to_str().unwrap()])
            .args(args)
            .env("CRU_NOW", "2026-11-20T12:00:00Z")
            .env("XDG_STATE_HOME", world.temp.path().join("state"))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let secrets: Vec<&str> = PRIVATE
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| word.len() > 2 && word.starts_with('x'))
        .collect();
    assert_eq!(secrets.len(), 13);
    let all: &[&[&str]] = &[
        &["search", "koala", "-n", "0"],
        &["search", "koala", "-n", "0", "-C", "5"],
        &["decisions"],
        &["history", "--steps", "0"],
        &["query", "phases"],
        &["query", "errors"],
        &["query", "files"],
        &["query", "sessions"],
    ];
    for args in all {
        let (text, json) = (cru(args), cru(&[args, &["-f", "json"][..]].concat()));
        for said in [&text, &json] {
            assert!(said.contains("three") || said.contains("Phase"), "{args:?}: {said}");
            let told: Vec<_> = secrets.iter().filter(|word| said.contains(**word)).collect();
            assert!(told.is_empty(), "{args:?}: {told:?} in {said}");
            assert!(!said.contains('\u{1}') && !said.contains("\\u0001"), "{args:?}: {said:?}");
        }
    }
    // Lines are those of the note.
    let json: serde_json::Value = serde_json::from_str(&cru(&["search", "koala", "-n", "0", "-f", "json"])).unwrap();
    let mut told: Vec<(usize, &str)> = (json["hits"].as_array().unwrap().iter())
        .map(|hit| (usize::try_from(hit["line"].as_u64().unwrap()).unwrap(), hit["text"].as_str().unwrap()))
        .collect();
    told.sort_unstable();
    for (line, text) in &told {
        let own = PRIVATE.lines().nth(line - 1).unwrap();
        assert!(own.contains("koala") && text.contains("koala"), "{line}: {own}: {text}");
    }
    let texts: Vec<&str> = told.iter().map(|(_, text)| *text).filter(|text| !text.contains("T-1")).collect();
    assert_eq!(
        texts,
        [
            "Prose koala … tail.",
            "- `Bash ls src` → a koala … ^n-001",
            "> [!decision] Take the koala …",
            "> … a koala",
            "> The koala broke.",
        ]
    );
    assert_eq!(json["hits"][0]["phase"], "Phase … one");
}
