//! The files of the programs that came before, imported by the program itself: each note as a whole, the second import,
//! and the check of every note.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cru::base::files;

/// A vault and the invented files of one program.
struct World {
    temp: tempfile::TempDir,
    input: PathBuf,
}

impl World {
    fn new(agent: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        files::create(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
        let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/seeds").join(agent);
        Self { temp, input }
    }

    fn vault(&self) -> PathBuf {
        self.temp.path().join("vault")
    }

    fn cru(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.arg("--vault").arg(self.vault()).args(args).current_dir(self.temp.path());
        command.env("NO_COLOR", "1").env("HOME", self.temp.path()).env("XDG_CONFIG_HOME", "/nonexistent");
        command.env("XDG_STATE_HOME", self.temp.path().join("state")).env("CRU_NOW", "2026-11-21T12:00:00Z");
        command.output().unwrap()
    }

    fn import(&self, agent: &str) -> String {
        let output = self.cru(&["import", agent, self.input.to_str().unwrap()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn notes(&self) -> BTreeMap<String, String> {
        let entries = std::fs::read_dir(self.vault().join("sessions")).unwrap();
        let note = |path: PathBuf| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, String::from_utf8(files::read(&path).unwrap()).unwrap())
        };
        entries.map(|entry| note(entry.unwrap().path())).collect()
    }

    /// The notes as they hold on every machine.
    fn shown(&self) -> String {
        let input = self.input.canonicalize().unwrap();
        let notes: Vec<String> = self.notes().into_iter().map(|(name, note)| format!("=== {name}\n{note}")).collect();
        notes.join("\n").replace(input.to_str().unwrap(), "[in]")
    }
}

fn bytes_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten();
    let files = files.filter(|entry| entry.path().is_file()).map(ignore::DirEntry::into_path);
    files.map(|path| (path.clone(), cru::base::files::read(&path).unwrap())).collect()
}

fn imports_well(agent: &str, notes: usize) -> World {
    let world = World::new(agent);
    let before = bytes_below(&world.input);
    let dry = world.cru(&["import", agent, "--dry-run", world.input.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&dry.stdout).contains("Dry run complete"));
    assert!(!world.vault().join("sessions").exists(), "a preview writes nothing");
    let told = world.import(agent);
    assert!(told.contains(&format!("{notes} session")), "{told}");
    let first = world.notes();
    assert_eq!(first.len(), notes);
    let again = world.import(agent);
    assert!(again.contains("0 sessions new") && again.contains("unchanged"), "{again}");
    assert_eq!(world.notes(), first, "a second import changes no byte");
    assert_eq!(bytes_below(&world.input), before, "the files themselves are only read");
    for (name, note) in &first {
        assert!(!note.contains("1970"), "{name}");
        let path = world.vault().join(format!("sessions/{name}.md"));
        let check = world.cru(&["check", path.to_str().unwrap()]);
        // What has no time keeps none, and the check says so.
        let clean = check.status.success() || !note.contains("\nstarted:");
        assert!(clean, "{name}: {}", String::from_utf8_lossy(&check.stdout));
    }
    world
}

#[test]
fn steno() {
    let world = imports_well("steno", 2);
    insta::assert_snapshot!(world.shown());
    let shown = String::from_utf8(world.cru(&["step", "show", "@n_001"]).stdout).unwrap();
    assert!(shown.contains("n-001"), "{shown}");
}

#[test]
fn rlm() {
    let world = imports_well("rlm", 3);
    insta::assert_snapshot!(world.shown());
    // A cell keeps its name, and what depends on it.
    let shown = |args: &[&str]| String::from_utf8(world.cru(args).stdout).unwrap();
    let session = "2026-01-07-count-callers-keys-load";
    assert!(shown(&["step", "show", "cell_b2c3d4e5", session]).contains("Two callers"));
    let deps = shown(&["deps", &format!("{session}#cell_b2c3d4e5")]);
    assert!(deps.contains("#n-001  root") && deps.contains("#n-003  leaf"), "{deps}");
}

#[test]
fn pibrain() {
    let world = imports_well("pibrain", 1);
    insta::assert_snapshot!(world.shown());
}

/// The published format: what is not known of it is named, by an import and by a check of all hosts.
#[test]
fn events() {
    let world = imports_well("events", 1);
    insta::assert_snapshot!(world.shown());
    let file = world.input.join("parrot.events.jsonl");
    files::create(&world.temp.path().join(".cru/events/a.events.jsonl"), &files::read(&file).unwrap()).unwrap();
    let unknown = "unknown event sang ×1 (events parrot 3.2)";
    let hosts = String::from_utf8(world.cru(&["check", "hosts"]).stdout).unwrap();
    for told in [World::new("events").import("events"), hosts] {
        assert!(told.contains(unknown), "{told}");
    }
    // A report of a form has its names and no text.
    let told = world.cru(&["import", "--report-format", file.to_str().unwrap()]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("\"prompt.text\":\"string\"") && told.contains("sang"), "{told}");
    assert!(["Mend", "mia", "parse.rs"].iter().all(|text| !told.contains(text)), "{told}");
}

/// What each importer was compared with stands in its row, and in the page as the row has it.
#[test]
fn every_importer_says_what_it_was_compared_with() {
    let page = include_str!("../../../docs/importers.md");
    for importer in cru::import::IMPORTERS {
        let known = &importer.agent().evidence;
        let told = |text: &'static str| if text.is_empty() { "–" } else { text };
        let line =
            [importer.title(), told(&known.source), told(&known.commit), told(&known.version), told(&known.date)];
        let line = format!("| {} |", line.join(" | "));
        assert!(!known.source.is_empty() && !known.date.is_empty() && page.contains(&line), "{line}");
    }
}

#[test]
fn every_program_knows_its_own_files_only() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/seeds");
    for importer in cru::import::IMPORTERS {
        for seed in ["steno", "rlm", "pibrain", "events"] {
            let found = cru::import::search(importer, &[seeds.join(seed)]).unwrap();
            assert_eq!(!found.bundles.is_empty(), importer.id == seed, "{} in {seed}", importer.id);
        }
    }
}

/// What a person wrote in a note stays, and what a session gained comes behind it.
#[test]
fn an_open_session_grows_into_an_edited_note() {
    let world = World::new("steno");
    let folder = world.temp.path().join("project/.steno");
    let open = String::from_utf8(files::read(&world.input.join("current-session.json")).unwrap()).unwrap();
    files::create(&folder.join("current-session.json"), open.as_bytes()).unwrap();
    let import = || world.cru(&["import", "steno", folder.to_str().unwrap()]);
    assert!(import().status.success());
    let (name, note) = world.notes().pop_first().unwrap();
    assert!(!note.contains("report"), "what still runs is not told");
    let path = world.vault().join(format!("sessions/{name}.md"));
    let edited = note.replace("(09:00:04) ^n-001", "(09:00:04) ^n-001\n    - mine: look at this again");
    assert_ne!(edited, note);
    files::put(&path, edited.as_bytes()).unwrap();
    let done = open.replace("\"running\"", "\"complete\"");
    assert_ne!(done, open);
    files::put(&folder.join("current-session.json"), done.as_bytes()).unwrap();
    let told = import();
    assert!(String::from_utf8_lossy(&told.stdout).contains("1 session updated (+1 record)"));
    let (_, grown) = world.notes().pop_first().unwrap();
    assert!(grown.contains("    - mine: look at this again\n"), "{grown}");
    assert!(grown.contains("- `report @baseline-pca` → `done` (09:05:00) ^n-002\n"), "{grown}");
}
