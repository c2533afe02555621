//! A week of work by script: two projects, hooks, corrections, commands that destroy, two crashes and a vault that moves. At its
//! end every destroyed file is back, the notes are sound, and the inbox is short.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::world::{MemoryLab, checkpoints};

/// Bytes by path.
type Files = BTreeMap<String, Vec<u8>>;

/// Files below a folder but git's own.
fn files(root: &Path) -> Files {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.extend((path.file_name().unwrap() != ".git").then_some(path));
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The notes of a session of the host.
fn note_of(lab: &MemoryLab, session: &str) -> String {
    let named = format!("host_session: {session}\n");
    let notes = fs::read_dir(lab.path(&lab.vault()).join("sessions")).unwrap().flatten();
    let texts: Vec<String> = notes.filter_map(|it| fs::read_to_string(it.path()).ok()).collect();
    texts.into_iter().find(|text| text.contains(&named)).unwrap_or_default()
}

#[cfg(unix)]
#[test]
fn a_week() {
    let lab = MemoryLab::new();
    lab.write("src/tides.rs", b"fn tides() {}\n");
    lab.write(".gitignore", b"build/\n");
    lab.repository();
    let site = lab.path("home/site");
    fs::create_dir_all(&site).unwrap();
    let mut destroyed: Vec<(String, Files)> = Vec::new();
    for day in 0..5 {
        lab.at(&format!("2026-11-{:02}T08:00:00Z", 16 + day));
        let session = format!("api-{day}");
        lab.prompt(&session, &format!("Day {day}: add station {day}, with a test."));
        lab.edit(&session, &format!("src/station{day}.rs"), &format!("fn station() -> u32 {{ {day} }}\n"));
        lab.edit(&session, "src/tides.rs", &format!("fn tides() {{ /* {day} */ }}\n"));
        lab.write(&format!("build/out{day}.bin"), &[day; 3000]);
        lab.bash(&session, "test -f src/tides.rs");
        lab.hook(&session, "stop", &json!({}));
        lab.prompt(&session, "No, never delete the build output, use a folder of its own.");
        if day == 1 {
            // A crash: the process that writes the note is killed at once, and so is a hook.
            lab.killed(&["flush", &session], "");
            let input = json!({ "session_id": session, "cwd": lab.path("home/code"), "prompt": "again" }).to_string();
            lab.killed(&["hook", "prompt"], &input);
        }
        destroyed.push((session.clone(), files(&lab.path("home/code"))));
        lab.bash(&session, "rm -rf build && git checkout -q -- . && git clean -fdq");
        lab.hook(&session, "stop", &json!({}));
        // What the command destroyed is there again before the work of the next day.
        let id = checkpoints(&note_of(&lab, &session)).pop().unwrap();
        lab.wait(60);
        lab.ok(&["checkpoint", "restore", &id]);
        assert_eq!(files(&lab.path("home/code")), destroyed.last().unwrap().1, "day {day}");
        lab.hook(&session, "session-end", &json!({ "reason": "exit" }));

        let session = format!("site-{day}");
        lab.hook(&session, "prompt", &json!({ "prompt": "Write the page of the day.", "cwd": site }));
        lab.bash_in(&session, "home/site", &format!("printf 'page {day}' > page{day}.html"));
        let before = files(&site);
        lab.bash_in(&session, "home/site", "rm *.html");
        lab.hook(&session, "stop", &json!({ "cwd": site }));
        let id = checkpoints(&note_of(&lab, &session)).pop().unwrap();
        lab.wait(60);
        lab.ok(&["checkpoint", "restore", &id]);
        assert_eq!(files(&site), before, "site, day {day}");
        destroyed.push((session.clone(), before));
        if day == 3 {
            lab.move_vault("moved vault");
        }
        lab.hook(&session, "session-end", &json!({ "reason": "exit", "cwd": site }));
    }
    assert_eq!(lab.hook_log(), "");
    lab.ok(&["flush", "--all"]);
    // Every session has its note, each checkpoint stands in it once, and its copy still opens, across the move.
    for (session, files) in &destroyed {
        let note = note_of(&lab, session);
        let ids = checkpoints(&note);
        let mut each = ids.clone();
        each.dedup();
        assert!(!ids.is_empty() && ids == each, "{session}: {ids:?}");
        let id = ids.iter().find(|id| note.contains(&format!("`cru checkpoint restore {id}`"))).unwrap();
        let shown: Value = serde_json::from_str(&lab.ok(&["checkpoint", "show", id, "-f", "json"])).unwrap();
        assert_eq!(shown["damaged"], json!([]), "{session}");
        let copied: Vec<&str> =
            shown["copy"]["files"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
        assert!(copied.iter().all(|path| files.contains_key(*path)), "{session}: {copied:?}");
    }
    let checked = lab.cru(&["check"]);
    assert!(checked.code == 0 || !checked.out.contains("error"), "{}{}", checked.out, checked.err);
    let inbox = lab.ok(&["review"]);
    assert!(inbox.lines().count() <= 20, "{inbox}");
}
