//! Care for a vault through the real program: the archive and the way back, a vault of a newer program.

use std::collections::BTreeMap;
use std::process::Command;

use cru::base::files;

use crate::small_vault::{SmallVault, succeeded};

fn note(id: &str, more: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: {id}\ntitle: Work of {id}\nstatus: completed\nstarted: 2025-12-31T23:30:00Z\n\
         ended: 2026-01-01T01:00:00Z\n{more}---\n# Work of {id}\n\n## Mend it @coder #dev\n\n*2025-12-31T23:30:00Z* ^p-01\n\n\
         - `Read a.c` → 9 lines (23:31:00) ^n-001\n"
    )
}

fn world() -> SmallVault {
    let world = SmallVault::new("[vault]\nid = \"v\"\nzone = \"Europe/Berlin\"\n");
    world.put("vault/sessions/old.md", &note("old", ""));
    world.put("vault/sessions/old-helper.md", &note("old-helper", "host_session: x/agent-1\nparent: \"[[old]]\"\n"));
    world.put("vault/sessions/linked.md", &note("linked", ""));
    world.put("vault/sessions/open.md", &note("open", "").replace("completed", "active"));
    world.put("vault/sessions/new.md", &note("new", "").replace("ended: 2026-01-01", "ended: 2026-11-20"));
    world.put("vault/mine.md", "See [[old]], [[old#^n-001]] and [[sessions/linked|that]].\n");
    world
}

/// Notes with their bytes but for what counts their writes.
fn notes(world: &SmallVault) -> BTreeMap<String, String> {
    let root = world.path("vault");
    let mut all = BTreeMap::new();
    let mut rest = vec![root.clone()];
    while let Some(folder) = rest.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|it| it.to_str()) {
                _ if path.is_dir() && !path.ends_with(".cru") => rest.push(path),
                Some("md") => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let lines = text.lines().filter(|line| !line.starts_with("cru_cursor:"));
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                    all.insert(name, lines.collect::<Vec<_>>().join("\n"));
                }
                _ => {}
            }
        }
    }
    all
}

#[test]
fn closed_sessions_go_to_the_archive_and_back() {
    let world = world();
    let before = notes(&world);
    let check = world.ok(&["check"]);
    let would = world.ok(&["session", "archive", "--dry-run"]);
    assert!(would.contains("2 sessions would be archived") && notes(&world) == before, "{would}");
    insta::assert_snapshot!(world.ok(&["session", "archive"]), @"
    sessions/old-helper.md → sessions/archive/2026/old-helper.md
    sessions/old.md → sessions/archive/2026/old.md
    sessions/linked.md stays: mine.md links it by its path
    2 sessions archived
    ");
    let archived = notes(&world);
    let names: Vec<&str> = archived.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "mine.md",
            "sessions/archive/2026/old-helper.md",
            "sessions/archive/2026/old.md",
            "sessions/linked.md",
            "sessions/new.md",
            "sessions/open.md"
        ]
    );
    assert!(archived["sessions/archive/2026/old.md"].contains("\narchived: 2026-11-21\n"));
    assert_eq!(world.ok(&["check"]), check);
    assert!(world.ok(&["session", "show", "old"]).contains("Work of old"));
    assert!(world.ok(&["session", "archive"]).contains("0 sessions archived"));
    // One by `undo`, the other one by --back.
    let undone = world.ok(&["undo", "--session", "old"]);
    assert!(undone.contains("sessions/old.md"), "{undone}");
    assert!(world.ok(&["session", "archive", "--back"]).contains("1 session brought back"));
    assert_eq!(notes(&world), before);
    assert_eq!(world.ok(&["check"]), check);
}

#[test]
fn what_is_not_closed_or_has_no_place_stays() {
    let world = world();
    let told = world.ok(&["session", "archive", "open"]);
    assert!(told.contains("sessions/open.md stays: it is not closed"), "{told}");
    world.put("vault/sessions/archive/2026/old.md", "mine\n");
    let told = world.ok(&["session", "archive", "old"]);
    assert!(told.contains("sessions/old.md stays: sessions/archive/2026/old.md exists"), "{told}");
    assert_eq!(std::fs::read_to_string(world.path("vault/sessions/archive/2026/old.md")).unwrap(), "mine\n");
}

#[test]
fn a_vault_of_a_newer_program_is_read_and_not_written() {
    let world = world();
    world.put("vault/.cru/config.toml", "[vault]\nid = \"v\"\nschema = 2\n");
    let before = notes(&world);
    assert!(world.ok(&["session", "list"]).contains("Work of old"));
    assert!(world.ok(&["search", "Read"]).contains("old"));
    for args in [
        &["session", "archive"][..],
        &["session", "mark", "completed", "open"],
        &["bookmark", "a", "old#n-001"],
        &["review", "--write"],
        &["summary", "day", "--write"],
        &["session", "learn"],
        &["check", "--fix"],
        &["import", "/dev/null"],
        &["undo", "--session", "old"],
    ] {
        let output = world.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{args:?}");
        assert!(said.contains("this vault has schema 2, and this program writes schema 1"), "{args:?}: {said}");
    }
    // What is logged waits in the journal.
    let logged = world.run(&["log", "note", "a remark", "--session", "open"]);
    assert!(String::from_utf8_lossy(&logged.stderr).contains("this vault has schema 2"), "{logged:?}");
    assert_eq!(notes(&world), before);
    world.put("vault/.cru/config.toml", "[vault]\nid = \"v\"\n");
    world.ok(&["flush", "--all"]);
    assert!(notes(&world)["sessions/open.md"].contains("a remark"));
    assert!(world.path("vault/sessions/old.md").is_file());
}

/// What a program of the person's was given, line by line.
fn heard(world: &SmallVault) -> Vec<String> {
    let text = std::fs::read_to_string(world.home().join("heard")).unwrap_or_default();
    let of = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["note"].as_str().unwrap().ends_with(".md"));
        format!("{} {}", value["event"].as_str().unwrap(), value["text"].as_str().unwrap())
    };
    text.lines().map(of).collect()
}

#[test]
fn programs_of_the_person_are_told_once_what_happened() {
    let world = world();
    let program = format!("[\"/bin/sh\", \"-c\", \"cat >> {}/heard\"]", world.home().display());
    let events = ["session-start", "task-complete", "phase-end", "session-end"];
    let lines: Vec<String> = events.iter().map(|event| format!("{event} = {program}\n")).collect();
    let config = world.home().join(".config/cru/config.toml");
    files::create_dir(config.parent().unwrap()).unwrap();
    let bad = "error = [\"/bin/sh\", \"-c\", \"echo no valve >&2; exit 3\", \"{session}\"]\n";
    files::put(&config, format!("[events]\n{}{bad}", lines.concat()).as_bytes()).unwrap();
    // A vault names no programs.
    world.put("vault/.cru/config.toml", &format!("[vault]\nid = \"v\"\n[events]\nsession-end = {program}\n"));
    world.ok(&["session", "start", "Paint the pump"]);
    for args in [
        &["log", "phase", "Look"][..],
        &["log", "task", "add", "Buy paint"],
        &["log", "task", "done", "Buy paint"],
        &["log", "error", "No paint left"],
        &["log", "phase", "Paint"],
    ] {
        let mut args = args.to_vec();
        args.extend(["--session", "paint-the-pump"]);
        world.ok(&args);
    }
    world.ok(&["session", "mark", "completed", "paint-the-pump"]);
    world.ok(&["flush", "--all"]);
    assert_eq!(
        heard(&world),
        [
            "session-start Paint the pump",
            "phase-end Look",
            "phase-end Paint",
            "task-complete Buy paint",
            "session-end completed"
        ]
    );
    let log = Command::new("sh").arg("-c").arg("cat $(find . -name hook.log)").current_dir(world.home()).output();
    let log = String::from_utf8(log.unwrap().stdout).unwrap();
    assert!(log.contains("error") && log.contains("exit status 3: no valve"), "{log}");
}

#[test]
fn doctor_says_what_is_wrong_and_what_helps() {
    let world = world();
    let sound = world.run(&["doctor"]);
    let told = String::from_utf8_lossy(&sound.stdout).into_owned();
    assert_eq!(sound.status.code(), Some(0), "{told}");
    assert!(told.lines().all(|line| line.starts_with("ok ")), "{told}");
    world.put("vault/sessions/old (conflicted copy).md", &note("old", ""));
    world.put("vault/sessions/broken.md", "---\ntype: session\nsession_id: [\n---\n");
    world.put("vault/.cru/config.toml", "[vault]\nid = \"v\"\nschema = 9\nvalve = 1\n");
    let ill = world.run(&["doctor"]);
    let told = String::from_utf8_lossy(&ill.stdout).into_owned();
    assert_eq!(ill.status.code(), Some(1), "{told}");
    for said in ["bad   configuration", "note  copies of notes", "cru admin merge NOTE COPY", "bad   notes"] {
        assert!(told.contains(said), "{said}\n{told}");
    }
}

#[test]
fn hooks_that_fell_silent_are_told_while_sessions_go_on() {
    let world = world();
    world.put("vault/.cru/config.toml", "[vault]\nid = \"v\"\n[hooks]\nflush = \"never\"\n");
    let event = r#"{"session_id":"s-9","hook_event_name":"UserPromptSubmit","prompt":"Count the buoys"}"#;
    succeeded(&["hook"], &world.run_in("vault", &["hook", "prompt"], event));
    let journals = walk(world.home()).into_iter().filter(|path| path.to_string_lossy().contains("claude-code--"));
    for path in journals {
        let old: jiff::Timestamp = "2026-11-10T08:00:00Z".parse().unwrap();
        std::fs::File::options().append(true).open(path).unwrap().set_modified(old.into()).unwrap();
    }
    assert!(!world.ok(&["status"]).contains("silent"));
    let text = "---\ntype: session\nsession_id: late\nstarted: 2026-11-15T08:00:00Z\nstatus: completed\nhost: claude-code\n---\n# Late\n";
    world.put("vault/sessions/late.md", text);
    let told = world.ok(&["status"]);
    assert!(told.contains("Hooks        of Claude Code silent since 2026-11-10, and 1 session began"), "{told}");
}

/// The files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
