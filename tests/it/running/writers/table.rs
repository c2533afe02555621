//! All commands that write.

use serde_json::json;

use super::world::{LIVE, World};
use crate::making::readings;

/// A command that writes.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) args: &'static [&'static str],
    /// Commands that go before.
    pub(super) before: &'static [&'static [&'static str]],
    /// Writes what it needs, and gives what stands on its stdin.
    pub(super) prepare: fn(&World) -> String,
    /// Whether a file that a person sees is another afterwards.
    pub(super) changes: bool,
    /// Whether two runs end as one does, so that it ends the same after whatever came between.
    pub(super) same: bool,
    /// Whether it may be run once more: not where it is told to overwrite what a person has.
    pub(super) again: bool,
}

const ROW: Row =
    Row { name: "", args: &[], before: &[], prepare: |_| String::new(), changes: true, same: true, again: true };

/// One that adds something each time it is run.
const ADDS: Row = Row { same: false, ..ROW };

const S1: &str = "s1";
/// The session that the transcripts tell.
const UMLAUTS: &str = "2026-11-12-fix-umlauts-station-names";
const DECISION: &str = "2026-11-21-live-one#d-01";
const STEP: &str = "2026-11-21-live-one#n-001";
const LESSON: &str = "the-first-answer-holds";
const CASE: &str = "puzzle-e53ca69b027853d2";
const SHARED: &str = "vault/sessions/s1.md";

const TRANSCRIPT: &str = ".claude/projects/-home-mara-code-tidepool";

/// Takes the last lines of each transcript away.
fn shorten(world: &World) {
    for (path, text) in world.tree().into_iter().filter(|(path, _)| path.starts_with(TRANSCRIPT)) {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() < 6 {
            continue;
        }
        let part = lines[..lines.len() / 2].join("\n") + "\n";
        world.put(&format!("whole/{path}"), &text);
        world.put(&path, &part);
    }
}

fn grow(world: &World) -> String {
    shorten(world);
    world.must(&["import", "claude"], "");
    for (path, text) in world.tree() {
        if let Some(path) = path.strip_prefix("whole/") {
            world.put(path, &text);
        }
    }
    String::new()
}

/// The hash of the record that a reading is about, as its prompt names it.
fn record(world: &World, session: &str) -> String {
    let prompt = world.said(&["read", "--prompt", session]);
    let (_, behind) = prompt.split_once("\"record\": \"").unwrap();
    behind.split('"').next().unwrap().to_owned()
}

fn answer(world: &World) -> String {
    world.put("a.json", &readings::answer(&record(world, S1)).to_string());
    String::new()
}

fn answered(world: &World) -> String {
    answer(world);
    world.must(&["read", "--from", "../a.json", S1], "");
    String::new()
}

/// A brief of an imported session of which every statement holds: it counts at once, titles the note and renames it.
fn brief(world: &World) -> String {
    world.must(&["import", "claude"], "");
    let brief = json!({ "brief": 1, "session": UMLAUTS, "record": record(world, UMLAUTS), "lang": "en",
        "title": "Lanterns for the harbour wall", "requests": [], "not_verified": [], "open": [], "contradicted": [],
        "outcome": { "state": "partly", "text": "Nobody lit a lantern.", "proof": ["none n-001..: lantern"] } });
    world.put("a.json", &brief.to_string());
    String::new()
}

fn verdicts(world: &World) -> String {
    let listed = world.said(&["cases", "list", "-f", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let prompt = world.said(&["read", "c:", "--prompt"]);
    let is_asked = |case: &&serde_json::Value| prompt.contains(case["id"].as_str().unwrap());
    let verdict =
        |case: &serde_json::Value| json!({ "case": case["id"], "verdict": "weak", "why": "Trivial: one line" });
    let all: Vec<_> = listed["cases"].as_array().unwrap().iter().filter(is_asked).map(verdict).collect();
    world.put("verdicts.json", &json!({ "verdicts": all }).to_string());
    String::new()
}

fn copy(world: &World) -> String {
    let text = world.read(SHARED).replace("You're right", "You are right, I say");
    world.put("vault/sessions/s1 (conflicted copy 2026-11-21).md", &text);
    String::new()
}

#[expect(clippy::needless_pass_by_value, reason = "each call makes its own")]
fn event(world: &World, more: serde_json::Value) -> String {
    let mut event = json!({
        "session_id": "5e551011-0000-4000-8000-000000000001", "cwd": world.path("code"),
        "transcript_path": world.path("none.jsonl"),
    });
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    event.to_string()
}

fn begun(world: &World) {
    world.must(&["hook", "session-start"], &event(world, json!({ "source": "startup" })));
    world.must(&["hook", "prompt"], &event(world, json!({ "prompt": "Mend the tap" })));
    let call = json!({ "tool_name": "Read", "tool_use_id": "t1", "tool_input": { "file_path": "src/a.rs" } });
    world.must(&["hook", "pre-tool"], &event(world, call));
}

fn broken(world: &World) -> String {
    let text = world.read(SHARED).replace("title: Mend the pump", "title: Mend: the pump");
    world.put(SHARED, &text.replace(" ^n-002", ""));
    String::new()
}

fn old_copies(world: &World) -> String {
    let made = world.cru(&["checkpoint", "old one", "--session", LIVE], "", &[("CRU_NOW", "2026-10-01T09:00:00Z")]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    String::new()
}

fn waiting(world: &World) -> String {
    let inbox: serde_json::Value = serde_json::from_str(&world.said(&["review", "-f", "json"])).unwrap();
    world.put("id", inbox["items"][0]["id"].as_str().unwrap());
    String::new()
}

/// All of them. What is missing here, and is not known to read only, fails a test.
pub(super) const ROWS: &[Row] = &[
    Row { name: "init", args: &["init", "../fresh"], ..ROW },
    Row { name: "import, new", args: &["import", "claude"], ..ROW },
    Row { name: "import, grown", args: &["import", "claude"], prepare: grow, ..ROW },
    Row {
        name: "import memories",
        args: &["import", "memories", "../code"],
        prepare: |world| {
            world.put("code/.serena/memories/stack.md", "# Stack\n\n- Rust\n");
            world.must(&["import", "memories", "../code"], "");
            world.put("code/.serena/memories/stack.md", "# Stack\n\n- Rust\n- C\n");
            world.put("code/.serena/memories/style.md", "Small commits.\n");
            String::new()
        },
        ..ROW
    },
    Row {
        name: "import --undo",
        args: &["import", "--undo"],
        prepare: |world| {
            world.must(&["import", "claude"], "");
            String::new()
        },
        same: false,
        ..ROW
    },
    Row {
        name: "import --again",
        args: &["import", "--again", "-y", "--detail", "full"],
        before: &[&["import", "claude"]],
        ..ROW
    },
    Row { name: "log tool", args: &["log", "--session", LIVE, "tool", "Bash", "make", "--result", "done"], ..ADDS },
    Row { name: "log decision", args: &["log", "--session", LIVE, "decision", "Another", "--why", "x"], ..ADDS },
    Row { name: "log error", args: &["log", "--session", LIVE, "error", "It leaks", "--text", "x"], ..ADDS },
    Row {
        name: "log error --resolve",
        args: &["log", "--session", LIVE, "error", "--resolve", "last", "mended"],
        ..ADDS
    },
    Row { name: "log user", args: &["log", "--session", LIVE, "user", "Please mend it", "--action", "mended"], ..ADDS },
    Row { name: "log phase", args: &["log", "--session", LIVE, "phase", "Build"], ..ADDS },
    Row { name: "log subagent", args: &["log", "--session", LIVE, "subagent", "@r@1", "--task", "look"], ..ADDS },
    Row { name: "log task", args: &["log", "--session", LIVE, "task", "done", "1"], ..ADDS },
    Row { name: "log task add", args: &["log", "--session", LIVE, "task", "add", "More"], ..ADDS },
    Row { name: "log task start", args: &["log", "--session", LIVE, "task", "start", "1"], ..ADDS },
    Row {
        name: "log lesson",
        args: &["log", "--session", LIVE, "lesson", "Measure first", "--level", "project"],
        ..ADDS
    },
    Row { name: "log note", args: &["log", "--session", LIVE, "note", "Ready."], ..ADDS },
    Row { name: "log question", args: &["log", "--session", LIVE, "question", "--answer", "last", "Yes"], ..ADDS },
    Row { name: "log checkpoint", args: &["log", "--session", LIVE, "checkpoint", "before it"], ..ADDS },
    Row {
        name: "log usage",
        args: &["log", "--session", LIVE, "usage", "--model", "m", "--input", "3", "--output", "7"],
        ..ADDS
    },
    Row {
        name: "log json",
        args: &["log", "--session", LIVE, "json"],
        prepare: |_| "{\"event\": \"note\", \"text\": \"From a line.\"}\n".to_owned(),
        ..ADDS
    },
    Row {
        name: "hook session-start",
        args: &["hook", "session-start"],
        prepare: |world| event(world, json!({ "source": "startup" })),
        changes: false,
        ..ADDS
    },
    Row {
        name: "hook prompt",
        args: &["hook", "prompt"],
        prepare: |world| {
            begun(world);
            event(world, json!({ "prompt": "Now the valve" }))
        },
        changes: false,
        ..ADDS
    },
    Row {
        name: "hook stop",
        args: &["hook", "stop"],
        prepare: |world| {
            begun(world);
            event(world, json!({}))
        },
        changes: false,
        ..ADDS
    },
    Row {
        name: "hook session-end",
        args: &["hook", "session-end"],
        prepare: |world| {
            begun(world);
            event(world, json!({ "reason": "exit" }))
        },
        changes: false,
        ..ADDS
    },
    Row {
        name: "admin flush",
        args: &["admin", "flush", "--all"],
        prepare: |world| {
            begun(world);
            String::new()
        },
        changes: false,
        ..ADDS
    },
    Row { name: "session start", args: &["session", "start", "Another one"], ..ADDS },
    Row { name: "session mark paused", args: &["session", "mark", "paused", LIVE], ..ADDS },
    Row { name: "session mark completed", args: &["session", "mark", "completed", LIVE], ..ADDS },
    Row { name: "session mark failed", args: &["session", "mark", "failed", LIVE], ..ADDS },
    Row { name: "session mark abandoned", args: &["session", "mark", "abandoned", LIVE], ..ADDS },
    Row { name: "session resume", args: &["session", "resume", LIVE, "--no-start"], changes: false, ..ADDS },
    Row { name: "session rename", args: &["session", "rename", LIVE, "Another title"], ..ADDS },
    Row { name: "session archive", args: &["session", "archive", S1], ..ROW },
    Row {
        name: "session archive --back",
        args: &["session", "archive", "--back", S1],
        before: &[&["session", "archive", S1]],
        ..ROW
    },
    Row {
        name: "session learn",
        args: &["session", "learn", "--all", "--export", "markdown", "-o", "../cases"],
        ..ROW
    },
    Row {
        name: "session learn, rows",
        args: &["session", "learn", "--all", "--export", "jsonl", "-o", "../rows"],
        ..ROW
    },
    Row { name: "session codify", args: &["session", "codify", S1, "-o", "../w.md"], ..ROW },
    Row {
        name: "workflow export",
        args: &["workflow", "export", "plan-an-api", "--to", "skill", "-o", "../skill"],
        ..ROW
    },
    Row { name: "review accept, a case", args: &["review", "accept", CASE], ..ROW },
    Row { name: "review reject, a case", args: &["review", "reject", CASE], ..ROW },
    Row { name: "read, of cases", args: &["read", "c:", "--from", "../verdicts.json"], prepare: verdicts, ..ROW },
    Row { name: "read", args: &["read", "--from", "../a.json", S1], prepare: answer, ..ADDS },
    Row { name: "read, a brief", args: &["read", "--from", "../a.json", UMLAUTS], prepare: brief, ..ADDS },
    Row { name: "review accept, a reading", args: &["review", "accept", "s1@1"], prepare: answered, ..ROW },
    Row { name: "review reject, a reading", args: &["review", "reject", "s1@1"], prepare: answered, ..ROW },
    Row { name: "lessons add", args: &["lessons", "add", "Pumps before valves", "--from", DECISION], ..ROW },
    Row { name: "lessons from", args: &["lessons", "from", DECISION], changes: false, ..ADDS },
    Row { name: "verify, lessons", args: &["verify", "l:"], changes: false, ..ROW },
    Row { name: "lessons retire", args: &["lessons", "retire", LESSON], ..ROW },
    Row {
        name: "lessons supersede",
        args: &["lessons", "supersede", LESSON, "pumps-before-valves"],
        before: &[&["lessons", "add", "Pumps before valves", "--from", DECISION]],
        ..ROW
    },
    Row { name: "lessons apply", args: &["lessons", "apply", "--to", "AGENTS.md", "-y", "--all-projects"], ..ROW },
    Row { name: "review --write", args: &["review", "--write"], ..ROW },
    Row {
        name: "review --apply",
        args: &["review", "--apply"],
        before: &[&["review", "--write"]],
        changes: false,
        ..ROW
    },
    Row { name: "review accept", args: &["review", "accept", "ID"], prepare: waiting, changes: false, ..ADDS },
    Row {
        name: "review accept, a recipe",
        args: &["review", "accept", "ID"],
        prepare: |world| {
            let note = "---\ntype: workflow\ntitle: Prime\nrecipe: proposed   # mine\n---\n# Prime\n\nMy own words.\n\n\
                        ## Prime it @coder #dev\n\nrequest → result\n";
            world.put("vault/workflows/prime.md", note);
            let inbox: serde_json::Value = serde_json::from_str(&world.said(&["review", "-f", "json"])).unwrap();
            let item = inbox["items"].as_array().unwrap().iter().find(|item| item["kind"] == "recipe").unwrap();
            world.put("id", item["id"].as_str().unwrap());
            String::new()
        },
        ..ADDS
    },
    Row { name: "review reject", args: &["review", "reject", "ID"], prepare: waiting, changes: false, ..ADDS },
    Row { name: "review later", args: &["review", "later", "ID"], prepare: waiting, changes: false, ..ADDS },
    Row {
        name: "summary day",
        args: &["summary", "day", "--write"],
        before: &[&["log", "--session", LIVE, "note", "x"]],
        changes: false,
        ..ROW
    },
    Row { name: "summary week", args: &["summary", "week", "--write"], ..ROW },
    Row { name: "summary topic", args: &["summary", "topic", "answer", "--write"], changes: false, ..ROW },
    Row { name: "bookmark", args: &["bookmark", "another", STEP], ..ROW },
    Row { name: "bookmark --remove", args: &["bookmark", "--remove", "the first"], ..ADDS },
    Row { name: "verify", args: &["verify", "--write", S1], ..ROW },
    Row { name: "run", args: &["run", "--session", LIVE, "--", "true"], ..ADDS },
    Row { name: "checkpoint", args: &["checkpoint", "before it", "--session", LIVE], ..ADDS },
    Row {
        name: "checkpoint restore",
        args: &["checkpoint", "restore", "latest", "--force", "--session", LIVE],
        prepare: |world| {
            world.add("code/src/a.rs", "fn b() {}\n");
            world.must(&["checkpoint", "of b", "--session", LIVE], "");
            world.put("code/src/a.rs", "fn c() {}\n");
            String::new()
        },
        changes: false,
        again: false,
        ..ADDS
    },
    Row { name: "undo", args: &["undo", "--session", LIVE], ..ADDS },
    Row {
        name: "undo of a rename",
        args: &["undo", "--session", LIVE],
        before: &[&["session", "rename", LIVE, "Another title"]],
        ..ADDS
    },
    Row {
        name: "admin merge",
        args: &["admin", "merge", S1, "../vault/sessions/s1 (conflicted copy 2026-11-21).md"],
        prepare: copy,
        ..ADDS
    },
    Row { name: "check --fix", args: &["check", "--fix"], prepare: broken, ..ROW },
    Row { name: "admin index", args: &["admin", "index"], changes: false, ..ROW },
    Row {
        name: "admin prune",
        args: &["admin", "prune", "--yes", "copies", "base", "recovery", "--older", "1d"],
        prepare: old_copies,
        changes: false,
        ..ROW
    },
    Row { name: "stats", args: &["stats", "--html", "../stats.html"], changes: false, ..ROW },
    Row { name: "connect", args: &["connect", "--only", "hooks", "-y"], ..ROW },
    Row {
        name: "disconnect",
        args: &["disconnect", "--only", "hooks", "-y"],
        before: &[&["connect", "--only", "hooks", "-y"]],
        ..ROW
    },
    Row { name: "connect --plugin", args: &["connect", "--plugin", "../plugin"], changes: false, ..ROW },
    Row { name: "connect, the server", args: &["connect", "claude", "--only", "mcp", "-y"], ..ROW },
    Row {
        name: "disconnect, the server",
        args: &["mcp", "uninstall", "--host", "claude", "-y"],
        before: &[&["mcp", "install", "--host", "claude", "-y"]],
        ..ROW
    },
];
