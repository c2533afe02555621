//! `cru import --again`: notes that are there, written anew, with the edits of a person in them. With the real binary.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cru::base::files;
use serde_json::{Value, json};

const SESSION: &str = "c0ffee00-0000-4000-8000-000000000009";

/// A vault and one transcript.
pub(crate) struct Desk {
    temp: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(&transcript())
    }

    pub(crate) fn with(transcript: &str) -> Self {
        let desk = Self { temp: tempfile::tempdir().unwrap() };
        files::create(&desk.path("vault/.cru/config.toml"), b"").unwrap();
        files::create_dir(&desk.path("home")).unwrap();
        files::put(&desk.transcript(), transcript.as_bytes()).unwrap();
        desk
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.path(&format!("in/{SESSION}.jsonl"))
    }

    pub(crate) fn run(&self, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(self.path("home")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("CRU_VAULT", self.path("vault")).env("CRU_NOW", "2036-01-01T00:00:00Z").env("NO_COLOR", "1");
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    pub(crate) fn import(&self, more: &[&str]) {
        let path = self.path("in");
        let (good, text) = self.run(&[&["import", "claude", path.to_str().unwrap()], more].concat());
        assert!(good, "{text}");
    }

    pub(crate) fn again(&self, more: &[&str]) -> String {
        let (good, text) = self.run(&[&["import", "--again"], more].concat());
        assert!(good, "{text}");
        text
    }

    pub(crate) fn note(&self) -> (PathBuf, String) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(self.path("vault/sessions")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(paths.len(), 1, "{paths:?}");
        let path = paths.remove(0);
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    }

    pub(crate) fn edit(&self, change: impl Fn(&str) -> String) {
        let (path, old) = self.note();
        files::replace(&path, old.as_bytes(), change(&old).as_bytes()).unwrap();
    }
}

fn transcript() -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut record = |kind: &str, content: Value| {
        let number = lines.len();
        let mut message = json!({"role": kind, "content": content});
        if kind == "assistant" {
            message["id"] = format!("m{number}").into();
            message["model"] = "claude-sonnet-4-5".into();
        }
        let record = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/home/mara/code/tidepool",
            "sessionId": SESSION, "version": "2.1.40", "gitBranch": "main", "type": kind,
            "uuid": format!("c0ffee00-0000-4000-9000-{number:012}"),
            "timestamp": format!("2025-03-01T09:{number:02}:00.000Z"), "message": message,
        });
        lines.push(record.to_string());
    };
    record("user", json!("Raise the tide limit in src/tide.rs"));
    for (at, (tool, input, answer)) in [
        ("Read", json!({"file_path": "/home/mara/code/tidepool/src/tide.rs"}), "     1→limit = 3\n"),
        ("Grep", json!({"pattern": "limit"}), "src/tide.rs:1"),
        ("Bash", json!({"command": "cargo test"}), "test result: ok. 3 passed; 0 failed"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("toolu_{at}");
        record("assistant", json!([{"type": "text", "text": format!("Step {at} comes.")}]));
        record("assistant", json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]));
        record("user", json!([{"type": "tool_result", "tool_use_id": id, "content": answer}]));
    }
    record("assistant", json!([{"type": "text", "text": "The limit is raised."}]));
    lines.join("\n") + "\n"
}

fn without_cursor(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("cru_cursor:")).collect::<Vec<_>>().join("\n")
}

#[test]
fn another_detail_and_back() {
    let desk = Desk::new();
    desk.import(&[]);
    let (_, first) = desk.note();
    assert_eq!(desk.again(&["--dry-run"]), "0 notes would be rewritten, 1 unchanged\n");
    let shown = desk.again(&["--detail", "brief", "--dry-run"]);
    assert!(shown.contains("1 note would be rewritten") && shown.contains("-- `Grep limit`"), "{shown}");
    assert_eq!(desk.note().1, first, "a dry run writes nothing");
    let (good, text) = desk.run(&["import", "--again", "--detail", "brief"]);
    assert!(!good && text.contains("not a terminal; pass --yes"), "{text}");
    assert_eq!(desk.note().1, first);
    desk.again(&["--detail", "brief", "--yes"]);
    let brief = desk.note().1;
    assert!(!brief.contains("`Grep limit`") && brief.contains("cru_detail: brief"), "{brief}");
    assert_eq!(desk.again(&["--yes"]), "0 notes rewritten, 1 unchanged\n");
    // An import changes nothing of it.
    desk.import(&[]);
    assert_eq!(desk.note().1, brief);
    let (good, text) = desk.run(&["undo", "--session", SESSION]);
    assert!(good, "{text}");
    assert_eq!(without_cursor(&desk.note().1), without_cursor(&first));
    desk.again(&["--detail", "brief", "--yes"]);
    desk.again(&["--detail", "normal", "--yes"]);
    assert_eq!(without_cursor(&desk.note().1), without_cursor(&first));
}

#[test]
fn edits_and_linked_steps_stay() {
    // With what is kept in the machine state and without.
    for forget in [false, true] {
        let desk = Desk::new();
        desk.import(&[]);
        desk.edit(|note| {
            note.replace("title: ", "title: My own name, ")
                .replace("Step 1 comes.", "Step 1 comes, I think.")
                .replace("The limit is raised.", "The limit is raised.\n\nSee [[#^n-002]], a remark of mine.")
        });
        if forget {
            fs::remove_dir_all(desk.path("state")).unwrap();
        }
        desk.again(&["--detail", "brief", "--yes"]);
        let (_, note) = desk.note();
        for mine in ["title: My own name, ", "Step 1 comes, I think.", "See [[#^n-002]], a remark of mine.", " ^n-002"]
        {
            assert!(note.contains(mine), "{mine}: {note}");
        }
        assert!(!note.contains("^n-001") && !note.contains("[!conflict]"), "{note}");
        assert_eq!(desk.again(&["--yes"]), "0 notes rewritten, 1 unchanged\n");
    }
}

#[test]
fn a_transcript_that_is_gone_is_read_from_its_copy_or_named() {
    for keep in [true, false] {
        let desk = Desk::new();
        desk.import(if keep { &["--keep-evidence"] } else { &[] });
        files::remove(&desk.transcript()).unwrap();
        let before = desk.note().1;
        let text = desk.again(&["--detail", "brief", "--yes"]);
        if keep {
            assert!(text.contains("from evidence/") && desk.note().1.contains("cru_detail: brief"), "{text}");
        } else {
            assert!(text.contains("its transcript is gone, and evidence/ has no copy of it"), "{text}");
            assert_eq!(desk.note().1, before);
        }
    }
}
