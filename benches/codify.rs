//! How fast sessions become a workflow, as a whole process, against reading the same notes in the same run.
//!
//! `cargo bench --bench codify` makes a session of 10,000 steps, and 500 sessions to be codified together; `-- --vault
//! DIR` takes the sessions of that vault instead of the 500. With `--require` it exits with 1 when a median is above
//! its target. Runs take turns, so that a busy machine slows both alike. The floor reads all notes side by side and
//! makes nothing of them.

#![expect(clippy::print_stdout, reason = "a bench talks to a terminal")]

#[path = "../examples/gen_vault/generate/mod.rs"]
#[allow(dead_code, reason = "shared with an example and with tests, each of which uses a part")]
mod generate;

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cru::note::Note;
use cru::vault::{Catalog, Vault};
use rayon::prelude::*;

use generate::Recipe;

const STEPS: usize = 10_000;
const SESSIONS: usize = 500;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let given = args.iter().position(|arg| arg == "--vault").and_then(|at| args.get(at + 1));
    let temp = tempfile::tempdir()?;
    let (one, many) = (temp.path().join("one"), temp.path().join("many"));
    // A step is a line that begins so; how many a recipe gives is only known when they are made.
    let (mut recipe, mut steps) = (Recipe { sessions: 1, steps: STEPS, ..Recipe::default() }, 0);
    while steps < STEPS {
        recipe.steps += STEPS / 4;
        steps = recipe.note(0).1.lines().filter(|line| line.starts_with("- `")).count();
    }
    recipe.write(&one)?;
    let many = if let Some(given) = given {
        PathBuf::from(given).canonicalize()?
    } else {
        Recipe { sessions: SESSIONS, ..Recipe::default() }.write(&many)?;
        many
    };
    let slow = [
        measure(&format!("one session of {steps} steps"), &one, 15, Duration::from_millis(100))?,
        measure("sessions together", &many, 3, Duration::from_secs(5))?,
    ];
    let required = args.iter().any(|arg| arg == "--require");
    Ok(if required && slow.contains(&true) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints the medians of `rounds` turns; whether ours is above `most`.
fn measure(what: &str, root: &Path, rounds: usize, most: Duration) -> Result<bool, Box<dyn Error>> {
    let vault = Vault::open(root)?;
    let files: Vec<PathBuf> = Catalog::read(&vault).sessions().map(|head| vault.file(&head.path)).collect();
    let home = root.parent().unwrap_or(root);
    let (mut ours, mut floors, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        let read = |file: &PathBuf| std::fs::read(file).map(|bytes| cru::session::read::content(&Note::parse(bytes)));
        let read: std::io::Result<Vec<_>> = files.par_iter().map(read).collect();
        floors.push(start.elapsed());
        black_box(read?);
        let run = |args: &[&str]| -> Result<Duration, Box<dyn Error>> {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
            command.args(args).env_clear().env("HOME", home).current_dir(home);
            if args.contains(&"codify") {
                command.args(&files);
            }
            let start = Instant::now();
            let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
            // 1: the sessions have nothing in common, which takes as long.
            if !matches!(status.code(), Some(0 | 1)) {
                return Err(format!("{args:?} ended with {status}").into());
            }
            Ok(start.elapsed())
        };
        starts.push(run(&["--version"])?);
        ours.push(run(&["session", "codify"])?);
    }
    let [ours, floor, start] = [ours, floors, starts].map(median);
    println!(
        "{what}: {} in {:.1} ms, at most {} ms; reading alone {:.1} ms: x{:.2}; an empty process {:.1} ms{}",
        if files.len() == 1 { "1 note".to_owned() } else { format!("{} notes", files.len()) },
        ms(ours),
        most.as_millis(),
        ms(floor),
        ms(ours) / ms(floor),
        ms(start),
        if ours > most { "  MISSED" } else { "" }
    );
    Ok(ours > most)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The one in the middle.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
