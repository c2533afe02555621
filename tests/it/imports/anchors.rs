//! Line anchors of an import and `evidence/<session>.patch`: growth, notes of the time before, secrets. With the real binary.

use std::fs;
use std::path::PathBuf;

use cru::base::files;
use cru::note::Note;
use cru::session::line_anchor::hash_lines;
use cru::session::{evidence_patch, read, render};
use serde_json::{Value, json};

use super::again::Desk;

const FILE: &str = "/home/mara/code/tidepool/src/tide.rs";

/// What looks like a token of GitHub.
fn token() -> String {
    format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5")
}

/// A read, a new file with a secret, and as many edits as asked for.
fn transcript(edits: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut record = |kind: &str, content: Value, detail: Value| {
        let number = lines.len();
        let mut message = json!({"role": kind, "content": content});
        if kind == "assistant" {
            message["id"] = format!("m{number}").into();
            message["model"] = "claude-sonnet-4-5".into();
        }
        let mut record = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/home/mara/code/tidepool",
            "sessionId": "c0ffee00-0000-4000-8000-000000000009", "version": "2.1.150", "gitBranch": "main", "type": kind,
            "uuid": format!("c0ffee00-0000-4000-9000-{number:012}"),
            "timestamp": format!("2025-03-01T09:{number:02}:00.000Z"), "message": message,
        });
        if !detail.is_null() {
            record["toolUseResult"] = detail;
        }
        lines.push(record.to_string());
    };
    let mut call = |at: usize, tool: &str, input: Value, answer: &str, detail: Value| {
        let id = format!("toolu_{at}");
        record("assistant", json!([{"type": "text", "text": format!("Step {at} comes.")}]), Value::Null);
        record("assistant", json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]), Value::Null);
        record("user", json!([{"type": "tool_result", "tool_use_id": id, "content": answer}]), detail);
    };
    let shown = json!({"filePath": FILE, "content": "a\nlimit = 3\n", "numLines": 3, "startLine": 1, "totalLines": 3});
    call(0, "Read", json!({"file_path": FILE}), "     1→a\n     2→limit = 3\n", json!({"type": "text", "file": shown}));
    let content = format!("token = \"{}\"\nend\n", token());
    let made = json!({"type": "create", "filePath": "/home/mara/code/tidepool/key.txt", "content": content,
        "structuredPatch": [], "originalFile": null});
    let input = json!({"file_path": "/home/mara/code/tidepool/key.txt", "content": content});
    call(1, "Write", input, "File created successfully", made);
    for at in 0..edits {
        let (old, new) = (format!("limit = {}", at + 3), format!("limit = {}", at + 4));
        let patch = json!([{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
            "lines": [" a", format!("-{old}"), format!("+{new}")]}]);
        let done = json!({"filePath": FILE, "oldString": old, "newString": new, "structuredPatch": patch,
            "userModified": false, "replaceAll": false});
        let input = json!({"file_path": FILE, "old_string": old, "new_string": new});
        call(at + 2, "Edit", input, "The file has been updated.", done);
    }
    let first = json!({"type": "user", "message": {"role": "user", "content": "Raise the tide limit in src/tide.rs"},
        "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/home/mara/code/tidepool",
        "sessionId": "c0ffee00-0000-4000-8000-000000000009", "version": "2.1.150", "gitBranch": "main",
        "uuid": "c0ffee00-0000-4000-8999-000000000000", "timestamp": "2025-03-01T08:59:00.000Z"});
    format!("{first}\n{}\n", lines.join("\n"))
}

fn patch_file(desk: &Desk) -> Option<PathBuf> {
    let found = fs::read_dir(desk.path("vault/evidence")).ok()?;
    found.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|it| it == "patch"))
}

fn patches(desk: &Desk) -> String {
    patch_file(desk).map(|path| fs::read_to_string(path).unwrap()).unwrap_or_default()
}

fn grow(desk: &Desk, edits: usize) {
    let path = desk.transcript();
    files::replace(&path, &fs::read(&path).unwrap(), transcript(edits).as_bytes()).unwrap();
    desk.import(&[]);
}

/// The note without its line anchors, as an older version wrote it.
fn without_lines(text: &str) -> String {
    let spans = |line: &str| {
        let (name, files) = line.split_once(": ").unwrap();
        let mut list = cru::session::file_ref::parse_list(files);
        for file in &mut list {
            file.lines.clear();
        }
        format!("{name}: {}\n", cru::session::file_ref::format_list(&list))
    };
    let is_files = |line: &str| ["    - reads: ", "    - writes: "].iter().any(|start| line.starts_with(start));
    text.lines().map(|line| if is_files(line) { spans(line) } else { format!("{line}\n") }).collect()
}

#[test]
fn reads_and_writes_have_line_anchors_and_patches() {
    let desk = Desk::with(&transcript(2));
    desk.import(&[]);
    let (_, note) = desk.note();
    let anchored = |name: &str, place: &str, lines: &str| {
        let wanted = format!("    - {name}: `src/tide.rs:{place}@{}`\n", hash_lines(lines.lines()));
        assert!(note.contains(&wanted), "{wanted}{note}");
    };
    anchored("reads", "1-2", "a\nlimit = 3");
    anchored("writes", "2", "limit = 4");
    anchored("writes", "2", "limit = 5");
    // What it says reads back to the same bytes.
    let parsed = Note::parse(note.as_str());
    assert_eq!(render::note(&read::session(&parsed).0), note);

    let text = patches(&desk);
    assert!(!text.contains(&token()) && text.contains("+token = \"[secret:"), "{text}");
    let entries = evidence_patch::read(&text);
    let told: Vec<_> = entries.iter().map(|entry| (entry.step, entry.path)).collect();
    assert_eq!(told, [("n-002", "key.txt"), ("n-003", "src/tide.rs"), ("n-004", "src/tide.rs")]);
    assert_eq!(entries[2].written()[0].lines, ["limit = 5"]);
    assert_eq!(entries[2].written()[0].first, Some(2));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(patch_file(&desk).unwrap()).unwrap().permissions().mode() & 0o077, 0);
    }
}

#[test]
fn growth_and_again_neither_lose_nor_double() {
    let desk = Desk::with(&transcript(1));
    desk.import(&[]);
    let first = patches(&desk);
    desk.import(&[]);
    assert_eq!(patches(&desk), first);
    desk.edit(|note| note.replace("Step 0 comes.", "Step 0 comes, I think."));
    grow(&desk, 3);
    let (_, note) = desk.note();
    assert!(note.contains("Step 0 comes, I think."), "{note}");
    assert_eq!(note.matches("`src/tide.rs:2@").count(), 3, "{note}");
    let grown = patches(&desk);
    assert!(grown.starts_with(&first), "{grown}");
    assert_eq!(evidence_patch::read(&grown).len(), 4, "{grown}");
    assert_eq!(desk.again(&["--yes"]), "0 notes rewritten, 1 unchanged\n");
    assert_eq!((desk.note().1, patches(&desk)), (note, grown));
    // What a person wrote into the file of patches stays.
    let path = patch_file(&desk).unwrap();
    let mine = format!("{}# mine\n", patches(&desk));
    files::replace(&path, patches(&desk).as_bytes(), mine.as_bytes()).unwrap();
    grow(&desk, 4);
    assert!(patches(&desk).starts_with(&mine), "{}", patches(&desk));
    assert_eq!(evidence_patch::read(&patches(&desk)).len(), 5);
}

#[test]
fn a_note_of_the_time_before_keeps_its_text_and_gets_anchors_again() {
    for forget in [false, true] {
        let desk = Desk::with(&transcript(1));
        desk.import(&["--keep-evidence=none"]);
        assert_eq!(patch_file(&desk), None);
        desk.edit(|note| without_lines(note).replace("Step 0 comes.", "Step 0 comes, I think."));
        fs::remove_dir_all(desk.path("vault/.cru/seals")).unwrap();
        let before = desk.note().1;
        assert!(!before.contains("tide.rs:"), "{before}");
        if forget {
            fs::remove_dir_all(desk.path("state")).unwrap();
        }
        // What is there stays; what comes has anchors.
        grow(&desk, 2);
        let (_, note) = desk.note();
        assert!(note.contains("Step 0 comes, I think.") && !note.contains("[!conflict]"), "{note}");
        assert_eq!(note.matches("`src/tide.rs:2@").count(), 1, "{note}");
        assert!(!note.contains("`src/tide.rs:1-2@"), "{note}");
        assert_eq!(evidence_patch::read(&patches(&desk)).len(), 3, "all that the transcript still shows");
        if forget {
            fs::remove_dir_all(desk.path("state")).unwrap();
            desk.again(&["--trust", "--yes"]);
            let (_, note) = desk.note();
            assert!(note.contains("Step 0 comes, I think.") && !note.contains("[!conflict]"), "{note}");
            assert_eq!(note.matches("`src/tide.rs:2@").count(), 2, "{note}");
            assert!(note.contains("`src/tide.rs:1-2@"), "{note}");
        }
    }
}
