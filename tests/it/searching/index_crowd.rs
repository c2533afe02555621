//! Processes that bring the index up to date are killed while others ask and the notes change: no wrong answer, and
//! nobody is told of trouble.
//!
//! Each note says its version, and each answer about it must be a version that the note had while the command ran; when
//! all is quiet, the last one. `CRU_INDEX_CROWD=100` for a hundred rounds.

use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use cru::base::Env;
use cru::index::{NoteKey, Snapshot};
use cru::vault::{Vault, VaultPath};

use crate::running::writing::{ALONE, this, told};
use crate::searching::index_fresh::{places, wrong};

const NOTES: usize = 9;
const ASKING: usize = 10;
const INDEXING: usize = 2;

/// How a note changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A new file takes its place.
    Replaced,
    /// Six digits of its title are written over: size and inode stay, and often the time.
    InPlace,
    /// As replaced, and every fourth version of it is that it is not there.
    ComesAndGoes,
}

fn way(note: usize) -> Way {
    [Way::Replaced, Way::InPlace, Way::ComesAndGoes][note % 3]
}

fn is_there(note: usize, version: u64) -> bool {
    way(note) != Way::ComesAndGoes || version % 4 != 3
}

/// A word of one version of one note.
fn mark(note: usize, version: u64) -> String {
    format!("mark{version:06}n{note}")
}

fn text(note: usize, version: u64) -> String {
    let mut text = format!(
        "---\ntype: session\nsession_id: s-{note}\ntitle: Version {version:06}\nstarted: 2026-11-20T10:00:00Z\n\
         status: completed\ntokens_used: {version}\n---\n# Some title\n\n## Work @coder #dev\n\n\
         *2026-11-20T10:00:00Z* ^p-01\n\nThis is {}.\n\n**Tool calls:**\n",
        mark(note, version)
    );
    for step in 0..steps(version) {
        text.push_str(&format!("- `Bash step {step}` → ok ^n-{step:03}\n"));
    }
    text
}

fn steps(version: u64) -> u64 {
    version % 5 + 1
}

/// The notes, and which versions of them there may be at the moment.
struct Notes {
    root: PathBuf,
    begun: [AtomicU64; NOTES],
    done: [AtomicU64; NOTES],
}

impl Notes {
    fn new(dir: &Path) -> Self {
        let root = dir.join("vault");
        cru::base::files::create(&root.join(".cru/config.toml"), b"").unwrap();
        let notes =
            Self { root, begun: [const { AtomicU64::new(0) }; NOTES], done: [const { AtomicU64::new(0) }; NOTES] };
        for note in 0..NOTES {
            cru::base::files::create(&notes.path(note), text(note, 0).as_bytes()).unwrap();
        }
        notes
    }

    fn path(&self, note: usize) -> PathBuf {
        self.root.join(format!("sessions/s-{note}.md"))
    }

    /// The next version of a note.
    fn edit(&self, note: usize) {
        let version = self.done[note].load(Ordering::SeqCst) + 1;
        self.begun[note].store(version, Ordering::SeqCst);
        let path = self.path(note);
        if way(note) == Way::InPlace {
            let place = text(note, 0).find("000000").unwrap() as u64;
            let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            file.write_all_at(format!("{version:06}").as_bytes(), place).unwrap();
        } else if is_there(note, version) {
            cru::base::files::put(&path, text(note, version).as_bytes()).unwrap();
        } else {
            cru::base::files::remove(&path).unwrap();
        }
        self.done[note].store(version, Ordering::SeqCst);
    }

    /// The oldest version that an answer may have from now on.
    fn before(&self) -> [u64; NOTES] {
        std::array::from_fn(|note| self.done[note].load(Ordering::SeqCst))
    }

    /// Checks answers (note and version) of a command that began when `before` was.
    fn check(&self, before: &[u64; NOTES], answers: &[(usize, u64)]) {
        for (note, before) in before.iter().enumerate() {
            let now = self.begun[note].load(Ordering::SeqCst);
            let mut own = answers.iter().filter(|(of, _)| *of == note).map(|(_, version)| *version);
            match own.next() {
                Some(version) => assert!(
                    (*before..=now).contains(&version),
                    "s-{note}: version {version}, and it was {before} before and at most {now} then"
                ),
                None => assert!(
                    (*before..=now).any(|version| !is_there(note, version)),
                    "s-{note} is not in the answer, and was there from version {before} to {now}"
                ),
            }
            assert_eq!(own.next(), None, "s-{note} is there twice");
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let home = self.root.parent().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(&self.root).env_clear();
        command.env("HOME", home).env("XDG_STATE_HOME", home.join("state"));
        command.stdin(Stdio::null());
        command
    }

    /// Asks for the list, and checks it.
    fn list(&self) {
        let before = self.before();
        let output = self.command(&["session", "list", "-f", "json"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let quiet = !said.contains("warning") && !said.contains("error") && !said.contains("panicked");
        assert!(output.status.success() && quiet, "{}: {said}", output.status);
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = list["sessions"].as_array().unwrap();
        let answers: Vec<(usize, u64)> = rows.iter().map(answer).collect();
        self.check(&before, &answers);
    }

    /// Has another process search, and checks what it says.
    fn search(&self) {
        let before = self.before();
        let output = this("searching::index_crowd::searcher", self.root.parent().unwrap(), &[]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let well = output.status.success() && said.contains("finished");
        assert!(well, "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        let answer = |line: &str| {
            let (_, answer) = line.split_once("found ")?;
            let (note, version) = answer.split_once(' ')?;
            Some((note.parse().unwrap(), version.parse().unwrap()))
        };
        self.check(&before, &said.lines().filter_map(answer).collect::<Vec<_>>());
    }

    /// Starts what brings the index up to date, and kills it a little later.
    fn kill(&self, args: &[&str], random: &mut u64) {
        let mut child = self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((*random >> 33) % 120_000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Note and version of a row, all of which must be of one version.
fn answer(row: &serde_json::Value) -> (usize, u64) {
    let note = row["id"].as_str().unwrap().strip_prefix("s-").unwrap().parse().unwrap();
    let version: u64 = row["title"].as_str().unwrap().strip_prefix("Version ").unwrap().parse().unwrap();
    let rest = if way(note) == Way::InPlace { 0 } else { version };
    assert_eq!((row["tokens"].as_u64(), row["steps"].as_u64()), (Some(rest), Some(steps(rest))), "{row}");
    (note, version)
}

/// Takes a snapshot and says which versions are in it; its rows and its entries must be of the same version.
#[test]
#[ignore = "a process that the test below starts"]
fn searcher() {
    let Some(dir) = told("CRU_TEST_DIR") else { panic!("{ALONE}") };
    let vault = vault(&Path::new(&dir).join("vault"));
    let snapshot = Snapshot::open(&vault).unwrap();
    for row in snapshot.sessions() {
        let note: usize = row.id.strip_prefix("s-").unwrap().parse().unwrap();
        let version: u64 = row.title.strip_prefix("Version ").unwrap().parse().unwrap();
        let marked = if way(note) == Way::InPlace { 0 } else { version };
        let key = NoteKey::of(&VaultPath::new(row.path.as_str()).unwrap());
        let found: Vec<NoteKey> = places(&snapshot, &mark(note, marked)).into_iter().map(|(key, ..)| key).collect();
        assert_eq!(found, [key], "{} has the words of its version", row.path);
        for other in [marked.wrapping_sub(1), marked + 1] {
            assert!(places(&snapshot, &mark(note, other)).is_empty(), "{} has words of version {other}", row.path);
        }
        println!("found {note} {version}");
    }
    println!("finished");
}

/// The vault as the program sees it, with the same cache.
fn vault(root: &Path) -> Vault {
    let home = root.parent().unwrap();
    let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, root, &[("HOME", home.to_str().unwrap())]);
    Vault::find_to_read(Some(root), &env).unwrap()
}

/// Edits, questions and kills at the same time.
fn round(notes: &Notes, seed: u64) {
    let ways: &[&[&str]] = &[&["index"], &["index"], &["session", "list", "-f", "json"], &["index", "--rebuild"]];
    let (stop, asking) = (AtomicBool::new(false), AtomicUsize::new(ASKING));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = seed;
            while !stop.load(Ordering::SeqCst) {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                notes.edit((random >> 33) as usize % NOTES);
                std::thread::sleep(Duration::from_micros((random >> 40) % 12_000));
            }
        });
        for place in 0..INDEXING {
            let (asking, seed) = (&asking, seed ^ (place as u64 + 1));
            scope.spawn(move || {
                let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                while asking.load(Ordering::SeqCst) > 0 {
                    notes.kill(ways[(random >> 20) as usize % ways.len()], &mut random);
                }
            });
        }
        let asking: Vec<_> = (0..ASKING)
            .map(|place| {
                let asking = &asking;
                scope.spawn(move || {
                    let _one_less = OneLess(asking);
                    for _ in 0..2 {
                        if place % 3 == 0 { notes.search() } else { notes.list() }
                    }
                })
            })
            .collect();
        let failed = asking.into_iter().find_map(|thread| thread.join().err());
        stop.store(true, Ordering::SeqCst);
        if let Some(failed) = failed {
            std::panic::resume_unwind(failed);
        }
    });
}

/// Counts down also when what it counts fails, so that nobody waits for it.
struct OneLess<'a>(&'a AtomicUsize);

impl Drop for OneLess<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn no_wrong_answer_while_notes_change_and_who_indexes_is_killed() {
    let rounds = told("CRU_INDEX_CROWD").and_then(|rounds| rounds.parse().ok()).unwrap_or(2_u64);
    let dir = tempfile::tempdir().unwrap();
    let notes = Notes::new(dir.path());
    let vault = vault(&notes.root);
    for number in 0..rounds {
        round(&notes, number + 1);
        // Now nobody edits: each answer is the truth.
        notes.list();
        notes.search();
        let wrong = wrong(&vault);
        assert!(wrong.is_empty(), "round {number}: {}", wrong.join("\n"));
        let checked = notes.command(&["index", "--check"]).output().unwrap();
        assert!(checked.status.success(), "round {number}: {checked:?}");
        if number % 5 == 4 {
            let _ = std::fs::remove_dir_all(vault.cache().unwrap());
        }
    }
    let edits: u64 = notes.before().iter().sum();
    assert!(edits > rounds, "{edits}");
    println!("{rounds} rounds, {edits} edits");
}
