//! One vault that is deleted from, moved, copied and shared between machines.

#![expect(clippy::disallowed_methods, reason = "a person, git and a sync service write without cru")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

mod day;

const SESSION: &str = "0f5e2c11-1111-4000-8000-000000000001";
const OTHER: &str = "0f5e2c11-2222-4000-8000-000000000002";

/// Some machines that have the same transcripts, and folders that are vaults.
struct World {
    temp: tempfile::TempDir,
}

/// A machine that works on a vault.
struct Machine<'a> {
    world: &'a World,
    home: PathBuf,
    vault: PathBuf,
}

impl World {
    fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.path("vault/.cru")).unwrap();
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    /// A machine with two transcripts.
    fn machine(&self, name: &str, vault: &str) -> Machine<'_> {
        let machine = Machine { world: self, home: self.path(name), vault: self.path(vault) };
        machine.transcript(SESSION, "Count the lighthouses", &["Eleven stand.", "Nine are lit."]);
        machine.transcript(OTHER, "Paint the boat house", &["It is red now."]);
        machine
    }
}

impl Machine<'_> {
    fn folder(&self) -> PathBuf {
        self.home.join(".claude/projects/-srv-harbour")
    }

    /// A prompt, and a call with an answer for each of `replies`.
    fn transcript(&self, session: &str, prompt: &str, replies: &[&str]) {
        let base = |number: usize, kind: &str| {
            json!({
                "type": kind, "uuid": format!("{number:03}-{session}"), "sessionId": session, "cwd": "/srv/harbour",
                "parentUuid": (number > 0).then(|| format!("{:03}-{session}", number - 1)),
                "timestamp": format!("2026-11-20T09:{:02}:00.000Z", number), "version": "2.0.0", "isSidechain": false,
            })
        };
        let message = |number: usize, kind: &str, content: Value| {
            let mut line = base(number, kind);
            line["message"] = json!({ "role": kind, "content": content });
            if kind == "assistant" {
                line["message"]["model"] = "claude-sonnet-4-5".into();
                line["message"]["id"] = format!("m-{number}").into();
            }
            line.to_string()
        };
        let mut lines = vec![message(0, "user", prompt.into())];
        for (at, reply) in replies.iter().enumerate() {
            let (number, id) = (at * 3 + 1, format!("toolu_{at}"));
            let call =
                json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("ls {at}") } }]);
            lines.push(message(number, "assistant", call));
            let answer = json!([{ "type": "tool_result", "tool_use_id": id, "content": format!("file {at}") }]);
            lines.push(message(number + 1, "user", answer));
            lines.push(message(number + 2, "assistant", json!([{ "type": "text", "text": reply }])));
        }
        fs::create_dir_all(self.folder()).unwrap();
        fs::write(self.folder().join(format!("{session}.jsonl")), lines.join("\n") + "\n").unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(self.world.temp.path());
        command.env("HOME", &self.home).env("CRU_VAULT", &self.vault).env("NO_COLOR", "1");
        command.env("CRU_NOW", "2036-01-01T00:00:00Z");
        command
    }

    /// Standard output, standard error and exit code.
    fn cru(&self, args: &[&str]) -> (String, String, Option<i32>) {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    }

    fn json(&self, args: &[&str]) -> Value {
        let (out, said, _) = self.cru(&[args, &["-f", "json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}: {out}{said}"))
    }

    /// How many sessions had each outcome.
    fn import(&self, more: &[&str]) -> Value {
        self.json(&[&["import", "claude"], more].concat())["outcomes"].clone()
    }

    fn notes(&self) -> Vec<PathBuf> {
        let mut notes: Vec<_> =
            fs::read_dir(self.vault.join("sessions")).into_iter().flatten().map(|it| it.unwrap().path()).collect();
        notes.sort();
        notes
    }

    fn note(&self, session: &str) -> PathBuf {
        self.notes().into_iter().find(|path| fs::read_to_string(path).unwrap().contains(session)).unwrap()
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_deleted_note_stays_deleted_after_the_vault_moved() {
    let world = World::new();
    let mut one = world.machine("one", "vault");
    assert_eq!(one.import(&[]), json!({ "created": 2 }));
    fs::remove_file(one.note(SESSION)).unwrap();
    fs::rename(&one.vault, world.path("moved")).unwrap();
    one.vault = world.path("moved");
    assert_eq!(one.import(&[]), json!({ "deleted": 1, "unchanged": 1 }));
}

#[test]
fn a_deleted_note_stays_deleted_on_another_machine_and_without_the_state() {
    let world = World::new();
    let one = world.machine("one", "vault");
    one.import(&[]);
    fs::remove_file(one.note(SESSION)).unwrap();
    assert_eq!(world.machine("two", "vault").import(&[]), json!({ "deleted": 1, "unchanged": 1 }));
    fs::remove_dir_all(world.path("one/.local")).unwrap();
    assert_eq!(one.import(&[]), json!({ "deleted": 1, "unchanged": 1 }));
    assert_eq!(one.import(&["--restore"]), json!({ "created": 1, "unchanged": 1 }));
    assert_eq!(world.machine("two", "vault").import(&[]), json!({ "unchanged": 2 }));
}

#[test]
fn notes_of_an_older_version_are_listed_when_they_are_seen() {
    let world = World::new();
    let one = world.machine("one", "vault");
    one.import(&[]);
    fs::remove_dir_all(one.vault.join(".cru/imported")).unwrap();
    fs::remove_dir_all(world.path("one/.local")).unwrap();
    assert_eq!(one.import(&[]), json!({ "unchanged": 2 }));
    fs::remove_file(one.note(SESSION)).unwrap();
    fs::remove_dir_all(world.path("one/.local")).unwrap();
    assert_eq!(one.import(&[]), json!({ "deleted": 1, "unchanged": 1 }));
}

#[test]
fn a_renamed_note_is_no_deleted_one() {
    let world = World::new();
    let one = world.machine("one", "vault");
    one.import(&[]);
    fs::create_dir_all(one.vault.join("archive")).unwrap();
    fs::rename(one.note(SESSION), one.vault.join("archive/Lighthouses.md")).unwrap();
    assert_eq!(one.import(&[]), json!({ "unchanged": 2 }));
    assert_eq!(world.machine("two", "vault").import(&[]), json!({ "unchanged": 2 }));
}

#[test]
fn lists_of_two_machines_need_no_merge_and_hold_no_words() {
    let world = World::new();
    let (one, two) = (world.machine("one", "vault"), world.machine("two", "vault"));
    one.import(&[]);
    let lists = || -> Vec<(PathBuf, String)> {
        let files = fs::read_dir(one.vault.join(".cru/imported")).unwrap().map(|entry| entry.unwrap().path());
        files.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
    };
    let before = lists();
    two.transcript("0f5e2c11-3333-4000-8000-000000000003", "Mend the net", &["Mended."]);
    two.import(&[]);
    let after = lists();
    assert_eq!((before.len(), after.len()), (1, 2), "each machine writes a file of its own");
    assert!(before.iter().all(|list| after.contains(list)), "and no other");
    for (_, text) in after {
        assert!(text.contains("0f5e2c11") && !text.contains("ighthouse") && !text.contains("harbour"), "{text}");
    }
}

#[test]
fn a_forgotten_session_is_never_imported() {
    let world = World::new();
    let one = world.machine("one", "vault");
    let (said, ..) = one.cru(&["import", "--forget", OTHER]);
    assert!(said.contains(OTHER) && said.contains("--restore"), "{said}");
    assert_eq!(one.import(&[]), json!({ "created": 1, "forgotten": 1 }));
    let note = one.note(SESSION);
    let name = note.file_stem().unwrap().to_str().unwrap().to_owned();
    let before = fs::read_to_string(&note).unwrap();
    let (said, ..) = one.cru(&["import", "--forget", &name]);
    assert!(said.contains(SESSION) && said.contains("stays as it is"), "{said}");
    let two = world.machine("two", "vault");
    two.transcript(SESSION, "Count the lighthouses", &["Eleven stand.", "Nine are lit.", "Two burn green."]);
    assert_eq!(two.import(&[]), json!({ "forgotten": 2 }));
    assert_eq!(fs::read_to_string(&note).unwrap(), before);
    fs::remove_file(&note).unwrap();
    assert_eq!(two.import(&[]), json!({ "forgotten": 2 }));
    assert_eq!(two.import(&["--restore"]), json!({ "created": 2 }));
    assert_eq!(one.import(&[])["forgotten"], Value::Null);
    let (_, said, code) = one.cru(&["import", "--forget", "2026-11-20-no-such-note"]);
    assert!(code == Some(2) && said.contains("no session"), "{said}");
}

#[test]
fn both_sides_make_the_same_note() {
    let world = World::new();
    let one = world.machine("one", "vault");
    copy_folder(&world.path("vault"), &world.path("clone"));
    let two = world.machine("two", "clone");
    one.import(&[]);
    two.import(&[]);
    let names = |machine: &Machine<'_>| -> Vec<_> {
        let text = |path: &PathBuf| fs::read_to_string(path).unwrap();
        // Where the transcript is belongs to a machine; below a home it is `~/…` on both.
        let shared =
            |path| text(path).lines().filter(|line| !line.starts_with("transcript:")).collect::<Vec<_>>().join("\n");
        machine.notes().iter().map(|path| (path.file_name().unwrap().to_owned(), shared(path))).collect()
    };
    assert_eq!(names(&one), names(&two), "git has nothing to merge");
    copy_folder(&two.vault, &one.vault);
    assert_eq!(one.import(&[]), json!({ "unchanged": 2 }));
    assert_eq!((two.import(&[]), one.notes().len()), (json!({ "unchanged": 2 }), 2));
}

/// Names that sync services give to the copy of `name.md`.
const COPIES: [&str; 5] = [
    "NAME (conflicted copy 2026-11-21).md",
    "NAME.sync-conflict-20261121-093104-ABCDEFG.md",
    "NAME 2.md",
    "NAME (1).md",
    "NAME-DESKTOP-7.md",
];

#[test]
fn a_conflict_copy_is_one_row_in_every_list() {
    for pattern in COPIES {
        let world = World::new();
        let one = world.machine("one", "vault");
        one.import(&[]);
        let note = one.note(SESSION);
        let copy = note.with_file_name(pattern.replace("NAME", note.file_stem().unwrap().to_str().unwrap()));
        fs::copy(&note, &copy).unwrap();
        let listed = one.json(&["session", "list"]);
        let copies: Vec<u64> = listed["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["copies"].as_u64().unwrap_or_default())
            .collect();
        assert_eq!(copies, [1, 0], "{pattern}");
        assert!(one.cru(&["session", "list"]).0.contains("(1 copy)"), "{pattern}");
        assert_eq!(one.cru(&["query", "sessions", "-f", "jsonl"]).0.lines().count(), 2, "{pattern}");
        assert_eq!(one.cru(&["query", "steps", "-f", "jsonl"]).0.lines().count(), 3, "{pattern}");
        let found = one.json(&["search", "lighthouses"]);
        assert_eq!(found["sessions"], 1, "{pattern}: {found}");
        let status = one.json(&["status"]);
        assert_eq!((&status["sessions"], status["copies"].as_array().unwrap().len()), (&2.into(), 1), "{pattern}");
        assert!(
            one.cru(&["status"]).0.contains("cru admin merge sessions/2026-11-20-count-lighthouses.md"),
            "{pattern}"
        );
        let (said, _, code) = one.cru(&["check"]);
        assert!(
            said.contains("conflict-copy") && said.contains("cru admin merge") && code == Some(0),
            "{pattern}: {said}"
        );
        // The note grows, and the copy is left as it is.
        let before = fs::read_to_string(&copy).unwrap();
        one.transcript(SESSION, "Count the lighthouses", &["Eleven stand.", "Nine are lit.", "Two burn green."]);
        assert_eq!(one.import(&[]), json!({ "updated": 1, "unchanged": 1 }), "{pattern}");
        assert!(fs::read_to_string(&note).unwrap().contains("Two burn green."), "{pattern}");
        assert_eq!(fs::read_to_string(&copy).unwrap(), before, "{pattern}");
    }
}

#[test]
fn ignored_folders_are_those_of_the_vault_alone() {
    let world = World::new();
    let one = world.machine("one", "fresh");
    assert_eq!(one.cru(&["init", "fresh"]).2, Some(0));
    let lines = fs::read_to_string(world.path("fresh/.gitignore")).unwrap();
    assert_eq!(lines, "/.cru/local/\n/evidence/\n");
    // An older one is no reason to write them twice.
    fs::write(world.path("fresh/.gitignore"), ".cru/local/\nevidence/\n").unwrap();
    one.cru(&["init", "fresh"]);
    assert_eq!(fs::read_to_string(world.path("fresh/.gitignore")).unwrap().lines().count(), 2);
}

#[test]
fn the_template_folder_of_obsidian_is_used() {
    let world = World::new();
    let one = world.machine("one", "fresh");
    fs::create_dir_all(world.path("fresh/.obsidian")).unwrap();
    fs::write(world.path("fresh/.obsidian/templates.json"), "{\"folder\":\"Meta/Forms\"}").unwrap();
    one.cru(&["init", "fresh"]);
    assert!(world.path("fresh/Meta/Forms/New session.md").is_file());
    assert!(!world.path("fresh/templates").exists());
    assert_eq!(one.json(&["status"])["notes"], 0, "a template is no note");
}

#[test]
fn check_judges_notes_of_ours_alone() {
    let world = World::new();
    let one = world.machine("one", "vault");
    one.import(&[]);
    let foreign = "---\ntitle: Soup: the best\n---\n# Soup\n\nOne ^a\n\nTwo ^a\n\n- `boil water` → done\n";
    fs::write(world.path("vault/Soup.md"), foreign).unwrap();
    let (said, _, code) = one.cru(&["check"]);
    assert_eq!((said.as_str(), code), ("2 notes: nothing wrong\n", Some(0)));
    one.cru(&["check", "--fix"]);
    one.cru(&["check", "--fix", "vault/Soup.md"]);
    assert_eq!(fs::read_to_string(world.path("vault/Soup.md")).unwrap(), foreign);
}

#[test]
fn check_finds_conflict_markers_and_fences_that_swallow_steps() {
    let world = World::new();
    let one = world.machine("one", "vault");
    one.import(&[]);
    let note = one.note(SESSION);
    let text = fs::read_to_string(&note).unwrap();
    let places = |code: &str| -> Vec<(u64, u64)> {
        let found = one.json(&["check"]);
        let rows = found["diagnostics"].as_array().unwrap().iter().filter(|row| row["code"] == code);
        rows.map(|row| (row["line"].as_u64().unwrap(), row["column"].as_u64().unwrap())).collect()
    };
    let line = |text: &str, words: &str| text.lines().position(|line| line == words).unwrap() as u64 + 1;
    let both = text.replace("Eleven stand.", "<<<<<<< HEAD\nEleven stand.\n=======\nTwelve stand.\n>>>>>>> other");
    fs::write(&note, &both).unwrap();
    let first = line(&both, "<<<<<<< HEAD");
    assert_eq!(places("conflict-marker"), [(first, 1), (first + 2, 1), (first + 4, 1)]);
    assert_eq!(one.cru(&["check"]).2, Some(1));
    // In the frontmatter, too, where the kind of the note is hard to see.
    fs::write(&note, format!("<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n")).unwrap();
    assert_eq!(places("conflict-marker").len(), 3);
    let open = text.replace("Eleven stand.", "```text\nEleven stand.");
    fs::write(&note, &open).unwrap();
    assert_eq!(places("unclosed-fence"), [(line(&open, "```text"), 1)]);
    let closed = open.replace("\nNine are lit.", "\n```rust\nlet nine = true;\n```");
    fs::write(&note, &closed).unwrap();
    assert_eq!(places("unclosed-fence"), [(line(&closed, "```text"), 1)]);
    fs::write(&note, &text).unwrap();
    assert_eq!((places("unclosed-fence"), places("conflict-marker")), (vec![], vec![]));
}

#[test]
fn status_and_flush_agree_on_what_waits() {
    let world = World::new();
    let one = world.machine("one", "vault");
    let (name, ..) = one.cru(&["session", "start", "Count the buoys"]);
    let name = name.trim();
    one.cru(&["log", "decision", "Paint six green", "--session", name]);
    let note = world.path(&format!("vault/sessions/{name}.md"));
    assert_eq!(one.json(&["status"])["waiting"], json!([]));
    assert_eq!(one.cru(&["flush", "--all"]).0, "nothing waits\n");
    // An entry of a session whose note is gone.
    let states = fs::read_dir(world.path("one/.local/state/cru")).unwrap().map(|entry| entry.unwrap().path());
    let journal = states.into_iter().find(|folder| folder.join("locks").exists()).unwrap();
    fs::create_dir_all(journal.join("journal")).unwrap();
    let entry = json!({ "id": "e-1", "time": "2026-11-20T09:00:00Z", "event": { "kind": "note" } });
    fs::write(journal.join("journal/gone-session.jsonl"), format!("{entry}\n")).unwrap();
    let waiting = one.json(&["status"])["waiting"].clone();
    assert_eq!(waiting, json!([{ "session": "gone-session", "entries": 1, "note": false }]));
    for args in [&["flush", "--all"][..], &["flush", name]] {
        let (said, ..) = one.cru(args);
        let agree = !said.contains("nothing waits") && said.contains("gone-session");
        assert_eq!(agree, waiting != json!([]), "{args:?}: {said} {waiting}");
        assert_eq!(one.json(args)["waiting"], waiting, "{args:?}");
    }
    assert!(note.exists());
}

/// How often each word stands in a text.
fn counts(text: &str, words: &[&str]) -> Vec<usize> {
    words.iter().map(|word| text.matches(word).count()).collect()
}

/// A world with a note and a copy of it, whose base is not known.
fn with_copy(world: &World) -> (Machine<'_>, PathBuf, PathBuf) {
    let one = world.machine("one", "vault");
    one.import(&[]);
    let note = one.note(SESSION);
    let copy = note.with_file_name("2026-11-20-count-lighthouses (conflicted copy 2026-11-21).md");
    fs::copy(&note, &copy).unwrap();
    (one, note, copy)
}

fn edit(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{old}: {text}");
    // What is said last: the summary on top says some of it, too.
    let at = text.rfind(old).unwrap();
    fs::write(path, format!("{}{new}{}", &text[..at], &text[at + old.len()..])).unwrap();
}

#[test]
fn a_copy_is_merged_and_moved_to_the_trash() {
    let world = World::new();
    let (one, note, copy) = with_copy(&world);
    edit(&note, "Eleven stand.", "Eleven stand.\n\nMine: the oldest is of 1812.");
    edit(&copy, "Nine are lit.", "Nine are lit.\n\nTheirs: two are private.");
    edit(&copy, " ^n-002\n", " ^n-002\n- `Bash ls 9` → file 9 ^n-003\n");
    // A short line just above the revision, which every write changes.
    edit(&note, "cru_cursor:", "tags:\n  - a\ncru_cursor:");
    edit(&copy, "cru_cursor:", "tags:\n  - a\n  - b\ncru_cursor:");
    let (note_path, copy_path) = (note.to_str().unwrap(), copy.to_str().unwrap());
    let (before, theirs) = (fs::read_to_string(&note).unwrap(), fs::read_to_string(&copy).unwrap());
    let (said, _, code) = one.cru(&["merge", note_path, copy_path, "--dry-run"]);
    assert!(code == Some(0) && said.contains("would merge") && said.contains("+Theirs: two are private."), "{said}");
    assert_eq!(fs::read_to_string(&note).unwrap(), before);
    let (said, err, code) = one.cru(&["merge", note_path, copy_path]);
    assert_eq!(code, Some(0), "{said}{err}");
    let merged = fs::read_to_string(&note).unwrap();
    let words = ["Mine: the oldest", "Theirs: two are", "^n-001", "^n-002", "^n-003", "Eleven stand.", "[!conflict]"];
    assert_eq!(counts(&merged, &words), [1, 1, 1, 1, 1, 1, 0], "{merged}");
    assert!(!copy.exists());
    let kept = world.path("vault/.trash/2026-11-20-count-lighthouses (conflicted copy 2026-11-21).md");
    assert_eq!(fs::read_to_string(kept).unwrap(), theirs, "its bytes as they were");
    assert_eq!(one.cru(&["check"]).0, "2 notes: nothing wrong\n");
    assert_eq!(one.json(&["status"])["copies"], Value::Null);
    assert_eq!(one.import(&[]), json!({ "unchanged": 2 }));
    let name = note.file_stem().unwrap().to_str().unwrap();
    let (said, err, code) = one.cru(&["undo", "--session", name]);
    assert_eq!(code, Some(0), "{said}{err}");
    let body = |text: &str| text.split_once("\n# ").unwrap().1.to_owned();
    assert_eq!(body(&fs::read_to_string(&note).unwrap()), body(&before));
}

#[test]
fn steps_of_one_id_are_two_where_they_are_of_two_calls() {
    let world = World::new();
    let (one, note, copy) = with_copy(&world);
    edit(&note, " ^n-002\n", " ^n-002\n- `Bash ls mine` → mine ^n-003\n");
    edit(&copy, " ^n-002\n", " ^n-002\n- `Bash ls theirs` → theirs ^n-003\n");
    edit(&copy, "`Bash ls 0` → `file 0`", "`Bash ls 0` → `file zero`");
    one.cru(&["merge", note.to_str().unwrap(), copy.to_str().unwrap()]);
    let merged = fs::read_to_string(&note).unwrap();
    let words = ["ls mine", "ls theirs", "^n-003", "^n-004", "file 0` ", "file zero", "[!conflict] n-001"];
    assert_eq!(counts(&merged, &words), [1, 1, 1, 1, 1, 1, 1], "{merged}");
    assert!(merged.contains("`Bash ls theirs` → theirs ^n-004"), "{merged}");
}

#[test]
fn with_a_base_changes_and_deletions_of_one_side_are_made() {
    let world = World::new();
    let one = world.machine("one", "vault");
    one.import(&[]);
    // A note that grew has a base in the machine state.
    one.transcript(SESSION, "Count the lighthouses", &["Eleven stand.", "Nine are lit.", "Two burn green."]);
    assert_eq!(one.import(&[])["updated"], 1);
    let note = one.note(SESSION);
    let copy = note.with_file_name("2026-11-20-count-lighthouses 2.md");
    fs::copy(&note, &copy).unwrap();
    edit(&note, "Nine are lit.", "Nine are lit, by hand.");
    edit(&copy, "Eleven stand.\n\n", "");
    edit(&copy, "Two burn green.", "Two burn green, one red.");
    edit(&copy, "status: completed\n", "status: completed\nmood: calm\n");
    let (said, err, code) = one.cru(&["merge", note.to_str().unwrap(), copy.to_str().unwrap()]);
    assert!(code == Some(0) && said.contains("three versions"), "{said}{err}");
    let merged = fs::read_to_string(&note).unwrap();
    let words = [
        "Nine are lit, by hand.",
        "Nine are lit.",
        "Eleven stand.",
        "green, one red",
        "\nTwo burn green.",
        "mood: calm",
    ];
    assert_eq!(counts(&merged, &words), [1, 0, 0, 1, 0, 1], "{merged}");
    assert_eq!(counts(&merged, &["^n-001", "^n-002", "^n-003", "[!conflict]"]), [1, 1, 1, 0], "{merged}");
    one.transcript(SESSION, "Count the lighthouses", &["Eleven stand.", "Nine are lit.", "Two burn green.", "Done."]);
    assert_eq!(one.import(&[])["updated"], 1);
    let grown = fs::read_to_string(&note).unwrap();
    assert_eq!(
        counts(&grown, &["Eleven stand.", "by hand", "one red", "\nDone.", "^n-004"]),
        [0, 1, 1, 1, 1],
        "{grown}"
    );
}

#[test]
fn only_a_copy_of_the_same_session_is_merged() {
    let world = World::new();
    let one = world.machine("one", "vault");
    one.import(&[]);
    let (note, other) = (one.note(SESSION), one.note(OTHER));
    let (_, said, code) = one.cru(&["merge", note.to_str().unwrap(), other.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("another session") && other.exists(), "{said}");
    let (_, said, code) = one.cru(&["merge", note.to_str().unwrap(), note.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("one file") && note.exists(), "{said}");
}

#[test]
fn a_copy_that_holds_more_of_the_transcript_takes_the_note_that_far() {
    let world = World::new();
    let replies = ["Eleven stand.", "Nine are lit.", "Two are dark.", "The keeper is away."];
    let (one, two) = (world.machine("one", "vault"), world.machine("two", "other"));
    fs::create_dir_all(two.vault.join(".cru")).unwrap();
    one.import(&[]);
    two.transcript(SESSION, "Count the lighthouses", &replies[..3]);
    two.import(&[]);
    let note = one.note(SESSION);
    let copy = note.with_file_name("2026-11-20-count-the-lighthouses (conflicted copy 2026-11-21).md");
    fs::copy(two.note(SESSION), &copy).unwrap();
    edit(&note, "Eleven stand.", "Eleven stand.\n\nMine: the oldest is of 1812.");
    let (said, err, code) = one.cru(&["merge", note.to_str().unwrap(), copy.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}{err}");
    let words = ["Mine: the oldest", "`Bash ls 0`", "`Bash ls 1`", "`Bash ls 2`", "`Bash ls 3`", "[!conflict]"];
    let there = || counts(&fs::read_to_string(&note).unwrap(), &words);
    assert_eq!(there(), [1, 1, 1, 1, 0, 0]);
    // The older transcript, that of the copy, and one that goes on.
    for (replies, outcome) in [(&replies[..2], "unchanged"), (&replies[..3], "unchanged"), (&replies[..], "updated")] {
        one.transcript(SESSION, "Count the lighthouses", replies);
        let outcomes = one.import(&[]);
        assert_eq!(outcomes[outcome], if outcome == "updated" { json!(1) } else { json!(2) }, "{outcomes}");
    }
    assert_eq!(there(), [1, 1, 1, 1, 1, 0], "{}", fs::read_to_string(&note).unwrap());
}
