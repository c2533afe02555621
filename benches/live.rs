//! How fast a live session is: made, loaded, saved, given a step, asked for its steps.
//!
//! `cargo bench --bench live` prints the median and the slowest of many runs beside the targets (typical on a note of
//! 50 KB, at most on one of 5 MB) and a floor measured in the same run: the same bytes moved by the bare library. With
//! `-- --require` it exits with 1 when a median is above its target; `-- load` runs only what has that in its name.
//!
//! A step is *created* when it is in the journal: from there on it is safe. *Saving* is a flush of one pending step into
//! the note: stable read, operations, durable log, durable exchange.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench talks to a terminal")]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cru::live::entry::{Entry, Tool};
use cru::live::log::{Log, Target};
use cru::live::start::{Start, start};
use cru::vault::{Catalog, Journal, State, Vault};
use jiff::Timestamp;
use pulldown_cmark::{Options, Parser};

const ROUNDS: usize = 40;

/// Operation, target on the typical note and on the largest, in milliseconds.
const TARGETS: &[(&str, f64, f64)] = &[
    ("create session", 10.0, 50.0),
    ("load session", 20.0, 100.0),
    ("save session", 30.0, 150.0),
    ("create step", 5.0, 20.0),
    ("query steps", 10.0, 50.0),
];

fn main() -> ExitCode {
    let required = std::env::args().any(|arg| arg == "--require");
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let mut slow = false;
    let beds = [
        ("50 KB", 50_000, Mix::Usual, 0),
        ("5 MB", 5_000_000, Mix::Usual, 1),
        ("5 MB, nothing but steps", 5_000_000, Mix::Steps, 2),
    ];
    for (name, size, mix, column) in beds {
        let bed = Bed::new(size, mix);
        println!("note of {name} ({} bytes, {} steps)", bed.len(), bed.query());
        for &(what, typical, most) in TARGETS.iter().filter(|(what, ..)| what.contains(&only)) {
            slow |= report(&bed, what, [typical, most, f64::INFINITY][column]);
        }
    }
    if "create session".contains(&only) {
        let crowded = Bed::new(50_000, Mix::Usual);
        crowded.add_notes(1000);
        println!("a vault of 1,000 more notes");
        slow |= report(&crowded, "create session", 50.0);
    }
    if required && slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints a line; whether the median is above the target.
fn report(bed: &Bed, what: &str, target: f64) -> bool {
    let (run, floor) = bed.measure(what);
    let (median, slowest, floor) = (middle(&run), ms(run.iter().max()), middle(&floor));
    let slow = median > target;
    let verdict = if slow { "  ABOVE TARGET" } else { "" };
    let target = if target.is_finite() { format!("target {target:5.0}") } else { "no target   ".to_owned() };
    println!(
        "  {what:<15} {median:8.2} ms  slowest {slowest:8.2}  {target}  floor {floor:7.2}  x{:.1}{verdict}",
        median / floor
    );
    slow
}

fn ms(time: Option<&Duration>) -> f64 {
    time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn middle(times: &[Duration]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    ms(sorted.get(sorted.len() / 2))
}

/// What a note is made of.
#[derive(Clone, Copy)]
enum Mix {
    /// What 78 notes of real sessions are made of, by bytes: steps 26 %, their nested lines 18 %, prose 30 %, the user's
    /// words 11 %, other callouts 8 %, the rest headings; about 500 bytes for each step.
    Usual,
    /// Steps of 120 bytes and hardly anything else: no note of a session we have is like that.
    Steps,
}

fn usual(text: &mut String, phase: usize) {
    let _ = write!(
        text,
        "\n## Make part {phase} work again @coder@2.0 #dev\n\n*2026-11-20T09:31:10Z* ^p-{phase:02}\n\n> [!user]\n\
         > \"Part {phase} fails since yesterday. Look at the log of the last run first, then at `src/part{phase}.rs`, and\n\
         > tell me what you think before you change anything; the other parts should stay as they are.\n\
         > Do not touch the tests of [the parser](docs/parser.md).\"\n> At: 09:31:10\n\n"
    );
    if phase.is_multiple_of(3) {
        let _ = write!(
            text,
            "> [!decision] Keep part {phase} as it is\n> The change goes to its caller, since two others use it.\n\
             > Why: a second version would have to be kept in step with the first, and nobody would do that.\n\
             > Rejected: a copy of the part with another name\n> Impact: src/caller.rs\n\n"
        );
    }
    for paragraph in 1..=2 {
        let _ = write!(
            text,
            "I have looked at the log ({paragraph}): the run stops in `parse_line` when a line is **longer** than the buffer.\n\n\
             - the buffer has 4,096 bytes, and the longest line of the log has 5,120\n\
             - what is behind the buffer's end is taken for the next line, see [[#^p-{phase:02}]]\n\n\
             So I would read the line in pieces and put them together; that also saves the copy that is made now.\n\n"
        );
    }
    text.push_str("**Tool calls:**\n");
    for step in phase * 5..phase * 5 + 5 {
        let _ = write!(
            text,
            "- `Bash cargo test -p part{step} --all-features -- --nocapture` → 41 passed, 0 failed (+12 lines) (09:31:42, 3.2 s) ^n-{step:03}\n\
             \x20   - reads: `crates/part{step}/src/lib.rs@9f2c11ab`\n    - writes: `target/debug/part{step}` (created)\n"
        );
    }
}

fn steps(text: &mut String, phase: usize) {
    let _ =
        write!(text, "\n## Part {phase} @coder@2.0 #dev\n\n*2026-11-20T09:31:10Z* ^p-{phase:02}\n\n**Tool calls:**\n");
    for step in phase * 40..phase * 40 + 40 {
        let _ = write!(
            text,
            "- `Bash cargo test -p part{step}` → {step} passed (09:31:42, 3.2 s) ^n-{step:03}\n    - reads: `src/part{step}.rs@9f2c11ab`\n"
        );
    }
}

/// A vault with one session of about `size` bytes.
struct Bed {
    _dir: tempfile::TempDir,
    vault: Vault,
    state: State,
    target: Target,
}

impl Bed {
    fn new(size: usize, mix: Mix) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().join("vault");
        for folder in [root.join(".cru"), dir.path().join("state")] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let vault = Vault::open(&root).expect("a vault");
        let state = State::at(dir.path().join("state"));
        let started = start(&vault, &state, &Start { title: Some("Bench".into()), ..Start::default() });
        let target = started.expect("a session").target;
        let path = vault.file(&target.path);
        let mut text = fs::read_to_string(&path).expect("the note");
        let mut phase = 0;
        while text.len() < size {
            phase += 1;
            match mix {
                Mix::Usual => usual(&mut text, phase),
                Mix::Steps => steps(&mut text, phase),
            }
        }
        fs::write(&path, text).expect("the note");
        Self { _dir: dir, vault, state, target }
    }

    /// Other sessions, small ones.
    fn add_notes(&self, count: usize) {
        let note = fs::read_to_string(self.path()).expect("the note");
        let (head, _) = note.split_once("\n## ").expect("a phase");
        for number in 0..count {
            let path = self.path().with_file_name(format!("2026-01-01-other-{number}.md"));
            let own = head.replace(self.target.id.as_str(), &format!("2026-01-01-other-{number}"));
            fs::write(path, own).expect("a note");
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.vault.file(&self.target.path)
    }

    fn len(&self) -> u64 {
        fs::metadata(self.path()).map_or(0, |it| it.len())
    }

    fn query(&self) -> usize {
        let session = self.vault.session(&self.target.path).expect("the session");
        session.steps().filter(|(_, step)| step.tool == "Bash").count()
    }

    fn step(number: usize) -> Entry {
        let result = Some("ok".to_owned());
        Entry::Tool(Tool { tool: "Bash".into(), args: format!("echo {number}"), result, ..Tool::default() })
    }

    /// Times of `what`, and of its floor.
    fn measure(&self, what: &str) -> (Vec<Duration>, Vec<Duration>) {
        let log = Log::new(&self.vault, &self.state, Timestamp::UNIX_EPOCH).expect("a log");
        let journal = Journal::at(self.state.dir().join("bench.jsonl"));
        let bytes = fs::read(self.path()).expect("the note");
        let (mut run, mut floor) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let timed = |times: &mut Vec<Duration>, work: &mut dyn FnMut()| {
                let start = Instant::now();
                work();
                times.push(start.elapsed());
            };
            let aside = self.state.dir().join(format!("aside-{round}"));
            match what {
                "create session" => {
                    let start_of = Start { title: Some(format!("New {round}")), ..Start::default() };
                    let mut made = None;
                    timed(&mut run, &mut || made = start(&self.vault, &self.state, &start_of).ok());
                    let made = made.expect("a session");
                    let note = fs::read(self.vault.file(&made.target.path)).expect("the note");
                    timed(&mut floor, &mut || put(&aside, &note));
                }
                "load session" => {
                    let mut loaded = None;
                    timed(&mut run, &mut || {
                        let catalog = Catalog::read(&self.vault);
                        loaded = Some((catalog, self.vault.load(&self.target.path).expect("the session")));
                    });
                    black_box(loaded);
                    timed(&mut floor, &mut || parse(&self.path()));
                }
                "save session" => {
                    log.add(&self.target, &Self::step(round)).expect("an entry");
                    timed(&mut run, &mut || {
                        black_box(log.flush(&self.target, "bench").expect("a flush"));
                    });
                    timed(&mut floor, &mut || put(&aside, &bytes));
                }
                "create step" => {
                    let entry = Self::step(round);
                    timed(&mut run, &mut || {
                        black_box(journal.append(&entry, Timestamp::UNIX_EPOCH).expect("an entry"));
                    });
                    timed(&mut floor, &mut || append(&aside));
                }
                _ => {
                    timed(&mut run, &mut || {
                        black_box(self.query());
                    });
                    timed(&mut floor, &mut || parse(&self.path()));
                }
            }
            let _ = fs::remove_file(&aside);
        }
        (run, floor)
    }
}

/// The same bytes into a new file, durably.
fn put(path: &Path, bytes: &[u8]) {
    let mut file = fs::File::create(path).expect("a file");
    file.write_all(bytes).expect("room");
    file.sync_all().expect("a disk");
}

/// A line at the end of a file.
fn append(path: &Path) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).expect("a file");
    file.write_all(&[b'x'; 120]).expect("room");
}

/// The bare markdown parser on the note.
fn parse(path: &Path) {
    let text = fs::read_to_string(path).expect("the note");
    black_box(Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES).into_offset_iter().count());
}
