//! What the index answers is what the notes say, whatever happened to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rayon::prelude::*;

use super::disk::Disk;
use super::*;
use cru_base::files;
use cru_vault::{Vault, VaultPath};

struct Bed {
    dir: tempfile::TempDir,
}

impl Bed {
    fn new(notes: usize) -> Self {
        let bed = Self { dir: tempfile::tempdir().unwrap() };
        files::create_dir(&bed.dir.path().join(".cru")).unwrap();
        for number in 0..notes {
            bed.write(&format!("s{number}"), "one");
        }
        bed
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, name: &str, word: &str) {
        let text = format!(
            "---\ntype: session\nsession_id: {name}\nstatus: active\n---\n# {name}\n\n## Build @coder\n\n- `Bash {word}` → ok ^n-001\n"
        );
        files::put(&self.root().join(format!("sessions/{name}.md")), text.as_bytes()).unwrap();
    }

    fn vault(&self) -> Vault {
        Vault::open(self.root()).unwrap().cached_in(self.root().join(".machine"))
    }

    fn open(&self) -> Snapshot {
        Snapshot::open(&self.vault()).unwrap()
    }

    fn index(&self, name: &str) -> std::path::PathBuf {
        self.root().join(".machine/index").join(name)
    }

    /// That the index on disk says what the notes say once all is written, and what was done for it.
    fn checked(&self) -> Refreshed {
        let complete = Options { complete: true, ..Options::default() };
        let snapshot = Snapshot::open_with(&self.vault(), &complete).unwrap();
        assert_eq!(snapshot.parts().len(), 1);
        assert_eq!(check::differences(&self.vault(), &snapshot).unwrap(), []);
        let steps: Vec<String> =
            snapshot.records(|_| true).iter().flat_map(|it| it.steps.clone()).map(|step| step.args).collect();
        assert_eq!(steps.len(), snapshot.len());
        snapshot.refreshed
    }

    /// All files of the index.
    fn saved(&self) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(self.index("")).unwrap().flatten().filter(|entry| entry.path().is_file());
        files.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
    }
}

#[test]
fn follows_the_notes() {
    let bed = Bed::new(3);
    assert_eq!(bed.checked().rebuilt.as_deref(), Some("there was none"));
    assert_eq!(bed.checked(), Refreshed::default());
    bed.write("s1", "two");
    assert_eq!(bed.checked().read, 1);
    bed.write("s1", "six");
    assert_eq!(bed.checked().read, 1, "of the same size, at once");
    files::remove(&bed.root().join("sessions/s0.md")).unwrap();
    assert_eq!(bed.checked().gone, 1);
    let text = fs::read(bed.root().join("sessions/s1.md")).unwrap();
    files::put(&bed.root().join("sessions/s9.md"), &text).unwrap();
    files::remove(&bed.root().join("sessions/s1.md")).unwrap();
    let done = bed.checked();
    assert_eq!((done.read, done.gone), (1, 1));
    files::put(&bed.root().join("sessions/s2.md"), b"no session any more").unwrap();
    bed.checked();
    assert_eq!(bed.open().sessions().iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), ["sessions/s9.md"]);
}

#[test]
fn a_prefix_is_searched_where_the_changed_note_is_no_session() {
    let bed = Bed::new(3);
    bed.checked();
    files::put(&bed.root().join("sessions/s2.md"), b"no session any more").unwrap();
    let snapshot = bed.open();
    let query = Query::parse("on*", &jiff::Zoned::default()).unwrap();
    let hits = search::Search::new(&snapshot, &query, &search::SearchOptions::default()).hits().unwrap();
    assert_eq!(hits.len(), 2);
}

/// Evidence of five megabytes for each note.
struct Long;

impl Evidence for Long {
    fn fingerprint(&self, _: &SessionRow) -> Option<u64> {
        Some(1)
    }

    fn size(&self, _: &SessionRow) -> u64 {
        5 << 20
    }

    fn entries(&self, _: &VaultPath, _: &cru_note::Note, _: &cru_session::Session) -> Vec<Entry> {
        Vec::new()
    }
}

#[test]
fn rows_are_read_by_several_threads() {
    let bed = Bed::new(40);
    bed.checked();
    let opened = Disk::of(&bed.vault()).unwrap().open().unwrap();
    let places: Vec<_> = opened.manifest.notes.iter().map(|seen| seen.row.unwrap()).collect();
    let lost = |_| places.iter().filter(|place| opened.row(**place).is_none()).count();
    assert_eq!((0..2_000).into_par_iter().map(lost).sum::<usize>(), 0);
}

#[test]
fn much_evidence_of_a_few_notes_waits_for_whoever_asks() {
    let bed = Bed::new(40);
    let sources = Sources { evidence: Some(&Long) };
    let unasked = Options { sources, complete: true, may_wait: true, ..Options::default() };
    let read = |options: &Options<'_>| prepare(&bed.vault(), options).unwrap().read;
    assert_eq!(read(&unasked), 40, "the first time");
    bed.write("s1", "two");
    assert_eq!(read(&unasked), 0);
    let asked = Options { sources, ..Options::default() };
    assert_eq!(Snapshot::open_with(&bed.vault(), &asked).unwrap().refreshed.read, 1);
    (0..20).for_each(|number| bed.write(&format!("s{number}"), "six"));
    assert_eq!(read(&unasked), 20, "many at once are written by whoever changed them");
}

/// The phases of all sessions, as their tables have them.
fn phases(snapshot: &Snapshot) -> Vec<record::PhaseRow> {
    let mut found = Vec::new();
    snapshot.each_record(|_| true, &[Table::Phases], |record| record.phases, |phases| found.extend(phases));
    found
}

#[test]
fn damage_is_mended() {
    let bed = Bed::new(3);
    bed.checked();
    let files = ["notes", "entries/meta.json"];
    for file in files {
        let path = bed.index(file);
        let bytes = fs::read(&path).unwrap();
        for text in [&bytes[..bytes.len() / 2], b"", b"nonsense"] {
            files::put(&path, text).unwrap();
            assert!(bed.checked().rebuilt.is_some(), "{file}");
        }
        files::remove(&bed.index(file)).unwrap();
        assert!(bed.checked().rebuilt.is_some(), "{file}");
    }
    let kept = |start: &str| bed.saved().into_keys().find(|name| name.starts_with(start)).unwrap();
    files::put(&bed.index(&kept("tables.")), b"").unwrap();
    assert_eq!(phases(&bed.open()).len(), 3, "tables are read from the notes");
    files::put(&bed.index(&kept("rows.")), b"").unwrap();
    assert_eq!(bed.open().sessions().len(), 3, "rows are read from the notes");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_waited_for() {
    let bed = Bed::new(3);
    bed.checked();
    let file = |start: &str| bed.saved().into_keys().find(|name| name.starts_with(start)).unwrap();
    let pipe =
        |path: &std::path::Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    for start in ["notes", "checked", "rows.", "tables.", "entries/meta.json", "entries/.managed.json", "entries"] {
        for is_pipe in [true, false] {
            let path = bed.index(&if start.ends_with('.') { file(start) } else { start.to_owned() });
            let _ = files::remove(&path).is_ok() || fs::remove_dir_all(&path).is_ok();
            if is_pipe {
                pipe(&path);
            } else if start != "entries" {
                fs::create_dir(&path).unwrap();
            }
            assert!(bed.checked().rebuilt.is_some(), "{start}");
            assert_eq!(bed.open().sessions().len(), 3, "{start}");
        }
    }
}

/// All files of the index, with those of the entries.
fn all_files(bed: &Bed) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in ["", "entries"] {
        let files = fs::read_dir(bed.index(folder)).unwrap().flatten().map(|entry| entry.path());
        found.extend(files.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(&path).unwrap())));
    }
    found
}

/// All that the index answers: rows, records, what is found and where.
fn answers(bed: &Bed) -> Vec<String> {
    let snapshot = bed.open();
    let mut told: Vec<String> = snapshot.sessions().iter().map(|row| format!("{row:?}")).collect();
    told.extend(snapshot.records(|_| true).iter().map(|record| format!("{record:?}")));
    told.extend(phases(&snapshot).iter().map(|phase| format!("{phase:?}")));
    for query in ["one", "coder", "bash one", "on*", "s3"] {
        let query = Query::parse(query, &jiff::Zoned::default()).unwrap();
        let options = search::SearchOptions { limit: 1000, ..search::SearchOptions::default() };
        let mut hits = search::Search::new(&snapshot, &query, &options).hits().unwrap();
        hits.sort_by_key(|hit| hit.key);
        told.push(format!("{hits:?}"));
    }
    told
}

#[test]
fn one_flipped_bit_anywhere_gives_the_answers_of_a_fresh_index() {
    /// Bytes of each file in which a bit is flipped.
    const SPREAD: usize = 12;
    let bed = Bed::new(12);
    bed.checked();
    bed.write("s1", "two");
    bed.checked();
    let right = answers(&bed);
    let saved = all_files(&bed);
    let (mut flips, mut mended) = (0, 0);
    for (file, bytes) in &saved {
        for number in 0..SPREAD.min(bytes.len()) {
            fs::remove_dir_all(bed.index("entries")).unwrap();
            for (path, bytes) in &saved {
                files::put(path, bytes).unwrap();
            }
            let at = bytes.len() * number / SPREAD;
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (number % 8);
            files::put(file, &damaged).unwrap();
            assert_eq!(answers(&bed), right, "bit {} of byte {at} of {}", number % 8, file.display());
            flips += 1;
            let done = bed.checked();
            mended += usize::from(done.rebuilt.is_some());
            assert_eq!(bed.checked(), Refreshed::default(), "{}", file.display());
        }
    }
    assert!(flips > 100, "{flips}");
    println!("{flips} flips, {mended} of them mended later");
}

/// Else who has read the list of notes of one would take the entries of the other for those that it belongs to.
#[test]
fn one_that_is_made_anew_is_never_taken_for_the_one_before() {
    let bed = Bed::new(2);
    let generation = || disk::Disk::of(&bed.vault()).unwrap().open().unwrap().manifest.generation;
    bed.open();
    let first = generation();
    fs::remove_dir_all(bed.index("")).unwrap();
    bed.open();
    assert!(generation() > first);
}

#[test]
fn a_writer_that_was_killed_after_its_commit() {
    let bed = Bed::new(3);
    bed.checked();
    let before = bed.saved();
    bed.write("s1", "two");
    bed.write("s7", "new");
    bed.checked();
    // The entries are committed; rows and manifest are still the old ones.
    for name in bed.saved().into_keys().filter(|name| name.starts_with("rows.") || name.starts_with("tables.")) {
        files::remove(&bed.index(&name)).unwrap();
    }
    for (name, bytes) in before.iter().filter(|(name, _)| name.as_str() != "pending") {
        files::put(&bed.index(name), bytes).unwrap();
    }
    bed.write("s1", "three");
    let done = bed.checked();
    assert_eq!((done.rebuilt, done.read), (None, 2));
    assert_eq!(bed.open().len(), 4);
}

#[test]
fn while_somebody_writes_changed_notes_are_read_into_memory() {
    let bed = Bed::new(3);
    bed.checked();
    let lock = files::lock(&bed.index("lock")).unwrap();
    bed.write("s1", "two");
    files::remove(&bed.root().join("sessions/s0.md")).unwrap();
    let snapshot = bed.open();
    assert_eq!(snapshot.parts().len(), 2);
    let args: Vec<_> = snapshot.records(|_| true).iter().map(|it| it.steps[0].args.clone()).collect();
    assert_eq!(args, ["two", "one"]);
    assert_eq!(check::differences(&bed.vault(), &snapshot).unwrap(), []);
    drop(lock);
    assert_eq!(bed.checked().read, 1);
}

#[test]
fn few_changed_notes_are_read_and_not_written() {
    let bed = Bed::new(30);
    bed.checked();
    let before = bed.saved();
    bed.write("s1", "two");
    bed.write("s99", "new");
    files::remove(&bed.root().join("sessions/s0.md")).unwrap();
    let snapshot = bed.open();
    assert_eq!((snapshot.len(), &snapshot.refreshed), (30, &Refreshed::default()));
    assert_eq!(check::differences(&bed.vault(), &snapshot).unwrap(), []);
    assert_eq!(bed.saved(), before);
    for number in 2..20 {
        bed.write(&format!("s{number}"), "many");
    }
    assert_eq!(bed.open().refreshed.read, 20);
    assert_ne!(bed.saved(), before);
    assert_eq!(bed.checked(), Refreshed::default());
    // One that is long is written at once.
    bed.write("s1", &"long ".repeat(200_000));
    assert_eq!(bed.open().refreshed.read, 1);
}

#[test]
fn rows_are_appended_and_written_anew_when_most_are_outdated() {
    let bed = Bed::new(3);
    bed.checked();
    let kept = |start: &str| {
        let (name, bytes) = bed.saved().into_iter().find(|(name, _)| name.starts_with(start)).unwrap();
        (name, bytes.len())
    };
    let rows = || kept("rows.");
    let (first, one) = rows();
    let tables = kept("tables.");
    bed.write("s1", "two");
    bed.checked();
    let (second, two) = rows();
    assert!(first == second && two > one, "{first} {second} {one} {two}");
    let path = bed.index(&first);
    files::append(&path, &vec![0; 2 << 20]).unwrap();
    bed.write("s2", "two");
    bed.checked();
    let (third, three) = rows();
    assert!(third != first && three < two, "{third} {three}");
    assert_ne!(kept("tables.").0, tables.0, "the tables go with them");
    assert_eq!(phases(&bed.open()).len(), 3);
    assert_eq!(bed.checked(), Refreshed::default());
}

#[test]
fn overlaid_notes_are_found_and_never_kept() {
    let bed = Bed::new(2);
    bed.checked();
    let path = VaultPath::new("sessions/s1.md").unwrap();
    let text = fs::read_to_string(bed.root().join("sessions/s1.md")).unwrap().replace("Bash one", "Bash waiting");
    let vault = bed.vault().overlaid([(path, text.into_bytes())].into());
    let snapshot = Snapshot::open(&vault).unwrap();
    assert_eq!(snapshot.records(|_| true)[1].steps[0].args, "waiting");
    assert_eq!(check::differences(&vault, &snapshot).unwrap(), []);
    assert_eq!(bed.checked(), Refreshed::default());
}

#[cfg(unix)]
#[test]
fn a_vault_that_cannot_be_written_is_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let bed = Bed::new(2);
    let dot = bed.root().join(".machine");
    files::create_dir(&dot).unwrap();
    fs::set_permissions(&dot, fs::Permissions::from_mode(0o555)).unwrap();
    let snapshot = bed.open();
    fs::set_permissions(&dot, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(snapshot.len(), 2);
    assert_eq!(snapshot.records(|_| true).len(), 2);
}

#[cfg(unix)]
#[test]
fn a_note_that_cannot_be_read_is_told_and_the_rest_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let bed = Bed::new(3);
    let locked = bed.root().join("sessions/s1.md");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&locked).is_ok() {
        // Whoever may read everything cannot see this case.
        return;
    }
    for read in [3, 0, 0] {
        let snapshot = bed.open();
        assert_eq!((snapshot.len(), snapshot.refreshed.read), (2, read), "nothing is done again");
        let told: Vec<String> = snapshot.findings.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(told, ["sessions/s1.md"]);
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(bed.checked().read, 1);
    assert_eq!(bed.open().findings, []);
}

#[cfg(target_os = "linux")]
#[test]
fn a_note_whose_path_is_no_text_is_found_and_never_kept() {
    use std::os::unix::ffi::OsStrExt as _;
    let bed = Bed::new(2);
    let text = fs::read(bed.root().join("sessions/s1.md")).unwrap();
    let path = bed.root().join("sessions").join(std::ffi::OsStr::from_bytes(b"s\xff.md"));
    files::put(&path, &text).unwrap();
    bed.open();
    for _ in 0..2 {
        let snapshot = bed.open();
        assert_eq!((snapshot.len(), snapshot.refreshed.read), (3, 0), "nothing is done again");
    }
}
