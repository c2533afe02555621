//! Sessions that end badly: no host tells their end, and some break off in the middle of their work.

#![expect(clippy::disallowed_methods, reason = "a person and an agent write without cru")]

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::world::MemoryLab;

const CONFIG: &str = "[hooks]\nflush = \"inline\"\ncontext = true\n[summary]\ndaily = \"Daily/{date}.md\"\n";

/// The text of the note of a session of the host; nothing where it has none.
fn note_of(lab: &MemoryLab, session: &str) -> String {
    let named = format!("host_session: {session}\n");
    let notes = fs::read_dir(lab.path("vault/sessions")).unwrap().flatten();
    let texts: Vec<String> = notes.filter_map(|it| fs::read_to_string(it.path()).ok()).collect();
    texts.into_iter().find(|text| text.contains(&named)).unwrap_or_default()
}

fn property(note: &str, name: &str) -> String {
    let prefix = format!("{name}: ");
    note.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
}

fn status(lab: &MemoryLab, session: &str) -> String {
    property(&note_of(lab, session), "status")
}

/// The start of a session in a folder of the home; what the agent is told.
fn start(lab: &MemoryLab, session: &str, folder: &str) -> String {
    lab.hook(session, "session-start", &json!({ "cwd": lab.path("home").join(folder), "source": "startup" })).out
}

fn prompt(lab: &MemoryLab, session: &str, folder: &str, words: &str) {
    lab.hook(session, "prompt", &json!({ "cwd": lab.path("home").join(folder), "prompt": words }));
}

/// A call of which the hook after it never comes.
fn begin_call(lab: &MemoryLab, session: &str, folder: &str) {
    let mut call = call(session);
    call["cwd"] = json!(lab.path("home").join(folder));
    lab.hook(session, "pre-tool", &call);
}

fn call(session: &str) -> Value {
    json!({
        "tool_name": "Bash", "tool_use_id": format!("toolu_of_{session}"), "tool_input": { "command": "make all" },
    })
}

/// A turn that comes to its end.
fn turn(lab: &MemoryLab, session: &str, folder: &str, words: &str) {
    prompt(lab, session, folder, words);
    lab.bash_in(session, &format!("home/{folder}"), "printf 'all well\\n'");
    lab.hook(session, "stop", &json!({ "cwd": lab.path("home").join(folder) }));
}

/// Has programs of the person write each event, a line each: name and host's session of the note.
fn listen(lab: &MemoryLab) {
    fs::create_dir_all(lab.path("home/.config/cru")).unwrap();
    let file = lab.path("events.jsonl");
    let program = format!("[\"sh\", \"-c\", \"cat >> {}\"]", file.display());
    let config: Vec<String> =
        ["session-start", "session-end"].iter().map(|event| format!("{event} = {program}\n")).collect();
    fs::write(lab.path("home/.config/cru/config.toml"), format!("[events]\n{}", config.concat())).unwrap();
}

/// The events that were told of a session, in order.
fn told(lab: &MemoryLab, session: &str) -> Vec<String> {
    let text = fs::read_to_string(lab.path("events.jsonl")).unwrap_or_default();
    let of = property(&note_of(lab, session), "session_id");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let own = lines.filter(|line| line["session"].as_str() == Some(&of));
    own.map(|line| line["event"].as_str().unwrap().to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn a_week_in_which_no_session_ends() {
    let lab = MemoryLab::with_config(CONFIG);
    listen(&lab);
    lab.repository();
    fs::create_dir_all(lab.path("home/site")).unwrap();
    for day in 16..21 {
        lab.at(&format!("2026-11-{day}T08:00:00Z"));
        let api = format!("api-{day}");
        let known = start(&lab, &api, "code");
        if day > 16 {
            let before =
                if day == 19 { "Go on with the harbour gauge".to_owned() } else { format!("Add station {}", day - 1) };
            assert!(known.contains(&before), "day {day}: {known}");
            assert_eq!(
                known.contains("broke off in its work: Mend the harbour gauge"),
                day >= 19,
                "day {day}: {known}"
            );
        }
        turn(&lab, &api, "code", &format!("Add station {day}."));
        if day == 18 {
            // Twenty seconds into its work the program is gone, and another one is started three minutes later.
            lab.at("2026-11-18T09:00:00Z");
            start(&lab, "broken", "code");
            prompt(&lab, "broken", "code", "Mend the harbour gauge.");
            begin_call(&lab, "broken", "code");
            lab.wait(180);
            let known = start(&lab, "after", "code");
            assert!(known.contains("Mend the harbour gauge"), "it is told of at once: {known}");
            assert!(note_of(&lab, "broken").contains("Mend the harbour gauge"));
            turn(&lab, "after", "code", "Go on with the harbour gauge.");
        }
        lab.at(&format!("2026-11-{day}T14:00:00Z"));
        let site = format!("site-{day}");
        start(&lab, &site, "site");
        turn(&lab, &site, "site", &format!("Write page {day}."));
    }
    lab.at("2026-11-23T08:00:00Z");
    start(&lab, "monday", "site");
    prompt(&lab, "monday", "site", "Write page 23.");

    for day in 16..21 {
        for (session, words) in [(format!("api-{day}"), "Add station"), (format!("site-{day}"), "Write page")] {
            let note = note_of(&lab, &session);
            assert!(note.contains(&format!("{words} {day}.")), "{session}: {note}");
            assert_eq!(property(&note, "status"), "completed", "{session}");
            assert!(property(&note, "ended").starts_with(&format!("2026-11-{day}T")), "{session}: {note}");
            assert!(!note.contains("Broke off"), "{session}");
            assert_eq!(told(&lab, &session), ["session-start", "session-end"], "{session}");
            let daily = lab.read(&format!("Daily/2026-11-{day}.md"));
            assert!(daily.contains(&format!("[[{}", property(&note, "session_id"))), "{session}: {daily}");
        }
    }
    let broken = note_of(&lab, "broken");
    assert_eq!(property(&broken, "status"), "abandoned", "{broken}");
    assert!(property(&broken, "ended").starts_with("2026-11-18T09:00:0"), "{broken}");
    assert!(broken.contains("`Bash make all`"), "{broken}");
    assert!(
        broken.contains("> [!summary] Broke off") && broken.contains("nothing after 2026-11-18T09:00:0"),
        "{broken}"
    );
    assert_eq!(told(&lab, "broken"), ["session-start", "session-end"]);
    assert_eq!(status(&lab, "after"), "completed");

    let projects: Vec<String> = fs::read_dir(lab.path("vault/projects"))
        .unwrap()
        .map(|it| fs::read_to_string(it.unwrap().path()).unwrap())
        .collect();
    for session in ["api-16", "api-20", "broken", "after", "site-16", "site-20"] {
        let id = property(&note_of(&lab, session), "session_id");
        assert!(projects.iter().any(|text| text.contains(&format!("[[{id}"))), "{session}");
    }
    let review = lab.ok(&["review"]);
    assert!(!review.contains("panicked"), "{review}");
    let week = lab.ok(&["summary", "week", "2026-11-18"]);
    assert!(week.contains("Mend the harbour gauge") || week.contains("12 sessions"), "{week}");
    assert_eq!(lab.cru(&["check"]).code, 0);
    assert_eq!(lab.hook_log(), "");
}

#[test]
fn a_session_that_goes_on_after_all_is_active_again() {
    let lab = MemoryLab::with_config(CONFIG);
    lab.repository();
    start(&lab, "first", "code");
    prompt(&lab, "first", "code", "Mend the tide gauge.");
    begin_call(&lab, "first", "code");
    lab.wait(1200);
    start(&lab, "second", "code");
    assert_eq!(status(&lab, "first"), "abandoned");
    turn(&lab, "second", "code", "Write the manual.");
    // The command took twenty minutes.
    let mut done = call("first");
    done["tool_response"] = json!({ "stdout": "made\n", "stderr": "" });
    lab.hook("first", "post-tool", &done);
    lab.hook("first", "stop", &json!({}));
    assert_eq!(status(&lab, "first"), "active");
    prompt(&lab, "first", "code", "Yes, go on.");
    lab.bash("first", "printf 'all well\\n'");
    lab.hook("first", "stop", &json!({}));
    let note = note_of(&lab, "first");
    assert_eq!((property(&note, "status").as_str(), property(&note, "ended").as_str()), ("active", ""), "{note}");
    assert!(note.contains("Yes, go on."), "{note}");
    lab.hook("first", "session-end", &json!({ "reason": "exit" }));
    assert_eq!(status(&lab, "first"), "completed");
    // An hour later nothing is told of the others but that they rest.
    lab.wait(3700);
    start(&lab, "fourth", "code");
    assert_eq!(status(&lab, "second"), "completed");
    assert!(!note_of(&lab, "second").contains("Broke off"));
}

#[test]
fn what_somebody_paused_waits_for_them() {
    let lab = MemoryLab::with_config(CONFIG);
    lab.repository();
    for session in ["mine", "idle"] {
        start(&lab, session, "code");
        turn(&lab, session, "code", "Mend the tide gauge.");
    }
    let id = property(&note_of(&lab, "mine"), "session_id");
    lab.ok(&["session", "mark", "paused", &id]);
    lab.wait(3700);
    fs::create_dir_all(lab.path("home/site")).unwrap();
    start(&lab, "elsewhere", "site");
    assert_eq!((status(&lab, "mine"), status(&lab, "idle")), ("paused".to_owned(), "paused".to_owned()));
    lab.wait(60);
    start(&lab, "next", "code");
    assert_eq!((status(&lab, "mine"), status(&lab, "idle")), ("paused".to_owned(), "completed".to_owned()));
    lab.at("2026-12-20T09:00:00Z");
    start(&lab, "later", "site");
    assert_eq!(status(&lab, "mine"), "paused");
}

#[test]
fn the_start_of_a_session_by_command_does_the_same() {
    let lab = MemoryLab::with_config("[hooks]\nflush = \"never\"\n");
    lab.repository();
    start(&lab, "broken", "code");
    prompt(&lab, "broken", "code", "Mend the harbour gauge.");
    begin_call(&lab, "broken", "code");
    assert_eq!(note_of(&lab, "broken"), "");
    lab.at("2026-11-22T09:00:00Z");
    lab.ok(&["session", "start", "By hand"]);
    let note = note_of(&lab, "broken");
    assert_eq!(property(&note, "status"), "abandoned", "{note}");
    assert!(note.contains("Mend the harbour gauge") && note.contains("Broke off"), "{note}");
}

#[test]
fn the_last_hook_is_known_behind_the_end_of_its_session() {
    let lab = MemoryLab::with_config(CONFIG);
    start(&lab, "only", "code");
    turn(&lab, "only", "code", "Mend the tide gauge.");
    lab.hook("only", "session-end", &json!({ "reason": "exit" }));
    let told = lab.cru(&["check", "hooks"]).out;
    assert!(told.contains("Last hook for this vault: 2026-11-20T09:00:0"), "{told}");
}

#[test]
fn a_step_that_did_not_run_is_no_success_in_history() {
    let lab = MemoryLab::new();
    let steps = "- `Bash ls` → `fine` ^n-001\n- `Bash rm x` → ✗ denied by user ^n-002\n- `Bash make` → ✗ interrupted ^n-003\n\
                 - `Bash wait` → ✗ no result recorded ^n-004\n- `Bash true` → ✗ exit 1 ^n-005\n- `Bash cp a b` → ✗ denied by host ^n-006\n";
    let head = "---\ntype: session\nsession_id: mixed\nstatus: completed\nstarted: 2026-11-20T08:00:00Z\n---\n# Mixed\n\n## Work @a\n\n";
    lab.put_note("mixed", &format!("{head}*2026-11-20T08:00:00Z* ^p-01\n\n**Tool calls:**\n{steps}"));
    let told = lab.ok(&["history"]);
    let marks: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("  n-00"))
        .map(|line| line.trim_start().split(' ').next().unwrap())
        .collect();
    assert_eq!(marks, ["✗", "✗", "✗", "✗", "✗", "✓"], "{told}");
}

#[test]
fn an_edit_did_not_read_what_it_wrote() {
    let lab = MemoryLab::new();
    lab.write("a.txt", b"old\n");
    lab.prompt("s", "Write it.");
    let call = json!({
        "tool_name": "Edit", "tool_use_id": "toolu_e",
        "tool_input": { "file_path": lab.path("home/code/a.txt"), "old_string": "old", "new_string": "new" },
    });
    lab.hook("s", "pre-tool", &call);
    lab.write("a.txt", b"new\n");
    let mut done = call;
    done["tool_response"] = json!({ "filePath": lab.path("home/code/a.txt") });
    lab.hook("s", "post-tool", &done);
    lab.hook("s", "stop", &json!({}));
    let note = lab.note().1;
    let new = &blake3::hash(b"new\n").to_hex()[..8].to_owned();
    let lines = |name: &str| note.lines().filter(|line| line.trim_start().starts_with(name)).collect::<String>();
    assert!(lines("- writes:").contains(new), "{note}");
    assert!(!lines("- reads:").contains(new), "{note}");
    let id = note.lines().find_map(|line| line.strip_prefix("session_id: ")).unwrap();
    lab.ok(&["log", "--session", id, "tool", "Edit", "a.txt", "--read", "a.txt", "--write", "a.txt"]);
    let note = lab.note().1;
    let last = note.rsplit("- `Edit a.txt`").next().unwrap();
    assert!(last.contains("- reads: `a.txt`\n") && last.contains(&format!("- writes: `a.txt@{new}`")), "{note}");
    lab.ok(&["lessons", "add", "The file says new", "--from", &format!("{id}#n-001")]);
    let lessons = lab.ok(&["lessons", "list"]);
    assert!(!lessons.contains("drifted"), "{lessons}");
}

#[test]
fn in_the_background_too() {
    let lab = MemoryLab::with_config("[hooks]\ncontext = true\n");
    lab.repository();
    listen(&lab);
    start(&lab, "broken", "code");
    prompt(&lab, "broken", "code", "Mend the harbour gauge.");
    begin_call(&lab, "broken", "code");
    lab.wait(3600);
    let known = start(&lab, "next", "code");
    assert!(known.contains("Mend the harbour gauge"), "{known}");
    let begun = Instant::now();
    while told(&lab, "broken") != ["session-start", "session-end"] {
        assert!(begun.elapsed() < Duration::from_mins(2), "{}{}", note_of(&lab, "broken"), lab.hook_log());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(status(&lab, "broken"), "abandoned");
}
