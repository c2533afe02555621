//! How fast a note is read, against the bare markdown parser on the same bytes.
//!
//! `cargo bench --bench note` prints MB/s and ratios; with `-- --require 0.5` it exits with 1 when reading is slower than
//! that share of the bare parser, and a word picks the corpora whose names hold it. Runs take turns and the median
//! counts, so that a busy machine slows both alike. The word `hostile` measures hostile texts instead: milliseconds for
//! 1 MB (or as many as a number says), and the growth from half of that.
//!
//! Three things are measured: the bare parser (all events with their ranges, counted), `parse` (what a list of sessions
//! needs) and `parse` with its inlines (what a check or the graph needs).

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench talks to a terminal")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cru::note::Note;
use pulldown_cmark::{Options, Parser};

#[path = "../crates/cru-note/src/hostile.rs"]
mod hostile;

const ROUNDS: usize = 15;
const FRONTMATTER: &str = "---\ntype: session\nsession_id: 2026-11-20-bench\nstatus: active\ntags:\n  - a\n---\n";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let required = args.iter().position(|arg| arg == "--require").map(|at| {
        let share = args.get(at + 1).and_then(|share| share.parse::<f64>().ok());
        share.unwrap_or(0.5)
    });
    if args.iter().any(|arg| arg == "hostile") {
        let size = args.iter().find_map(|arg| arg.parse::<usize>().ok()).unwrap_or(1);
        hostile(size * 500_000);
        return ExitCode::SUCCESS;
    }
    let mut slow = false;
    let mut corpora = vec![("generated sessions", sessions(400)), ("generated prose", prose(400))];
    let files = files();
    if files.is_empty() {
        println!("no transcripts beside the repository: only generated notes are measured");
    } else {
        corpora.insert(0, ("transcripts in markdown", files));
    }
    let wanted = |name: &str| {
        args.iter()
            .filter(|arg| arg.parse::<f64>().is_err())
            .all(|arg| arg.starts_with('-') || name.contains(arg.as_str()))
    };
    for (name, notes) in corpora.iter().filter(|(name, _)| wanted(name)) {
        let bytes: usize = notes.iter().map(String::len).sum();
        let [bare, parse, inlines] = measure(notes);
        let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        let ratio = |time: Duration| bare.as_secs_f64() / time.as_secs_f64();
        println!("{name}: {} notes, {:.1} MB", notes.len(), bytes as f64 / 1e6);
        println!("  bare parser      {:7.0} MB/s", speed(bare));
        println!("  parse            {:7.0} MB/s  {:.2} of bare", speed(parse), ratio(parse));
        println!("  parse + inlines  {:7.0} MB/s  {:.2} of bare", speed(inlines), ratio(inlines));
        slow |= required.is_some_and(|share| ratio(inlines) < share);
    }
    if slow {
        println!("slower than required");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Time for hostile texts of one size and of twice that size; prints those that are slow or grow faster than the text.
fn hostile(size: usize) {
    let time = |text: &str| {
        let best = |_| {
            let copy = text.to_owned();
            let start = Instant::now();
            black_box(inlines(copy));
            start.elapsed()
        };
        (0..3).map(best).min().unwrap_or_default()
    };
    let mut all: Vec<_> = hostile::texts(size)
        .into_iter()
        .zip(hostile::texts(2 * size))
        .map(|((name, small), (_, large))| (name, time(&small), time(&large)))
        .collect();
    all.sort_by_key(|&(_, _, large)| std::cmp::Reverse(large));
    for (name, small, large) in all {
        println!("{:8.1} ms  x {:.1}  {name}", large.as_secs_f64() * 1e3, large.as_secs_f64() / small.as_secs_f64());
    }
}

/// Median times of the bare parser, of `parse`, and of `parse` with inlines.
fn measure(notes: &[String]) -> [Duration; 3] {
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        let runs: [&dyn Fn(String) -> usize; 3] = [&bare, &parse, &inlines];
        for (run, times) in runs.iter().zip(&mut times) {
            // Every run takes and frees its own copy, as bytes that were just read from a file.
            let copies = notes.to_vec();
            let start = Instant::now();
            for note in copies {
                black_box(run(black_box(note)));
            }
            // The first round only warms up.
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

/// The parser with the options that the note layer uses.
#[expect(clippy::needless_pass_by_value, reason = "it frees its copy like the others")]
fn bare(text: String) -> usize {
    Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES).into_offset_iter().count()
}

fn parse(text: String) -> usize {
    Note::parse(text.into_bytes()).blocks().len()
}

fn inlines(text: String) -> usize {
    let note = Note::parse(text.into_bytes());
    note.blocks().len() + note.inlines().len()
}

/// Markdown transcripts next to the repository, if there are any.
fn files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
    let root = std::env::var_os("CRU_TEST_TRANSCRIPTS").map_or(root, PathBuf::from);
    let mut found = Vec::new();
    let mut folders = vec![root.join("specstory")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.extend(std::fs::read_to_string(path));
            }
        }
    }
    found
}

/// Notes like those that `cru` writes: step lists with code spans, callouts, fences, links.
fn sessions(count: usize) -> Vec<String> {
    let session = |number: usize| {
        let mut text = format!("{FRONTMATTER}# Session {number}\n\n");
        for phase in 1..=6 {
            let _ = write!(
                text,
                "## Phase {phase} of it @coder@2.0 #dev\n\n*2026-11-20T10:02:00Z* ^p-{phase:02}\n\n**Tool calls:**\n"
            );
            for step in 1..=12 {
                let id = phase * 100 + step;
                let _ = write!(
                    text,
                    "- `Bash cargo test -p auth --test token_{step}` → ok, {step} passed (10:{phase:02}:{step:02}, 1.2 s) ^n-{id}\n    - reads: `src/auth/token_{step}.rs@9f2c11ab`, `Cargo.lock@77aa01b2`\n    - after: [[#^n-{id}]]\n"
                );
            }
            text.push_str("\n> [!decision] Short-lived access tokens\n> 15 minutes access, 7 days refresh; see [the notes](https://example.org/a#b).\n> Why: limits a leak without logging people out.\n> Rests on: [[#^n-002]]\n\n^d-001\n\n> [!user]\n> \"don't store them in localStorage\" - switched to httpOnly cookies. #auth\n\n```rust\nfn token() -> Token {\n    Token::new(15 * 60)\n}\n```\n\n");
        }
        text
    };
    (0..count).map(session).collect()
}

/// Plain prose with some emphasis: little structure, the parser's best case.
fn prose(count: usize) -> Vec<String> {
    let line = "The agent looked at the failing test, found that *expiry* was compared with the wall clock, and injected a clock.\n";
    (0..count)
        .map(|number| format!("{FRONTMATTER}# Note {number}\n\n{}", format!("{line}{line}{line}\n").repeat(30)))
        .collect()
}
