//! Notes that link: project notes, their lists, and what `cru session rename` does to links.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A home and a vault, and transcripts of invented sessions.
struct World {
    temp: tempfile::TempDir,
}

/// A transcript of one prompt, one written file and the answer.
fn transcript(id: &str, cwd: &str, prompt: &str, day: u32) -> String {
    let line = |uuid: u32, parent: Option<u32>, kind: &str, content: Value, second: u32| {
        serde_json::json!({
            "parentUuid": parent.map(|parent| format!("{id}-{parent}")),
            "isSidechain": false, "userType": "external", "cwd": cwd, "sessionId": id, "version": "2.0.1",
            "gitBranch": "main", "type": kind, "uuid": format!("{id}-{uuid}"),
            "timestamp": format!("2026-11-{day:02}T09:00:{second:02}.000Z"),
            "message": { "role": kind, "content": content, "id": format!("msg-{uuid}"), "model": "claude-sonnet-4-5" },
        })
        .to_string()
    };
    let call = serde_json::json!([{ "type": "tool_use", "id": format!("toolu_{id}"), "name": "Write",
        "input": { "file_path": format!("{cwd}/tables.md"), "content": "| a |\n" } }]);
    let result =
        serde_json::json!([{ "type": "tool_result", "tool_use_id": format!("toolu_{id}"), "content": "File created" }]);
    let answer = serde_json::json!([{ "type": "text", "text": "The tables are written." }]);
    [
        line(1, None, "user", Value::from(prompt), 1),
        line(2, Some(1), "assistant", call, 5),
        line(3, Some(2), "user", result, 6),
        line(4, Some(3), "assistant", answer, 9),
    ]
    .map(|line| line + "\n")
    .concat()
}

impl World {
    fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.path("home")).unwrap();
        world.cru(&["init", "vault"]);
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn add(&self, id: u32, cwd: &str, prompt: &str) {
        let id = format!("{id:08}-0000-4000-8000-000000000000");
        let day = id[..8].parse::<u32>().unwrap() % 28 + 1;
        let path = self.path(&format!("transcripts/p/{id}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, transcript(&id, cwd, prompt, day)).unwrap();
    }

    fn import(&self) -> String {
        self.cru(&["import", self.path("transcripts").to_str().unwrap()])
    }

    fn cru(&self, args: &[&str]) -> String {
        let (out, said, code) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}\n{out}{said}");
        out
    }

    fn run(&self, args: &[&str]) -> (String, String, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(self.temp.path());
        command.env("HOME", self.path("home")).env("CRU_VAULT", self.path("vault")).env("TZ", "UTC");
        command.env("CRU_NOW", "2090-01-01T00:00:00Z");
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path("vault").join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path("vault").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path("vault").join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// What the wikilinks of a text lead to, as an editor reads them: by path or by name.
fn targets(text: &str) -> Vec<String> {
    let parts = text.split("[[").skip(1).filter_map(|rest| rest.split("]]").next());
    parts
        .map(|inner| inner.split(['|', '#']).next().unwrap_or_default().to_owned())
        .filter(|it| !it.is_empty())
        .collect()
}

fn exists(vault: &Path, target: &str) -> bool {
    let found = |folder: &str| vault.join(folder).join(format!("{target}.md")).is_file();
    ["", "sessions", "projects", "notes"].iter().any(|folder| found(folder))
}

fn three(world: &World) {
    world.add(1, "/home/mara/code/tides", "Write the tide tables for the harbour page");
    world.add(2, "/home/mara/code/tides", "Sort the stations by their height");
    world.add(3, "/home/mara/work/tides", "Rotate the signing keys of the gateway");
    world.add(4, "/home/mara", "Explain how the scheduler picks a job");
}

#[test]
fn no_session_is_an_island_but_those_without_a_project() {
    let world = World::new();
    three(&world);
    world.import();
    assert_eq!(world.names("projects"), ["tides.md", "work-tides.md"]);
    let mut alone = Vec::new();
    for name in world.names("sessions") {
        let text = world.read(&format!("sessions/{name}"));
        let links = targets(&text);
        assert!(links.iter().all(|target| exists(&world.path("vault"), target)), "{name}: {links:?}");
        if links.is_empty() {
            alone.push(text.contains("project: \"~\"") || text.contains("project: ~\n"));
        }
    }
    assert_eq!(alone, [true], "the session in the home folder");
    let project = world.read("projects/tides.md");
    let listed: HashSet<String> = targets(&project).into_iter().collect();
    assert_eq!(listed.len(), 2, "{project}");
    assert!(listed.iter().all(|target| exists(&world.path("vault"), target)));
    // The filters still take the path.
    let out = world.cru(&["session", "list", "--project", "code/tides", "-f", "json"]);
    let list: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "{list}");
    assert!(world.cru(&["check"]).contains("nothing wrong"));
}

#[test]
fn the_lists_of_a_project_grow_and_what_a_person_wrote_stays() {
    let world = World::new();
    three(&world);
    world.import();
    let before = world.read("projects/tides.md");
    world.import();
    assert_eq!(world.read("projects/tides.md"), before, "nothing new, nothing written");
    let mine = before.replacen("# tides", "# Tides and heights\n\nMine: ask Jo.", 1);
    let line = mine.lines().find(|line| line.starts_with("- 2026")).unwrap().to_owned();
    let mine = mine.replacen(&line, &format!("{line}\nI wrote this between."), 1);
    world.write("projects/tides.md", &mine);
    world.add(5, "/home/mara/code/tides", "Draw the coast line behind the tables");
    world.import();
    let after = world.read("projects/tides.md");
    assert!(
        after.contains("# Tides and heights\n\nMine: ask Jo.") && after.contains("I wrote this between."),
        "{after}"
    );
    let end = after.rfind("<!-- cru:end -->").unwrap();
    assert!(after.rfind("I wrote this").unwrap() > end, "{after}");
    assert_eq!(after.lines().filter(|line| line.starts_with("- 2026")).count(), 3, "{after}");
}

#[test]
fn a_deleted_or_moved_project_note_stays_so() {
    let world = World::new();
    world.add(1, "/home/mara/code/tides", "Write the tide tables for the harbour page");
    world.add(3, "/home/mara/code/gateway", "Rotate the signing keys of the gateway");
    world.import();
    fs::remove_file(world.path("vault/projects/gateway.md")).unwrap();
    let text = world.read("projects/tides.md");
    fs::remove_file(world.path("vault/projects/tides.md")).unwrap();
    world.write("areas/Tides of the north.md", &text);
    world.add(6, "/home/mara/code/tides", "Sort the stations by their height");
    world.add(7, "/home/mara/code/gateway", "Count the requests of the gateway");
    world.import();
    assert_eq!(world.names("projects"), [] as [&str; 0]);
    let moved = world.read("areas/Tides of the north.md");
    assert!(moved.contains("Sort the stations"), "{moved}");
    let names = world.names("sessions");
    let newest = names.iter().find(|name| name.contains("requests")).unwrap();
    assert!(!world.read(&format!("sessions/{newest}")).contains("project_note"));
}

#[test]
fn a_rename_takes_the_links_along_and_is_undone() {
    let world = World::new();
    three(&world);
    world.import();
    let names = world.names("sessions");
    let old = names.iter().find(|name| name.contains("tide-tables")).unwrap().trim_end_matches(".md").to_owned();
    let mine = format!("[[{old}]], ![[{old}#^p-01]], [it](../sessions/{old}.md#^p-01), `[[{old}]]`, [[{old}-2]]\n");
    world.write("notes/mine.md", &mine);
    let canvas = format!("{{\n\t\"nodes\":[{{\"id\":\"a\",\"type\":\"file\",\"file\":\"sessions/{old}.md\"}}]\n}}");
    world.write("board.canvas", &canvas);
    let all = || {
        let folders = ["sessions", "projects", "notes"];
        let notes = folders
            .iter()
            .flat_map(|folder| world.names(folder).into_iter().map(move |name| format!("{folder}/{name}")));
        notes.chain(["board.canvas".to_owned()]).map(|path| (world.read(&path), path)).collect::<Vec<_>>()
    };
    let before = all();
    let shown = world.cru(&["session", "rename", &old, "Heights: the first draft", "--dry-run"]);
    assert!(shown.contains("would rename") && shown.contains("notes/mine.md"), "{shown}");
    assert_eq!(all(), before, "only looked at");

    world.cru(&["session", "rename", &old, "Heights: the first draft"]);
    let new = format!("{}-heights-first-draft", &old[..10]);
    assert!(world.names("sessions").contains(&format!("{new}.md")), "{:?}", world.names("sessions"));
    let note = world.read(&format!("sessions/{new}.md"));
    assert!(
        note.contains("title: \"Heights: the first draft\"") && note.contains(&format!("session_id: {old}")),
        "{note}"
    );
    assert_eq!(
        world.read("notes/mine.md"),
        format!("[[{new}]], ![[{new}#^p-01]], [it](../sessions/{new}.md#^p-01), `[[{old}]]`, [[{old}-2]]\n")
    );
    let board: Value = serde_json::from_str(&world.read("board.canvas")).unwrap();
    assert_eq!(board["nodes"][0]["file"], format!("sessions/{new}.md"));
    // The old id still names it, the index knows it, and an import changes nothing.
    assert!(world.cru(&["session", "show", &old]).contains("Heights"));
    let renamed = all();
    world.import();
    assert_eq!(all(), renamed);
    for printed in [world.cru(&["session", "codify", &new]), world.cru(&["session", "list", "-f", "json"])] {
        assert!(!targets(&printed).contains(&old), "{printed}");
    }
    // What comes later goes into the renamed note, and the list of the project follows.
    world.add(8, "/home/mara/code/tides", "Draw the coast line behind the tables");
    world.import();
    let project = world.read("projects/tides.md");
    assert_eq!(project.matches(&new).count(), 1, "{project}");
    assert!(!project.contains(&old), "{project}");

    world.cru(&["undo", "--session", &new]);
    assert_eq!(world.read("notes/mine.md"), mine);
    assert_eq!(world.read("board.canvas"), canvas);
    let text = world.read(&format!("sessions/{old}.md"));
    assert!(!text.contains("Heights"), "{text}");
    assert!(world.cru(&["check"]).contains("nothing wrong"));
}

#[test]
fn a_renamed_session_goes_on_under_its_name() {
    let world = World::new();
    world.add(1, "/home/mara/code/tides", "Write the tide tables for the harbour page");
    world.import();
    let old = world.names("sessions")[0].trim_end_matches(".md").to_owned();
    world.cru(&["session", "rename", &old, "Heights of the harbour"]);
    let path = fs::read_dir(world.path("transcripts/p")).unwrap().next().unwrap().unwrap().path();
    let more = fs::read_to_string(&path).unwrap();
    let later =
        more.replace("T09:", "T10:").replace("Write the tide tables for the harbour page", "Now draw the coast line");
    let later = later.replace("0000-1\"", "0000-11\"").replace("0000-2\"", "0000-12\"");
    let later = later.replace("0000-3\"", "0000-13\"").replace("0000-4\"", "0000-14\"");
    fs::write(&path, more + &later.replace("toolu_", "toolu_later_")).unwrap();
    world.import();
    let names = world.names("sessions");
    assert_eq!(names.len(), 1, "{names:?}");
    let text = world.read(&format!("sessions/{}", names[0]));
    assert!(
        text.contains("title: Heights of the harbour\n") && text.contains("\n# Heights of the harbour\n"),
        "{text}"
    );
    assert!(text.contains("coast line") && !text.contains("[!conflict]"), "{text}");
}

#[test]
fn what_a_rename_refuses() {
    let world = World::new();
    three(&world);
    world.import();
    let names = world.names("sessions");
    let old = names[0].trim_end_matches(".md");
    let (_, said, code) = world.run(&["session", "rename", old, "…"]);
    assert_eq!((code, said.contains("needs a word")), (Some(2), true), "{said}");
    // Two notes of one title.
    let date = &old[..10];
    world.write(&format!("sessions/{date}-new-words.md"), "mine\n");
    world.cru(&["session", "rename", old, "New words"]);
    assert!(world.names("sessions").contains(&format!("{date}-new-words-2.md")));
    assert_eq!(world.read(&format!("sessions/{date}-new-words.md")), "mine\n");
    // The same title again changes nothing.
    let again = world.cru(&["session", "rename", &format!("{date}-new-words-2"), "New words"]);
    assert!(again.contains("0 links"), "{again}");
}
