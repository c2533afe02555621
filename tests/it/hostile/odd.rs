//! What is no file where a file is expected is not waited for, and a long note is read in a time that grows with it.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::small_vault::SmallVault;

const NOTE: &str = "---\ntype: session\nsession_id: s1\ntitle: One\nstatus: active\n---\n# One\n\n## Work @coder\n\n*2026-11-20T09:00:00Z* ^p-01\n\n- `Bash ls` → ok ^n-001\n";

fn world() -> SmallVault {
    let world = SmallVault::new("[vault]\nid = \"v\"\n");
    world.put("vault/sessions/s1.md", NOTE);
    world.put("vault/lessons/l.md", "---\ntype: lesson\nstatus: accepted\ntitle: L\n---\n# L\n");
    world
}

fn pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = cru::base::files::remove(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs a command that must come back by itself: nobody ever writes to the pipe.
fn comes_back(world: &SmallVault, args: &[&str], input: &str, what: &str) {
    let output = Command::new("timeout")
        .args(["60", env!("CARGO_BIN_EXE_cru")])
        .args(args)
        .env_clear()
        .current_dir(world.path("vault"))
        .env("HOME", world.home())
        .env("PATH", "/bin:/usr/bin")
        .env("CRU_VAULT", world.path("vault"))
        .env("CRU_NOW", "2026-11-21T08:00:00Z")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            use std::io::Write as _;
            let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
            child.wait_with_output()
        })
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(124), "{args:?} waits where {what} is no file: {told}");
    assert!(!told.contains("panicked"), "{args:?} with {what}: {told}");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    const ASKING: &[&[&str]] = &[
        &["session", "list"],
        &["search", "ls"],
        &["status"],
        &["check"],
        &["doctor"],
        &["context"],
        &["log", "--session", "s1", "note", "more"],
        &["flush", "--all"],
        &["init"],
    ];
    let places = [
        "vault/sessions/s1.md",
        "vault/sessions/other.md",
        "vault/.cru/config.toml",
        "vault/templates/session.md",
        "vault/bookmarks.md",
        "vault/review.md",
        "vault/lessons/l.md",
        "vault/.obsidian/types.json",
        "vault/.gitignore",
        ".config/cru/config.toml",
    ];
    for place in places {
        for kind in ["a pipe", "a folder", "an endless device"] {
            let world = world();
            let path = world.path(place);
            let _ = cru::base::files::remove(&path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match kind {
                "a pipe" => pipe(&path),
                "a folder" => std::fs::create_dir(&path).unwrap(),
                _ => symlink("/dev/zero", &path).unwrap(),
            }
            for args in ASKING {
                comes_back(&world, args, "", &format!("{place}, {kind},"));
            }
        }
    }
}

#[test]
fn a_transcript_that_is_no_file_is_not_waited_for() {
    for (host, name) in [
        ("claude", "t.jsonl"),
        ("codex", "rollout-t.jsonl"),
        ("opencode", "opencode.db"),
        ("cursor", "store.db"),
        ("gemini", "session-t.json"),
        ("pi", "t.jsonl"),
    ] {
        let world = world();
        for (kind, folder) in [("a pipe", "one"), ("an endless device", "two")] {
            let path = world.path(folder).join(name);
            if kind == "a pipe" {
                pipe(&path);
            } else {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                symlink("/dev/zero", &path).unwrap();
            }
            let (file, folder) = (format!("../{folder}/{name}"), format!("../{folder}"));
            comes_back(&world, &["import", host, &file], "", kind);
            comes_back(&world, &["import", host, &folder], "", kind);
        }
    }
    let world = world();
    pipe(&world.path("t.jsonl"));
    let hook = format!(
        "{{\"session_id\":\"h\",\"cwd\":\".\",\"transcript_path\":{:?},\"hook_event_name\":\"Stop\"}}",
        world.path("t.jsonl")
    );
    comes_back(&world, &["hook", "stop"], &hook, "the transcript");
}

/// A line of a note is read once, however many there are: four times the note takes about four times the time.
#[test]
fn the_time_for_a_note_grows_with_its_length() {
    let world = world();
    let steps = |count: usize| -> String {
        let step = |number: usize| format!("- `Bash echo {number}` → `ok` ^n-{number:06}\n");
        format!("{NOTE}{}", (2..count).map(step).collect::<String>())
    };
    let time = |count: usize| {
        world.put("vault/sessions/s1.md", &steps(count));
        let start = Instant::now();
        for args in [&["session", "list"][..], &["log", "--session", "s1", "note", "more"], &["check"]] {
            world.ok(args);
        }
        start.elapsed().max(Duration::from_millis(100))
    };
    let (one, eight) = (time(8_000), time(64_000));
    // A quadratic one takes 64 times as long; the machine may be busy with something else.
    assert!(eight < one * 32, "{one:?}, and {eight:?} for eight times the note");
}
