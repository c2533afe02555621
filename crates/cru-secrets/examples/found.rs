//! What the rules find in files, to judge new rules by: `cargo run --release -p cru-secrets --example found -- FOLDER…`.
//!
//! One line for each find (rule, secret, text around it) on standard output; bytes and time on standard error.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

fn main() {
    let mut left: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let (mut bytes, mut time) = (0, Duration::ZERO);
    while let Some(path) = left.pop() {
        match fs::read_dir(&path) {
            Ok(folder) => left.extend(folder.flatten().map(|entry| entry.path())),
            Err(_) => file(&path, &mut bytes, &mut time),
        }
    }
    let speed = bytes as f64 / 1e6 / time.as_secs_f64();
    eprintln!("{:.1} MB, {:.3} s, {speed:.0} MB/s", bytes as f64 / 1e6, time.as_secs_f64());
}

fn file(path: &Path, bytes: &mut usize, time: &mut Duration) {
    let Ok(text) = fs::read(path) else { return };
    let text = String::from_utf8_lossy(&text);
    let began = Instant::now();
    let found = cru_secrets::find(&text);
    *time += began.elapsed();
    *bytes += text.len();
    for found in found {
        let around = |from: usize, to: usize| {
            let from = (0..=from.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            let to = (to.min(text.len())..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text[from..to].replace(['\n', '\r', '\t'], " ")
        };
        let (start, end) = (found.range.start, found.range.end);
        let shown = around(start, end.min(start + 120));
        println!("{}\t{shown}\t{}«»{}", found.rule, around(start.saturating_sub(60), start), around(end, end + 20));
    }
}
