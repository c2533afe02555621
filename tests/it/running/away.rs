//! Entries that are logged while the note, the configuration or the vault is not where it was: none is lost.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cru::base::files;

/// A vault, a project and the machine state of a person, in a folder of their own.
struct World {
    temp: tempfile::TempDir,
    vault: PathBuf,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let vault = temp.path().join("vault");
        for folder in ["vault/.cru", "home"] {
            fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        Self { temp, vault }
    }

    fn run_with(&self, args: &[&str], input: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        let home = self.temp.path().join("home");
        command.args(args).env_clear().current_dir(&home).env("HOME", &home).env("NO_COLOR", "1");
        command.env("XDG_STATE_HOME", self.temp.path().join("state"));
        command.env("CRU_VAULT", &self.vault).env("CRU_NOW", "2026-11-21T12:00:00Z");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = self.run_with(args, "");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn ok(&self, args: &[&str]) -> String {
        let (code, out, told) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {told}");
        out.trim_end().to_owned()
    }

    fn log(&self, id: &str, text: &str) -> (Option<i32>, String, String) {
        self.run(&["log", "--session", id, "note", text])
    }

    fn note(&self, id: &str) -> PathBuf {
        self.vault.join(format!("sessions/{id}.md"))
    }

    fn text(&self, id: &str) -> String {
        fs::read_to_string(self.note(id)).unwrap()
    }

    fn config(&self, text: &str) {
        files::put(&self.vault.join(".cru/config.toml"), text.as_bytes()).unwrap();
    }
}

fn once(text: &str, wanted: &[&str]) {
    for line in wanted {
        assert_eq!(text.lines().filter(|it| it == line).count(), 1, "{line}:\n{text}");
    }
}

fn put_aside(from: &Path, to: &Path) {
    files::rename(from, to).unwrap();
}

#[test]
fn an_entry_reaches_the_journal_while_the_note_is_away() {
    let world = World::new();
    // Nothing was ever written to it but its note, and another session's name begins like its own.
    let id = world.ok(&["session", "start", "-q", "Away"]);
    let other = world.ok(&["session", "start", "-q", "Away again"]);
    assert!(other.starts_with(&id));
    let (note, text) = (world.note(&id), world.text(&id));

    // As vim and emacs save: the old file stands under a name of its own until the new one is whole.
    let backup = note.with_file_name(format!("{id}.md~"));
    put_aside(&note, &backup);
    let (code, out, told) = world.log(&id, "one");
    assert_eq!((code, out.as_str()), (Some(0), "kept\n"), "{told}");
    assert!(told.contains("the entry is kept in "), "{told}");
    put_aside(&backup, &note);
    assert_eq!(world.log(&id, "two").0, Some(0));
    once(&world.text(&id), &["one", "two"]);

    // Half written, in a moment in which it says nothing of what it is.
    let whole = world.text(&id);
    files::put(&note, b"").unwrap();
    assert_eq!(world.log(&id, "three").0, Some(0));
    files::put(&note, whole.as_bytes()).unwrap();

    // No file can be read there.
    let aside = world.temp.path().join("aside.md");
    put_aside(&note, &aside);
    fs::create_dir(&note).unwrap();
    assert_eq!(world.log(&id, "four").0, Some(0));
    fs::remove_dir(&note).unwrap();
    // Gone as if it were deleted: that is told, and the entry is kept all the same.
    let (code, _, told) = world.log(&id, "five");
    assert_eq!(code, Some(2));
    assert!(told.contains(&format!("no session '{id}'")) && told.contains("the entry is kept in"), "{told}");
    let stream = world.run_with(&["log", "--session", &id, "json"], "{\"event\":\"note\",\"text\":\"six\"}\n");
    assert_eq!(stream.status.code(), Some(2));
    put_aside(&aside, &note);
    world.ok(&["flush", &id]);
    once(&world.text(&id), &["one", "two", "three", "four", "five", "six"]);
    assert_eq!(world.ok(&["flush", &id]), "nothing waits");
    assert!(!world.text(&other).contains("one"), "nothing went to another session");
    assert!(!text.contains("one"));
}

#[test]
fn entries_reach_the_journal_while_the_note_is_saved_in_other_ways() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = World::new();
    let id = world.ok(&["session", "start", "-q", "Saved"]);
    let note = world.note(&id);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A person who renames the note away and back, again and again.
            let aside = world.temp.path().join("aside.md");
            while !stop.load(Ordering::SeqCst) {
                put_aside(&note, &aside);
                std::thread::sleep(std::time::Duration::from_millis(3));
                // A write of ours never makes a note that is gone.
                put_aside(&aside, &note);
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        });
        for number in 0..20 {
            world.log(&id, &format!("entry {number}"));
        }
        stop.store(true, Ordering::SeqCst);
    });
    world.run(&["flush", &id]);
    let wanted: Vec<String> = (0..20).map(|number| format!("entry {number}")).collect();
    once(&world.text(&id), &wanted.iter().map(String::as_str).collect::<Vec<_>>());
}

fn hook(world: &World, name: &str, more: &serde_json::Value) {
    let mut input = serde_json::json!({ "session_id": "949d76fb", "cwd": world.temp.path().join("home") });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let output = world.run_with(&["hook", name], &input.to_string());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

#[test]
fn what_is_told_while_the_configuration_is_broken_is_written_once_it_is_repaired() {
    for (good, bad) in [
        (
            "[vault]\nid = \"mine\"\n[hooks]\nflush = \"never\"\n",
            "[vault]\nid = \"mine\"\n[hooks]\nflush = = \"never\"\n",
        ),
        ("[vault]\nid = \"mine\"\n[hooks]\nflush = \"never\"\n", "[vault\nid = \"mi"),
        // Cut off where it is still a configuration, of another vault.
        ("[hooks]\nflush = \"never\"\n[vault]\nid = \"mine\"\n", "[hooks]\nflush = \"never\"\n"),
        ("[hooks]\nflush = \"never\"\n", "[hooks]\nflush = \"never\"\n[session]\nsubagents = \"sometimes\"\n"),
    ] {
        let world = World::new();
        world.config(good);
        let id = world.ok(&["session", "start", "-q", "Broken"]);
        world.log(&id, "before");
        hook(&world, "session-start", &serde_json::json!({}));
        world.config(bad);
        hook(&world, "prompt", &serde_json::json!({ "prompt": "Look at the broken one" }));
        let (code, _, told) = world.log(&id, "meanwhile");
        assert_eq!(code, Some(0), "{bad}: {told}");
        hook(&world, "stop", &serde_json::json!({ "last_assistant_message": "I looked." }));
        world.config(good);
        let status = world.ok(&["status"]);
        let waits = status.lines().find(|line| line.starts_with("To write")).unwrap();
        assert!(!waits.contains("nothing"), "{bad}: {status}");
        world.ok(&["flush", "--all"]);
        once(&world.text(&id), &["before", "meanwhile"]);
        let notes: String = fs::read_dir(world.vault.join("sessions"))
            .unwrap()
            .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
            .collect();
        assert!(notes.contains("Look at the broken one"), "{bad}: {notes}");
        assert!(world.ok(&["status"]).contains("To write     nothing"));
    }
}

#[test]
fn what_waits_goes_with_a_vault_that_is_moved() {
    let mut world = World::new();
    let id = world.ok(&["session", "start", "-q", "Moved"]);
    world.log(&id, "before");
    // The note cannot be written; the entry waits.
    let (note, aside) = (world.note(&id), world.temp.path().join("aside.md"));
    put_aside(&note, &aside);
    world.log(&id, "waits");
    put_aside(&aside, &note);
    let to = world.temp.path().join("elsewhere/notes");
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    put_aside(&world.vault, &to);
    world.vault = to;
    let status = world.ok(&["status"]);
    assert!(status.contains("1 entry of 1 session"), "{status}");
    assert_eq!(world.log(&id, "after").0, Some(0));
    once(&world.text(&id), &["before", "waits", "after"]);
    // What was written before can be undone as well.
    assert!(world.ok(&["undo", "--session", &id, "--list"]).lines().count() >= 2);
    // A second state, of the time in which something was logged at the new place before the old came to light.
    let copy = world.temp.path().join("copy");
    fs::create_dir_all(copy.join(".cru")).unwrap();
    fs::create_dir_all(copy.join("sessions")).unwrap();
    fs::copy(world.note(&id), copy.join(format!("sessions/{id}.md"))).unwrap();
    put_aside(&world.note(&id), &aside);
    world.log(&id, "original's");
    put_aside(&aside, &world.note(&id));
    let original = std::mem::replace(&mut world.vault, copy);
    assert_eq!(world.log(&id, "copy's").0, Some(0));
    assert!(!world.text(&id).contains("original's"), "what waits for a copied vault is the original's");
    world.vault = original;
    world.ok(&["flush", &id]);
    once(&world.text(&id), &["original's"]);
    assert!(!world.text(&id).contains("copy's"));
}

/// A disk that is away looks like a vault that was moved, and notes of one name lie in many vaults.
#[test]
fn what_waits_never_goes_to_another_vault() {
    let mut world = World::new();
    world.ok(&["init", world.vault.to_str().unwrap()]);
    let id = world.ok(&["session", "start", "-q", "Daily standup"]);
    let (note, aside) = (world.note(&id), world.temp.path().join("aside.md"));
    put_aside(&note, &aside);
    world.log(&id, "theirs");
    put_aside(&aside, &note);

    let away = world.temp.path().join("away");
    put_aside(&world.vault, &away);
    let first = std::mem::replace(&mut world.vault, world.temp.path().join("other"));
    world.ok(&["init", world.vault.to_str().unwrap()]);
    let same = world.ok(&["session", "start", "-q", "Daily standup"]);
    assert_eq!(same, id, "both notes have one name");
    world.log(&same, "own");
    world.ok(&["flush", "--all"]);
    once(&world.text(&same), &["own"]);
    assert!(!world.text(&same).contains("theirs"));

    put_aside(&away, &first);
    world.vault = first;
    world.ok(&["flush", &id]);
    once(&world.text(&id), &["theirs"]);
}

/// A folder that an agent walks into may be anybody's.
#[test]
fn kept_events_go_to_a_vault_that_is_named() {
    let world = World::new();
    let found = world.temp.path().join("found");
    fs::create_dir_all(found.join(".cru")).unwrap();
    let event = |cwd: &Path, text: &str| format!(r#"{{"session_id":"s1","cwd":{cwd:?},"prompt":{text:?}}}"#);
    let hook = |vault: Option<&Path>, input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        let home = world.temp.path().join("home");
        command.args(["hook", "prompt"]).env_clear().current_dir(&home).env("HOME", &home);
        command.env("XDG_STATE_HOME", world.temp.path().join("state")).env("CRU_NOW", "2026-11-21T12:00:00Z");
        command.envs(vault.map(|vault| ("CRU_VAULT", vault)));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    };
    let unfiled = || fs::read_to_string(world.temp.path().join("state/cru/unfiled/claude-code--s1.jsonl"));
    hook(None, &event(world.temp.path(), "kept"));
    hook(None, &event(&found, "walked in"));
    assert!(unfiled().unwrap().contains("kept"), "it is not given to a folder that happens to hold `.cru`");
    // A writer was killed in the middle of a line.
    let kept = world.temp.path().join("state/cru/unfiled/claude-code--s1.jsonl");
    fs::OpenOptions::new().append(true).open(&kept).unwrap().write_all(b"\n{\"id\":\"torn").unwrap();
    hook(Some(&world.vault), &event(world.temp.path(), "named"));
    assert!(unfiled().is_err(), "what could be read is in the journal of the vault");
    let rest = fs::read_to_string(kept.with_extension("rest")).unwrap();
    assert!(rest.contains("torn"), "what cannot be read is kept: {rest}");
}

#[test]
fn what_a_killed_creation_left_is_swept() {
    let world = World::new();
    let id = world.ok(&["session", "start", "-q", "One"]);
    let left = world.note(&id).with_file_name(".cru-aB3xYz.tmp");
    let own = world.note(&id).with_file_name(".cru-mine.tmp");
    for path in [&left, &own] {
        files::create(path, b"half of a note").unwrap();
    }
    let file = fs::OpenOptions::new().append(true).open(&left).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    world.ok(&["session", "start", "-q", "Two"]);
    assert_eq!((left.exists(), own.exists()), (false, true));
}

#[cfg(target_os = "linux")]
#[test]
fn fewer_threads_are_no_panic() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let id = world.ok(&["session", "start", "-q", "Limited"]);
    world.log(&id, "one");
    world.ok(&["log", "--session", &id, "tool", "Bash", "cargo test", "--result", "ok"]);
    // The limit counts the processes of a user, and binds no root: one that nobody else is runs the program.
    let binary = world.temp.path().join("cru");
    fs::copy(env!("CARGO_BIN_EXE_cru"), &binary).unwrap();
    let user = 54_000 + std::process::id() % 9_000;
    let mut chown = Command::new("chown");
    chown.arg("-R").arg(format!("{user}:{user}")).arg(world.temp.path());
    fs::set_permissions(world.temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |limit: u32, args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={user}")]);
        command.args(["--clear-groups", "prlimit", &format!("--nproc={limit}")]).arg(&binary).args(args);
        command.env("HOME", world.temp.path().join("home")).env("CRU_VAULT", &world.vault);
        command.env("XDG_STATE_HOME", world.temp.path().join("state")).env("RAYON_NUM_THREADS", "8");
        command.current_dir(world.temp.path()).output()
    };
    let can = chown.status().is_ok_and(|status| status.success());
    if !can || !run(99, &["--version"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: only root, with setpriv and prlimit, can run a program as a user of its own with a limit");
        return;
    }
    for limit in 1..=9 {
        files::remove_derived(&world.temp.path().join("home/.cache")).unwrap();
        for args in [
            &["session", "list"][..],
            &["status"],
            &["stats"],
            &["query", "steps"],
            &["search", "one"],
            &["check"],
            &["session", "show", &id],
            &["log", "--session", "Limited", "note", "more"],
            &["flush", "--all"],
        ] {
            let output = run(limit, args).unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{limit} {args:?}: {told}");
        }
    }
}
