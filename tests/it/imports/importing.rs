//! `cru import` as a program: what need not be read again, copies that outlive their transcripts, and steps in full.

#![expect(clippy::disallowed_methods, reason = "an agent and a person write without cru")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

const SESSION: &str = "a1b2c3d4-0000-4000-8000-000000000001";

/// A home with the transcripts of the console documents, and an empty vault.
struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let from = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/import.in/agents/claude/projects");
        for project in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
            let to = temp.path().join("home/.claude/projects").join(project.file_name().unwrap());
            fs::create_dir_all(&to).unwrap();
            for file in fs::read_dir(&project).unwrap().map(|entry| entry.unwrap().path()) {
                fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
            }
        }
        fs::create_dir_all(temp.path().join("vault/.cru")).unwrap();
        Self { temp }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn transcript(&self) -> PathBuf {
        self.path(&format!("home/.claude/projects/-home-mara-code-tidepool/{SESSION}.jsonl"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(self.temp.path());
        command.env("HOME", self.path("home")).env("CRU_VAULT", self.path("vault"));
        // Long after the files were written, so that none of them counts as just written.
        command.env("CRU_NOW", "2090-01-01T00:00:00Z");
        command
    }

    /// Standard output, standard error and exit code.
    fn cru(&self, args: &[&str]) -> (String, String, Option<i32>) {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    }

    fn json(&self, args: &[&str]) -> Value {
        let (out, said, _) = self.cru(&[args, &["-f", "json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}: {said}"))
    }

    /// Every note with its text.
    fn notes(&self) -> Vec<(PathBuf, String)> {
        let entries = fs::read_dir(self.path("vault/sessions")).into_iter().flatten();
        let mut notes: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        notes.sort();
        notes.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
    }

    fn note(&self) -> (PathBuf, String) {
        self.notes().into_iter().find(|(_, text)| text.contains(SESSION)).unwrap()
    }
}

/// How many sessions had each outcome, and how many files were read and not read.
fn account(report: &Value) -> (Value, usize, u64) {
    let read = report["files"].as_array().unwrap().len();
    (report["outcomes"].clone(), read, report["known_files"].as_u64().unwrap())
}

#[test]
fn a_look_writes_nothing() {
    let world = World::new();
    let look = world.json(&["import"]);
    assert_eq!(look["agents"][0]["new"], 2);
    assert_eq!(look["agents"][0]["command"], "cru import claude");
    assert_eq!(world.notes(), []);
    assert!(!world.path("home/.local").exists() && !world.path("vault/evidence").exists(), "not even a folder");
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let world = World::new();
    let import = || account(&world.json(&["import", "claude"]));
    assert_eq!(import(), (serde_json::json!({ "created": 2 }), 2, 0));
    let notes = world.notes();
    assert_eq!(import(), (serde_json::json!({ "unchanged": 2 }), 0, 2));
    assert_eq!(account(&world.json(&["import", "claude", "--dry-run"])).2, 2);
    assert_eq!(account(&world.json(&["import", "claude", "--thinking"])).2, 0, "other notes are asked for");
    assert_eq!(account(&world.json(&["import", "claude"])).2, 0, "and these again");
    assert_eq!((import().2, world.notes()), (2, notes));

    let (path, text) = world.note();
    fs::write(&path, text.replace("the highest", "the very highest")).unwrap();
    assert_eq!(import(), (serde_json::json!({ "unchanged": 2 }), 1, 1), "a note that changed is looked at");
    assert_eq!(import().2, 2);

    let more = fs::read_to_string(world.transcript()).unwrap();
    let last = more.lines().find(|line| line.contains("Station 40 is")).unwrap();
    let line =
        last.replace("000000000006", "000000000016").replace("Station 40 is the highest", "Station 41 is higher");
    fs::write(world.transcript(), format!("{more}{line}\n")).unwrap();
    assert_eq!(import(), (serde_json::json!({ "unchanged": 1, "updated": 1 }), 1, 1));
    let (_, text) = world.note();
    assert!(text.contains("very highest") && text.contains("Station 41 is higher"));
    assert_eq!(import().2, 2);

    fs::remove_file(&path).unwrap();
    assert_eq!(import(), (serde_json::json!({ "deleted": 1, "unchanged": 1 }), 1, 1));
    assert_eq!(import().1, 1, "what a person deleted is looked at each time");
    assert_eq!(account(&world.json(&["import", "claude", "--restore"])).0["created"], 1);
}

#[test]
fn a_step_in_full_comes_from_the_transcript() {
    let world = World::new();
    world.cru(&["import", "claude"]);
    let name = world.note().0.file_stem().unwrap().to_str().unwrap().to_owned();
    let step = world.json(&["step", "show", "n-001", &name, "--full"]);
    assert_eq!(step["full"]["input"]["command"], "cargo run --bin levels");
    assert_eq!(step["full"]["output"].as_str().unwrap().lines().count(), 40);
    assert_eq!((&step["full"]["call"]["line"], &step["full"]["answer"]["line"]), (&2.into(), &3.into()));
    let (text, ..) = world.cru(&["step", "show", "1", &name, "--full"]);
    assert!(text.contains("station 40: level 1280 mm"), "{text}");

    let (text, ..) = world.cru(&["step", "show", &format!("{name}#^n-002"), "--full", "--color", "always"]);
    assert!(text.contains("Bearer [secret:github-token-1]") && text.contains("to harbour.example"), "{text}");
    assert!(!text.contains("ghp_") && !text.contains("\u{1b}[31mharbour"), "{text}");
    let (text, ..) = world.cru(&["step", "show", "n-002", &name, "--full", "--no-redact"]);
    assert!(text.contains("Bearer ghp_"), "{text}");
    let (_, said, code) = world.cru(&["step", "show", "n-009", &name]);
    assert!(code == Some(1) && said.contains("n-001 … n-002"), "{said}");

    fs::remove_file(world.transcript()).unwrap();
    let (_, said, code) = world.cru(&["step", "show", "n-001", &name, "--full"]);
    assert!(code == Some(1) && said.contains("transcript is gone") && said.contains("--keep-evidence"), "{said}");
    assert_eq!(world.cru(&["step", "show", "n-001", &name]).2, Some(0));
}

#[test]
fn copies_outlive_their_transcripts() {
    let world = World::new();
    world.cru(&["import", "claude"]);
    let kept = world.json(&["import", "claude", "--keep-evidence"]);
    assert_eq!(kept["kept"]["files"], 2, "of notes that were there already, too");
    assert!(kept["kept"]["new_bytes"].as_u64() > kept["kept"]["packed_bytes"].as_u64());
    let again = world.json(&["import", "claude", "--keep-evidence"]);
    assert_eq!((&again["known_files"], again.get("kept")), (&2.into(), None), "nothing is to be kept");
    assert_eq!(world.json(&["status"])["evidence"]["kept"], 2);

    let found = |world: &World| world.json(&["search", "\"station 23: level\""])["total"].clone();
    assert_eq!(found(&world), 1, "only the transcript says it");
    let (path, text) = world.note();
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    fs::remove_dir_all(world.path("home/.claude")).unwrap();
    let step = world.json(&["step", "show", "n-001", &name, "--full"]);
    assert_eq!(
        (&step["full"]["from_copy"], step["full"]["output"].as_str().unwrap().len() > 900),
        (&true.into(), true)
    );
    assert_eq!(found(&world), 1, "the copy says it too");

    fs::remove_file(&path).unwrap();
    assert_eq!(world.cru(&["import", "claude"]).2, Some(1), "there is nothing to import");
    let (out, said, code) = world.cru(&["import", "claude", "--restore"]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "made again from the copy");
}

#[test]
fn what_an_agent_writes_is_followed() {
    let world = World::new();
    let whole = fs::read_to_string(world.transcript()).unwrap();
    let (begin, end) = whole.split_at(whole.match_indices('\n').nth(2).unwrap().0 + 1);
    fs::write(world.transcript(), begin).unwrap();
    let mut command = world.command(&["import", "claude", "--watch"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.by_ref().any(|line| line.starts_with("note: watching") || line.starts_with("watching")));
    assert!(world.note().1.contains("n-001") && !world.note().1.contains("Station 40"));
    fs::write(world.transcript(), format!("{begin}{end}")).unwrap();
    assert!(said.by_ref().any(|line| line.contains("updated") && line.contains("sessions/")));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(world.note().1.contains("Station 40 is the highest"));
    let unwatched = World::new();
    unwatched.cru(&["import", "claude"]);
    let body = |world: &World| world.note().1.split_once("\n# ").unwrap().1.to_owned();
    assert_eq!(body(&world), body(&unwatched), "the same as all at once");
}

/// What the last import wrote is taken back, and nothing that somebody else did.
#[test]
fn the_last_import_is_taken_back() {
    let world = World::new();
    let (_, said, code) = world.cru(&["import", "--undo"]);
    assert!(code == Some(1) && said.contains("no import of this machine can be undone"), "{said}");
    world.cru(&["import", "claude"]);
    let made = world.notes();
    let look = world.json(&["import", "--undo", "--dry-run"]);
    assert_eq!((look["removed"].as_array().unwrap().len(), world.notes()), (4, made.clone()));

    // A note that a person wrote in stays.
    let (path, text) = world.note();
    fs::write(&path, text.replace("the highest", "the very highest")).unwrap();
    let (out, said, code) = world.cru(&["import", "--undo"]);
    assert_eq!(code, Some(1), "{out}{said}");
    assert!(
        out.contains("2 notes removed") && out.contains("projects/harbour.md") && out.contains("it was changed since"),
        "{out}"
    );
    assert_eq!(world.notes(), [(path.clone(), text.replace("the highest", "the very highest"))]);
    assert_eq!(world.cru(&["import", "--undo"]).2, Some(1), "once");
    let (checked, said, code) = world.cru(&["index", "--check"]);
    assert_eq!(code, Some(0), "{checked}{said}");

    // A removed note is not made again unless that is asked for.
    assert_eq!(world.json(&["import", "claude"])["outcomes"], serde_json::json!({ "deleted": 1, "unchanged": 1 }));
    world.cru(&["import", "claude", "--restore"]);
    let again = world.notes();
    assert_eq!(again.len(), 2);
    assert_eq!(again.iter().find(|(other, _)| *other != path), made.iter().find(|(other, _)| *other != path));

    // What an import added to a note is taken out, and comes back as any write does.
    let whole = fs::read_to_string(world.transcript()).unwrap();
    let last = whole.lines().find(|line| line.contains("Station 40 is")).unwrap();
    let more =
        last.replace("000000000006", "000000000016").replace("Station 40 is the highest", "Station 41 was higher");
    fs::write(world.transcript(), format!("{whole}{more}\n")).unwrap();
    let before = world.note().1;
    world.cru(&["import", "claude"]);
    let grown = world.note().1;
    assert!(grown.contains("Station 41 was") && !before.contains("Station 41 was"), "{grown}");
    let (out, said, code) = world.cru(&["import", "--undo"]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert!(out.contains("1 note put back as before the import"), "{out}");
    let without = |text: &str| text.lines().filter(|line| !line.starts_with("cru_")).collect::<Vec<_>>().join("\n");
    assert_eq!(without(&world.note().1), without(&before));
    // The next imports leave it so, and say it.
    let (_, said, _) = world.cru(&["import", "claude"]);
    assert!(said.contains("1 note is as before an import that was undone"), "{said}");
    assert!(world.cru(&["import"]).0.contains("as before an import that was undone"));
    assert_eq!(without(&world.note().1), without(&before));
    // A note that is away for a while comes back with what is known of it.
    let (path, text) = world.note();
    fs::remove_file(&path).unwrap();
    world.cru(&["import", "claude"]);
    fs::write(&path, text).unwrap();
    let (_, said, _) = world.cru(&["import", "claude", "--restore"]);
    assert!(said.contains("what an undoing took out is in 1 note again") && !said.contains("undone"), "{said}");
    assert_eq!(without(&world.note().1), without(&grown));
    assert!(!world.cru(&["import", "claude"]).1.contains("undone"));

    // A note whose transcript is gone could not be made again: it stays.
    let gone = World::new();
    gone.cru(&["import", "claude"]);
    fs::remove_file(gone.transcript()).unwrap();
    let (out, ..) = gone.cru(&["import", "--undo"]);
    assert!(out.contains("its transcript is gone") && gone.note().1.contains(SESSION), "{out}");
}
