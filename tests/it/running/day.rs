//! A day of a person by script: edits, a crash, a vault that moves, a copy, a fresh start, a second machine, and a vault of
//! a stranger. Nothing that the person wrote is lost, and each hint leads out.

use std::fs;
use std::path::Path;
use std::process::Command;

use cru::base::files;
use serde_json::json;

use super::newcomer::{World, step};

/// What the person writes, each into another part of a note.
const WORDS: [&str; 4] = ["TITLEWORD", "HEADWORD", "SUMWORD", "PARWORD"];

/// Changes title, heading and summary of a note, and adds a paragraph.
fn edit(note: &Path) {
    let text = fs::read_to_string(note).unwrap();
    let lines = text.lines().map(|line| match line {
        _ if line.starts_with("title: ") => "title: My TITLEWORD".to_owned(),
        _ if line.starts_with("# ") => "# My HEADWORD".to_owned(),
        _ if line.starts_with("> [!summary]") => format!("{line}\n> My SUMWORD."),
        _ => line.to_owned(),
    });
    let edited = lines.collect::<Vec<_>>().join("\n") + "\n\nMy PARWORD.\n";
    files::put(note, edited.as_bytes()).unwrap();
}

fn notes(vault: &Path) -> Vec<String> {
    let entries = fs::read_dir(vault.join("sessions")).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Every word stands once in the notes of a vault.
fn holds_all(vault: &Path, when: &str) {
    let notes = notes(vault).concat();
    for word in WORDS {
        assert_eq!(notes.matches(word).count(), 1, "{when}: {word}");
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
}

#[test]
fn a_day_loses_nothing_and_each_hint_leads_out() {
    let world = World::new();
    let (home, project, vault) = (world.home(), world.project(), world.home().join("notes"));
    world.line("cru init notes", &home);
    world.line("cru import --all", &vault);
    let note = fs::read_dir(vault.join("sessions")).unwrap().next().unwrap().unwrap().path();
    edit(&note);
    for line in [
        "cru import --all",
        "cru import --again --yes",
        "cru import --again --yes --detail full",
        "cru admin flush --all",
    ] {
        world.line(line, &vault);
        holds_all(&vault, line);
    }

    // The host dies: its session never ends.
    world.line("cru hooks install --yes", &vault);
    world.event("SessionStart", "s-1", &project, &json!({"source": "startup"}));
    world.event("UserPromptSubmit", "s-1", &project, &json!({"prompt": "Draw the CRASHWORD as a curve"}));
    world.event("PostToolUse", "s-1", &project, &step());
    world.line("cru admin flush --all", &vault);
    assert!(notes(&vault).concat().contains("CRASHWORD"));

    // The vault moves: what is said then leads to where it is.
    files::create_dir(&home.join("documents")).unwrap();
    let moved = home.join("documents/notes");
    files::rename(&vault, &moved).unwrap();
    let output = world.command("sh", &project).args(["-c", "cru session list"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("`cru connect` in its new folder"), "{said}");
    world.line("cru hooks install --yes", &moved);
    let said = world.line("cru check hooks", &project);
    assert!(said.contains(&format!("arrives in {}.", moved.display())), "{said}");
    world.event("UserPromptSubmit", "s-1", &project, &json!({"prompt": "And the MOVEDWORD"}));
    world.event("Stop", "s-1", &project, &json!({}));
    world.line("cru admin flush --all", &moved);
    assert!(notes(&moved).concat().contains("MOVEDWORD"));
    holds_all(&moved, "moved");

    // A copy beside it, and a copy on another machine.
    let other = home.join("documents/copy");
    copy(&moved, &other);
    for line in ["cru import --all", "cru import --again --yes"] {
        world.line(line, &other);
        holds_all(&other, "a copied vault");
    }
    let second = world.home().with_file_name("second");
    files::create_dir(&second).unwrap();
    copy(&home.join(".claude"), &second.join(".claude"));
    copy(&moved, &second.join("notes"));
    for line in ["cru import --all", "cru import --again --yes"] {
        let mut command = world.command("sh", &second.join("notes"));
        let output = command.env("HOME", &second).args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        holds_all(&second.join("notes"), "a second machine");
    }

    // A vault that is made anew at its place starts afresh.
    files::remove_derived(&moved).unwrap();
    world.line("cru init notes", &home.join("documents"));
    world.line("cru import --all", &moved);
    assert_eq!(notes(&moved).len(), 2);
}

#[cfg(unix)]
#[test]
fn a_vault_of_a_stranger_writes_nothing_of_the_person() {
    let world = World::new();
    let (home, vault) = (world.home(), world.home().join("cloned"));
    files::put(&home.join(".profile"), b"mine\n").unwrap();
    files::put(&home.join("work/entries/1.txt"), b"mine\n").unwrap();
    world.line("cru init cloned", &home);
    files::create_dir(&vault.join(".cru/cache")).unwrap();
    std::os::unix::fs::symlink("../../../work", vault.join(".cru/cache/index")).unwrap();
    std::os::unix::fs::symlink("../../.profile", vault.join("sessions/log.md")).unwrap();
    files::put(&vault.join(".cru/config.toml"), b"[run]\nallow = [\"*\"]\n").unwrap();
    // Intentions that a killed writer is said to have left: to take a file away, and to move one over another.
    files::put(&vault.join("sessions/payload"), b"theirs\n").unwrap();
    let intention = |target: &Path, more: &str| format!("cru intention 1\ntarget {}\n{more}", target.display());
    let intentions = [
        intention(&home.join("x"), "temp .profile\nold -\nnew -\n"),
        intention(&home.join("x"), "temp .profile\nold -\nnew -\nready\n"),
        intention(
            &vault.join("sessions/x"),
            &format!("temp payload\nold -\nnew -\nkeep-new {}\n", home.join(".profile").display()),
        ),
        intention(
            &vault.join("sessions/x"),
            &format!("temp payload\nold -\nnew -\nkeep {}\nready\n", home.join(".profile").display()),
        ),
    ];
    for (number, text) in intentions.iter().enumerate() {
        for folder in ["", "sessions", ".cru", "projects"] {
            files::put(&vault.join(folder).join(format!(".cru-{number}.intent")), text.as_bytes()).unwrap();
        }
    }
    for line in [
        "cru admin index",
        "cru status",
        "cru import --all",
        "cru admin flush --all",
        "cru session start Theirs",
        "cru log note x",
        "cru bookmark y 2026-11-26-x#n-001 || true",
        "cru admin flush --all",
    ] {
        world.line(line, &vault);
    }
    assert_eq!(files::read(&home.join(".profile")).unwrap(), b"mine\n");
    assert_eq!(files::read(&home.join("work/entries/1.txt")).unwrap(), b"mine\n");
}
