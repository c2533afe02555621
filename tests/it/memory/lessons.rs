//! Lessons that a person writes down, whether they hold, and what a session that begins is told: through the real program.

use std::process::Output;

use crate::small_vault::{SmallVault, succeeded};

/// A vault with a session, and the project that it worked in.
struct World(SmallVault);

impl World {
    fn new() -> Self {
        let world = Self(SmallVault::new("[vault]\nid = \"v\"\n"));
        world.put("code/src/pump.rs", "one\ntwo\nthree\n");
        world.put("vault/sessions/s1.md", &session("s1", "2026-11-20T09:00:00Z", &Self::anchor()));
        world
    }

    /// A read of all lines, as an import writes it.
    fn anchor() -> String {
        let lines = cru::session::LineAnchor::of(Some(1), ["one", "two", "three"]).unwrap();
        format!("src/pump.rs:1-3@{}", lines.hash)
    }

    fn put(&self, path: &str, text: &str) {
        self.0.put(path, text);
    }

    fn read(&self, path: &str) -> String {
        self.0.read(path)
    }

    fn run(&self, args: &[&str], input: &str) -> Output {
        self.0.run_in("code", args, input)
    }

    fn ok(&self, args: &[&str]) -> String {
        succeeded(args, &self.run(args, ""))
    }
}

fn session(id: &str, started: &str, anchor: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: {id}\ntitle: Work of {id}\nstatus: completed\nstarted: {started}\nproject: ~/code\n---\n\
         # Work of {id}\n\n**Tasks:**\n- [ ] Paint the pump ^task-1\n\n## Mend it @coder #dev\n\n*{started}* ^p-01\n\n\
         > [!user]\n> \"Mend the pump.\"\n\n^u-01\n\n- `Read src/pump.rs` → `3 lines` ^n-001\n    - reads: `{anchor}`\n\
         - `Edit src/pump.rs` → `+1 −0` ^n-002\n    - writes: `src/pump.rs`\n\n\
         > [!user] Correction\n> \"Use pnpm, never npm, for the pump.\"\n\n^u-02\n\n\
         > [!decision] Keep three lines\n> Why: the valve counts them  \n> Rests on: [[#^n-001]]\n\n^d-01\n\nThe pump runs. All is well.\n"
    )
}

#[test]
fn a_lesson_rests_on_what_it_was_learned_from() {
    let world = World::new();
    assert_eq!(
        world.ok(&[
            "lessons",
            "add",
            "The pump has three lines",
            "--from",
            "s1#n-001",
            "--do",
            "count them",
            "--check",
            "wc -l src/pump.rs"
        ]),
        "lessons/the-pump-has-three-lines.md\n"
    );
    let note = world.read("vault/lessons/the-pump-has-three-lines.md").replace(&World::anchor(), "ANCHOR");
    insta::assert_snapshot!(note, @"
    ---
    type: lesson
    title: The pump has three lines
    level: project
    confidence: high
    status: accepted
    project: ~/code
    learned: 2026-11-20T09:00:00Z
    ---
    # The pump has three lines

    - Do: count them
    - Evidence: [[s1#^n-001]]
    - Anchor: `ANCHOR`
    - Check: `wc -l src/pump.rs`
    ");
    assert_eq!(world.ok(&["check"]).lines().last(), world.ok(&["check"]).lines().last());
    assert!(world.ok(&["verify", "l:", "--strict"]).starts_with("holds"), "{}", world.ok(&["verify", "l:"]));
    // The same again: the evidence is added to the first.
    let again = world.ok(&["lessons", "add", "The pump has three lines.", "--from", "s1#d-01"]);
    assert_eq!(again, "lessons/the-pump-has-three-lines.md  the evidence was added\n");
    assert!(world.read("vault/lessons/the-pump-has-three-lines.md").contains("- Evidence: [[s1#^d-01]]\n"));
    // What it rests on changes, goes, comes back.
    world.put("code/src/pump.rs", "one\n2\nthree\n");
    let drifted = world.run(&["verify", "l:", "--strict"], "");
    let told = String::from_utf8_lossy(&drifted.stdout).into_owned();
    assert!(told.starts_with("drifted") && told.contains("src/pump.rs:1-3"), "{told}");
    assert_eq!(drifted.status.code(), Some(1));
    assert!(world.ok(&["review"]).contains("the-pump-has-three-lines"), "{}", world.ok(&["review"]));
    world.put("code/src/pump.rs", "zero\none\ntwo\nthree\n");
    assert!(world.ok(&["verify", "l:", "--strict"]).starts_with("holds"), "moved");
    assert_eq!(world.run(&["lessons", "add", "  ", "--from", "s1#n-001"], "").status.code(), Some(2));
    assert_eq!(world.run(&["lessons", "add", "x y"], "").status.code(), Some(2), "no evidence");
}

#[test]
fn words_of_a_person_become_a_lesson_which_later_words_may_break() {
    let world = World::new();
    assert_eq!(world.ok(&["lessons", "from", "s1#u-02"]), "lessons/use-pnpm-never-npm-for-the-pump.md\n");
    let list = |world: &World| world.ok(&["lessons", "list", "-f", "json"]);
    assert!(
        list(&world).contains("\"verdict\": \"unanchored\"") && list(&world).contains("\"broken\": 0"),
        "{}",
        list(&world)
    );
    world.put("vault/sessions/s2.md", &session("s2", "2026-11-20T12:00:00Z", "src/pump.rs"));
    assert!(list(&world).contains("\"broken\": 1"), "{}", list(&world));
    world.ok(&["lessons", "add", "Use bun", "--from", "s2#n-001"]);
    let told = world.ok(&["lessons", "supersede", "use-pnpm-never-npm-for-the-pump", "use-bun"]);
    assert_eq!(told, "lessons/use-pnpm-never-npm-for-the-pump.md  superseded by [[use-bun]]\n");
    assert!(world.ok(&["lessons", "list"]).contains("superseded  retired"), "{}", world.ok(&["lessons", "list"]));
    assert_eq!(world.ok(&["lessons", "retire", "use-bun"]), "lessons/use-bun.md  retired\n");
    assert!(!world.ok(&["context"]).contains("bun"));
}

#[test]
fn a_session_that_begins_is_told_what_holds() {
    let world = World::new();
    world.ok(&["lessons", "add", "The pump has three lines", "--from", "s1#n-001"]);
    world.ok(&["lessons", "from", "s1#u-02", "--level", "user"]);
    insta::assert_snapshot!(world.ok(&["context", "src/pump.rs"]), @r#"
    Lessons of earlier sessions:
    - The pump has three lines [the-pump-has-three-lines]
    - Use pnpm, never npm, for the pump. [use-pnpm-never-npm-for-the-pump]
    Left open by the last sessions:
    - task not done: Paint the pump (s1)
    The last session:
    - Work of s1, 2026-11-20, completed, 2 steps, never checked (s1)
    - Read src/pump.rs → 3 lines
    - Edit src/pump.rs → +1 −0
    - Agent, last: "The pump runs. All is well."
    Decisions on these files:
    - Keep three lines – the valve counts them [s1#d-01]
    "#);
    assert!(world.ok(&["context", "--show", "s1#d-01"]).contains("the valve counts them"));
    assert!(world.ok(&["context", "--show", "the-pump-has-three-lines"]).contains("- Evidence: [[s1#^n-001]]"));
    let few = world.ok(&["context", "--budget", "40", "--explain"]);
    assert!(few.contains("left out") && few.lines().last().unwrap().contains("of 40 tokens"), "{few}");
    // What drifted is never told as a fact.
    world.put("code/src/pump.rs", "1\n2\n3\n");
    let told = world.ok(&["context"]);
    let (facts, rest) =
        told.split_once("Check first, what they rest on has changed:").unwrap_or_else(|| panic!("{told}"));
    assert!(!facts.contains("three lines") && rest.contains("- The pump has three lines: src/pump.rs:1-3"), "{told}");
    // So is what is kept beside lessons.
    world.put("code/valve.md", "open\n");
    let hash = blake3::hash(b"open\n").to_hex();
    let read = format!(
        "---\ntype: session\nsession_id: s3\nstatus: completed\nproject: ~/code\nstarted: 2026-11-19T09:00:00Z\n---\n# S\n\n## W @a\n\n\
         - `Read valve.md` → `1 line` ^n-001\n    - reads: `valve.md@{}`\n",
        &hash[..8]
    );
    world.put("vault/sessions/s3.md", &read);
    world.ok(&["bookmark", "valve", "s3#n-001"]);
    assert!(!world.ok(&["context"]).contains("valve.md"));
    world.put("code/valve.md", "shut\n");
    let told = world.ok(&["context"]);
    assert!(told.contains("- s3#n-001: input changed: valve.md") && told.contains("(bookmark valve)"), "{told}");
    // What is kept from agents is not told.
    let private =
        world.read("vault/sessions/s1.md").replace("status: completed\n", "status: completed\nexport: false\n");
    world.put("vault/sessions/s1.md", &private);
    assert!(!world.ok(&["context"]).contains("Paint the pump"));
}

#[test]
fn the_hook_of_a_start_prints_it_where_the_vault_wants_it() {
    let world = World::new();
    world.ok(&["lessons", "from", "s1#u-02"]);
    let cwd = world.0.path("code").display().to_string();
    let event = format!(
        "{{\"session_id\":\"x-1\",\"cwd\":\"{cwd}\",\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}}"
    );
    let start = |world: &World| String::from_utf8(world.run(&["hook", "session-start"], &event).stdout).unwrap();
    assert_eq!(start(&world), "");
    world.put("vault/.cru/config.toml", "[vault]\nid = \"v\"\n[hooks]\nflush = \"never\"\ncontext = true\n");
    let told = start(&world);
    assert!(told.starts_with("Lessons of earlier sessions:\n- Use pnpm, never npm"), "{told}");
    // The note of the session says what was told, with links; once.
    let event = |name: &str, more: &str| {
        format!("{{\"session_id\":\"x-1\",\"cwd\":\"{cwd}\",\"hook_event_name\":\"{name}\"{more}}}")
    };
    world.run(&["hook", "prompt"], &event("UserPromptSubmit", ",\"prompt\":\"Paint the pump\""));
    let call = ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t1\",\"tool_input\":{\"command\":\"ls\"},\"tool_response\":{\"stdout\":\"a\"}";
    world.run(&["hook", "post-tool"], &event("PostToolUse", call));
    world.ok(&["flush", "--all"]);
    world.run(&["hook", "prompt"], &event("UserPromptSubmit", ",\"prompt\":\"And the door\""));
    world.ok(&["flush", "--all"]);
    let notes = std::fs::read_dir(world.0.path("vault/sessions")).unwrap();
    let notes = notes.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let note = notes.into_iter().find(|note| note.contains("Paint the pump") && note.contains("[!context]")).unwrap();
    assert_eq!(note.matches("> [!context]- Told at the start").count(), 1, "{note}");
    assert!(note.contains("> - Use pnpm, never npm") && note.contains("[[use-pnpm"), "{note}");
}

#[test]
fn the_check_of_a_lesson_runs_with_consent_alone() {
    let world = World::new();
    let add = |text: &str, check: &str| world.ok(&["lessons", "add", text, "--from", "s1#n-001", "--check", check]);
    add("There is a pump", "test -f src/pump.rs");
    add("There is a valve", "test -f src/valve.rs");
    add("It can be oiled", "touch src/oil.rs");
    assert!(!world.ok(&["verify", "l:"]).contains("passed"), "nothing runs unasked");
    let told = world.ok(&["verify", "l:", "--run"]);
    assert_eq!(told.matches("not run (not a terminal").count(), 3, "{told}");
    world.put(".config/cru/config.toml", "[run]\nallow = [\"test -f *\"]\n");
    let output = world.run(&["verify", "l:", "--run", "--strict"], "");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("passed: test -f src/pump.rs") && told.contains("not run (not a terminal"), "{told}");
    assert!(told.contains("`test -f src/valve.rs` exits with 1") && told.contains("drifted"), "{told}");
    assert_eq!(output.status.code(), Some(1));
    assert!(!world.0.path("code/src/oil.rs").exists());
    world.put("code/src/valve.rs", "");
    assert!(!world.ok(&["verify", "l:", "--run", "--strict"]).contains("drifted"));
}

/// What a session tells as a lesson is one everywhere, before anybody has decided about it: of an agent, an import, a person.
#[test]
fn callouts_are_lessons_that_nobody_has_decided_about() {
    let world = World::new();
    let told = "## Learn @coder #dev\n\n*2026-11-20T10:00:00Z* ^p-02\n\n> [!lesson] task · medium\n> Count the lines twice.\n> Do: wc -l\n> Tags: pump\n\n\
                ^l-01\n\n> [!quirk] zai/glm-4.7\n> Reads with sed.\n> Frequency: often\n> Severity: low\n> Workaround: name the tool\n\n^q-01\n\n\
                > [!segment] coding: success\n> The pump was mended.\n> Language: C\n> Frameworks: valves\n> Segment tokens: 1,200\n> Entries: `e1` … `e9` (12)\n\n\
                ^s-00c0ffee\n\n> [!lesson] Name the file first.\n";
    let text =
        session("s2", "2026-11-20T09:00:00Z", &World::anchor()).replace("## Mend it", &format!("{told}\n## Mend it"));
    let text = text.replacen("---\n", "---\nmachine: pumphouse\n", 1);
    world.put("vault/sessions/s2.md", &text);
    // The other way to write the title of a segment.
    let other = told.replace("coding: success", "coding · success").replace("00c0ffee", "00c0ffef");
    let other = session("s3", "2026-11-20T12:00:00Z", &World::anchor())
        .replace("## Mend it", &format!("{}\n## Mend it", other.split("> [!lesson] Name").next().unwrap()));
    world.put("vault/sessions/s3.md", &other.replace("lesson", "note").replace("quirk", "note"));
    let rows = |args: &[&str]| -> Vec<serde_json::Value> {
        let table: serde_json::Value = serde_json::from_str(&world.ok(args)).unwrap();
        table["rows"].as_array().unwrap().clone()
    };
    let lessons = rows(&["query", "lessons", "-f", "json"]);
    let one = lessons.iter().find(|row| row["id"] == "s2#l-01").unwrap();
    for (column, value) in [
        ("text", "Count the lines twice."),
        ("level", "task"),
        ("confidence", "medium"),
        ("status", "proposed"),
        ("do", "wc -l"),
        ("tags", "pump"),
    ] {
        assert_eq!(one[column], value, "{column}: {one}");
    }
    let quirks = rows(&["query", "quirks", "-f", "json"]);
    let quirk = quirks.iter().find(|row| row["id"] == "s2#q-01").unwrap();
    assert_eq!((&quirk["where"], &quirk["frequency"]), (&"zai/glm-4.7".into(), &"often".into()), "{quirk}");
    assert_eq!((&quirk["severity"], &quirk["do"]), (&"low".into(), &"name the tool".into()), "{quirk}");
    let segments = rows(&["query", "segments", "-f", "json"]);
    let segment = segments.iter().find(|row| row["id"] == "s-00c0ffee").unwrap();
    for (column, value) in [
        ("type", "coding"),
        ("outcome", "success"),
        ("language", "C"),
        ("frameworks", "valves"),
        ("entries", "`e1` … `e9` (12)"),
        ("summary", "The pump was mended."),
    ] {
        assert_eq!(segment[column], value, "{column}: {segment}");
    }
    assert_eq!((&segment["tokens"], &segment["machine"]), (&1200.into(), &"pumphouse".into()));
    let other = segments.iter().find(|row| row["id"] == "s-00c0ffef").unwrap();
    assert_eq!((&other["type"], &other["outcome"]), (&"coding".into(), &"success".into()), "{other}");
    // A callout without an id is one, too, and can be decided about.
    let named = lessons.iter().find(|row| row["text"] == "Name the file first.").unwrap();
    assert!(named["id"].as_str().unwrap().starts_with("s2#x-"), "{named}");
    assert!(world.ok(&["lessons", "list"]).contains("Count the lines twice."));
    assert!(world.ok(&["context"]).contains("not reviewed: Count the lines twice. (wc -l)"));
    assert!(world.ok(&["review"]).contains("Count the lines twice."));
    // Once it is a note, its level, confidence and advice stay, and it is told once.
    world.ok(&["lessons", "from", "s2#l-01"]);
    let lessons = rows(&["query", "lessons", "-f", "json"]);
    let own: Vec<_> = lessons.iter().filter(|row| row["text"] == "Count the lines twice.").collect();
    assert_eq!(own.len(), 1, "{lessons:?}");
    assert_eq!((&own[0]["level"], &own[0]["confidence"]), (&"task".into(), &"medium".into()), "{own:?}");
    assert_eq!((&own[0]["status"], &own[0]["do"]), (&"accepted".into(), &"wc -l".into()), "{own:?}");
    let review = world.ok(&["review"]);
    assert!(!review.contains("Count the lines twice."));
    let line = review.lines().find(|line| line.contains("Name the file first.")).unwrap();
    assert!(line.ends_with("[[s2]]"), "{line}");
    world.ok(&["review", "accept", line.split_whitespace().next().unwrap()]);
    let lessons = rows(&["query", "lessons", "-f", "json"]);
    let own: Vec<_> = lessons.iter().filter(|row| row["text"] == "Name the file first.").collect();
    assert_eq!((own.len(), &own[0]["status"]), (1, &"accepted".into()), "{own:?}");
}
