//! How fast and how small the index is, against the least that anybody must do with the same bytes in the same run.
//!
//! `cargo bench --bench index` makes a vault of 1,000 sessions; `-- --sessions 10000` is the real thing (about 300 MB),
//! `-- --vault DIR` takes one that is there (its folder `.machine`, which holds the index, is deleted). With `--require` it exits with 1 when a figure
//! is not what it must be. Figures are medians, taken in turns, so that a busy machine slows all alike.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench talks to a terminal and makes its world")]

mod floor;
#[path = "../../examples/gen_vault/generate/mod.rs"]
#[allow(dead_code, reason = "shared with an example and with tests, each of which uses a part")]
mod generate;
mod process;
mod report;

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use cru::index::search::{Search, SearchOptions};
use cru::index::{NoteKey, Query, Snapshot};
use cru::vault::{Vault, VaultPath};
use tantivy::Term;
use tantivy::collector::TopDocs;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;

use generate::{COMMON, RARE, Recipe};
use report::{Report, median, ms};

/// Rounds of what takes seconds, and of what takes milliseconds.
const FEW: usize = 3;
const MANY: usize = 15;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let recipe = Recipe { sessions: value("--sessions").map_or(Ok(1_000), |n| n.parse())?, ..Recipe::default() };
    let temp = tempfile::tempdir()?;
    let root = match value("--vault") {
        Some(given) => PathBuf::from(given).canonicalize()?,
        None => temp.path().join("vault"),
    };
    if value("--vault").is_none() {
        recipe.write(&root)?;
    }
    let bed = Bed {
        vault: Vault::open(&root)?.cached_in(root.join(".machine")),
        root,
        threads: std::thread::available_parallelism()?.get(),
    };
    let (files, bytes) = floor::walk(&bed.root);
    println!("{files} files, {:.1} MB, {} threads", bytes as f64 / 1e6, bed.threads);
    let mut report = Report::default();
    bed.build(&mut report, temp.path(), bytes)?;
    bed.refresh(&mut report)?;
    bed.change(&mut report)?;
    bed.queries(&mut report)?;
    bed.processes(&mut report)?;
    bed.memory(&mut report)?;
    if report.missed().is_empty() || !args.iter().any(|arg| arg == "--require") {
        return Ok(ExitCode::SUCCESS);
    }
    println!("missed: {}", report.missed().join(", "));
    Ok(ExitCode::FAILURE)
}

struct Bed {
    root: PathBuf,
    vault: Vault,
    threads: usize,
}

/// The time of one run, pushed onto `times`.
fn timed<T>(times: &mut Vec<Duration>, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let made = work();
    times.push(start.elapsed());
    made
}

impl Bed {
    fn forget(&self) -> std::io::Result<()> {
        match fs::remove_dir_all(self.vault.cache().unwrap_or(&self.root.join(".machine"))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// All of it from nothing.
    fn build(&self, report: &mut Report, temp: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
        let ready = floor::ready(&self.vault);
        let (mut ours, mut floors) = (Vec::new(), Vec::new());
        for round in 0..FEW {
            let place = temp.join(format!("floor-{round}"));
            fs::create_dir_all(&place)?;
            floors.push(floor::build(&ready, &place, self.threads)?);
            fs::remove_dir_all(&place)?;
            self.forget()?;
            let sessions = timed(&mut ours, || Snapshot::open(&self.vault).map(|snapshot| snapshot.sessions().len()))?;
            if sessions != ready.len() {
                return Err(format!("{sessions} sessions in the index, {} in the vault", ready.len()).into());
            }
        }
        let (ours, floor) = (median(ours), median(floors));
        let share = ms(floor) / ms(ours);
        let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        let line = format!(
            "{:9.0} ms ({:.0} MB/s), bare read, parse and tantivy {:.0} ms ({:.0} MB/s): {share:.2} of its speed, at least 0.8",
            ms(ours),
            speed(ours),
            ms(floor),
            speed(floor)
        );
        report.line("full build", &line, share >= 0.8);
        Ok(())
    }

    /// The faster of two bare walks.
    fn walk(&self) -> Duration {
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..MANY {
            black_box(timed(&mut together, || floor::walk(&self.root)));
            black_box(timed(&mut alone, || floor::walk_alone(&self.root)));
        }
        median(together).min(median(alone))
    }

    /// Nothing has changed.
    fn refresh(&self, report: &mut Report) -> Result<(), Box<dyn Error>> {
        // Notes that are younger than their look are looked at twice.
        std::thread::sleep(Duration::from_secs(3));
        black_box(Snapshot::open(&self.vault)?.sessions().len());
        let mut ours = Vec::new();
        for _ in 0..MANY {
            black_box(timed(&mut ours, || Snapshot::open(&self.vault))?);
        }
        report.against("refresh, nothing changed", median(ours), ("walk and stat", self.walk()), 2.0);
        Ok(())
    }

    /// One note has another paragraph, and the next query finds it.
    fn change(&self, report: &mut Report) -> Result<(), Box<dyn Error>> {
        let path = Snapshot::open(&self.vault)?.sessions().first().map(|row| row.path.clone()).ok_or("no session")?;
        let path = VaultPath::new(path).ok_or("no path")?;
        let text = fs::read_to_string(self.vault.file(&path))?;
        let mut ours = Vec::new();
        for round in 0..MANY {
            let word = format!("changedword{round}");
            fs::write(self.vault.file(&path), format!("{text}\nAnd then {word} came.\n"))?;
            let found = timed(&mut ours, || Snapshot::open(&self.vault).map(|snapshot| hits(&snapshot, &word)))?;
            if found != [NoteKey::of(&path)] {
                return Err(format!("{word} is found in {} notes", found.len()).into());
            }
        }
        fs::write(self.vault.file(&path), text)?;
        Snapshot::open(&self.vault)?;
        let slowest = ours.iter().max().copied().unwrap_or_default();
        report.at_most("a changed note is found", ms(median(ours)), "ms", 50.0);
        report.at_most("  the slowest time", ms(slowest), "ms", 100.0);
        Ok(())
    }

    /// Nothing but the question: the best hits as the command asks for them.
    fn queries(&self, report: &mut Report) -> Result<(), Box<dyn Error>> {
        let snapshot = Snapshot::open(&self.vault)?;
        let options = SearchOptions { per_session: 3, ..SearchOptions::default() };
        for (name, word) in [("rare", RARE), ("common", COMMON)] {
            let mut ours = Vec::new();
            for _ in 0..MANY {
                let found = timed(&mut ours, || -> cru::base::Result<usize> {
                    let query =
                        Query::parse(word, &jiff::Zoned::default()).map_err(|_| cru::base::Error::usage(word))?;
                    Ok(Search::new(&snapshot, &query, &options).hits()?.len())
                })?;
                if found == 0 {
                    return Err(format!("{word} is nowhere").into());
                }
            }
            report.at_most(&format!("query of a {name} word, index open"), ms(median(ours)), "ms", 1.0);
        }
        Ok(())
    }

    /// Whole processes, refresh included.
    fn processes(&self, report: &mut Report) -> Result<(), Box<dyn Error>> {
        let rg = std::env::var("CRU_RG").unwrap_or_else(|_| "rg".to_owned());
        let walk = self.walk();
        for (name, word) in [("rare", RARE), ("common", COMMON)] {
            let what = format!("cru search, {name} word");
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..MANY {
                ours.push(self.run(&["search", word])?);
                if process::installed(&rg) {
                    theirs.push(process::timed(Command::new(&rg).args(["-i", word]).arg(&self.root))?.0);
                }
            }
            let ours = median(ours);
            report.against(&what, ours, ("walk and stat", walk), 2.5);
            if theirs.is_empty() {
                Report::skipped(&format!("{what}, and rg"), "rg is not installed; CRU_RG names it");
            } else {
                report.against(&format!("{what}, and rg"), ours, ("rg", median(theirs)), 0.5);
            }
        }
        for (command, most) in [(["session", "list"].as_slice(), 60.0), (&["stats"], 100.0)] {
            let what = format!("cru {}", command.join(" "));
            let times = (0..MANY).map(|_| self.run(command)).collect::<Result<Vec<_>, _>>()?;
            report.at_most(&what, ms(median(times)), "ms", most);
        }
        Ok(())
    }

    /// A command that must find something.
    fn run(&self, args: &[&str]) -> Result<Duration, Box<dyn Error>> {
        let (time, output) = process::timed(&mut process::cru(&self.root, args))?;
        if !output.status.success() || output.stdout.is_empty() {
            return Err(format!("{args:?}: {} {}", output.status, String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(time)
    }

    /// The most memory that a process held.
    fn memory(&self, report: &mut Report) -> Result<(), Box<dyn Error>> {
        self.forget()?;
        for (what, command, most) in [
            ("peak memory of the build", &mut process::cru(&self.root, &["index", "--rebuild"]), 400.0),
            ("peak memory of a query", &mut process::cru(&self.root, &["search", COMMON]), 60.0),
        ] {
            match process::peak(command) {
                Some(peak) => report.at_most(what, peak, "MB", most),
                None => Report::skipped(what, "this system does not tell"),
            }
        }
        Ok(())
    }
}

/// The notes of the ten best entries with a word.
fn hits(snapshot: &Snapshot, word: &str) -> Vec<NoteKey> {
    let term = Term::from_field_text(snapshot.fields().body, word);
    let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
    let mut found = Vec::new();
    for part in snapshot.parts() {
        let searcher = part.searcher();
        let Ok(best) = searcher.search(&query, &TopDocs::with_limit(10).order_by_score()) else { continue };
        for (_, place) in best {
            let notes = searcher.segment_reader(place.segment_ord).fast_fields().u64("note");
            let key = notes.ok().and_then(|notes| notes.first(place.doc_id)).map(NoteKey);
            found.extend(key.filter(|key| part.counts(*key)));
        }
    }
    found
}
