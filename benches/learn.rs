//! How fast a vault becomes rows, samples and notes, and in how much memory, against the least that anybody must do with
//! the same notes in the same run: reading and parsing them.
//!
//! `cargo bench --bench learn` makes a vault of 1,000 sessions, some 5,000 cases; `-- --sessions 10000` is the real thing
//! (about 300 MB), `-- --vault DIR` takes one that is there and writes nothing into it. With `--require` it exits with
//! 1 when a figure is not what it must be: 300 MB for any number of sessions, and 20 seconds for 10,000 of them.

#![expect(clippy::print_stdout, reason = "a bench talks to a terminal")]

#[path = "../examples/gen_vault/generate/mod.rs"]
#[allow(dead_code, reason = "shared with an example and with tests, each of which uses a part")]
mod generate;
#[path = "index/process.rs"]
#[allow(dead_code, reason = "shared with the bench of the index")]
mod process;
#[path = "index/report.rs"]
#[allow(dead_code, reason = "shared with the bench of the index")]
mod report;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cru::note::Note;
use cru::session::read;
use cru::vault::{Vault, VaultPath, Walk};
use rayon::prelude::*;

use generate::Recipe;
use report::{Report, median, ms};

const ROUNDS: usize = 3;

/// Megabytes that an export may take, and the seconds of 10,000 sessions.
const MEMORY: f64 = 300.0;
const SECONDS: f64 = 20.0;

/// How many times the floor an export may take.
const RATIO: f64 = 12.0;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let temp = tempfile::tempdir()?;
    let root = match value("--vault") {
        Some(given) => PathBuf::from(given).canonicalize()?,
        None => temp.path().join("vault"),
    };
    if value("--vault").is_none() {
        let sessions = value("--sessions").map_or(Ok(1_000), |number| number.parse())?;
        Recipe { sessions, ..Recipe::default() }.write(&root)?;
    }
    let vault = Vault::open(&root)?;
    let notes: Vec<_> = Walk::of(&vault).paths().cloned().collect();
    let threads = std::thread::available_parallelism()?.get();
    println!("{} notes, {threads} threads", notes.len());
    let mut report = Report::default();
    for format in ["jsonl", "puzzle", "markdown"] {
        export(&root, temp.path(), (&vault, &notes), format, &mut report)?;
    }
    if report.missed().is_empty() || !args.iter().any(|arg| arg == "--require") {
        return Ok(ExitCode::SUCCESS);
    }
    println!("missed: {}", report.missed().join(", "));
    Ok(ExitCode::FAILURE)
}

/// One export, in turns with the floor.
fn export(
    root: &Path,
    temp: &Path,
    (vault, notes): (&Vault, &[VaultPath]),
    format: &str,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let out = temp.join("out");
    let dir = out.to_string_lossy();
    let args = ["--quiet", "session", "learn", "--export", format, "-o", &dir];
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floors.push(floor(vault, notes));
        let (time, output) = process::timed(&mut process::cru(root, &args))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        ours.push(time);
        fs::remove_dir_all(&out)?;
    }
    let (ours, floor) = (median(ours), median(floors));
    report.against(&format!("export {format}"), ours, ("reading and parsing", floor), RATIO);
    let most = SECONDS * (notes.len() as f64 / 10_000.0).max(0.1);
    report.at_most(&format!("export {format}, time"), ms(ours) / 1e3, "s", most);
    match process::peak(&mut process::cru(root, &args)) {
        Some(peak) => report.at_most(&format!("export {format}, peak memory"), peak, "MB", MEMORY),
        None => Report::skipped(&format!("export {format}, peak memory"), "this system does not tell"),
    }
    fs::remove_dir_all(&out)?;
    Ok(())
}

/// Reads and parses all notes on all threads.
fn floor(vault: &Vault, notes: &[VaultPath]) -> Duration {
    let start = Instant::now();
    let steps: usize = notes
        .par_iter()
        .filter_map(|path| {
            let note = Note::parse(vault.read(path).ok()?);
            Some(read::session(&note).0.steps().count())
        })
        .sum();
    std::hint::black_box(steps);
    start.elapsed()
}
