//! How fast transcripts become notes, against the least that any importer must do.
//!
//! `cargo bench --bench import` prints MB/s and the ratio; with `-- --require 0.4` it exits with 1 when the import is
//! slower than that share of the floor. Transcripts are looked for in `../shared/transcripts` or where
//! `CRU_TEST_TRANSCRIPTS` says; `-- FOLDER` names another place.
//!
//! The floor: one thread reads the same files and deserialises each line into a struct with typed message content
//! (texts borrowed where they can be, input of tools as a value). The import is the whole of it: search, read, fold,
//! name, render, write all notes into a new vault, sync. Both take turns, and medians count, so that a busy machine slows
//! both alike; a third row gives the import with one thread only.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench talks to a terminal")]

use std::borrow::Cow;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cru::base::files;
use cru::commands::import::ingest::{Options, Unwatched, ingest};
use cru::commands::import::report::Outcome;
use cru::vault::Vault;
use serde::Deserialize;
use serde_json::Value;

const ROUNDS: usize = 9;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let required = args.iter().position(|arg| arg == "--require").map(|at| {
        let share = args.get(at + 1).and_then(|share| share.parse::<f64>().ok());
        share.unwrap_or(0.4)
    });
    let named = args.iter().filter(|arg| !arg.starts_with('-') && arg.parse::<f64>().is_err()).map(PathBuf::from);
    let mut sources: Vec<PathBuf> = named.collect();
    if sources.is_empty() {
        sources = transcripts();
    }
    if sources.is_empty() {
        println!("no transcripts at hand: nothing is measured");
        return ExitCode::SUCCESS;
    }
    let files = transcripts_below(&sources);
    let bytes: usize = files.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|data| data.len() as usize).sum();
    let (Ok(one), Ok(all)) = (pool(1), pool(0)) else {
        println!("no threads can be started");
        return ExitCode::FAILURE;
    };
    let mut times = [const { Vec::new() }; 3];
    let mut notes = 0;
    for round in 0..=ROUNDS {
        let runs: [&mut dyn FnMut() -> Duration; 3] = [
            &mut || floor(&files),
            &mut || all.install(|| import(&sources, &mut notes)),
            &mut || one.install(|| import(&sources, &mut notes)),
        ];
        for (run, times) in runs.into_iter().zip(&mut times) {
            let time = run();
            // The first round only warms up.
            if round > 0 {
                times.push(time);
            }
        }
    }
    let [floor, import, alone] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let ratio = |time: Duration| floor.as_secs_f64() / time.as_secs_f64();
    println!("{} transcripts, {:.1} MB, {notes} notes", files.len(), bytes as f64 / 1e6);
    println!("  deserialise, one thread  {:7.0} MB/s", speed(floor));
    println!(
        "  import, {:2} threads       {:7.0} MB/s  {:.2} of it",
        all.current_num_threads(),
        speed(import),
        ratio(import)
    );
    println!("  import, one thread       {:7.0} MB/s  {:.2} of it", speed(alone), ratio(alone));
    if required.is_some_and(|share| ratio(import) < share) {
        println!("slower than required");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}

/// One line, as far as every importer must look into it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the fields are read into, which is what is measured")]
struct Record<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    parent_uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read into, which is what is measured")]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "the fields are read into, which is what is measured")]
enum Content<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Blocks(#[serde(borrow)] Vec<Block<'a>>),
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read into, which is what is measured")]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    input: Option<Value>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<Parts<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "the fields are read into, which is what is measured")]
enum Parts<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    List(#[serde(borrow)] Vec<Part<'a>>),
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read into, which is what is measured")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are read into, which is what is measured")]
struct Usage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

/// Reads and deserialises every line.
fn floor(files: &[PathBuf]) -> Duration {
    let start = Instant::now();
    let mut known = 0;
    for path in files {
        let bytes = std::fs::read(path).unwrap_or_default();
        for line in bytes.split(|byte| *byte == b'\n') {
            known += usize::from(serde_json::from_slice::<Record<'_>>(black_box(line)).is_ok_and(|record| {
                black_box(&record);
                true
            }));
        }
    }
    black_box(known);
    start.elapsed()
}

/// Imports everything into a vault of its own; making and removing the vault does not count.
fn import(sources: &[PathBuf], notes: &mut u64) -> Duration {
    let made = || {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok()?;
        files::create(&folder.path().join(".cru/config.toml"), b"").ok()?;
        let vault = Vault::open(folder.path()).ok()?;
        Some((folder, vault))
    };
    let (Some((_folder, vault)), Some(importer)) = (made(), cru::import::find("claude")) else { return Duration::MAX };
    let start = Instant::now();
    let report = ingest(&vault, importer, sources, &Options::default(), &Unwatched);
    let time = start.elapsed();
    *notes = report.map_or(0, |report| report.count(Outcome::Created));
    time
}

fn transcripts() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
    let root = std::env::var_os("CRU_TEST_TRANSCRIPTS").map_or(beside, PathBuf::from);
    ["claude-projects", "claude"].iter().map(|name| root.join(name)).filter(|folder| folder.is_dir()).collect()
}

/// The files that the import reads, in order.
fn transcripts_below(sources: &[PathBuf]) -> Vec<PathBuf> {
    let mut open = sources.to_vec();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}
